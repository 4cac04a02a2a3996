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
"""Operators whose outputs along a dim are computed from windows of the input: what a part needs from its neighbours.

A `Line` says for one dim which input positions the outputs [first, last) are computed from. `entry` turns it into two
closures: one brings those positions (only what the part lacks travels; gradients go back the same way and are added at
the owner), the other cuts the own outputs from what the local call gave. A position goes to another rank once at most,
so this never sends more than a gather.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from sys import maxsize
from typing import Any

from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout, chunk_of
from hyper_parallel.ops.runs import FILL, Run, only_axis
from hyper_parallel.ops.windows import Windows, chunks, clip, width

Step = Callable[[Any], Any]


@dataclass(frozen=True)
class Reach:
    """Input positions [start, stop) that a local call sees; those outside [first, last) or the input are a constant.

    The local call's first `skip` outputs belong to somebody else, the next ones are the own.
    """

    start: int
    stop: int
    skip: int = 0
    first: int = 0
    last: int = maxsize


@dataclass(frozen=True)
class Line:
    """One dim of `size` positions that becomes the result's dim `out_dim` of `out` positions."""

    out_dim: int
    size: int
    out: int

    @property
    def least(self) -> int:
        """Length of an input that gives at least one output."""
        return 1

    def reach(self, first: int, last: int) -> Reach:
        """What the outputs [first, last), at least one, are computed from."""
        raise NotImplementedError


@dataclass(frozen=True)
class Sliding(Line):
    """Windows of `kernel` positions, `dilation` apart, every `stride`, from `left` places before the input on.

    Padding is brought as a constant, so the local call pads nothing.
    """

    kernel: int = 1
    stride: int = 1
    left: int = 0
    dilation: int = 1

    @property
    def least(self) -> int:
        """See the base class."""
        return self.dilation * (self.kernel - 1) + 1

    def reach(self, first: int, last: int) -> Reach:
        """See the base class."""
        start = first * self.stride - self.left
        return Reach(start, (last - 1) * self.stride - self.left + self.least)


@dataclass(frozen=True)
class Padded(Sliding):
    """Sliding windows where the local call pads as the whole one does.

    What an operator means by padding (a divisor, no candidate for a maximum) then stays its own affair: a part inside
    starts whole strides earlier, and the outputs that would see padding there are dropped.
    """

    def reach(self, first: int, last: int) -> Reach:
        """See the base class."""
        skip = min(first, -(-self.left // self.stride))
        begin = max(0, first * self.stride - self.left)
        end = min(self.size, (last - 1) * self.stride - self.left + self.least)
        start = (first - skip) * self.stride
        stop = max(end, min(self.size, start + self.least))
        if start > 0:  # some operators refuse an input shorter than a window, whatever its padding
            more = max(0, -((stop - start - self.least) // self.stride))
            start, skip = start - more * self.stride, skip + more
        return Reach(start, stop, skip, begin, end)


@dataclass(frozen=True)
class Spread(Sliding):
    """The transposed form: input i gives to outputs i * stride - left + t * dilation, t < kernel."""

    @property
    def least(self) -> int:
        """See the base class."""
        return 1

    def reach(self, first: int, last: int) -> Reach:
        """See the base class."""
        span = self.dilation * (self.kernel - 1) + 1
        begin, end = first + self.left, last + self.left
        start = min(-((span - 1 - begin) // self.stride), begin // self.stride)
        stop = max((end - 1) // self.stride + 1, -((span - end) // self.stride) + 1)
        return Reach(start, stop, begin - start * self.stride)


@dataclass(frozen=True)
class Scaled(Line):
    """Every position becomes `factor` ones, computed from itself and `margin` neighbours on either side."""

    factor: int = 1
    margin: int = 0

    def reach(self, first: int, last: int) -> Reach:
        """See the base class."""
        start = max(0, first // self.factor - self.margin)
        stop = min(self.size, -(-last // self.factor) + self.margin)
        return Reach(start, stop, first - start * self.factor)


def out_chunks(line: Line, ranks: int) -> list[tuple[int, int]]:
    """(first, one past last) output of every rank."""
    cuts = [chunk_of(line.out, ranks, rank) for rank in range(ranks)]
    return [(start, start + length) for start, length in cuts]


def wanted(line: Line, ranks: int) -> Windows:
    """Per rank the input positions that its outputs are computed from."""
    result = []
    for first, last in out_chunks(line, ranks):
        reach = line.reach(first, last) if last > first else Reach(0, 0)
        result.append(clip(max(reach.start, reach.first), min(reach.stop, reach.last), 0, line.size))
    return tuple(result)


def entry(platform: Any, op_name: str, layout: Layout, dim: int, line: Line, fill: Any = 0) -> tuple[Step, Step, int]:
    """(bring the own window, cut the own outputs, where in the input the window starts) for a dim that is cut.

    A rank without outputs computes some from constants and keeps none, so it has its place in the backward pass.

    Raises:
        LayoutError: several mesh axes cut the dim.
    """
    axis = only_axis(op_name, layout, dim)
    if axis is None:
        raise LayoutError(explain(op_name, f"dim {dim}", "cut by a mesh axis", layout))
    mesh = layout.mesh
    ranks, me = mesh.mesh_shape[axis], mesh.own_coordinate()[axis]
    wants, holds = wanted(line, ranks), chunks(line.size, ranks)
    first, last = out_chunks(line, ranks)[me]
    reach = line.reach(first, last) if last > first else Reach(0, line.least, 0, line.least)
    length = width(wants[me])
    before = max(0, min(reach.stop, line.size, max(reach.first, 0)) - reach.start)
    runs: tuple[Run, ...] = ((FILL, before, 0), (0, length, 1), (FILL, reach.stop - reach.start - before - length, 0))
    runs = tuple(run for run in runs if run[1])
    moves = holds != wants

    def bring(x: Any) -> Any:
        if moves:
            x = platform.move_windows(x, mesh, axis, dim, holds, wants)
        return platform.assemble(x, dim, runs, fill)

    return bring, keeper(platform, line.out_dim, reach.skip, last - first), reach.start


def keeper(platform: Any, dim: int, skip: int, count: int) -> Step:
    """Cut `count` positions from `skip` on; an output that consists of them is passed on as it is."""

    def keep(y: Any) -> Any:
        if skip == 0 and y.shape[dim] == count:
            return y
        return platform.stride(y, dim, skip, count, 1)

    return keep


def stand_in(platform: Any, dim: int, count: int = 1) -> Step:
    """`count` constants for a part that is empty along `dim`, tied to it in the backward pass."""
    return lambda x: platform.assemble(x, dim, ((FILL, count, 0),), 0)


def chained(steps: Sequence[Step]) -> Step:
    """All steps in turn."""

    def run(x: Any) -> Any:
        for step in steps:
            x = step(x)
        return x

    return run


def per_dim(op_name: str, what: str, value: Any, count: int) -> tuple[int, ...]:
    """An int or a sequence of one or `count` ints, as `count` ints.

    Raises:
        LayoutError: it is neither.
    """
    items = tuple(value) if isinstance(value, tuple | list) else (value,)
    if len(items) == 1:
        items *= count
    if len(items) != count or any(isinstance(n, bool) or not isinstance(n, int) for n in items):
        raise LayoutError(explain(op_name, what, f"an int or {count} ints", value))
    return items
