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
"""Making, copying and rebuilding DTensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from hyper_parallel.errors import LayoutError, UnsupportedTensorError, explain
from hyper_parallel.layout import Layout, resolve_placements, shape_in_words, shapes_from_words
from hyper_parallel.mesh import DeviceMesh, get_current_mesh
from hyper_parallel.placements import Partial, Placement, R, Replicate, Shard, StridedShard
from hyper_parallel.platform.torch import adjoint, wire
from hyper_parallel.platform.torch.dtensor import DTensor, Off, as_dtensor, plain
from hyper_parallel.redistribute import slice_full

Tensor = torch.Tensor
_DENSE = torch.strided
_LOCAL_LAYOUTS: dict[Any, Layout] = {}


def pick_mesh(mesh: DeviceMesh | None, op: str) -> DeviceMesh:
    """The given mesh or that of the enclosing `with mesh:`.

    Raises:
        ValueError: neither.
    """
    mesh = mesh or get_current_mesh()
    if mesh is None:
        raise ValueError(explain(op, "device_mesh", "given or set by `with mesh:`", None))
    if not isinstance(mesh, DeviceMesh):
        actual = f"{type(mesh).__name__} of {type(mesh).__module__}"
        raise TypeError(explain(op, "device_mesh", "a DeviceMesh of hyper_parallel", actual))
    return mesh


def refuse_parts_of_kind(tensor: Tensor, op: str, placements: Sequence[Placement] | None) -> bool:
    """Whether a tensor is of a kind of which only full copies can be held: sparse, mkldnn or quantized.

    Raises:
        UnsupportedTensorError: other placements are asked for, or the tensor is nested.
    """
    if tensor.is_nested:
        raise UnsupportedTensorError(explain(op, "the tensor", "dense (pad it, or cut its parts)", "a nested one"))
    if tensor.layout is _DENSE and not tensor.is_quantized:
        return False
    if any(not isinstance(place, Replicate) for place in placements or ()):
        kind = "a quantized tensor" if tensor.is_quantized else f"a tensor of layout {tensor.layout}"
        expected = "Replicate() (or make it dense: to_dense(), dequantize())"
        raise UnsupportedTensorError(explain(op, f"placements of {kind}", expected, placements))
    return True


def from_local(
    local: Tensor,
    mesh: DeviceMesh | None,
    placements: Sequence[Placement] | None,
    run_check: bool,
    shape: Sequence[int] | None,
    grad_placements: Sequence[Placement] | None = None,
) -> DTensor:
    """See `DTensor.from_local`."""
    if type(local) is not Tensor:
        if isinstance(local, DTensor):
            raise TypeError(explain("from_local", "local_tensor", "a plain tensor", "a DTensor"))
        refuse_parts_of_kind(local, "from_local", placements)
        local = plain(local)
    elif local.layout is not _DENSE or local.is_quantized or local.is_nested:  # spelt out, as a call is dearer
        refuse_parts_of_kind(local, "from_local", placements)
    mesh = mesh or pick_mesh(mesh, "from_local")
    key = (mesh, tuple(placements) if placements is not None else None, local.shape)
    layout = _LOCAL_LAYOUTS.get(key) if shape is None and not run_check else None
    if layout is None:
        layout = _layout_of_local(local, mesh, placements, run_check, shape)
        if shape is None and not run_check:
            if len(_LOCAL_LAYOUTS) > 4096:
                _LOCAL_LAYOUTS.clear()
            _LOCAL_LAYOUTS[key] = layout
    if local.requires_grad and torch.is_grad_enabled():
        if grad_placements is not None:
            give: Any = _GiveGrad
            local = give.apply(local, layout.grad, layout.with_placements(grad_placements))
        out = local.as_subclass(DTensor)
    else:
        out = Tensor._make_subclass(DTensor, local)
    out._layout = layout
    return out


def _layout_of_local(
    local: Tensor, mesh: DeviceMesh, placements: Sequence[Placement] | None, run_check: bool, shape: Any
) -> Layout:
    local_shape = tuple(local.shape)
    mesh = pick_mesh(mesh, "from_local")
    given = tuple(placements) if placements is not None else (R,) * mesh.ndim
    places = resolve_placements(mesh, given, len(local_shape))
    if shape is None and run_check and any(isinstance(place, Shard) for place in places):
        return Layout.from_parts(mesh, places, _all_shapes(local, mesh))
    if shape is None:
        shape = list(local_shape)
        for axis, placement in enumerate(places):
            if isinstance(placement, Shard):
                shape[placement.dim] *= mesh.mesh_shape[axis]
    layout = Layout(mesh, places, tuple(shape))
    if layout.local_shape != local_shape:
        raise LayoutError(
            explain("from_local", "the local shape", f"{layout.local_shape} of global {layout.shape}", local_shape)
        )
    return layout


def _all_shapes(local: Tensor, mesh: DeviceMesh) -> list[list[int]]:
    """The shapes of all ranks' parts in row-major order of the mesh; communicates."""
    told = torch.tensor(shape_in_words(local.shape), dtype=torch.int64)
    for axis in reversed(range(mesh.ndim)):
        told = wire.gather_stack(told, mesh, axis)
    return shapes_from_words(told.reshape(mesh.size(), -1).tolist())


