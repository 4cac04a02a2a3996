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
"""Reads and writes at positions given by a tensor: index_select, take, gather, scatter, index_add and kin.

Along a cut dim, reads send only the elements asked for; writes with replicated positions send nothing at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.parallel_elementwise import ElementWiseDistributedOp
from hyper_parallel.ops.runs import only_axis
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.placements import P_AVG, P_MAX, P_MIN, P_PROD, P_SUM, R, Shard

EVERY_PARTIAL = (P_SUM, P_AVG, P_MAX, P_MIN, P_PROD)


class IndexSelectDistributedOp(AxisRuleOp):
    """index_select.

    Rules:
        1. An axis that cuts another dim cuts it in the result.
        2. An axis that cuts the positions (input replicated) cuts the picked dim of the result.
        3. An axis that cuts the picked dim: elements are sent to where the result, cut alike, has them; not if more
           positions are asked for than there are.
        4. Pending reductions stay pending.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "input, dim, index"

    def _dim(self, call: OpCall) -> int:
        shape = call.shape()
        if not shape or len(call.layouts) != 2 or len(call.shape("index")) != 1:
            raise LayoutError(explain(self.op_name, "input and index", "at least 1-D and 1-D", call.shapes))
        return call.dim("dim", len(shape))

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        dim = self._dim(call)
        return (tuple(call.shape("index")[0] if d == dim else n for d, n in enumerate(call.shape())),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        dim = self._dim(call)
        for d in range(len(call.shape())):
            if d != dim:
                yield AxisRule((Shard(d), R), (Shard(d),))
        yield AxisRule((R, Shard(0)), (Shard(dim),))
        if call.shape("index")[0] <= call.shape()[dim]:
            yield AxisRule((Shard(dim), R), (Shard(dim),), "rows")
        for p in EVERY_PARTIAL:
            yield AxisRule((p, R), (p,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Rows from the ranks that hold them."""
        dim, layout, platform = self._dim(call), call.layouts[0], self.platform
        if not any(rule.tag for rule in rules):
            return None
        axis = only_axis(self.op_name, layout, dim)
        if outs[0].dim_axes[dim] != (axis,):
            raise LayoutError(explain(self.op_name, "mesh axes that cut the result's dim", axis, outs[0].dim_axes[dim]))
        mesh, size = layout.mesh, layout.shape[dim]
        return lambda x, index: platform.take_rows(x, index, mesh, axis, dim, size, False)


class TakeDistributedOp(AxisRuleOp):
    """take: positions in the flattened input.

    Rules:
        1. An axis that cuts the positions (input replicated) cuts the result alike.
        2. An axis that cuts a 1-D input: elements are sent to where the result, cut at its first dim, has them.
        3. Pending reductions stay pending.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "input, index"

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        return (call.shape("index"),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        shape, index = call.shape(), call.shape("index")
        for d in range(len(index)):
            yield AxisRule((R, Shard(d)), (Shard(d),))
        if len(shape) == 1 and index and math.prod(index) <= shape[0]:
            yield AxisRule((Shard(0), R), (Shard(0),), "rows")
        for p in EVERY_PARTIAL:
            yield AxisRule((p, R), (p,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Elements from the ranks that hold them."""
        layout, platform = call.layouts[0], self.platform
        if not any(rule.tag for rule in rules):
            return None
        axis = only_axis(self.op_name, layout, 0)
        if outs[0].dim_axes[0] != (axis,):
            raise LayoutError(explain(self.op_name, "mesh axes that cut the result", axis, outs[0].dim_axes[0]))
        mesh, size = layout.mesh, layout.shape[0]
        return lambda x, index: platform.take_rows(x, index, mesh, axis, 0, size, True)


class GatherDistributedOp(AxisRuleOp):
    """gather and take_along_dim.

    Rules:
        1. An axis may cut another dim of input and index alike (equal sizes), and cuts it in the result.
        2. An axis that cuts the index at the picked dim (input replicated) cuts the result there.
        3. An axis that cuts the picked dim: elements are sent to where the result, cut alike, has them; not if more
           are asked for than there are.
        4. Pending reductions stay pending.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "input, dim, index, *, sparse_grad=False"

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """take_along_dim(input, indices, dim) in the order of gather."""
        if self.op_name != "take_along_dim":
            return super().bind(args, kwargs)
        named = dict(zip(("input", "indices", "dim"), args, strict=False)) | kwargs
        if set(named) != {"input", "indices", "dim"} or named["dim"] is None:
            raise LayoutError(explain(self.op_name, "arguments", "input, indices and dim", sorted(named)))
        return {"input": named["input"], "dim": named["dim"], "index": named["indices"], "sparse_grad": False}

    def _dim(self, call: OpCall) -> int:
        shape, index = call.shape(), call.shape("index")
        if call["sparse_grad"] or not shape or len(shape) != len(index) or call["index"] != Slot(1):
            raise LayoutError(explain(self.op_name, "input and index", "of as many dims, at least 1", call.shapes))
        dim = call.dim("dim", len(shape))
        same = self.op_name == "take_along_dim"
        if any(d != dim and (n > shape[d] or (same and n != shape[d])) for d, n in enumerate(index)):
            raise LayoutError(explain(self.op_name, "index", f"no larger than {shape} but for dim {dim}", index))
        return dim

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        self._dim(call)
        return (call.shape("index"),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        dim, shape, index = self._dim(call), call.shape(), call.shape("index")
        for d in range(len(shape)):
            if d != dim and shape[d] == index[d]:
                yield AxisRule((Shard(d), Shard(d)), (Shard(d),))
        yield AxisRule((R, Shard(dim)), (Shard(dim),))
        if math.prod(index) <= math.prod(shape):
            yield AxisRule((Shard(dim), R), (Shard(dim),), "elements")
        for p in EVERY_PARTIAL:
            yield AxisRule((p, R), (p,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Elements from the ranks that hold them."""
        dim, layout, platform = self._dim(call), call.layouts[0], self.platform
        if not any(rule.tag for rule in rules):
            return None
        axis = only_axis(self.op_name, layout, dim)
        if outs[0].dim_axes[dim] != (axis,):
            raise LayoutError(explain(self.op_name, "mesh axes that cut the result's dim", axis, outs[0].dim_axes[dim]))
        mesh, size = layout.mesh, layout.shape[dim]
        wrap = self.op_name == "take_along_dim"
        return lambda x, index: platform.take_elements(x, index, mesh, axis, dim, size, wrap)


class WhereDistributedOp(ElementWiseDistributedOp):
    """where with two branches; element-wise. (With a condition only, it is nonzero.)"""

    derives_inplace: ClassVar[bool] = False

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Only the number of arguments counts, as torch.where and Tensor.where order them differently."""
        if len(args) + len(kwargs) != 3:
            raise LayoutError(
                explain(self.op_name, "arguments", "a condition and two branches", len(args) + len(kwargs))
            )
        return {}


class WriteDistributedOp(AxisRuleOp):
    """scatter, scatter_add, scatter_reduce, index_add, index_copy, index_fill.

    YAML keys: `source` (name of the tensor that is written), `line` (true: the index is 1-D, one position per slice).

    Rules:
        1. An axis may cut another dim of input, index (if it has that dim) and source alike (equal sizes).
        2. An axis that cuts the written dim, index and source replicated: every rank writes what falls in its part.
        3. A sum stays pending where values are added to it that are pending too.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    derives_inplace: ClassVar[bool] = True

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """input, dim, index, then what the operator has."""
        names = ["input", "dim", "index", self.options["source"], *self.options.get("more", [])]
        if len(args) > len(names):
            raise LayoutError(explain(self.op_name, "positional arguments", f"at most {len(names)}", len(args)))
        return dict(zip(names, args, strict=False)) | kwargs

    def _dim(self, call: OpCall) -> int:
        shape = call.shape()
        if not shape or call["index"] != Slot(1) or call["input"] != Slot(0):
            raise LayoutError(explain(self.op_name, "input and index", "tensors, at least 1-D", call.shapes))
        dim = call.dim("dim", len(shape))
        index = call.shape("index")
        if len(index) != (1 if self.options.get("line") else len(shape)):
            raise LayoutError(explain(self.op_name, "index's dims", "1 or those of the input", index))
        source = self._source(call)
        if source is not None and len(call.shapes[source]) not in ((0, len(shape)) if self._fills() else (len(shape),)):
            raise LayoutError(explain(self.op_name, "source's dims", len(shape), call.shapes[source]))
        if self.options.get("line") and source is not None and not self._fills():
            want = tuple(index[0] if d == dim else n for d, n in enumerate(shape))
            if call.shapes[source] != want:
                raise LayoutError(explain(self.op_name, "source's shape", want, call.shapes[source]))
        return dim

    def _fills(self) -> bool:
        return bool(self.op_name.rstrip("_") == "index_fill")

    def _source(self, call: OpCall) -> int | None:
        value = call.get(self.options["source"], call.get("value"))
        return value.index if isinstance(value, Slot) else None

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        self._dim(call)
        return (call.shape(),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        dim, source = self._dim(call), self._source(call)
        line = self.options.get("line")
        for d, size in enumerate(call.shape()):
            others = [] if line else [call.shape("index")[d]]
            cut = [Shard(d), R if line else Shard(d)]
            if source is not None:
                pointwise = self._fills() or not call.shapes[source]
                others += [] if pointwise else [call.shapes[source][d]]
                cut.append(R if pointwise else Shard(d))
            if d != dim and all(n == size for n in others):
                yield AxisRule(tuple(cut), (Shard(d),))
        rest = (R,) * (len(call.layouts) - 1)
        if call.get("reduce") not in {"prod", "multiply"} and call.get("index") is not None:
            yield AxisRule((Shard(dim), *rest), (Shard(dim),), "own")
        if source is not None and self.op_name.rstrip("_") in {"scatter_add", "index_add"}:
            yield AxisRule((P_SUM, R, P_SUM), (P_SUM,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Positions of other parts are written to a spare row."""
        dim, layout, platform = self._dim(call), call.layouts[0], self.platform
        if not any(rule.tag for rule in rules):
            return None
        only_axis(self.op_name, layout, dim)
        start, size = layout.local_offset[dim], layout.shape[dim]
        rest = {n: v for n, v in call.params.items() if n not in {"input", "dim", "index"}}
        number = "src" in rest and not isinstance(rest["src"], Slot)

        def run(x: Any, index: Any, *source: Any) -> Any:
            named = {n: source[v.index - 2] if isinstance(v, Slot) else v for n, v in rest.items()}
            if number:
                named["value"] = named.pop("src")
            return platform.write_rows(func, x, dim, index, start, size, named)

        return run
