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
"""Look-ups in a table of rows: embedding, and one_hot, whose table is never made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot, parse_signature
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.placements import P_AVG, P_SUM, Placement, R, Shard

OWN_ROWS = "own rows"


class EmbeddingDistributedOp(AxisRuleOp):
    """embedding without norm, scaling or sparse gradients. YAML key `signature`: parameters in another order.

    Rules:
        1. Any dim of the indices may be cut with the table replicated; the result is cut alike.
        2. The table's columns may be cut with the indices replicated: the last dim of the result is.
        3. The table's rows may be cut with the indices replicated: each rank looks up what it holds and leaves a
           pending sum, and gradients reach own rows only. Nothing is sent.
        4. A pending sum or average of tables stays pending.
    """

    signature: ClassVar[str] = (
        "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False"
    )
    _allow_partial_inputs: ClassVar[bool] = True

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Parameters by name."""
        return parse_signature(self.options.get("signature", self.signature)).bind(self.op_name, args, kwargs)

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        if call.get("max_norm") is not None or call["scale_grad_by_freq"] or call["sparse"] or len(call.layouts) != 2:
            raise LayoutError(explain(self.op_name, "max_norm, scale_grad_by_freq and sparse", "unset", "set"))
        if len(call.shape("weight")) != 2:
            raise LayoutError(explain(self.op_name, "the table", "2-d", call.shape("weight")))
        return ((*call.shape(), call.shape("weight")[1]),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""

        def rule(words: Placement, table: Placement, out: Placement, tag: str = "") -> AxisRule:
            inputs = (words, table) if call["input"] == Slot(0) else (table, words)
            return AxisRule(inputs, (out,), tag)

        ndim = len(call.shape())
        for dim in range(ndim):
            yield rule(Shard(dim), R, Shard(dim))
        yield rule(R, Shard(1), Shard(ndim))
        yield rule(R, Shard(0), P_SUM, OWN_ROWS)
        for pending in (P_SUM, P_AVG):
            yield rule(R, pending, pending)

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The own rows at their place, zeros elsewhere."""
        if all(rule.tag != OWN_ROWS for rule in rules):
            return None
        layout = call.layout("weight")
        size, start, padding = layout.shape[0], layout.local_offset[0], self._padding(call, layout.shape[0])
        embed_rows, first = self.platform.embed_rows, call["input"] == Slot(0)

        def look_up(*tensors: Any) -> Any:
            words, table = tensors if first else tensors[::-1]
            return embed_rows(words, table, start, size, padding)

        return look_up

    def _padding(self, call: OpCall, rows: int) -> int | None:
        """The row without a gradient, counted from the front; the builtin says -1 for none."""
        padding, builtin = call["padding_idx"], "max_norm" not in call.params
        if padding is None or (builtin and padding < 0):
            return None
        if not -rows <= padding < rows:
            raise LayoutError(explain(self.op_name, "padding_idx", f"in [{-rows}, {rows})", padding))
        return int(padding) % rows


class OneHotDistributedOp(AxisRuleOp):
    """one_hot with a number of classes.

    Rules:
        1. Any dim of the indices may be cut; the result is cut alike.
    """

    signature: ClassVar[str] = "input, num_classes=-1"

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        classes = call["num_classes"]
        if not isinstance(classes, int) or classes < 1:
            raise LayoutError(explain(self.op_name, "num_classes", "given, at least 1", classes))
        return ((*call.shape(), classes),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        for dim in range(len(call.shape())):
            yield AxisRule((Shard(dim),), (Shard(dim),))
