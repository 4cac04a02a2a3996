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

Two pairs of autograd functions, each the other's backward: `move_windows` with `add_windows`, `fetch_window` with
`place_window`. The meaning of the arguments is told in `hyper_parallel.ops.windows`; values travel as numpy arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mindspore import Tensor
from mindspore.common._grad_function import _Function
from numpy.typing import NDArray

from hyper_parallel.ops.windows import Interval, Piece, Windows, pieces, width
from hyper_parallel.platform.adjoint import differentiable
from hyper_parallel.platform.mindspore import adjoint, wire

# Looked up when they run: each pair's two sides name each other.
_moved = differentiable(
    _Function, lambda x, *where: _on_host(_move, x, where), lambda grad, *where: add_windows(grad, *where)
)
_added = differentiable(
    _Function, lambda x, *where: _on_host(_add, x, where), lambda grad, *where: move_windows(grad, *where)
)
_fetched = differentiable(
    _Function, lambda x, *where: _on_host(_fetch, x, where), lambda grad, *where: place_window(grad, *where)
)
_placed = differentiable(
    _Function, lambda x, *where: _on_host(_place, x, where), lambda grad, *where: fetch_window(grad, *where)
)


def _run(recorded: Callable[..., Any], plain: Callable[..., Any], x: Tensor, where: tuple[Any, ...]) -> Tensor:
    if adjoint.taped(x):
        return recorded(x, *where)
    return _on_host(plain, x, where)


def _on_host(plain: Callable[..., Any], x: Tensor, where: tuple[Any, ...]) -> Tensor:
    return wire.from_host(plain(wire.to_host(x), *where), x.dtype)


def move_windows(x: Tensor, mesh: Any, axis: int, dim: int, holds: Windows, wants: Windows) -> Tensor:
    """The positions of `dim` that the own rank wants, in the order of its intervals; collective over the axis."""
    return _run(_moved, _move, x, (mesh, axis, dim, holds, wants))


def add_windows(x: Tensor, mesh: Any, axis: int, dim: int, holds: Windows, wants: Windows) -> Tensor:
    """Adjoint of `move_windows`: parts made of `wants` go back to their holders and are added there."""
    return _run(_added, _add, x, (mesh, axis, dim, holds, wants))


def fetch_window(x: Tensor, mesh: Any, axis: int, dim: int, holds: Windows, window: Sequence[Interval]) -> Tensor:
    """The positions of one window on every rank: a replicated result, whose gradient is equal on all ranks."""
    return _run(_fetched, _fetch, x, (mesh, axis, dim, holds, tuple(window)))


def place_window(x: Tensor, mesh: Any, axis: int, dim: int, holds: Windows, window: Sequence[Interval]) -> Tensor:
    """Adjoint of `fetch_window`: every holder takes its positions from a replicated window, zeros elsewhere."""
    return _run(_placed, _place, x, (mesh, axis, dim, holds, tuple(window)))


def _move(x: NDArray[Any], mesh: Any, axis: int, dim: int, holds: Windows, wants: Windows) -> NDArray[Any]:
    me = mesh.own_coordinate()[axis]
    plan = pieces(holds, wants)
    own = [p for p in plan if p.target == me]
    came: list[NDArray[Any]] = []
    if _communicates(plan):
        sends = [_glue(x, dim, _cut(x, dim, plan, me, rank, back=False)) for rank in range(len(holds))]
        sizes = [sum(p.length for p in own if p.source == rank != me) for rank in range(len(holds))]
        came = wire._exchange_host(sends, [_sized(x, dim, size) for size in sizes], mesh, axis)
    at = [0] * len(holds)
    parts = []
    for p in own:
        if p.source == me:
            parts.append(_range(x, dim, p.source_at, p.length))
        else:
            parts.append(_range(came[p.source], dim, at[p.source], p.length))
            at[p.source] += p.length
    return _glue(x, dim, parts)


def _add(x: NDArray[Any], mesh: Any, axis: int, dim: int, holds: Windows, wants: Windows) -> NDArray[Any]:
    me = mesh.own_coordinate()[axis]
    plan = pieces(holds, wants)
    out = np.zeros(_sized(x, dim, width(holds[me])), x.dtype)
    came: list[NDArray[Any]] = []
    if _communicates(plan):
        sends = [_glue(x, dim, _cut(x, dim, plan, me, rank, back=True)) for rank in range(len(holds))]
        sizes = [sum(p.length for p in plan if p.source == me and p.target == rank != me) for rank in range(len(holds))]
        came = wire._exchange_host(sends, [_sized(x, dim, size) for size in sizes], mesh, axis)
    at = [0] * len(holds)
    for p in plan:
        if p.source != me:
            continue
        if p.target == me:
            part = _range(x, dim, p.target_at, p.length)
        else:
            part = _range(came[p.target], dim, at[p.target], p.length)
            at[p.target] += p.length
        _range(out, dim, p.source_at, p.length)[...] += part
    return out


def _fetch(
    x: NDArray[Any], mesh: Any, axis: int, dim: int, holds: Windows, window: tuple[Interval, ...]
) -> NDArray[Any]:
    return _move(x, mesh, axis, dim, holds, (window,) * len(holds))


def _place(
    x: NDArray[Any], mesh: Any, axis: int, dim: int, holds: Windows, window: tuple[Interval, ...]
) -> NDArray[Any]:
    me = mesh.own_coordinate()[axis]
    out = np.zeros(_sized(x, dim, width(holds[me])), x.dtype)
    for p in pieces(holds, (window,)):
        if p.source == me:
            _range(out, dim, p.source_at, p.length)[...] += _range(x, dim, p.target_at, p.length)
    return out


def _communicates(plan: Sequence[Piece]) -> bool:
    return any(p.source != p.target for p in plan)


def _cut(x: NDArray[Any], dim: int, plan: Sequence[Piece], me: int, rank: int, back: bool) -> list[NDArray[Any]]:
    """What this rank sends to another one, in the order of the plan; `back`: from wanter to holder."""
    if rank == me:
        return []
    if back:
        return [_range(x, dim, p.target_at, p.length) for p in plan if p.target == me and p.source == rank]
    return [_range(x, dim, p.source_at, p.length) for p in plan if p.source == me and p.target == rank]


def _range(x: NDArray[Any], dim: int, start: int, length: int) -> NDArray[Any]:
    return x[(slice(None),) * dim + (slice(start, start + length),)]


def _glue(x: NDArray[Any], dim: int, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(parts, dim) if parts else np.zeros(_sized(x, dim, 0), x.dtype)


def _sized(x: NDArray[Any], dim: int, size: int) -> list[int]:
    return [size if d == dim else n for d, n in enumerate(x.shape)]