class _GiveGrad(torch.autograd.Function):
    """Identity whose gradient is handed on under other placements than it comes in."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, src: Layout, dst: Layout) -> Tensor:
        ctx.layouts = (src, dst)
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        from hyper_parallel.platform.torch.backend import PLATFORM
        from hyper_parallel.redistribute import redistribute_local

        return redistribute_local(PLATFORM, grad, *ctx.layouts), None, None


def expect_grad(local: Tensor, layout: Layout, grad_placements: Sequence[Placement]) -> Tensor:
    """Take in a gradient with `grad_placements` (interception off)."""
    given = layout.with_placements(grad_placements)
    want = layout.grad
    if given is want:
        return local
    for axis, (a, b) in enumerate(zip(given.placements, want.placements, strict=True)):
        if a == b:
            continue
        if isinstance(a, Partial) and isinstance(b, Replicate) and a.reduce_op == "sum":
            local = adjoint.cross(local, layout.mesh, axis)
        elif isinstance(a, Replicate) and isinstance(b, Partial):
            continue
        else:
            raise LayoutError(
                explain("to_local", "grad_placements", f"{want.placements} or Partial()", grad_placements)
            )
    return local


def distribute_tensor(
    tensor: Tensor,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> DTensor:
    """Cut a full tensor that lives on every rank.

    Args:
        tensor: the full tensor. A leaf that requires grad gives a leaf that requires grad.
        device_mesh: the mesh (default: that of the enclosing `with mesh:`).
        placements: one per mesh axis (default: replicated). `Partial` keeps the value on the first rank's part.
        src_data_rank: position (along each axis) of the rank whose data count; None: trust all ranks to hold the same,
            and do not communicate.
    """
    from hyper_parallel.platform.torch.backend import PLATFORM
    from hyper_parallel.redistribute import redistribute_local

    mesh = pick_mesh(device_mesh, "distribute_tensor")
    if not isinstance(tensor, Tensor):
        raise TypeError(explain("distribute_tensor", "the tensor", "a torch.Tensor", type(tensor).__name__))
    if isinstance(tensor, DTensor):
        if tensor._layout.mesh is not mesh:
            raise LayoutError(explain("distribute_tensor", "device_mesh", tensor._layout.mesh, mesh))
        return tensor.redistribute(mesh, placements)
    if refuse_parts_of_kind(tensor, "distribute_tensor", placements) and src_data_rank is not None:
        what = "src_data_rank of a tensor that is not dense"
        raise UnsupportedTensorError(explain("distribute_tensor", what, "None (nothing is sent)", src_data_rank))
    places = tuple(placements) if placements is not None else (R,) * mesh.ndim
    layout = Layout(mesh, places, tuple(tensor.shape))
    leaf = tensor.is_leaf and tensor.requires_grad
    full = tensor.detach() if leaf or not tensor.requires_grad else tensor
    with Off():
        full = plain(full)
        if src_data_rank is not None:
            for axis in range(mesh.ndim):
                full = _from_source(full, mesh, axis, src_data_rank)
        if full.requires_grad:
            local = redistribute_local(PLATFORM, full, Layout.replicated(mesh, layout.shape), layout)
            local = plain(local.view_as(local) if local is full else local)
        else:
            local = slice_full(PLATFORM, full, layout)
            if not layout.is_replicated or local is full:
                local = local.clone(memory_format=torch.contiguous_format) if layout.is_sharded() else local.clone()
            for axis, placement in enumerate(layout.placements):
                if isinstance(placement, Partial):
                    local = adjoint.to_partial(local, mesh, axis, placement.reduce_op).clone()
        out = as_dtensor(plain(local), layout)
    if leaf:
        out.requires_grad_(True)
    return out


def _from_source(full: Tensor, mesh: DeviceMesh, axis: int, source: int) -> Tensor:
    if mesh.mesh_shape[axis] == 1:
        return full
    if full.requires_grad:
        take: Any = _TakeSource
        return take.apply(full, mesh, axis, source)  # type: ignore[no-any-return]
    return wire.broadcast(full, mesh, axis, source)


class _TakeSource(torch.autograd.Function):
    """Broadcast of values; every rank's own tensor gets the (replicated) gradient, as it stands for the same data."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: DeviceMesh, axis: int, source: int) -> Tensor:
        return wire.broadcast(x, mesh, axis, source)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad, None, None, None


