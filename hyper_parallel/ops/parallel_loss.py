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
"""Losses: the parts' losses are added up as a pending sum, with the denominator of the whole; nothing is gathered.

A loss that refuses some values (a target that is no class, a probability above 1) does so on every rank: a rank that
raised alone would leave the others waiting. That costs one tiny all-reduce.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot, parse_signature
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.parallel_elementwise import ElementWiseDistributedOp
from hyper_parallel.ops.parallel_softmax import require_long_enough
from hyper_parallel.ops.shapes import Shape, broadcast
from hyper_parallel.placements import P_SUM, Placement, R, Shard

CUT, CLASSES = "cut", "classes"
_LEGACY = ("size_average", "reduce")
_WEIGHTS = ("weight", "pos_weight")


class LossDistributedOp(AxisRuleOp):
    """What all losses share.

    YAML keys: `arguments` – the parameters, as the framework names them; `reductions` – further ones it knows.
    """

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """See the base class."""
        return parse_signature(self.options["arguments"]).bind(self.op_name, args, kwargs)

    def reduction(self, call: OpCall) -> str:
        """The reduction, if it is one that rules know and given in the usual way."""
        for name in _LEGACY:
            if call.get(name) is not None:
                raise LayoutError(explain(self.op_name, name, "unset", call[name]))
        word, known = call["reduction"], ["none", "mean", "sum", *self.options.get("reductions", ())]
        if word not in known:
            raise LayoutError(explain(self.op_name, "reduction", f"among {known}", word))
        return str(word)

    def result(self, call: OpCall, shape: Shape) -> Sequence[Shape]:
        """Shapes of the outputs, given that of the losses before the reduction."""
        if 0 in shape:
            raise LayoutError(explain(self.op_name, "the losses", "not empty", shape))
        return (shape if self.reduction(call) == "none" else (),)

    def values(self, call: OpCall, tensors: Sequence[Any], reduction: str) -> dict[str, Any]:
        """The arguments of the local call by name."""
        filled = {k: tensors[v.index] if isinstance(v, Slot) else v for k, v in call.params.items()}
        return {k: v for k, v in filled.items() if k not in _LEGACY} | {"reduction": reduction}

    def parts(self, call: OpCall) -> tuple[int, int]:
        """Number of losses in the own part and in all."""
        raise NotImplementedError

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The own part's loss, a mean weighted by the part's share. YAML key `checked`: values may be refused."""
        mesh, word, checked = call.layouts[0].mesh, self.reduction(call), self.options.get("checked", False)
        axes = [axis for axis, rule in enumerate(rules) if rule.tag]
        if not axes or (word == "none" and not checked):
            return None
        own, count = self.parts(call)
        local = word if word == "none" or (word == "mean" and own) else "sum"
        scale = {"mean": own / count, "batchmean": 1 / max(1, *call.layouts[0].shape[:1])}.get(word)
        name, loss, together = self.op_name, self.platform.loss, self.platform.run_together

        require_float = self.platform.require_float

        def impl(*tensors: Any) -> Any:
            values = self.values(call, tensors, local)
            part = together(lambda: loss(name, values), name, mesh, axes) if checked else loss(name, values)
            if word == "mean" and not own:
                require_float(name, part, None)  # as the mean of the other parts does
            return part if scale is None else part * scale

        return impl


class PointwiseLossDistributedOp(LossDistributedOp, ElementWiseDistributedOp):
    """mse_loss and other losses of single elements.

    YAML keys: `same_shape` – inputs and target have to be of equal shape, not broadcast; `plain_mean: false` – a
    mean of weighted losses is divided by something else than their number.

    Rules:
        1. Operands are cut alike, as in element-wise operators; the losses are cut so, too.
        2. Their sum or mean is a pending sum.
    """

    scalars_matter: ClassVar[bool] = True
    derives_inplace: ClassVar[bool] = False

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        shape = broadcast(self.op_name, call.shapes)
        first, second = (v for _, v in zip(range(2), call.params.values(), strict=False))
        if not isinstance(first, Slot) or not isinstance(second, Slot):
            raise LayoutError(explain(self.op_name, "input and target", "tensors", (first, second)))
        if self.options.get("same_shape"):
            named = {k: call.layouts[v.index].shape for k, v in call.params.items() if isinstance(v, Slot)}
            if any(found != shape for name, found in named.items() if name not in _WEIGHTS):
                raise LayoutError(explain(self.op_name, "the shapes of inputs and target", "equal", named))
        if not self.options.get("plain_mean", True) and call.get("weight") is not None:
            raise LayoutError(explain(self.op_name, "weight", "absent", "given"))
        return self.result(call, shape)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        whole = self.reduction(call) == "none"
        for rule in ElementWiseDistributedOp.axis_rules(self, call):
            yield AxisRule(rule.inputs, rule.outputs if whole else (P_SUM,), CUT)

    def parts(self, call: OpCall) -> tuple[int, int]:
        """See the base class."""
        own = broadcast(self.op_name, [layout.local_shape for layout in call.layouts])
        return math.prod(own), math.prod(broadcast(self.op_name, call.shapes))


