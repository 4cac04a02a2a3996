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
"""Triangles and diagonals: every rank knows where its part lies, so nothing is ever sent.

A local part that starts at row `r` and column `c` sees the global diagonal `k` as its own diagonal `k + r - c`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.placements import P_AVG, P_MAX, P_MIN, P_PROD, P_SUM, Shard

EVERY_PARTIAL = (P_SUM, P_AVG, P_MAX, P_MIN, P_PROD)


class TriangleDistributedOp(AxisRuleOp):
    """tril, triu.

    Rules:
        1. Every dim may be cut, by any number of axes; the result is cut alike.
        2. Pending reductions stay pending: what is zeroed is zero in every term.
    """

    signature: ClassVar[str] = "input, diagonal=0"
    _allow_partial_inputs: ClassVar[bool] = True

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        shape = call.shape()
        if len(shape) < 2:
            raise LayoutError(explain(self.op_name, "input dims", "at least 2", len(shape)))
        return (shape,)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        for dim in range(len(call.shape())):
            yield AxisRule((Shard(dim),), (Shard(dim),))
        for pending in EVERY_PARTIAL:
            yield AxisRule((pending,), (pending,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The operator with the diagonal as the own part sees it."""
        row, column = call.layouts[0].local_offset[-2:]
        if row == column:
            return None
        diagonal = int(call["diagonal"]) + row - column
        return lambda x: func(x, diagonal)


class TraceDistributedOp(AxisRuleOp):
    """trace: each rank sums its own stretch of the main diagonal.

    Rules:
        1. An axis that cuts rows or columns leaves a pending sum.
        2. A pending sum or average stays pending.
    """

    signature: ClassVar[str] = "input"
    _allow_partial_inputs: ClassVar[bool] = True

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        if len(call.shape()) != 2:
            raise LayoutError(explain(self.op_name, "input dims", 2, len(call.shape())))
        return ((),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        for dim in (0, 1):
            yield AxisRule((Shard(dim),), (P_SUM,))
        for pending in (P_SUM, P_AVG):
            yield AxisRule((pending,), (pending,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The sum of the own stretch."""
        row, column = call.layouts[0].local_offset
        if row == column:
            return None
        trace_part = self.platform.trace_part
        return lambda x: trace_part(x, row - column)


class DiagonalDistributedOp(AxisRuleOp):
    """diagonal, linalg.diagonal. YAML key `last_dims`: the two dims are the last ones unless given.

    Rules:
        1. An axis that cuts another dim cuts it in the result.
        2. One axis that cuts rows or columns cuts the diagonal, where its chunks are chunks of the diagonal, too.
        3. Any other cut of rows and columns leaves a pending sum: each rank puts its stretch among zeros.
        4. Pending reductions stay pending.
    """

    signature: ClassVar[str] = "input, offset=0, dim1=0, dim2=1"
    _allow_partial_inputs: ClassVar[bool] = True

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The default of the dims depends on the operator."""
        if self.options.get("last_dims"):
            kwargs = {"dim1": -2, "dim2": -1, **kwargs} if len(args) < 3 else kwargs
        return super().bind(args, kwargs)

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        rows, columns, others = self._dims(call)
        shape = call.shape()
        first, second = _starts(call["offset"])
        length = max(0, min(shape[rows] - first, shape[columns] - second))
        return ((*(shape[d] for d in others), length),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        rows, columns, others = self._dims(call)
        last = len(others)
        for target, dim in enumerate(others):
            yield AxisRule((Shard(dim),), (Shard(target),))
        for dim in (rows, columns):
            if self._chunks_agree(call, dim):
                yield AxisRule((Shard(dim),), (Shard(last),), "aligned")
            yield AxisRule((Shard(dim),), (P_SUM,), "among zeros")
        for pending in EVERY_PARTIAL:
            yield AxisRule((pending,), (pending,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The own stretch of the diagonal, alone or among zeros."""
        tags = [rule.tag for rule in rules if rule.tag]
        if not tags:
            return None
        rows, columns, _ = self._dims(call)
        layout = call.layouts[0]
        offset = int(call["offset"]) + layout.local_offset[rows] - layout.local_offset[columns]
        diagonal = self.platform.diagonal
        if tags == ["aligned"]:
            return lambda x: diagonal(x, offset, rows, columns)
        if "aligned" in tags:
            raise LayoutError(explain(self.op_name, "the cut of rows and columns", "by one mesh axis", layout))
        length = outs[0].shape[-1]
        start, stop = self._stretch(call, length)
        place = self.platform.among_zeros

        def stretch(x: Any) -> Any:
            out = place(diagonal(x, offset, rows, columns), start, length - stop)
            out._copied_from = x
            return out

        return stretch

    def wrap_output(self, py_output: Any, output_layouts: Sequence[Layout]) -> Any:
        """A stretch among zeros is a copy: a write to it could not reach the input, so it is an error."""
        source = getattr(py_output, "_copied_from", None)
        wrapped = super().wrap_output(py_output, output_layouts)
        return wrapped if source is None else self.platform.mark_lost_alias(wrapped, source, self.op_name)

    def _dims(self, call: OpCall) -> tuple[int, int, list[int]]:
        ndim = len(call.shape())
        if ndim < 2:
            raise LayoutError(explain(self.op_name, "input dims", "at least 2", ndim))
        rows, columns = call.dim("dim1", ndim), call.dim("dim2", ndim)
        if rows == columns:
            raise LayoutError(explain(self.op_name, "dim1 and dim2", "different", (rows, columns)))
        return rows, columns, [d for d in range(ndim) if d not in (rows, columns)]

    def _chunks_agree(self, call: OpCall, dim: int) -> bool:
        """Whether the one axis that cuts rows or columns cuts the diagonal into the very same chunks."""
        rows, columns, _ = self._dims(call)
        layout = call.layouts[0]
        cutting = [*layout.dim_axes[rows], *layout.dim_axes[columns]]
        own = _starts(call["offset"])[0 if dim == rows else 1]
        length = self.output_shapes(call)[0][-1]
        return len(cutting) == 1 and own == 0 and length == layout.shape[dim]

    def _stretch(self, call: OpCall, length: int) -> tuple[int, int]:
        """First and one-past-last position of the global diagonal that the own part holds."""
        rows, columns, _ = self._dims(call)
        layout = call.layouts[0]
        low, high = 0, length
        for dim, first in zip((rows, columns), _starts(call["offset"]), strict=True):
            begin = layout.local_offset[dim] - first
            low, high = max(low, begin), min(high, begin + layout.local_shape[dim])
        return (low, high) if low < high else (0, 0)


def _starts(offset: int) -> tuple[int, int]:
    """Row and column where the diagonal `offset` starts."""
    return max(0, -offset), max(0, offset)