def encode_layout(layout: Layout) -> tuple[Any, ...]:
    """A layout as plain data, so that files load with `weights_only=True`."""
    mesh = layout.mesh.to_dict()
    places = [(str(type(p).__name__), *(getattr(p, f) for f in p.__dataclass_fields__)) for p in layout.placements]
    return mesh, places, layout.shape, layout.mesh.get_coordinate()


def decode_layout(data: tuple[Any, ...]) -> Layout:
    """Inverse of `encode_layout`."""
    kinds = {kind.__name__: kind for kind in (Shard, StridedShard, Replicate, Partial)}
    mesh_data, places, shape, saved_at = data
    mesh = DeviceMesh.from_dict(mesh_data)
    if mesh.get_coordinate() != saved_at:
        raise LayoutError(explain("loading a DTensor", "the rank's place in the mesh", saved_at, mesh.get_coordinate()))
    return Layout(mesh, [kinds[name](*fields) for name, *fields in places], shape)


def rebuild(local: Tensor, data: Any, requires_grad: bool, parameter: bool) -> DTensor:
    """Inverse of pickling."""
    layout = data if isinstance(data, Layout) else decode_layout(data)
    with Off():
        out = as_dtensor(local.detach(), layout)
    out.requires_grad_(requires_grad)
    return torch.nn.Parameter(out, requires_grad) if parameter else out  # type: ignore[return-value]


def deepcopy(tensor: DTensor, memo: dict[int, Any]) -> DTensor:
    """`copy.deepcopy` of a leaf, with its gradient."""
    if id(tensor) in memo:
        return memo[id(tensor)]  # type: ignore[no-any-return]
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment."
        )
    with Off():
        local = plain(tensor.detach()).clone()
    out = rebuild(local, tensor._layout, tensor.requires_grad, bool(getattr(tensor, "_is_param", False)))
    grad = tensor.grad
    if grad is not None:
        out.grad = grad.clone()
    memo[id(tensor)] = out
    return out


torch.serialization.add_safe_globals([rebuild])
