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
"""Dims repeated: along a cut dim each part receives once what it needs of the others, and stays a part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, wrap_dim
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout, chunk_of
from hyper_parallel.ops.parallel_shift import EVERY_PARTIAL
from hyper_parallel.ops.runs import only_axis, onwards, rebuild
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.ops.windows import chunks, clip
from hyper_parallel.placements import Shard


class TileDistributedOp(AxisRuleOp):
    """repeat and tile: a cut dim repeated is cut again, each part receiving once what it needs.

    Rules:
        1. An axis that cuts an input dim cuts the output dim it becomes.
        2. Pending reductions stay pending.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "input, *dims"

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """`repeat` names the counts `repeats`."""
        renamed = {("dims" if name in {"repeats", "reps"} else name): value for name, value in kwargs.items()}
        return super().bind(args, renamed)

    def _counts(self, call: OpCall) -> tuple[int, ...]:
        shape, counts = call.shape(), call["dims"]
        if not isinstance(counts, tuple) or any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in counts):
            raise LayoutError(explain(self.op_name, "the numbers of repetitions", "non-negative ints", counts))
        if len(counts) < len(shape):
            if self.op_name == "repeat":
                raise LayoutError(explain(self.op_name, "repetitions", f"at least {len(shape)}", counts))
            counts = (1,) * (len(shape) - len(counts)) + counts
        return tuple(counts)

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        counts, shape = self._counts(call), call.shape()
        padded = (1,) * (len(counts) - len(shape)) + shape
        return (tuple(n * size for n, size in zip(counts, padded, strict=True)),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        counts, shape = self._counts(call), call.shape()
        lead = len(counts) - len(shape)
        for d in range(len(shape)):
            yield AxisRule((Shard(d),), (Shard(d + lead),), "borders" if counts[d + lead] != 1 else "")
        for p in EVERY_PARTIAL:
            yield AxisRule((p,), (p,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Rebuild the cut dims, repeat the others as asked."""
        counts, layout = self._counts(call), call.layouts[0]
        lead = len(counts) - layout.ndim
        steps = []
        rest = list(counts)
        for d in range(layout.ndim):
            times = counts[d + lead]
            if layout.dim_axes[d] and times != 1:
                runs = onwards(0, layout.shape[d]) * times
                steps.append(rebuild(self.platform, self.op_name, layout, d, runs))
                rest[d + lead] = 1
        if not steps:
            return None

        def run(x: Any) -> Any:
            for step in steps:
                x = step(x)
            return x.repeat(rest)  # may add leading dims, so it comes last

        return run


class RepeatInterleaveDistributedOp(AxisRuleOp):
    """repeat_interleave with one number of repetitions and a dim; a cut dim is cut again.

    Rules:
        1. An axis that cuts an input dim cuts the same dim of the result.
        2. Pending reductions stay pending.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "input, repeats, dim=None, *, output_size=None"

    def _times(self, call: OpCall) -> tuple[int, int]:
        shape, dim, times = call.shape(), call["dim"], call["repeats"]
        if len(call.layouts) != 1 or isinstance(times, bool) or not isinstance(times, int) or times < 0:
            raise LayoutError(explain(self.op_name, "repeats", "one non-negative int", times))
        if dim is None:
            if len(shape) != 1:
                raise LayoutError(explain(self.op_name, "dim", "given for a tensor that is not 1-D", dim))
            dim = 0
        if not shape or call["output_size"] is not None:
            raise LayoutError(explain(self.op_name, "input", "at least 1-D, without output_size", shape))
        return wrap_dim(self.op_name, dim, len(shape)), times

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        dim, times = self._times(call)
        return (tuple(n * times if d == dim else n for d, n in enumerate(call.shape())),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        dim, _ = self._times(call)
        for d in range(len(call.shape())):
            yield AxisRule((Shard(d),), (Shard(d),), "borders" if d == dim else "")
        for p in EVERY_PARTIAL:
            yield AxisRule((p,), (p,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Fetch the positions that the own part repeats, repeat them, cut off what belongs to the neighbours."""
        layout, (dim, times) = call.layouts[0], self._times(call)
        axis = only_axis(self.op_name, layout, dim)
        if axis is None:
            return None
        mesh, size, platform = layout.mesh, layout.shape[dim], self.platform
        ranks = mesh.mesh_shape[axis]
        spans = [chunk_of(size * times, ranks, rank) for rank in range(ranks)]
        per = max(times, 1)
        wants = tuple(
            clip(start // per, -(-(start + length) // per), 0, size) if length else () for start, length in spans
        )
        holds = chunks(size, ranks)
        start, length = spans[mesh.own_coordinate()[axis]]

        def run(x: Any) -> Any:
            part = platform.move_windows(x, mesh, axis, dim, holds, wants)
            return part.repeat_interleave(times, dim).narrow(dim, start % per if length else 0, length)

        return run
