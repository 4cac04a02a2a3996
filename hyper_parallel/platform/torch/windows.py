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
"""Moving windows of a cut dim between the ranks of a mesh axis: only what crosses a border is sent.

Two pairs of autograd functions, each the other's backward:
`move_windows` (shard to shard) with `add_windows`, and `fetch_window` (shard to replicated) with `place_window`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd import Function

from hyper_parallel.ops.windows import Interval, Piece, Windows, pieces, width
from hyper_parallel.platform.adjoint import differentiable
from hyper_parallel.platform.torch import wire

Tensor = torch.Tensor
Local = Callable[..., Tensor]


# Looked up when they run: each pair's two sides name each other.
_moved: Local = differentiable(
    Function, lambda x, *where: _move(x, *where), lambda grad, *where: add_windows(grad, *where)
)
_added: Local = differentiable(
    Function, lambda x, *where: _add(x, *where), lambda grad, *where: move_windows(grad, *where)
)
_fetched: Local = differentiable(
    Function, lambda x, *where: _fetch(x, *where), lambda grad, *where: place_window(grad, *where)
)
_placed: Local = differentiable(
    Function, lambda x, *where: _place(x, *where), lambda grad, *where: fetch_window(grad, *where)
)


def move_windows(x: Tensor, mesh: Any, axis: int, dim: int, holds: Windows, wants: Windows) -> Tensor:
    """The positions of `dim` that the own rank wants, in the order of its intervals; collective over the axis.

    Args:
        x: the own part; along `dim` it consists of the positions `holds[rank]`.
        mesh, axis: the ranks that take part.
        dim: the tensor dim, not negative.
        holds: per rank of the axis its intervals; no position is held twice.
        wants: per rank the intervals it gets; they may overlap between ranks and within one.

    Differentiable to any order: gradients of a position wanted several times are added at its holder.
    Nothing is sent, and no collective run, if every rank holds what it wants.
    """
    if torch.is_grad_enabled() and x.requires_grad:
        return _moved(x, mesh, axis, dim, holds, wants)
    return _move(x, mesh, axis, dim, holds, wants)


def add_windows(x: Tensor, mesh: Any, axis: int, dim: int, holds: Windows, wants: Windows) -> Tensor:
    """Adjoint of `move_windows`: parts made of `wants` go back to their holders and are added there (fold)."""
    if torch.is_grad_enabled() and x.requires_grad:
        return _added(x, mesh, axis, dim, holds, wants)
    return _add(x, mesh, axis, dim, holds, wants)


def fetch_window(x: Tensor, mesh: Any, axis: int, dim: int, holds: Windows, window: Sequence[Interval]) -> Tensor:
    """The positions of one window on every rank: a replicated result, whose gradient is equal on all ranks."""
    if torch.is_grad_enabled() and x.requires_grad:
        return _fetched(x, mesh, axis, dim, holds, tuple(window))
    return _fetch(x, mesh, axis, dim, holds, tuple(window))


def place_window(x: Tensor, mesh: Any, axis: int, dim: int, holds: Windows, window: Sequence[Interval]) -> Tensor:
    """Adjoint of `fetch_window`: every holder takes its positions from a replicated window, zeros elsewhere."""
    if torch.is_grad_enabled() and x.requires_grad:
        return _placed(x, mesh, axis, dim, holds, tuple(window))
    return _place(x, mesh, axis, dim, holds, tuple(window))


def _move(x: Tensor, mesh: Any, axis: int, dim: int, holds: Windows, wants: Windows) -> Tensor:
    me = mesh.own_coordinate()[axis]
    plan = pieces(holds, wants)
    own = [p for p in plan if p.target == me]
    if not _communicates(plan):
        return _glue(x, dim, [x.detach().narrow(dim, p.source_at, p.length) for p in own])
    sends = [_glue(x, dim, _cut(x, dim, plan, me, rank, back=False)) for rank in range(len(holds))]
    sizes = [sum(p.length for p in own if p.source == rank != me) for rank in range(len(holds))]
    came = wire.exchange(sends, [_sized(x, dim, size) for size in sizes], mesh, axis)
    at = [0] * len(holds)
    parts = []
    for p in own:
        if p.source == me:
            parts.append(x.detach().narrow(dim, p.source_at, p.length))
        else:
            parts.append(came[p.source].narrow(dim, at[p.source], p.length))
            at[p.source] += p.length
    return _glue(x, dim, parts)


def _add(x: Tensor, mesh: Any, axis: int, dim: int, holds: Windows, wants: Windows) -> Tensor:
    me = mesh.own_coordinate()[axis]
    plan = pieces(holds, wants)
    out = x.new_zeros(_sized(x, dim, width(holds[me])))
    came: list[Tensor] = []
    if _communicates(plan):
        sends = [_glue(x, dim, _cut(x, dim, plan, me, rank, back=True)) for rank in range(len(holds))]
        sizes = [sum(p.length for p in plan if p.source == me and p.target == rank != me) for rank in range(len(holds))]
        came = wire.exchange(sends, [_sized(x, dim, size) for size in sizes], mesh, axis)
    at = [0] * len(holds)
    for p in plan:
        if p.source != me:
            continue
        if p.target == me:
            part = x.detach().narrow(dim, p.target_at, p.length)
        else:
            part = came[p.target].narrow(dim, at[p.target], p.length)
            at[p.target] += p.length
        out.narrow(dim, p.source_at, p.length).add_(part)
    return out


def _fetch(x: Tensor, mesh: Any, axis: int, dim: int, holds: Windows, window: tuple[Interval, ...]) -> Tensor:
    return _move(x, mesh, axis, dim, holds, (window,) * len(holds))


def _place(x: Tensor, mesh: Any, axis: int, dim: int, holds: Windows, window: tuple[Interval, ...]) -> Tensor:
    me = mesh.own_coordinate()[axis]
    out = x.new_zeros(_sized(x, dim, width(holds[me])))
    for p in pieces(holds, (window,)):
        if p.source == me:
            out.narrow(dim, p.source_at, p.length).add_(x.detach().narrow(dim, p.target_at, p.length))
    return out


def _communicates(plan: Sequence[Piece]) -> bool:
    return any(p.source != p.target for p in plan)


def _cut(x: Tensor, dim: int, plan: Sequence[Piece], me: int, rank: int, back: bool) -> list[Tensor]:
    """What this rank sends to another one, in the order of the plan; `back`: from wanter to holder."""
    if rank == me:
        return []
    if back:
        return [x.detach().narrow(dim, p.target_at, p.length) for p in plan if p.target == me and p.source == rank]
    return [x.detach().narrow(dim, p.source_at, p.length) for p in plan if p.source == me and p.target == rank]


def _glue(x: Tensor, dim: int, parts: Sequence[Tensor]) -> Tensor:
    """The parts joined along `dim` in new memory; none: an empty tensor like `x`."""
    if not parts:
        return x.new_empty(_sized(x, dim, 0))
    whole = parts[0].clone(memory_format=torch.contiguous_format) if len(parts) == 1 else torch.cat(list(parts), dim)
    return wire.dense(whole)


def _sized(x: Tensor, dim: int, size: int) -> list[int]:
    return [size if d == dim else n for d, n in enumerate(x.shape)]
