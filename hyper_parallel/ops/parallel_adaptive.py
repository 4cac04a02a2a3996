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
"""Adaptive pooling: a cut dim brings the windows of the own outputs; the average of a whole cut dim stays pending."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule
from hyper_parallel.dispatch.call import OpCall
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.halo import Line, Reach, Step, chained, out_chunks, per_dim
from hyper_parallel.ops.parallel_pool import WindowDistributedOp
from hyper_parallel.ops.runs import Runs, again, only_axis, onwards
from hyper_parallel.placements import P_AVG, P_SUM, Placement, Shard

MOST_RUNS = 1024
MOST_REPEATED = 6


@dataclass(frozen=True)
class Adaptive(Line):
    """`out` windows that together cover the input; neighbours may share a position."""

    def window(self, index: int) -> tuple[int, int]:
        """(start, stop) of one output's window."""
        return index * self.size // self.out, -(-(index + 1) * self.size // self.out)

    def lengths(self) -> set[int]:
        """The different lengths of windows."""
        return {stop - start for start, stop in map(self.window, range(self.out))}

    def reach(self, first: int, last: int) -> Reach:
        """See the base class."""
        return Reach(self.window(first)[0], self.window(last - 1)[1])


class AdaptivePoolDistributedOp(WindowDistributedOp):
    """adaptive_avg_pool, adaptive_max_pool; YAML keys `spatial`, `indices` as for other pools; `linear`: an average.

    Rules:
        As the base class.
        The local operator chooses windows of its own, so those of a cut dim are laid out side by side, all of one
        length: a maximum's are filled up with their last position, an average's positions are repeated alike. Where
        that would repeat too much the cut is refused.
        An average of a whole dim, cut by any axes, is a pending sum.
    """

    signature: ClassVar[str] = "input, output_size, return_indices=False"

    def lines(self, call: OpCall) -> Mapping[int, Adaptive]:
        """See the base class."""
        count, shape, given = int(self.options["spatial"]), call.shape(), call["output_size"]
        first = len(shape) - count
        if first < 1 or bool(call["return_indices"]) != bool(self.options.get("indices")):
            raise LayoutError(explain(self.op_name, "input", f"of more than {count} dims, indices as named", shape))
        filled = tuple(given) if isinstance(given, tuple | list) else (given,) * count
        if len(filled) == count:
            filled = tuple(shape[first + i] if n is None else n for i, n in enumerate(filled))
        sizes = per_dim(self.op_name, "output_size", filled, count)
        return {first + i: Adaptive(first + i, shape[first + i], out) for i, out in enumerate(sizes)}

    def outputs(self, call: OpCall) -> int:
        """See the base class."""
        return 2 if self.options.get("indices") else 1

    def partials(self, call: OpCall) -> Sequence[Placement]:
        """See the base class."""
        return (P_SUM, P_AVG) if self.options.get("linear") else ()

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        lines = self.lines(call)
        for dim, line in lines.items():
            if self.options.get("linear") and line.out == 1:
                yield AxisRule((Shard(dim),), (P_SUM,), "mean")
        for rule in super().axis_rules(call):
            dims = [p.dim for p in rule.inputs if isinstance(p, Shard) and p.dim in lines]
            if all(self._alike(lines[dim]) is not None for dim in dims):
                yield rule

    def _alike(self, line: Adaptive) -> int | None:
        """The common length that windows are brought to, 0 if the local operator finds them by itself; None: refused.

        The same on every rank.
        """
        if line.out > 0 and line.size % line.out == 0:
            return 0
        if line.out > MOST_RUNS:
            return None
        lengths = line.lengths()
        if not self.options.get("linear"):
            return max(lengths)
        length = math.lcm(*lengths)
        repeats = length > max(lengths)
        positions = sum(stop - start for start, stop in map(line.window, range(line.out)))
        if repeats and (length > MOST_REPEATED * max(lengths) or positions > MOST_RUNS):
            return None
        return length

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """As the base class; a whole cut dim is averaged first."""
        layout, lines = call.layouts[0], self.lines(call)
        averaged = [d for d, line in lines.items() if layout.dim_axes[d] and self._is_mean(line)]
        if not averaged:
            return super().make_impl(func, call, outs, rules)
        shape = tuple(1 if d in averaged else n for d, n in enumerate(layout.shape))
        kept = Layout.from_dim_axes(
            layout.mesh, [() if d in averaged else axes for d, axes in enumerate(layout.dim_axes)], shape
        )
        rest = OpCall(call.op, (kept,), call.params | {"output_size": tuple(line.out for line in lines.values())})
        means = chained([self._mean(d, layout.local_shape[d], layout.shape[d]) for d in averaged])
        inner = super().make_impl(func, rest, outs, rules) or self.local(func, rest, {})
        return lambda x: inner(means(x))

    def _is_mean(self, line: Adaptive) -> bool:
        return bool(self.options.get("linear")) and line.out == 1

    def _mean(self, dim: int, own: int, whole: int) -> Step:
        """The own part's share of the mean over a dim."""
        platform = self.platform
        if not own:
            return lambda x: platform.sum(x, (dim,), True, None)
        return lambda x: platform.mean(x, (dim,), True, None) * (own / whole)

    def local(self, func: Callable[..., Any], call: OpCall, starts: Mapping[int, int]) -> Callable[..., Any]:
        """See the base class."""
        lines, platform = self.lines(call), self.platform
        plans = {dim: self._own_windows(call, dim, lines[dim], start) for dim, start in starts.items()}
        sizes = tuple(plans[dim].count if dim in plans else line.out for dim, line in lines.items())
        spread = [(dim, plan.runs) for dim, plan in plans.items() if plan.runs]

        def run(x: Any) -> Any:
            for dim, runs in spread:
                x = platform.assemble(x, dim, runs, 0)
            return func(x, sizes)

        if not self.options.get("indices"):
            return run

        def with_positions(x: Any) -> Any:
            lengths = {
                dim: plans[dim].count * plans[dim].length if dim in plans and plans[dim].length else x.shape[dim]
                for dim in lines
            }
            values, at = run(x)
            whole, below = 0, 1
            for dim in sorted(lines, reverse=True):
                place = at % lengths[dim]
                whole = whole + (plans[dim].position(place) if dim in plans else place) * below
                at = at // lengths[dim]
                below *= lines[dim].size
            return values, whole

        return with_positions

    def _own_windows(self, call: OpCall, dim: int, line: Adaptive, start: int) -> OwnWindows:
        layout = call.layouts[0]
        axis = only_axis(self.op_name, layout, dim)
        assert axis is not None
        mesh = layout.mesh
        first, last = out_chunks(line, mesh.mesh_shape[axis])[mesh.own_coordinate()[axis]]
        length = self._alike(line) or 0
        runs: Runs = ()
        if length and last > first:
            for index in range(first, last):
                begin, end = line.window(index)
                runs += self._filled(begin - start, end - begin, length)
        elif last == first:
            first, last, length = 0, 1, 0
        return OwnWindows(line, first, last - first, length, start, runs)

    def _filled(self, start: int, own: int, length: int) -> Runs:
        """One window brought to a length."""
        if not self.options.get("linear"):
            return onwards(start, own) + again(start + own - 1, length - own)
        if length == own:
            return onwards(start, own)
        return tuple(run for at in range(start, start + own) for run in again(at, length // own))


@dataclass(frozen=True)
class OwnWindows:
    """The own outputs [first, first + count) of a cut dim; `length`: that of the windows laid out by `runs`, or 0."""

    line: Adaptive
    first: int
    count: int
    length: int
    start: int
    runs: Runs

    def position(self, place: Any) -> Any:
        """Where in the input a place of the local dim is (integer tensors)."""
        if not self.length:
            return place + self.start
        index, within = place // self.length + self.first, place % self.length
        begin = index * self.line.size // self.line.out
        end = ((index + 1) * self.line.size + self.line.out - 1) // self.line.out
        beyond = begin + within - (end - 1)
        return begin + within - beyond * (beyond > 0)
