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
"""Sorting and selecting along a cut dim: exact splitters are agreed on, then only what changes its rank is sent.

The order is that of (value, position), so it is stable; NaN comes last. A rank tells the position of what it sends by
one bit for each of its elements, which is less than an index for each element sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch
from torch.autograd import Function

from hyper_parallel.errors import explain
from hyper_parallel.ops.splitting import integers_up_to, rounds_at_most
from hyper_parallel.platform.torch import adjoint, wire

Tensor = torch.Tensor
_BITS = {
    torch.float64: torch.int64,
    torch.float32: torch.int32,
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
}


def sort_keys(x: Tensor, descending: bool) -> Tensor:
    """Integers in the order in which `torch.sort` puts the elements; equal (or NaN) elements have equal ones."""
    if x.dtype in _BITS:
        bits = (x + 0.0).contiguous().view(_BITS[x.dtype])  # -0.0 becomes 0.0
        top = torch.iinfo(bits.dtype).max
        keys = torch.where(bits < 0, bits ^ top, bits).masked_fill(x.isnan(), top)
    else:
        keys = x.to(torch.int16) if x.dtype in {torch.bool, torch.uint8} else x
    return ~keys if descending else keys


def index_dtype(longest: int) -> torch.dtype:
    """The smallest integers on the wire that count up to `longest`."""
    found: torch.dtype = getattr(torch, integers_up_to(longest))
    return found


def split_lines(keys: Tensor, targets: Tensor, mesh: Any, axis: int, sizes: Sequence[int]) -> Tensor:
    """How many of every rank's keys are among the first `targets[line, t]` of a line: (ranks, lines, t).

    Args:
        keys: (lines, own positions), sorted; equal keys count in the order of ranks.
        targets: (lines, t), between 0 and the sum of `sizes`.
        mesh, axis, sizes: the ranks that share the lines, and how many positions each has.

    Each round compares with a weighted median of the ranks' middles, which settles a quarter of what is open or more.
    """
    me, ranks = mesh.own_coordinate()[axis], len(sizes)
    narrow = index_dtype(max(sizes))
    row = torch.arange(ranks).unsqueeze(1)
    low = torch.zeros((ranks, *targets.shape), dtype=torch.int64)
    high = torch.tensor(sizes).reshape(-1, 1, 1).expand_as(low).clone()
    keys = keys.contiguous()
    filled = keys if sizes[me] else keys.new_zeros((keys.shape[0], 1))
    for _ in range(rounds_at_most(sum(sizes))):
        width = high - low
        active = width.sum(0) > 0
        if not active.any():
            return low
        middle = (low + high) // 2
        own = filled.gather(1, middle[me].clamp(max=filled.shape[1] - 1))
        offers = wire.gather_stack(own[active], mesh, axis)
        order = offers.sort(stable=True, dim=0).indices
        share = width[:, active].gather(0, order).cumsum(0)
        chosen = order.gather(0, (2 * share < share[-1:]).sum(0, keepdim=True))
        pivots = torch.zeros_like(own)
        pivots[active] = offers.gather(0, chosen)[0]
        mine = torch.searchsorted(keys, pivots)[active]
        upto = torch.searchsorted(keys, pivots, right=True)[active]
        place = middle[:, active].gather(0, chosen)[0]
        mine = torch.where(me < chosen[0], upto, torch.where(me == chosen[0], place + 1, mine))
        counts = wire.gather_stack(mine.to(narrow), mesh, axis).to(torch.int64)
        have, want = counts.sum(0), targets[active]
        few = have <= want
        least, most = low[:, active], high[:, active]
        low[:, active] = torch.where(few, torch.maximum(least, counts), least)
        rest = torch.where(few, most, torch.minimum(most, counts - (row == chosen).to(torch.int64)))
        high[:, active] = torch.where(have == want, counts, rest)
    raise RuntimeError(explain("sort", "the ranks' counts", "of one sorted sequence", "others"))


class _Carry(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, source: Tensor, target: Tensor, *where: Any) -> Tensor:
        ctx.where = (target, source, *where)
        return _carry(x.detach(), source, target, *where)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return carry(grad, *ctx.where), *(None,) * 5


def carry(x: Tensor, source: Tensor, target: Tensor, mesh: Any, axis: int, moves: bool) -> Tensor:
    """Every element goes to the rank that `source` tells; `target` tells which rank each element of the result is from.

    Between two ranks the order stays. `moves` is false where every element stays on its rank, on all ranks.
    """
    if torch.is_grad_enabled() and x.requires_grad:
        taped: Any = _Carry
        return taped.apply(x, source, target, mesh, axis, moves)  # type: ignore[no-any-return]
    return _carry(x, source, target, mesh, axis, moves)


def _carry(x: Tensor, source: Tensor, target: Tensor, mesh: Any, axis: int, moves: bool) -> Tensor:
    me, ranks = mesh.own_coordinate()[axis], mesh.mesh_shape[axis]
    came = [x[source == me]] * ranks
    if moves:
        parts = [wire.dense(x[source == rank]) if rank != me else x.new_empty(0) for rank in range(ranks)]
        shapes = [[int((target == rank).sum()) if rank != me else 0] for rank in range(ranks)]
        came = wire.exchange(parts, shapes, mesh, axis)
        came[me] = x[source == me]
    result = x.new_empty(target.shape)
    for rank in range(ranks):
        if moves or rank == me:
            result[target == rank] = came[rank]
    return result


def swap_masks(goals: Tensor, amounts: Tensor, mesh: Any, axis: int, sizes: Sequence[int]) -> Tensor:
    """Which of all ranks' positions are for the own rank: (lines, all positions).

    `amounts[i, j]`, which all ranks know, is how many elements go from i to j: for none and all no flags are sent.
    """
    me, ranks = mesh.own_coordinate()[axis], len(sizes)
    lines = goals.shape[0]
    told = [[0 < int(amounts[i, j]) < lines * sizes[i] and i != j for j in range(ranks)] for i in range(ranks)]
    nothing = torch.empty(0, dtype=torch.uint8)
    parts = [pack(goals == rank) if told[me][rank] else nothing for rank in range(ranks)]
    lengths = [-(-lines * size // 8) if told[rank][me] else 0 for rank, size in enumerate(sizes)]
    came = wire.exchange(parts, [[length] for length in lengths], mesh, axis)
    masks = []
    for rank, size in enumerate(sizes):
        if rank == me:
            masks.append(goals == me)
        elif told[rank][me]:
            masks.append(unpack(came[rank], lines * size).reshape(lines, size))
        else:
            masks.append(torch.full((lines, size), bool(amounts[rank, me]), dtype=torch.bool))
    return torch.cat(masks, 1)


def pack(mask: Tensor) -> Tensor:
    """Eight flags a byte."""
    flat = torch.nn.functional.pad(mask.reshape(-1).to(torch.uint8), (0, -mask.numel() % 8)).reshape(-1, 8)
    return (flat << torch.arange(8, dtype=torch.uint8)).sum(1, dtype=torch.uint8)


def unpack(packed: Tensor, count: int) -> Tensor:
    """The first `count` flags of what `pack` made."""
    return ((packed.unsqueeze(1) >> torch.arange(8, dtype=torch.uint8)) & 1).reshape(-1)[:count].to(torch.bool)


def _lines(x: Tensor, dim: int) -> Tensor:
    moved = x.movedim(dim, -1)
    return moved.reshape(moved.shape[:-1].numel(), moved.shape[-1])


def _from_lines(lines: Tensor, x: Tensor, dim: int) -> Tensor:
    moved = x.movedim(dim, -1)
    return lines.reshape(*moved.shape[:-1], lines.shape[1]).movedim(-1, dim)


def sort_cut(
    x: Tensor, dim: int, descending: bool, mesh: Any, axis: int, sizes: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """The own part of (sorted values, global indices) along a dim cut by `axis` into `sizes`; stable."""
    me = mesh.own_coordinate()[axis]
    lines = _lines(x, dim)
    keys, order = sort_keys(lines.detach(), descending).sort(stable=True, dim=-1)
    ends = torch.tensor(list(accumulate(sizes)))
    cuts = split_lines(keys, ends[:-1].expand(lines.shape[0], -1), mesh, axis, sizes)
    goals = torch.searchsorted(
        cuts[me].contiguous(), torch.arange(sizes[me]).expand(lines.shape[0], -1).contiguous(), right=True
    )
    goals = torch.empty_like(goals).scatter_(1, order, goals)
    edges = torch.cat(
        [torch.zeros_like(cuts[..., :1]), cuts, torch.tensor(sizes).reshape(-1, 1, 1).expand_as(cuts)[..., :1]], -1
    )
    amounts = edges.diff(dim=-1).sum(1)
    moves = bool((amounts.sum() - amounts.diagonal().sum()) > 0)
    if moves:
        found = swap_masks(goals, amounts, mesh, axis, sizes).nonzero()[:, 1].reshape(lines.shape[0], sizes[me])
    else:
        found = (torch.arange(sizes[me]) + sum(sizes[:me])).expand(lines.shape[0], -1)
    origins = torch.searchsorted(ends, found.contiguous(), right=True)
    values = carry(lines, goals, origins, mesh, axis, moves)
    order = sort_keys(values.detach(), descending).sort(stable=True, dim=-1).indices
    return _from_lines(values.gather(1, order), x, dim), _from_lines(found.gather(1, order), x, dim)


def kth_cut(x: Tensor, dim: int, which: int | str, mesh: Any, axis: int, sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """(value, global index) of one element of every line, on all ranks; `dim` stays with size 1.

    `which` counts from 1 (kthvalue) or is `median` (NaN where there is one) or `nanmedian`.
    """
    me, total = mesh.own_coordinate()[axis], sum(sizes)
    lines = _lines(x, dim)
    keys, order = sort_keys(lines.detach(), False).sort(stable=True, dim=-1)
    if isinstance(which, str):
        wrong = torch.zeros((lines.shape[0], 1), dtype=torch.int32)
        if x.is_floating_point():
            wrong = wire.all_reduce(lines.detach().isnan().sum(1, keepdim=True, dtype=torch.int32), mesh, axis, "sum")
        good = total - wrong.to(torch.int64)
        middle = ((good - 1) // 2).clamp(min=0)
        target = torch.where(wrong > 0, good, middle) if which == "median" else middle
    else:
        target = torch.full((lines.shape[0], 1), which - 1, dtype=torch.int64)
    cuts = split_lines(keys, target, mesh, axis, sizes)[..., 0]
    if sizes[me]:
        place = order.gather(1, cuts[me].clamp(max=sizes[me] - 1).unsqueeze(1))
        value = lines.gather(1, place)
    else:
        place, value = torch.zeros_like(target), lines.sum(1, keepdim=True).to(x.dtype)
    ones = (1,) * len(sizes)
    values = adjoint.all_gather(value, mesh, axis, 1, ones)
    places = wire.all_gather(place.to(index_dtype(max(sizes))), mesh, axis, 1, ones).to(torch.int64)
    spent = (cuts >= torch.tensor(sizes).unsqueeze(1)).T
    ranked = sort_keys(values.detach(), False).sort(stable=True, dim=-1).indices
    first = spent.gather(1, ranked).to(torch.uint8).sort(stable=True, dim=-1).indices[:, :1]
    best = ranked.gather(1, first)
    starts = torch.tensor([0, *accumulate(sizes)])[best]
    return _from_lines(values.gather(1, best), x, dim), _from_lines(places.gather(1, best) + starts, x, dim)


def topk_cut(
    x: Tensor, k: int, dim: int, largest: bool, mesh: Any, axis: int, sizes: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """(values, global indices) of the k largest or smallest along a cut dim, in order, on all ranks."""
    me = mesh.own_coordinate()[axis]
    counts = [min(k, size) for size in sizes]
    part = torch.topk(x, counts[me], dim, largest, True)
    values = adjoint.all_gather(part.values, mesh, axis, dim, counts)
    index = wire.all_gather(part.indices.to(index_dtype(max(sizes))), mesh, axis, dim, counts).to(torch.int64)
    starts = torch.tensor([start for start, n in zip(accumulate([0, *sizes]), counts, strict=False) for _ in range(n)])
    index = index + starts.reshape([-1 if d == dim else 1 for d in range(x.dim())])
    best = torch.topk(values.detach(), k, dim, largest, True).indices
    return values.gather(dim, best), index.gather(dim, best)


class OrderKernels:
    """Mixed into the platform object."""

    sort_cut = staticmethod(sort_cut)
    kth_cut = staticmethod(kth_cut)
    topk_cut = staticmethod(topk_cut)