class RowLossDistributedOp(LossDistributedOp):
    """Losses with one value per row of matrices: triplet_margin_loss, multi_margin_loss and the like.

    Rules:
        1. Rows may be cut in all tensors alike, with the weight of the columns replicated.
        2. Their sum or mean is a pending sum.
    """

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        first = call.layouts[0].shape
        for slot, shape in enumerate(call.shapes):
            if call.get("weight") == Slot(slot):
                fits = shape == first[1:]
            else:
                fits = shape == first or (call.get("target") == Slot(slot) and shape == first[:1])
            if len(first) != 2 or not fits:
                raise LayoutError(explain(self.op_name, "inputs", "matrices, and one target per row", call.shapes))
        return self.result(call, first[:1])

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        places = [R if call.get("weight") == Slot(i) else Shard(0) for i in range(len(call.layouts))]
        yield AxisRule(tuple(places), (Shard(0) if self.reduction(call) == "none" else P_SUM,), CUT)

    def parts(self, call: OpCall) -> tuple[int, int]:
        """See the base class."""
        return call.layouts[0].local_shape[0], call.layouts[0].shape[0]


class ClassLossDistributedOp(LossDistributedOp):
    """cross_entropy and nll_loss. YAML key `logits`: the input still has to go through log_softmax.

    Rules:
        1. Batch and further dims may be cut in input and target alike, with the weight replicated.
        2. The class dim may be cut with the target replicated: each rank looks up the targets among its classes; two
           numbers per position are reduced for the softmax. With probabilities as the target, that is cut, too.
        3. The result over a cut class dim is a pending sum, as are sum and mean over any cut dim.
    """

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        shape, target = call.shape("input"), call.shape("target")
        dim = self._class_dim(call)
        positions = (*shape[:dim], *shape[dim + 1 :])
        if not shape or 0 in shape or (target != positions and not self._with_probabilities(call)):
            raise LayoutError(explain(self.op_name, "the target's shape", positions, target))
        if call["weight"] is not None and call.shape("weight") != (shape[dim],):
            raise LayoutError(explain(self.op_name, "the weight's shape", (shape[dim],), call.shape("weight")))
        if not 0 <= self._smoothing(call) <= 1 or (self._with_probabilities(call) and call["ignore_index"] >= 0):
            raise LayoutError(explain(self.op_name, "label_smoothing and ignore_index", "valid", call.params))
        return self.result(call, positions)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        classes, probabilities = self._class_dim(call), self._with_probabilities(call)
        reduced = self.reduction(call) != "none"
        for dim in range(len(call.shape())):
            other = dim - (dim > classes)
            if dim != classes:
                where = Shard(dim) if probabilities else Shard(other)
                out = P_SUM if reduced else Shard(other)
                yield AxisRule(self._places(call, Shard(dim), where, R), (out,), CUT)
            elif probabilities:
                yield AxisRule(self._places(call, Shard(dim), Shard(dim), Shard(0)), (P_SUM,), CLASSES)
            else:
                yield AxisRule(self._places(call, Shard(dim), R, R), (P_SUM,), CLASSES)

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """See the base class."""
        axes = [axis for axis, rule in enumerate(rules) if rule.tag]
        if not axes:
            return None
        layout, dim, mesh = call.layout("input"), self._class_dim(call), call.layouts[0].mesh
        rows, across = ([a for a in axes if rules[a].tag == tag] for tag in (CUT, CLASSES))
        if across and self.options.get("logits"):
            require_long_enough(self.op_name, layout, dim)
        word, name, ignored = self.reduction(call), self.op_name, call["ignore_index"]
        smooth, start, platform = (self._smoothing(call), layout.shape[dim]), layout.local_offset[dim], self.platform
        soft = platform.softmax_across if across and self.options.get("logits") else None
        probabilities, count = self._with_probabilities(call), math.prod(layout.shape) // layout.shape[dim]
        mass_of, share, shares = platform.target_mass, platform.nll_share, platform.probability_share

        def impl(*tensors: Any) -> Any:
            values = self.values(call, tensors, "none")
            x, target, weight = values["input"], values["target"], values["weight"]
            mass, whole = None, count
            if not probabilities:
                mass, whole = mass_of(name, target, weight, layout.shape[dim], ignored, mesh, rows)
            if not across:
                losses = platform.loss(name, values)
            else:
                logs = x if soft is None else soft(x, dim, True, None, mesh, across)
                if probabilities:
                    losses = shares(logs, target, weight, dim, smooth)
                else:
                    losses = share(logs, target, mass, weight, dim, start, ignored, smooth)
            return losses if word == "none" else platform.share_of_mean(losses, whole if word == "mean" else 1)

        return impl

    def _class_dim(self, call: OpCall) -> int:
        return min(1, len(call.shape()) - 1)

    def _smoothing(self, call: OpCall) -> float:
        return float(call.get("label_smoothing", 0.0))

    def _with_probabilities(self, call: OpCall) -> bool:
        return bool(self.options.get("logits")) and call.shape() == call.shape("target")

    def _places(self, call: OpCall, x: Placement, target: Placement, weight: Placement) -> tuple[Placement, ...]:
        by_name = {"input": x, "target": target, "weight": weight}
        slots = {call[name].index: place for name, place in by_name.items() if isinstance(call[name], Slot)}
        if len(slots) != len(call.layouts):
            raise LayoutError(explain(self.op_name, "tensors", "input, target and weight", len(call.layouts)))
        return tuple(slots[i] for i in range(len(slots)))
