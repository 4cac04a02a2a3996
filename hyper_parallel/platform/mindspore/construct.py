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
"""Making, copying, pickling and reading DTensors; factories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops
from mindspore.common._grad_function import _Function
from numpy.typing import NDArray

from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout, normalize_placements, shape_in_words, shapes_from_words
from hyper_parallel.mesh import DeviceMesh, get_current_mesh
from hyper_parallel.placements import Partial, Placement, R, Replicate, Shard
from hyper_parallel.platform.mindspore import adjoint, runtime, wire
from hyper_parallel.platform.mindspore.dtensor import DTensor, as_dtensor, as_kind, plain
from hyper_parallel.platform.mindspore.parameter import new_parameter
from hyper_parallel.redistribute import redistribute_local, slice_full


def pick_mesh(mesh: DeviceMesh | None, op: str) -> DeviceMesh:
    """The given mesh or that of the enclosing `with mesh:`.

    Raises:
        ValueError: neither.
    """
    runtime.ready()
    mesh = mesh or get_current_mesh()
    if mesh is None:
        raise ValueError(explain(op, "device_mesh", "given or set by `with mesh:`", None))
    if not isinstance(mesh, DeviceMesh):
        actual = f"{type(mesh).__name__} of {type(mesh).__module__}"
        raise TypeError(explain(op, "device_mesh", "a DeviceMesh of hyper_parallel", actual))
    return mesh


def from_local(
    local: Tensor, mesh: DeviceMesh | None, placements: Sequence[Placement] | None, run_check: bool, shape: Any
) -> Any:
    """See `DTensor.from_local`. A parameter becomes a distributed parameter in place."""
    if isinstance(local, DTensor):
        raise TypeError(explain("from_local", "local_tensor", "a plain tensor", "a DTensor"))
    mesh = pick_mesh(mesh, "from_local")
    own = tuple(local.shape)
    given = tuple(placements) if placements is not None else (R,) * mesh.ndim
    places = normalize_placements(given, len(own), mesh.ndim)
    if shape is None and run_check and any(isinstance(place, Shard) for place in places):
        layout = Layout.from_parts(mesh, places, _all_shapes(own, mesh))
    else:
        layout = Layout(mesh, places, tuple(_even_shape(own, mesh, places) if shape is None else shape))
    if layout.local_shape != own:
        raise LayoutError(
            explain("from_local", "the local shape", f"{layout.local_shape} of global {layout.shape}", own)
        )
    return as_dtensor(_platform().alias(local), layout)


def _even_shape(own: Sequence[int], mesh: DeviceMesh, places: Sequence[Placement]) -> list[int]:
    shape = list(own)
    for axis, placement in enumerate(places):
        if isinstance(placement, Shard):
            shape[placement.dim] *= mesh.mesh_shape[axis]
    return shape


def _all_shapes(own: Sequence[int], mesh: DeviceMesh) -> list[list[int]]:
    """The shapes of all ranks' parts in row-major order of the mesh; communicates."""
    told = Tensor(np.array(shape_in_words(own), np.int64))
    for axis in reversed(range(mesh.ndim)):
        told = wire.gather_stack(told, mesh, axis)
    return shapes_from_words(told.asnumpy().reshape(mesh.size(), -1).tolist())


def to_local(tensor: DTensor, grad_placements: Sequence[Placement] | None) -> Tensor:
    """See `DTensor.to_local`."""
    layout = tensor._layout
    with plain(tensor) as own:
        local = _platform().alias(own)
        if grad_placements is None:
            return local
        for axis, (a, b) in enumerate(
            zip(layout.with_placements(grad_placements).placements, layout.grad.placements, strict=True)
        ):
            if a == b or (isinstance(a, Replicate) and isinstance(b, Partial)):
                continue
            if isinstance(a, Partial) and isinstance(b, Replicate) and a.reduce_op == "sum":
                local = adjoint.cross(local, layout.mesh, axis)
            else:
                raise LayoutError(
                    explain("to_local", "grad_placements", f"{layout.grad.placements} or Partial()", grad_placements)
                )
        return local


