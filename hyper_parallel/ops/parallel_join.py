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
"""Tensors joined and split: along a cut dim, parts move to ceil-division places, and only what must move is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot, wrap_dim
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.runs import only_axis
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.ops.windows import chunks, joined, shifted, width
from hyper_parallel.placements import P_AVG, P_MAX, P_MIN, P_PROD, P_SUM, Shard


class CopyingViewOp(AxisRuleOp):
    """An operator that returns views of its input, but copies where parts had to be moved.

    `copied(out, x)` marks such a copy; writing to it, or reading it after a write to the base, is then an error.
    """

    def copied(self, out: Any, source: Any) -> Any:
        """Mark the result of a local call as a copy of what should have been a view."""
        out._copy_of = source
        return out

    def wrap_output(self, py_output: Any, output_layouts: Sequence[Layout]) -> Any:
        """See the base class."""
        flat = py_output if isinstance(py_output, list | tuple) else (py_output,)
        sources = [getattr(out, "_copy_of", None) for out in flat]
        wrapped = super().wrap_output(py_output, output_layouts)
        if all(source is None for source in sources):
            return wrapped
        many = wrapped if isinstance(wrapped, list | tuple) else (wrapped,)
        for out, source in zip(many, sources, strict=True):
            if source is not None:
                self.platform.mark_lost_alias(out, source, self.op_name)
        return wrapped


class CatDistributedOp(AxisRuleOp):
    """cat, concat, concatenate.

    Rules:
        1. An axis may cut the same dim of all tensors, other than the joined one, and cuts it in the result.
        2. An axis that cuts the joined dim of all tensors cuts it in the result; what lies in another rank's part of
           the whole is sent there.
        3. The same reduction may be pending in all tensors.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "tensors, dim=0"

    def _dim(self, call: OpCall) -> int:
        tensors = call["tensors"]
        if not isinstance(tensors, tuple) or tensors != tuple(Slot(i) for i in range(len(call.layouts))):
            raise LayoutError(explain(self.op_name, "tensors", "a list of tensors", tensors))
        first = call.shapes[0]
        dim = wrap_dim(self.op_name, call["dim"], len(first))
        if not first or any(s[:dim] + s[dim + 1 :] != first[:dim] + first[dim + 1 :] for s in call.shapes):
            raise LayoutError(explain(self.op_name, "shapes", f"equal but for dim {dim}", call.shapes))
        if any(len(s) != len(first) for s in call.shapes):
            raise LayoutError(explain(self.op_name, "the numbers of dims", "equal", call.shapes))
        return dim

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        dim, first = self._dim(call), call.shapes[0]
        return ((*first[:dim], sum(s[dim] for s in call.shapes), *first[dim + 1 :]),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        dim, count = self._dim(call), len(call.layouts)
        for d in range(len(call.shapes[0])):
            yield AxisRule((Shard(d),) * count, (Shard(d),), "borders" if d == dim else "")
        for p in (P_SUM, P_AVG, P_MAX, P_MIN, P_PROD):
            yield AxisRule((p,) * count, (p,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Join the own parts, then move them to their places."""
        dim = self._dim(call)
        axis = only_axis(self.op_name, outs[0], dim)
        if axis is None:
            return None
        mesh, platform = outs[0].mesh, self.platform
        ranks = mesh.mesh_shape[axis]
        held, at = [], 0
        for shape in call.shapes:
            held.append(shifted(chunks(shape[dim], ranks), at))
            at += shape[dim]
        holds, wants = joined(held), chunks(at, ranks)
        return lambda *parts: platform.move_windows(platform.cat(parts, dim), mesh, axis, dim, holds, wants)


class StackDistributedOp(AxisRuleOp):
    """stack: a new dim, which no axis cuts.

    Rules:
        1. An axis may cut the same dim of all tensors and cuts it in the result.
        2. The same reduction may be pending in all tensors.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "tensors, dim=0"

    def _dim(self, call: OpCall) -> int:
        tensors = call["tensors"]
        if not isinstance(tensors, tuple) or tensors != tuple(Slot(i) for i in range(len(call.layouts))):
            raise LayoutError(explain(self.op_name, "tensors", "a list of tensors", tensors))
        if len(set(call.shapes)) != 1:
            raise LayoutError(explain(self.op_name, "shapes", "equal", call.shapes))
        return wrap_dim(self.op_name, call["dim"], len(call.shapes[0]) + 1)

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        dim, shape = self._dim(call), call.shapes[0]
        return ((*shape[:dim], len(call.layouts), *shape[dim:]),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        dim, count = self._dim(call), len(call.layouts)
        for d in range(len(call.shapes[0])):
            yield AxisRule((Shard(d),) * count, (Shard(d + (d >= dim)),))
        for p in (P_SUM, P_AVG, P_MAX, P_MIN, P_PROD):
            yield AxisRule((p,) * count, (p,))


class SplitDistributedOp(CopyingViewOp):
    """split, chunk, tensor_split and kin. YAML key `kind`: size (size or sizes), chunk, places (tensor_split).

    Rules:
        1. An axis that cuts another dim cuts it in every result.
        2. An axis that cuts the split dim cuts it in every result; all results' parts move in one exchange.
        3. Pending reductions stay pending.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "input, how, dim=0"

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Keyword forms: split_size, split_size_or_sections, split_sizes, chunks, indices, sections …"""
        names = {"split_size", "split_size_or_sections", "split_sizes", "chunks", "indices", "sections"}
        names.add("indices_or_sections")
        return super().bind(args, {("how" if name in names else name): value for name, value in kwargs.items()})

    def _split(self, call: OpCall) -> tuple[int, list[int]]:
        """(dim, lengths of the results)."""
        shape, how = call.shape(), call["how"]
        if not shape or len(call.layouts) != 1:
            raise LayoutError(explain(self.op_name, "input", "one tensor, at least 1-D", call.shapes))
        dim = self._given_dim(call)
        size, kind = shape[dim], self.options["kind"]
        many = isinstance(how, tuple)
        if any(isinstance(n, bool) or not isinstance(n, int) for n in (how if many else (how,))):
            raise LayoutError(explain(self.op_name, "sizes or places", "ints", how))
        if kind == "size" and many:
            if sum(how) != size or any(n < 0 for n in how):
                raise LayoutError(explain(self.op_name, "the sum of the sizes", size, how))
            return dim, list(how)
        if kind == "places" and many:
            ends = [min(max(n + size if n < 0 else n, 0), size) for n in how]
            return dim, [max(b - a, 0) for a, b in zip([0, *ends], [*ends, size], strict=True)]
        if how <= 0:
            raise LayoutError(explain(self.op_name, "size or number", "positive", how))
        if kind == "places":
            return dim, [size // how + (i < size % how) for i in range(how)]
        if kind == "chunk" and size == 0:
            return dim, [0] * how
        step = -(-size // how) if kind == "chunk" else how
        return dim, [min(step, size - at) for at in range(0, size, step)] or [0]

    def _given_dim(self, call: OpCall) -> int:
        return call.dim("dim", len(call.shape()))

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        shape, (dim, lengths) = call.shape(), self._split(call)
        return [(*shape[:dim], n, *shape[dim + 1 :]) for n in lengths]

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        dim, lengths = self._split(call)
        count = len(lengths)
        for d in range(len(call.shape())):
            yield AxisRule((Shard(d),), (Shard(d),) * count, "borders" if d == dim else "")
        for p in (P_SUM, P_AVG, P_MAX, P_MIN, P_PROD):
            yield AxisRule((p,), (p,) * count)

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """One move for all results, then a local split."""
        dim, lengths = self._split(call)
        layout, platform = call.layouts[0], self.platform
        axis = only_axis(self.op_name, layout, dim)
        if axis is None:
            return None
        mesh = layout.mesh
        ranks = mesh.mesh_shape[axis]
        parts, at = [], 0
        for n in lengths:
            if n > layout.shape[dim] - at:
                raise LayoutError(explain(self.op_name, "results", "parts that do not overlap", call["how"]))
            parts.append(chunks(n, ranks, at))
            at += n
        holds, wants = chunks(layout.shape[dim], ranks), joined(parts)
        me = mesh.own_coordinate()[axis]
        own = [width(part[me]) for part in parts]
        lost = not self.op_name.startswith("unsafe_")

        def run(x: Any) -> Any:
            results = platform.split(platform.move_windows(x, mesh, axis, dim, holds, wants), own, dim)
            return tuple(self.copied(part, x) for part in results) if lost else results

        return run


class SplitAlongDistributedOp(SplitDistributedOp):
    """hsplit, vsplit, dsplit. YAML key `dim`: the dim for tensors of 2 or more dims."""

    signature: ClassVar[str] = "input, how"

    def _given_dim(self, call: OpCall) -> int:
        ndim, dim = len(call.shape()), int(self.options["dim"])
        if dim == 1 and ndim == 1:
            dim = 0
        if ndim <= dim or (self.op_name == "vsplit" and ndim < 2):
            raise LayoutError(explain(self.op_name, "input", f"at least {max(dim + 1, 2)}-D", call.shape()))
        how = call["how"]
        if isinstance(how, int) and (how <= 0 or call.shape()[dim] % how):
            raise LayoutError(explain(self.op_name, "sections", f"a divisor of {call.shape()[dim]}", how))
        return dim
