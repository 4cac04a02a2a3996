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
"""The generic way: run any call on replicated inputs and write changes back into the layouts of their owners."""

from __future__ import annotations

from typing import Any

from hyper_parallel import report
from hyper_parallel.dispatch.call import find_tensors, replace_tensors
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.placements import Shard
from hyper_parallel.redistribute import redistribute_local, redistribute_once

_UNCOUNTED = frozenset({"apply_", "map_", "map2_"})
"""Writers that leave the version counter alone."""


def mesh_of(platform: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """The one mesh of all DTensors in the arguments.

    Raises:
        LayoutError: they live on different meshes.
    """
    mesh = None
    for _, tensor in find_tensors(args, kwargs, platform.is_dtensor):
        other = tensor._layout.mesh
        if mesh is not None and other is not mesh:
            raise LayoutError(explain(name, "the mesh of all inputs", mesh, other))
        mesh = other
    return mesh


def run_replicated(platform: Any, func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """Replicate every DTensor, run `func` natively, wrap every output tensor as replicated.

    A DTensor that the call changed in place gets the new values in its own layout, and is itself returned where the
    call returned it. Interception is off.
    """
    mesh = mesh_of(platform, name, args, kwargs)
    owners: dict[int, tuple[Any, Any, Any]] = {}
    stand_ins: dict[int, Any] = {}
    report.enter(name)

    def replicate(tensor: Any) -> Any:
        layout = getattr(tensor, "_layout", None)
        if layout is None:
            owners[id(tensor)] = (tensor, tensor, None)
            return tensor
        if id(tensor) in stand_ins:
            return stand_ins[id(tensor)]
        full = redistribute_once(platform, tensor, layout, Layout.replicated(mesh, layout.shape))
        stand_ins[id(tensor)] = full
        owners[id(full)] = (tensor, full, (platform.version(full), platform.history(full)))
        return full

    try:
        local_args, local_kwargs = replace_tensors((tuple(args), dict(kwargs)), replicate, platform.is_tensor)
        moved = any(owner is not full for owner, full, _ in owners.values())
        if moved:
            report.of(name).replicated += 1
        out = func(*local_args, **local_kwargs)
        for index, (owner, full, before) in enumerate(owners.values()):
            if owner is full:
                _follow_shape(platform, full)
            elif _changed(platform, name, full, before[0], index):
                with platform.recording(platform.history(full) is not before[1]):
                    write_back(platform, name, owner, full)
    finally:
        report.leave()
    lost = moved and platform.may_alias(name)

    def finish(tensor: Any) -> Any:
        owner = owners.get(id(tensor))
        if owner is not None:
            return owner[0]
        if getattr(tensor, "_layout", None) is not None:
            return tensor
        source = [o for o, full, _ in owners.values() if o is not full and platform.shares_storage(full, tensor)]
        wrapped = platform.wrap(tensor, Layout.replicated(mesh, platform.local_shape(tensor)))
        return platform.mark_lost_alias(wrapped, source[0], name) if lost and source else wrapped

    return replace_tensors(out, finish, platform.is_tensor)


def write_back(platform: Any, name: str, owner: Any, full: Any) -> None:
    """Store a replicated result into a DTensor's own layout (in place; a changed global shape changes the layout)."""
    layout: Layout = owner._layout
    shape = platform.local_shape(full)
    if shape != layout.shape:
        if any(isinstance(p, Shard) and p.dim >= len(shape) for p in layout.placements):
            layout = Layout.replicated(layout.mesh, shape)
        else:
            layout = layout.with_shape(shape)
        platform.resize(owner, layout)
    source = Layout.replicated(layout.mesh, shape)
    platform.copy_into(owner, redistribute_local(platform, full, source, layout))


def _follow_shape(platform: Any, tensor: Any) -> None:
    """A replicated tensor that was reshaped in place (`resize_`, `t_`, …) gets the layout of its new shape."""
    layout = getattr(tensor, "_layout", None)
    shape = platform.local_shape(tensor)
    if layout is not None and layout.shape != shape:
        tensor._layout = Layout.replicated(layout.mesh, shape)


def _changed(platform: Any, name: str, full: Any, version: Any, index: int) -> bool:
    """Whether the call wrote to an input: by its version counter, or by name where writes are not counted."""
    writes = name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))
    if name in _UNCOUNTED or (writes and (index == 0 or version is None)):
        return True
    return version is not None and bool(platform.version(full) != version)