def distribute_tensor(
    tensor: Tensor,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> Any:
    """Cut a full tensor that lives on every rank; a parameter gives a distributed parameter of the same name.

    Args:
        tensor: the full tensor.
        device_mesh: the mesh (default: that of the enclosing `with mesh:`).
        placements: one per mesh axis (default: replicated). `Partial` keeps the value on the first rank's part.
        src_data_rank: position (along each axis) of the rank whose data count; None: trust all ranks to hold the same,
            and do not communicate.
    """
    mesh = pick_mesh(device_mesh, "distribute_tensor")
    if isinstance(tensor, DTensor):
        if tensor._layout.mesh is not mesh:
            raise LayoutError(explain("distribute_tensor", "device_mesh", tensor._layout.mesh, mesh))
        return tensor.redistribute(mesh, placements)
    places = tuple(placements) if placements is not None else (R,) * mesh.ndim
    layout = Layout(mesh, places, tuple(tensor.shape))
    if isinstance(tensor, ms.Parameter):
        local = _part(as_kind(Tensor, tensor), layout, src_data_rank)
        return new_parameter(local, layout, tensor.name, tensor.requires_grad)
    if adjoint.taping():
        full = tensor
        if src_data_rank is not None:
            for axis in range(mesh.ndim):
                full = _TakeSource.apply(full, mesh, axis, src_data_rank)
        local = redistribute_local(_platform(), full, Layout.replicated(mesh, layout.shape), layout)
        return as_dtensor(_platform().alias(local), layout)
    return as_dtensor(_part(tensor, layout, src_data_rank), layout)


def _part(full: Tensor, layout: Layout, source: int | None) -> Tensor:
    mesh = layout.mesh
    if source is not None:
        for axis in range(mesh.ndim):
            full = wire.broadcast(full, mesh, axis, source)
    local = wire.copy_of(slice_full(_platform(), full, layout))
    for axis, placement in enumerate(layout.placements):
        if isinstance(placement, Partial):
            local = wire.copy_of(adjoint.to_partial(local, mesh, axis, placement.reduce_op))
    return local


class _TakeSource(_Function):  # type: ignore[misc]
    """Broadcast of values; every rank's own tensor gets the (replicated) gradient, as it stands for the same data."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: DeviceMesh, axis: int, source: int) -> Tensor:
        return wire.broadcast(x, mesh, axis, source)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad, None, None, None


def like_owner(owner: Any, value: Any) -> DTensor:
    """`value` under the owner's layout; a plain tensor of the global shape is taken to be the full tensor."""
    layout = owner._layout
    if isinstance(value, DTensor):
        return value.redistribute(layout.mesh, layout.placements)
    tensor = value if isinstance(value, Tensor) else Tensor(value, owner.dtype)
    if tuple(tensor.shape) != layout.shape:
        raise ValueError(
            explain("DTensor", "a plain tensor given for it", f"full, {layout.shape}", tuple(tensor.shape))
        )
    return as_dtensor(_part(as_kind(Tensor, tensor), layout, None), layout)


def hooked(layout: Layout, hook: Any) -> Any:
    """A hook for the local gradient that shows `hook` the distributed one."""

    def local_hook(grad: Tensor) -> Any:
        shown = as_dtensor(_platform().alias(grad), layout)
        found = hook(shown)
        if found is None:
            return None
        if isinstance(found, DTensor):
            found = found.redistribute(layout.mesh, layout.placements)
            with plain(found) as local:
                return _platform().alias(local)
        return as_kind(Tensor, _part(found, layout, None))

    return local_hook


def _platform() -> Any:
    from hyper_parallel.platform.mindspore.backend import PLATFORM

    return PLATFORM


# -- copies
def pickled(tensor: DTensor) -> Any:
    """What pickling stores: the own part's values and the layout."""
    with plain(tensor) as local:
        return _rebuild, (wire.to_host(local), str(local.dtype), tensor._layout)


def pickled_parameter(parameter: Any) -> Any:
    """As `pickled`, with name and `requires_grad`."""
    with plain(parameter) as local:
        values = wire.to_host(local)
        kind = str(local.dtype)
    return _rebuild_parameter, (values, kind, parameter._layout, parameter.name, parameter.requires_grad)


def _rebuild(values: NDArray[Any], kind: str, layout: Layout) -> DTensor:
    return as_dtensor(wire.from_host(values, getattr(ms, kind.lower().replace("bool", "bool_"))), layout)


def _rebuild_parameter(values: NDArray[Any], kind: str, layout: Layout, name: str, requires_grad: bool) -> Any:
    local = wire.from_host(values, getattr(ms, kind.lower().replace("bool", "bool_")))
    return new_parameter(local, layout, name, requires_grad)


def copied(tensor: DTensor, memo: dict[int, Any]) -> Any:
    """`copy.deepcopy` of a DTensor or distributed parameter."""
    if id(tensor) not in memo:
        rebuild, parts = tensor.__reduce_ex__(4)
        memo[id(tensor)] = rebuild(*parts)
    return memo[id(tensor)]


# -- factories
def factory(
    name: str,
    args: Sequence[Any],
    mesh: DeviceMesh | None,
    placements: Sequence[Placement] | None,
    kwargs: dict[str, Any],
) -> DTensor:
    """A new DTensor: zeros, ones, empty, full, rand, randn or arange.

    Random numbers are those of the mesh's first rank, drawn as on one device, whatever the sharding.
    """
    mesh = pick_mesh(mesh, name)
    places = tuple(placements) if placements is not None else (R,) * mesh.ndim
    dtype = kwargs.pop("dtype", None)
    if kwargs:
        raise TypeError(explain(name, "keywords", "dtype, device_mesh and placements", sorted(kwargs)))
    if name == "arange":
        whole = Tensor(np.arange(*args))
        whole = whole.astype(dtype or (ms.int64 if whole.dtype in (ms.int32, ms.int64) else ms.float32))
        return as_dtensor(
            _part(whole, Layout(mesh, places, tuple(whole.shape)), None), Layout(mesh, places, whole.shape)
        )
    if name == "full":
        size, value = tuple(args[0]), args[1]
    else:
        size = tuple(args[0]) if len(args) == 1 and not isinstance(args[0], int) else tuple(args)
        value = {"zeros": 0, "ones": 1, "empty": 0}.get(name)
    layout = Layout(mesh, places, size)
    if value is None:
        drawn = ops.rand(*size) if name == "rand" else ops.randn(*size)
        full = drawn if dtype is None else drawn.astype(dtype)
        return as_dtensor(_part(full, layout, 0), layout)
    kind = dtype or (_dtype_of(value) if name == "full" else ms.float32)
    if layout.is_partial():
        return as_dtensor(_part(_filled(layout.shape, value, kind), layout, None), layout)
    return as_dtensor(_filled(layout.local_shape, value, kind), layout)


def _filled(shape: Sequence[int], value: Any, dtype: Any) -> Tensor:
    return Tensor(np.full(tuple(shape), value)).astype(dtype)


def _dtype_of(value: Any) -> Any:
    if isinstance(value, bool):
        return ms.bool_
    return ms.int64 if isinstance(value, int) else ms.float32


def manual_seed(seed: int, device_mesh: DeviceMesh | None = None) -> None:
    """Seed the generators of this rank; call it with the same seed on every rank."""
    ms.set_seed(seed)
    mint_seed = getattr(ms, "manual_seed", None)
    if mint_seed is not None:
        mint_seed(seed)
