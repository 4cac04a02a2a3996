# Copyright 2026 The GateBot Authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
# ============================================================================
"""The generic way on MindSpore: run any call on replicated inputs; results are replicated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindspore as ms

from hyper_parallel import report
from hyper_parallel.dispatch.call import find_tensors, replace_tensors
from hyper_parallel.dispatch.engine import is_strict
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.platform.mindspore import native
from hyper_parallel.platform.mindspore.dtensor import DTensor, Undressed
from hyper_parallel.platform.mindspore.errors import MissingKernelError, missing_kernel
from hyper_parallel.redistribute import redistribute_local

_SCALARS = frozenset({int, float, bool, complex})


def layout_of(tensor: Any, mesh: DeviceMesh) -> Layout:
    """A DTensor's layout; a plain tensor among DTensors counts as replicated."""
    layout = getattr(tensor, "_layout", None)
    return layout if layout is not None else Layout.replicated(mesh, tuple(tensor.shape))


def mesh_of(name: str, args: Any, kwargs: dict[str, Any]) -> DeviceMesh:
    """The one mesh of all DTensors in the arguments.

    Raises:
        LayoutError: they live on different meshes, or there is none.
    """
    first = args[0] if args else None
    if isinstance(first, DTensor) and not kwargs and (len(args) == 1 or (type(args[1]) in _SCALARS and len(args) == 2)):
        return first._layout.mesh
    mesh: DeviceMesh | None = None
    for _, tensor in find_tensors(args, kwargs, native.is_dtensor):
        other = tensor._layout.mesh
        if mesh is not None and other is not mesh:
            raise LayoutError(explain(name, "the mesh of all inputs", mesh, other))
        mesh = other
    if mesh is None:
        raise LayoutError(explain(name, "some input", "a DTensor", "none"))
    return mesh


def own_object(out: Any) -> Any:
    """A result that may be wrapped: a parameter that came back as it went in stays a parameter."""
    return ms.mint.mul(out, 1) if isinstance(out, ms.Parameter) else out


def run_replicated(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any], mesh: DeviceMesh) -> Any:
    """Replicate every DTensor, run `func` natively, wrap every output tensor as replicated.

    Raises:
        LayoutError: in strict mode, if an input is not replicated.
        MissingKernelError: MindSpore has no kernel for it on this device.
    """
    from hyper_parallel.platform.mindspore.backend import PLATFORM

    copies: list[Any] = []
    report.enter(name)
    try:
        with Undressed() as undress:

            def replicate(tensor: Any) -> Any:
                if not native.is_dtensor(tensor):
                    return tensor
                layout = tensor._layout
                if not layout.is_replicated and is_strict():
                    raise LayoutError(explain(name, "inputs", "replicated (there is no rule)", layout))
                full = redistribute_local(PLATFORM, undress(tensor), layout, Layout.replicated(mesh, layout.shape))
                if not layout.is_replicated:
                    copies.append(full)
                return full

            local_args, local_kwargs = replace_tensors((tuple(args), kwargs), replicate, native.is_tensor)
            if copies:
                report.of(name).replicated += 1
            if name in native.RANDOM:
                local_args, local_kwargs = native.in_step(mesh, local_args, local_kwargs)
            try:
                out = func(*local_args, **local_kwargs)
            except (RuntimeError, NotImplementedError) as error:
                kernel = missing_kernel(error)
                if kernel is None:
                    raise
                raise MissingKernelError.of(name, kernel) from error
    finally:
        report.leave()

    def finish(tensor: Any) -> Any:
        wrapped = PLATFORM.wrap(own_object(tensor), Layout.replicated(mesh, tuple(tensor.shape)))
        if any(PLATFORM.shares_storage(full, tensor) for full in copies):
            return PLATFORM.mark_lost_alias(wrapped, None, name)
        return wrapped

    return replace_tensors(out, finish, native.is_tensor)
