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
"""Contractions: every operator is spelled as index labels, and the rules follow from the labels.

An axis may cut a label that all its owners have in the same size: operands are cut there, the output too if it has the
label, else it is a pending sum. A contraction is linear in each operand, so one operand may be a pending sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.placements import P_AVG, P_SUM, Placement, R, Shard

Labels = tuple[tuple[object, ...], ...]


class ContractionDistributedOp(AxisRuleOp):
    """An operator given by the YAML key `labels`, e.g. `mk,kn->mn`; `bias: true` if tensor 0 is added to the result.

    Rules:
        1. One label cut everywhere it occurs; a label that the output lacks makes it a pending sum.
        2. One factor pending, the others replicated; a bias is pending together with it.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "first, second, third=None, *, beta=1, alpha=1"

    def labels(self, call: OpCall) -> tuple[Labels, tuple[object, ...]]:
        """Labels of the factors and of the output."""
        left, _, right = str(self.options["labels"]).partition("->")
        return tuple(tuple(part) for part in left.split(",")), tuple(right)

    def bias_slot(self, call: OpCall) -> int | None:
        """Slot of a tensor that is added to the result."""
        return 0 if self.options.get("bias") else None

    def output_shapes(self, call: OpCall) -> Sequence[tuple[int, ...]]:
        """See the base class."""
        factors, out = self.labels(call)
        sizes = self._sizes(call, factors)
        return (tuple(sizes[label] for label in out),)

    def _factor_slots(self, call: OpCall) -> list[int]:
        bias = self.bias_slot(call)
        return [slot for slot in range(len(call.layouts)) if slot != bias]

    def _sizes(self, call: OpCall, factors: Labels) -> dict[object, int]:
        slots = self._factor_slots(call)
        if len(slots) != len(factors):
            raise LayoutError(explain(self.op_name, "tensor operands", len(factors), len(slots)))
        sizes: dict[object, int] = {}
        for slot, labels in zip(slots, factors, strict=True):
            shape = call.layouts[slot].shape
            if len(shape) != len(labels):
                raise LayoutError(explain(self.op_name, f"dims of operand {slot}", len(labels), shape))
            for label, size in zip(labels, shape, strict=True):
                known = sizes.get(label, 1)
                if known != size and 1 not in (known, size):
                    raise LayoutError(explain(self.op_name, f"the size of {label!r}", known, size))
                sizes[label] = max(known, size) if 0 not in (known, size) else 0
        return sizes

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        factors, out = self.labels(call)
        sizes = self._sizes(call, factors)
        slots, bias = self._factor_slots(call), self.bias_slot(call)
        out_shape = tuple(sizes[label] for label in out)
        for label, size in sizes.items():
            if any(labels.count(label) > 1 for labels in (*factors, out)):
                continue
            inputs: list[Placement] = [R] * len(call.layouts)
            for slot, labels in zip(slots, factors, strict=True):
                if label in labels and call.layouts[slot].shape[labels.index(label)] == size:
                    inputs[slot] = Shard(labels.index(label))
            result: Placement = Shard(out.index(label)) if label in out else P_SUM
            if bias is not None:
                inputs[bias] = _bias_placement(call.layouts[bias].shape, out_shape, result)
            yield AxisRule(tuple(inputs), (result,))
        for pending in (P_SUM, P_AVG):
            for slot in slots:
                inputs = [R] * len(call.layouts)
                inputs[slot] = pending
                if bias is not None:
                    inputs[bias] = pending
                yield AxisRule(tuple(inputs), (pending,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The bias in the result's shape where a part is empty: PyTorch's `addmv` returns it as it is there."""
        if not self.options.get("bias") or not any(0 in layout.local_shape for layout in call.layouts):
            return None
        platform, shape = self.platform, outs[0].local_shape
        scales = {name: call[name] for name in ("beta", "alpha")}
        return lambda bias, *factors: func(platform.expand(bias, shape), *factors, **scales)


class MatMulDistributedOp(ContractionDistributedOp):
    """matmul of any ranks, with broadcast batch dims."""

    def labels(self, call: OpCall) -> tuple[Labels, tuple[object, ...]]:
        """See the base class."""
        if len(call.layouts) != 2:
            raise LayoutError(explain(self.op_name, "tensor operands", 2, len(call.layouts)))
        a, b = (len(layout.shape) for layout in call.layouts)
        if not a or not b:
            raise LayoutError(explain(self.op_name, "operands", "at least 1-D", call.shapes))
        batch = tuple(("batch", i) for i in range(max(a, b) - 2, 0, -1))
        left = (*batch[len(batch) - max(a - 2, 0) :], "m", "k") if a > 1 else ("k",)
        right = (*batch[len(batch) - max(b - 2, 0) :], "k", "n") if b > 1 else ("k",)
        return (left, right), (*batch, *(("m",) if a > 1 else ()), *(("n",) if b > 1 else ()))


class LinearDistributedOp(ContractionDistributedOp):
    """linear(input, weight, bias): `...k,nk->...n`."""

    signature: ClassVar[str] = "input, weight, bias=None"

    def labels(self, call: OpCall) -> tuple[Labels, tuple[object, ...]]:
        """See the base class."""
        ndim, weight = len(call.shape("input")), len(call.shape("weight"))
        if ndim < 1 or weight not in (1, 2):
            raise LayoutError(explain(self.op_name, "input and weight", "at least 1-D and 1-D or 2-D", call.shapes))
        batch = tuple(("batch", i) for i in range(ndim - 1))
        if weight == 1:
            return ((*batch, "k"), ("k",)), batch
        return ((*batch, "k"), ("n", "k")), (*batch, "n")

    def bias_slot(self, call: OpCall) -> int | None:
        """See the base class."""
        return call["bias"].index if isinstance(call["bias"], Slot) else None


class EinsumDistributedOp(ContractionDistributedOp):
    """einsum with an equation string; the sublist form runs by the fallback."""

    signature: ClassVar[str] = "equation, *operands"

    def labels(self, call: OpCall) -> tuple[Labels, tuple[object, ...]]:
        """See the base class."""
        equation = call["equation"]
        if not isinstance(equation, str):
            raise LayoutError(explain(self.op_name, "the equation", "a string", repr(equation)))
        left, arrow, right = equation.replace(" ", "").partition("->")
        parts = left.split(",")
        if len(parts) != len(call.layouts) or any(part.count(".") not in (0, 3) for part in (*parts, right)):
            raise LayoutError(explain(self.op_name, "the equation", f"of {len(call.layouts)} operands", equation))
        if not arrow:
            letters = sorted(c for c in set(left) - {",", "."} if left.count(c) == 1)
            right = ("..." if "." in left else "") + "".join(letters)
        rests = [len(shape) - len(part) + 3 for part, shape in zip(parts, call.shapes, strict=True) if "." in part]
        widest = max(rests, default=0)
        found = iter(rests)
        return tuple(_spelled(part, next(found) if "." in part else 0) for part in parts), _spelled(right, widest)


def _spelled(part: str, rest: int) -> tuple[object, ...]:
    """Labels of one operand, its ellipsis as `rest` labels counted from the right."""
    before, _, after = part.partition("...")
    return (*before, *(("batch", back) for back in range(rest, 0, -1)), *after)


def _bias_placement(shape: tuple[int, ...], out_shape: tuple[int, ...], result: Placement) -> Placement:
    if not isinstance(result, Shard):
        return result
    own = result.dim - (len(out_shape) - len(shape))
    return Shard(own) if own >= 0 and shape[own] == out_shape[result.dim] else R
