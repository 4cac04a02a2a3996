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
"""Raw collectives on plain tensors: no gradient, uneven sizes, every dtype, axes of one rank for free.

gloo lacks int16, wider unsigned integers, 8-bit floats and reductions of bool; moves go through bytes, reductions
through wider integers there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist

from hyper_parallel import report
from hyper_parallel.mesh import DeviceMesh

_REDUCE = {"sum": dist.ReduceOp.SUM, "max": dist.ReduceOp.MAX, "min": dist.ReduceOp.MIN, "prod": dist.ReduceOp.PRODUCT}
_GATHER = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor  # the latter is deprecated in 2.13
_KNOWN = {
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex32, torch.complex64, torch.complex128,
    torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool,
}  # fmt: skip
_WIDEN = {
    torch.int16: torch.int32, torch.bool: torch.uint8, torch.uint16: torch.int32, torch.uint32: torch.int64,
}  # fmt: skip
_LOCAL_REDUCE: dict[str, Callable[..., torch.Tensor]] = {
    "sum": torch.sum,
    "max": torch.amax,
    "min": torch.amin,
    "prod": torch.prod,
}


def dense(x: torch.Tensor) -> torch.Tensor:
    """A contiguous plain tensor with conjugation and sign resolved, without history."""
    return x.detach().resolve_conj().resolve_neg().contiguous()


def all_reduce(x: torch.Tensor, mesh: DeviceMesh, axis: int, op: str) -> torch.Tensor:
    """A new tensor: the reduction of all ranks' `x` along a mesh axis (op: sum, avg, max, min, prod)."""
    peers = mesh.mesh_shape[axis]
    if op == "avg":
        return all_reduce(x, mesh, axis, "sum") / peers
    if peers == 1:
        return dense(x).clone()
    if x.is_complex() and op == "prod":
        return torch.prod(gather_stack(x, mesh, axis), 0)
    work = dense(x).to(_WIDEN[x.dtype]) if x.dtype in _WIDEN else dense(x).clone()
    report.sent("all_reduce", 2 * work.numel() * work.element_size() * (peers - 1) // peers)
    if work.numel():
        dist.all_reduce(work, _REDUCE[op], group=mesh.groups[axis])
    return work.to(x.dtype)


def gather_stack(x: torch.Tensor, mesh: DeviceMesh, axis: int) -> torch.Tensor:
    """All ranks' `x` (equal shapes), stacked in a new first dim."""
    return all_gather(x.unsqueeze(0), mesh, axis, 0, [1] * mesh.mesh_shape[axis])


def all_gather(x: torch.Tensor, mesh: DeviceMesh, axis: int, dim: int, sizes: Sequence[int]) -> torch.Tensor:
    """All ranks' `x` joined along `dim`; `sizes` are their lengths there."""
    peers = mesh.mesh_shape[axis]
    if peers == 1:
        return dense(x).clone()
    longest = max(sizes)
    local = dense(x)
    if local.shape[dim] < longest:
        pad = list(local.shape)
        pad[dim] = longest - pad[dim]
        local = torch.cat([local, local.new_zeros(pad)], dim)
    report.sent("all_gather", local.numel() * local.element_size() * (peers - 1))
    out = torch.empty((peers, *local.shape), dtype=local.dtype, device=local.device)
    if out.numel():
        _GATHER(_raw(out), _raw(local), group=mesh.groups[axis])
    return torch.cat([part.narrow(dim, 0, size) for part, size in zip(out, sizes, strict=True)], dim)


def all_to_all(
    x: torch.Tensor,
    mesh: DeviceMesh,
    axis: int,
    cut_dim: int,
    cut_sizes: Sequence[int],
    cat_dim: int,
    cat_sizes: Sequence[int],
) -> torch.Tensor:
    """Cut `x` along `cut_dim`, send part i to rank i, join what comes along `cat_dim`."""
    peers = mesh.mesh_shape[axis]
    if peers == 1:
        return dense(x).clone()
    me = mesh.own_coordinate()[axis]
    parts = [dense(part) for part in torch.split_with_sizes(dense(x), list(cut_sizes), cut_dim)]
    shapes = []
    for size in cat_sizes:
        shape = list(x.shape)
        shape[cut_dim], shape[cat_dim] = cut_sizes[me], size
        shapes.append(shape)
    received = exchange(parts, shapes, mesh, axis)
    return torch.cat(received, cat_dim)


def exchange(
    parts: Sequence[torch.Tensor], shapes: Sequence[Sequence[int]], mesh: DeviceMesh, axis: int
) -> list[torch.Tensor]:
    """Send `parts[i]` to rank i of the axis; receive tensors of the given shapes."""
    like = parts[0]
    width = like.element_size()
    counts = [torch.Size(shape).numel() for shape in shapes]
    send = torch.cat([_bytes(part) for part in parts])
    out = torch.empty(sum(counts) * width, dtype=torch.uint8, device=like.device)
    me = mesh.own_coordinate()[axis]
    report.sent("all_to_all", (send.numel() - parts[me].numel() * width))
    dist.all_to_all_single(
        out, send, [n * width for n in counts], [part.numel() * width for part in parts], group=mesh.groups[axis]
    )
    chunks = torch.split_with_sizes(out, [n * width for n in counts])
    return [_unbytes(c, like.dtype).reshape(list(s)) for c, s in zip(chunks, shapes, strict=True)]


def reduce_scatter(
    x: torch.Tensor, mesh: DeviceMesh, axis: int, dim: int, sizes: Sequence[int], op: str
) -> torch.Tensor:
    """The own part (along `dim`) of the reduction of all ranks' `x`; terms are added in rank order."""
    peers = mesh.mesh_shape[axis]
    if op == "avg":
        return reduce_scatter(x, mesh, axis, dim, sizes, "sum") / peers
    if peers == 1:
        return dense(x).clone()
    me = mesh.own_coordinate()[axis]
    parts = [dense(part) for part in torch.split_with_sizes(dense(x), list(sizes), dim)]
    received = torch.stack(exchange(parts, [parts[me].shape] * peers, mesh, axis))
    return _LOCAL_REDUCE[op](received, 0).to(x.dtype)


def broadcast(x: torch.Tensor, mesh: DeviceMesh, axis: int, source: int) -> torch.Tensor:
    """Rank `source` of the axis's own `x`, on every rank of the axis."""
    peers = mesh.mesh_shape[axis]
    work = dense(x).clone()
    if peers > 1 and work.numel():
        report.sent("broadcast", work.numel() * work.element_size())
        dist.broadcast(_raw(work), mesh.ranks_along(axis)[source], group=mesh.groups[axis])
    return work


def _raw(x: torch.Tensor) -> torch.Tensor:
    """The same memory in a dtype that the wire knows (contiguous input)."""
    return _bytes(x) if x.dtype not in _KNOWN else _flat(x)


def _bytes(x: torch.Tensor) -> torch.Tensor:
    return _flat(x).view(torch.uint8)


def _flat(x: torch.Tensor) -> torch.Tensor:
    """All elements in one dim of stride 1; a tensor of one element may be contiguous with any stride."""
    flat = x.reshape(-1)
    return flat if flat.stride(0) == 1 else torch.empty_like(flat, memory_format=torch.contiguous_format).copy_(flat)


def _unbytes(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    if x.storage_offset() * x.element_size() % max(1, torch.empty(0, dtype=dtype).element_size()):
        x = x.clone()
    return x.view(dtype)
