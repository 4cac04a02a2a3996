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
"""A dim rebuilt from runs of its own positions: shifted, mirrored, cut, padded, repeated dims in one form.

A `Run` is `(start, count, step)` with step 1 (onwards), -1 (backwards) or 0 (the same position again); start -1 means
`count` places of a constant. The new dim is the runs one after the other, cut into parts by ceil division.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout, chunk_of
from hyper_parallel.ops.windows import Interval, Windows, chunks, interval

Run = tuple[int, int, int]
Runs = tuple[Run, ...]
FILL = -1
MAX_RUNS = 4096


def onwards(start: int, count: int) -> Runs:
    """`count` positions from `start` on; none if that is nothing."""
    return ((start, count, 1),) if count > 0 else ()


def backwards(start: int, count: int) -> Runs:
    """`count` positions from `start` downwards."""
    return ((start, count, -1),) if count > 0 else ()


def again(start: int, count: int) -> Runs:
    """One position `count` times (`FILL`: the constant)."""
    return ((start, count, 0),) if count > 0 else ()


def total(runs: Iterable[Run]) -> int:
    """Size of the new dim."""
    return sum(count for _, count, _ in runs)


def clipped(runs: Runs, low: int, high: int) -> Runs:
    """The runs that make up the new dim's positions [low, high)."""
    result: list[Run] = []
    at = 0
    for start, count, step in runs:
        first, last = max(low, at), min(high, at + count)
        if first < last:
            result.append((start if start == FILL else start + (first - at) * step, last - first, step))
        at += count
    return tuple(result)


def needed(runs: Runs) -> tuple[Interval, ...]:
    """The old positions that occur in the runs, each once, in rising order."""
    spans = sorted(_span(run) for run in runs if run[0] != FILL)
    merged: list[Interval] = []
    for start, stop in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return tuple(merged)


def _span(run: Run) -> Interval:
    start, count, step = run
    if step == 1:
        return start, start + count
    return (start - count + 1, start + 1) if step == -1 else (start, start + 1)


def placed(runs: Runs, held: Sequence[Interval]) -> Runs:
    """The same runs counted in a part that consists of the intervals `held`."""
    result: list[Run] = []
    for start, count, step in runs:
        if start == FILL:
            result.append((start, count, step))
            continue
        low = _span((start, count, step))[0]
        at = 0
        for first, last in held:
            if first <= low < last:
                result.append((at + start - first, count, step))
                break
            at += last - first
    return tuple(result)


def only_axis(op_name: str, layout: Layout, dim: int) -> int | None:
    """The mesh axis that cuts a dim, or None.

    Raises:
        LayoutError: several do.
    """
    axes = layout.dim_axes[dim]
    if len(axes) > 1:
        names = [layout.mesh.axis_name(a) for a in axes]
        raise LayoutError(explain(op_name, f"mesh axes that cut dim {dim}", "at most one", names))
    return axes[0] if axes else None


def rebuild(platform: Any, op_name: str, layout: Layout, dim: int, runs: Runs, fill: Any = 0) -> Callable[[Any], Any]:
    """A closure that turns the own part of a dim into the own part of the dim made of `runs`.

    Only positions that the own part needs and does not hold are received, each once. Differentiable.

    Raises:
        LayoutError: several mesh axes cut the dim, or there are too many runs to plan for.
    """
    axis = only_axis(op_name, layout, dim)
    if len(runs) > MAX_RUNS:
        raise LayoutError(explain(op_name, "runs of positions", f"at most {MAX_RUNS}", len(runs)))
    if axis is None:
        return lambda x: platform.assemble(x, dim, runs, fill)
    mesh, size = layout.mesh, layout.shape[dim]
    ranks = mesh.mesh_shape[axis]
    parts = [clipped(runs, start, start + length) for start, length in _cuts(total(runs), ranks)]
    wants: Windows = tuple(needed(part) for part in parts)
    me = mesh.own_coordinate()[axis]
    mine = placed(parts[me], wants[me])
    holds = chunks(size, ranks)

    def run(x: Any) -> Any:
        return platform.assemble(platform.move_windows(x, mesh, axis, dim, holds, wants), dim, mine, fill)

    return run


def rebalance(
    platform: Any, op_name: str, layout: Layout, dim: int, start: int, count: int, step: int
) -> Callable[[Any], Any]:
    """A closure for the positions start, start + step, … (`count` of them) of a dim, as ceil-division parts.

    Raises:
        LayoutError: several mesh axes cut the dim.
    """
    axis = only_axis(op_name, layout, dim)
    if axis is None:
        return lambda x: platform.stride(x, dim, start, count, step)
    mesh = layout.mesh
    ranks = mesh.mesh_shape[axis]
    picks = own_picks(layout.shape[dim], ranks, start, count, step)
    holds: Windows = tuple(interval(first, last) for first, last, _ in picks)
    wants = chunks(count, ranks)
    first, last, at = picks[mesh.own_coordinate()[axis]]

    def run(x: Any) -> Any:
        picked = platform.stride(x, dim, at, last - first, step)
        return platform.move_windows(picked, mesh, axis, dim, holds, wants)

    return run


def own_picks(size: int, ranks: int, start: int, count: int, step: int) -> list[tuple[int, int, int]]:
    """Per rank (first, last, at): which of the picked positions lie in its part, and where there the first one lies."""
    result = []
    for offset, length in _cuts(size, ranks):
        first = min(max(-((start - offset) // step), 0), count)
        last = min(max(-((start - offset - length) // step), 0), count)
        result.append((first, max(first, last), start + first * step - offset if last > first else 0))
    return result


def _cuts(size: int, ranks: int) -> list[Interval]:
    return [chunk_of(size, ranks, rank) for rank in range(ranks)]
