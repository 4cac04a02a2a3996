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
"""Element-wise operators: operands are cut alike along every dim they share; linear ones also take pending sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot
from hyper_parallel.ops.shapes import broadcast
from hyper_parallel.placements import P_AVG, P_MAX, P_MIN, P_PROD, P_SUM, Placement, R, Shard


class ElementWiseDistributedOp(AxisRuleOp):
    """Any element-wise function of tensors and scalars, broadcasting as usual.

    YAML keys: `outputs` (number of tensor results, default 1).

    Rules:
        1. An axis may cut an output dim; every operand of that size there is cut alike, one that is broadcast is
           replicated.
        2. Pending reductions are not taken (see the subclass).
    """

    scalars_matter: ClassVar[bool] = False
    derives_inplace: ClassVar[bool] = True

    def output_shapes(self, call: OpCall) -> Sequence[tuple[int, ...]]:
        """See the base class."""
        shape = broadcast(self.op_name, call.shapes)
        return (shape,) * int(self.options.get("outputs", 1))

    def axis_rules(self, call: OpCall) -> Iterable[AxisRule]:
        """See the base class."""
        shapes = call.shapes
        out = broadcast(self.op_name, shapes)
        outputs = int(self.options.get("outputs", 1))
        for dim, size in enumerate(out):
            inputs: list[Placement] = []
            for shape in shapes:
                own = dim - (len(out) - len(shape))
                inputs.append(Shard(own) if own >= 0 and shape[own] == size else R)
            yield AxisRule(tuple(inputs), (Shard(dim),) * outputs)
        for rule in self.partial_rules(call):
            yield AxisRule(rule.inputs, rule.outputs * outputs)

    def partial_rules(self, call: OpCall) -> Iterable[AxisRule]:
        """Rules that take pending reductions."""
        return ()


class ElementWiseWithPartialDistributedOp(ElementWiseDistributedOp):
    """Element-wise functions that are linear in some way.

    YAML key `linear` tells which:
        any    – one tensor in, values unchanged (clone, detach, contiguous): every reduction;
        one    – one tensor in, odd and additive (neg, real, conj): sum and avg;
        sum    – additive in all tensors together (add, sub, where's branches): all of them pending; `avg` also beside
                 replicated ones and scalars;
        each   – additive in each tensor by itself (mul): one pending, the others replicated;
        first  – additive in the first tensor only (div, true_divide);
        max, min – the reduction itself (maximum, minimum);
        ignore – values are not read (zeros_like): a pending input counts as replicated.
    """

    _allow_partial_inputs: ClassVar[bool] = True

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Only the first two operands have to be known by name."""
        return {**dict(zip(("input", "other"), args, strict=False)), **kwargs}

    def partial_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        kind = self.options.get("linear", "any")
        count = len(call.layouts)
        if kind == "ignore":
            for p in (P_SUM, P_AVG, P_MAX, P_MIN, P_PROD):
                yield AxisRule((p,) * count, (R,))
        elif kind == "any":
            for p in (P_SUM, P_AVG, P_MAX, P_MIN, P_PROD):
                yield AxisRule((p,) * count, (p,))
        elif kind == "one":
            for p in (P_SUM, P_AVG):
                yield AxisRule((p,) * count, (p,))
        elif kind == "sum":
            yield from self._additive(call)
        elif kind in {"max", "min"}:
            p = P_MAX if kind == "max" else P_MIN
            yield AxisRule((p,) * count, (p,))
            for slot in range(count):
                yield AxisRule(tuple(p if i == slot else R for i in range(count)), (p,))
        elif kind in {"each", "first"}:
            if call.get("rounding_mode") is not None or (kind == "first" and call.get("input") != Slot(0)):
                return
            for slot in range(count if kind == "each" else 1):
                for p in (P_SUM, P_AVG):
                    yield AxisRule(tuple(p if i == slot else R for i in range(count)), (p,))

    def _additive(self, call: OpCall) -> Iterator[AxisRule]:
        count = len(call.layouts)
        if all(isinstance(call.params.get(name), Slot) for name in ("input", "other")):
            yield AxisRule((P_SUM,) * count, (P_SUM,))
        yield AxisRule((P_AVG,) * count, (P_AVG,))
        for slot in range(count):
            yield AxisRule(tuple(P_AVG if i == slot else R for i in range(count)), (P_AVG,))


class CastDistributedOp(ElementWiseWithPartialDistributedOp):
    """to(dtype or device): a pending sum stays pending only if the new dtype is floating: rounding is not additive."""

    def partial_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        named = [str(v) for v in call.params.values() if "float" in str(v) or "int" in str(v) or "bool" in str(v)]
        if all("float" in name for name in named):
            for p in (P_SUM, P_AVG):
                yield AxisRule((p,), (p,))
