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
"""Order along a cut dim; `hyper_parallel.platform.torch.kernels_order` tells the meaning and what is sent.

Where elements go is computed with numpy. What moves is a permutation of all elements: its adjoint is its inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint
from mindspore.common._grad_function import _Function
from numpy.typing import NDArray

from hyper_parallel.errors import explain
from hyper_parallel.ops.splitting import integers_up_to, rounds_at_most
from hyper_parallel.platform.mindspore import adjoint, native, wire
from hyper_parallel.platform.mindspore.rows import moved_to

Array = NDArray[Any]
_BITS: dict[Any, Any] = {np.dtype(np.float64): np.int64, np.dtype(np.float32): np.int32, np.dtype(np.float16): np.int16}


def sort_keys(x: Array, descending: bool) -> Array:
    """Integers in sorting order: NaN last, equal elements (and all NaN) equal."""
    if x.dtype in _BITS:
        kind = _BITS[x.dtype]
        bits = np.ascontiguousarray(x + x.dtype.type(0)).view(kind)  # -0.0 becomes 0.0
        top = np.iinfo(kind).max
        keys = np.where(np.isnan(x), top, np.where(bits < 0, bits ^ top, bits))
    else:
        keys = x.astype(np.int16) if x.dtype in (np.bool_, np.uint8) else x
    return np.asarray(~keys if descending else keys)


def index_dtype(longest: int) -> Any:
    """The smallest integers on the wire that count up to `longest`."""
    return getattr(np, integers_up_to(longest))


def _stack(x: Array, mesh: Any, axis: int) -> Array:
    return np.stack(wire._gather_host(np.ascontiguousarray(x), mesh, axis))


def split_lines(keys: Array, targets: Array, mesh: Any, axis: int, sizes: Sequence[int]) -> Array:
    """How many of every rank's keys are among the first `targets[line, t]` of a line: (ranks, lines, t).

    Args:
        keys: (lines, own positions), sorted; equal keys count in the order of ranks.
        targets: (lines, t), between 0 and the sum of `sizes`.
        mesh, axis, sizes: the ranks that share the lines, and how many positions each has.

    Each round compares with a weighted median of the ranks' middles, which settles a quarter of what is open or more.
    """
    me, ranks = mesh.own_coordinate()[axis], len(sizes)
    row = np.arange(ranks)[:, None]
    low = np.zeros((ranks, *targets.shape), np.int64)
    high = np.broadcast_to(np.array(sizes, np.int64).reshape(-1, 1, 1), low.shape).copy()
    for _ in range(rounds_at_most(sum(sizes))):
        width = high - low
        active = width.sum(0) > 0
        if not active.any():
            return low
        middle = (low + high) // 2
        own = np.take_along_axis(keys, np.minimum(middle[me], keys.shape[1] - 1), 1)
        offers = _stack(own[active], mesh, axis)
        order = np.argsort(offers, 0, kind="stable")
        share = np.take_along_axis(width[:, active], order, 0).cumsum(0)
        chosen = np.take_along_axis(order, (2 * share < share[-1:]).sum(0, keepdims=True), 0)
        pivots = np.zeros_like(own)
        pivots[active] = np.take_along_axis(offers, chosen, 0)[0]
        mine = (keys[:, None, :] < pivots[..., None]).sum(-1)[active]
        upto = (keys[:, None, :] <= pivots[..., None]).sum(-1)[active]
        place = np.take_along_axis(middle[:, active], chosen, 0)[0]
        mine = np.where(me < chosen[0], upto, np.where(me == chosen[0], place + 1, mine))
        counts = _stack(mine.astype(index_dtype(max(sizes))), mesh, axis).astype(np.int64)
        have, want = counts.sum(0), targets[active]
        least, most = low[:, active], high[:, active]
        low[:, active] = np.where(have <= want, np.maximum(least, counts), least)
        rest = np.where(have <= want, most, np.minimum(most, counts - (row == chosen)))
        high[:, active] = np.where(have == want, counts, rest)
    raise RuntimeError(explain("sort", "the ranks' counts", "of one sorted sequence", "others"))


class _Moves:
    """How the elements of lines get to where they belong."""

    def __init__(self, source: Array, target: Array, mesh: Any, axis: int, moves: bool) -> None:
        self.source, self.target, self.mesh, self.axis, self.moves = source, target, mesh, axis, moves
        self.order = np.zeros(0, np.int64)
        """Within the own lines, afterwards."""

    def carry(self, x: Array, source: Array, target: Array) -> Array:
        """Every element goes to the rank that `source` tells; `target` tells from which rank each of the result is."""
        me, ranks = self.mesh.own_coordinate()[self.axis], self.mesh.mesh_shape[self.axis]
        came = [x[source == me]] * ranks
        if self.moves:
            parts = [x[source == rank] if rank != me else x.reshape(-1)[:0] for rank in range(ranks)]
            shapes = [[int((target == rank).sum()) if rank != me else 0] for rank in range(ranks)]
            came = wire._exchange_host(parts, shapes, self.mesh, self.axis)
            came[me] = x[source == me]
        result = np.empty(target.shape, x.dtype)
        for rank in range(ranks) if self.moves else (me,):
            result[target == rank] = came[rank]
        return result

    def run(self, x: Array, back: bool) -> Array:
        """Carry and order, or the inverse."""
        if not back:
            return np.take_along_axis(self.carry(x, self.source, self.target), self.order, 1)
        unordered = np.empty_like(x)
        np.put_along_axis(unordered, self.order, x, 1)
        return self.carry(unordered, self.target, self.source)


class _Permute(_Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Tensor, moves: _Moves, back: bool) -> Tensor:
        ctx.where = (moves, back)
        return wire.from_host(moves.run(wire.to_host(x), back), x.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        moves, back = ctx.where
        return _permuted(grad, moves, not back), None, None


def _permuted(x: Tensor, moves: _Moves, back: bool) -> Tensor:
    if adjoint.taped(x):
        return _Permute.apply(x, moves, back)
    return wire.from_host(moves.run(wire.to_host(x), back), x.dtype)


def _swap_masks(goals: Array, amounts: Array, mesh: Any, axis: int, sizes: Sequence[int]) -> Array:
    """Which of all ranks' positions are for the own rank: (lines, all positions).

    `amounts[i, j]`, which all ranks know, is how many elements go from i to j: for none and all no flags are sent.
    """
    me, ranks, lines = mesh.own_coordinate()[axis], len(sizes), goals.shape[0]
    told = [[0 < amounts[i, j] < lines * sizes[i] and i != j for j in range(ranks)] for i in range(ranks)]
    nothing = np.empty(0, np.uint8)
    parts = [np.packbits(goals == rank) if told[me][rank] else nothing for rank in range(ranks)]
    lengths = [-(-lines * size // 8) if told[rank][me] else 0 for rank, size in enumerate(sizes)]
    came = wire._exchange_host(parts, [[length] for length in lengths], mesh, axis)
    masks = []
    for rank, size in enumerate(sizes):
        if rank == me:
            masks.append(goals == me)
        elif told[rank][me]:
            masks.append(np.unpackbits(came[rank], count=lines * size).reshape(lines, size).astype(np.bool_))
        else:
            masks.append(np.full((lines, size), bool(amounts[rank, me])))
    return np.concatenate(masks, 1)


def _lines(x: Tensor, dim: int) -> Tensor:
    return mint.reshape(moved_to(x, dim, -1), (-1, x.shape[dim]))


def _from_lines(lines: Tensor, x: Tensor, dim: int) -> Tensor:
    rest = [n for d, n in enumerate(x.shape) if d != dim]
    return moved_to(mint.reshape(lines, (*rest, lines.shape[1])), -1, dim)


def sort_cut(
    x: Tensor, dim: int, descending: bool, mesh: Any, axis: int, sizes: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """The own part of (sorted values, global indices) along a dim cut by `axis` into `sizes`; stable."""
    me, lines = mesh.own_coordinate()[axis], _lines(x, dim)
    count, ends = lines.shape[0], np.array(list(accumulate(sizes)))
    unsorted = sort_keys(wire.to_host(lines), descending)
    order = np.argsort(unsorted, -1, kind="stable")
    keys = np.take_along_axis(unsorted, order, 1)
    cuts = split_lines(keys, np.broadcast_to(ends[:-1], (count, len(sizes) - 1)), mesh, axis, sizes)
    ranked = (cuts[me][:, None, :] <= np.arange(sizes[me])[None, :, None]).sum(-1)
    goals = np.empty_like(ranked)
    np.put_along_axis(goals, order, ranked, 1)
    full = np.broadcast_to(np.array(sizes).reshape(-1, 1, 1), (len(sizes), count, 1))
    amounts = np.diff(np.concatenate([np.zeros_like(full), cuts, full], -1), axis=-1).sum(1)
    moves = bool(amounts.sum() > np.trace(amounts))
    if moves:
        found = np.nonzero(_swap_masks(goals, amounts, mesh, axis, sizes))[1].reshape(count, sizes[me])
    else:
        found = np.broadcast_to(np.arange(sizes[me]) + sum(sizes[:me]), (count, sizes[me]))
    plan = _Moves(goals, np.searchsorted(ends, found, side="right"), mesh, axis, moves)
    came = plan.carry(unsorted, goals, plan.target)
    plan.order = np.argsort(came, -1, kind="stable")
    values = _permuted(lines, plan, False)
    return _from_lines(values, x, dim), _from_lines(Tensor(np.take_along_axis(found, plan.order, 1)), x, dim)


def kth_cut(x: Tensor, dim: int, which: int | str, mesh: Any, axis: int, sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """(value, global index) of one element of every line, on all ranks; `dim` stays with size 1.

    `which` counts from 1 (kthvalue) or is `median` (NaN where there is one) or `nanmedian`.
    """
    me, total, lines = mesh.own_coordinate()[axis], sum(sizes), _lines(x, dim)
    host, count = wire.to_host(lines), lines.shape[0]
    unsorted = sort_keys(host, False)
    order = np.argsort(unsorted, -1, kind="stable")
    if isinstance(which, str):
        wrong = np.zeros((count, 1), np.int32)
        if host.dtype.kind == "f":
            wrong = _stack(np.isnan(host).sum(1, keepdims=True, dtype=np.int32), mesh, axis).sum(0)
        good = total - wrong.astype(np.int64)
        middle = np.maximum((good - 1) // 2, 0)
        target = np.where(wrong > 0, good, middle) if which == "median" else middle
    else:
        target = np.full((count, 1), which - 1, np.int64)
    cuts = split_lines(np.take_along_axis(unsorted, order, 1), target, mesh, axis, sizes)[..., 0]
    place = np.take_along_axis(order, np.minimum(cuts[me], sizes[me] - 1)[:, None], 1)
    ones = (1,) * len(sizes)
    values = adjoint.all_gather(_picked(lines, place), mesh, axis, 1, ones)
    places = _stack(place[:, 0].astype(index_dtype(max(sizes))), mesh, axis).T.astype(np.int64)
    spent = (cuts >= np.array(sizes)[:, None]).T
    ranked = np.argsort(sort_keys(wire.to_host(values), False), -1, kind="stable")
    first = np.argsort(np.take_along_axis(spent, ranked, 1).astype(np.uint8), -1, kind="stable")[:, :1]
    best = np.take_along_axis(ranked, first, 1)
    index = np.take_along_axis(places, best, 1) + np.array([0, *accumulate(sizes)])[best]
    return _from_lines(_picked(values, best), x, dim), _from_lines(Tensor(index), x, dim)


def picked(x: Tensor, index: Tensor, dim: int) -> Tensor:
    """Elements at places along a dim; bfloat16, for which the CPU has no such kernel, by way of single precision."""
    kind = x.dtype
    return mint.gather(x.float(), dim, index).astype(kind) if kind == ms.bfloat16 else mint.gather(x, dim, index)


def _picked(lines: Tensor, place: Array) -> Tensor:
    return picked(lines, Tensor(np.ascontiguousarray(place)), 1)


def topk_cut(
    x: Tensor, k: int, dim: int, largest: bool, mesh: Any, axis: int, sizes: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """(values, global indices) of the k largest or smallest along a cut dim, in order, on all ranks."""
    lines, counts = _lines(x, dim), [min(k, size) for size in sizes]
    own = counts[mesh.own_coordinate()[axis]]
    values, index = native.call_plain("topk", (lines, own, 1, largest, True), {})
    values = adjoint.all_gather(values, mesh, axis, 1, counts)
    sent = Tensor(wire.to_host(index).astype(index_dtype(max(sizes))))
    places = wire.to_host(wire.all_gather(sent, mesh, axis, 1, counts)).astype(np.int64)
    places = places + np.repeat(np.array(list(accumulate([0, *sizes]))[:-1]), counts)
    best = np.argsort(sort_keys(wire.to_host(values), largest), -1, kind="stable")[:, :k]
    return (
        _from_lines(_picked(values, best), x, dim),
        _from_lines(Tensor(np.take_along_axis(places, best, 1)), x, dim),
    )


class OrderKernels:
    """Mixed into the platform object."""

    sort_cut = staticmethod(sort_cut)
    kth_cut = staticmethod(kth_cut)
    topk_cut = staticmethod(topk_cut)
