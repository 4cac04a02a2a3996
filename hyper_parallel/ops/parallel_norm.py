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
"""Normalisation: layer, RMS, batch, group and instance norm; a cut of normalised dims sends moments only.

Moments are taken in two passes, the mean first, then the centred squares, so nothing is lost to cancellation and parts
of any length count as they should.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot, parse_signature
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.ops.stretch import Stretch, narrowed, own_stretch
from hyper_parallel.placements import Placement, R, Shard

MOMENTS = "moments"
STATISTICS = ("running_mean", "running_var")


class NormDistributedOp(AxisRuleOp):
    """What all norms have in common. YAML key `signature`: parameters in another order, as the builtins have them.

    Rules:
        1. A dim that is not normalised may be cut; the result is cut alike and nothing is sent.
        2. A normalised dim may be cut if the moments are fewer bytes than the input: they are all-reduced.
        3. Weight and bias are cut like the dim they belong to, or replicated: then each rank uses its stretch.
    """

    centred: ClassVar[bool] = True

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Parameters by name."""
        return parse_signature(self.options.get("signature", self.signature)).bind(self.op_name, args, kwargs)

    # -- what differs between norms
    def normalised(self, call: OpCall) -> tuple[int, ...]:
        """Dims over which moments are taken (of groups: those that are normalised whole)."""
        raise NotImplementedError

    def owned_dim(self, call: OpCall, dim: int) -> int | None:
        """The dim of weight, bias and running statistics that goes with a dim of the input."""
        return 0 if dim == 1 else None

    def takes_part(self, call: OpCall, dim: int) -> bool:
        """Whether ranks that cut this dim need each other's moments."""
        return dim in self.normalised(call)

    def terms(self, call: OpCall) -> int:
        """Number of elements behind each mean."""
        return math.prod(call.shape()[d] for d in self.normalised(call))

    def pools(self, call: OpCall) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        """(sum of the own part of each mean's elements, means spread over the own part)."""
        dims, add = self.normalised(call), self.platform.sum
        return lambda x: add(x, dims, True, None), lambda moment: moment

    def local_scalars(self, call: OpCall) -> dict[str, Any]:
        """Scalars that are different for the own part."""
        return {}

    def works_on(self, call: OpCall, part: Sequence[int]) -> bool:
        """Whether the operator itself takes a part of this shape that needs no other rank."""
        return True

    # -- the rule
    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        shape = call.shape()
        if call["input"] != Slot(0):
            raise LayoutError(explain(self.op_name, "input", "the first tensor", call["input"]))
        for name, slot in _slots(call).items():
            owned = tuple(n for d, n in enumerate(shape) if self.owned_dim(call, d) is not None)
            if slot and call.shapes[slot] != owned:
                raise LayoutError(explain(self.op_name, name, f"of shape {owned}", call.shapes[slot]))
        return (shape,)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        shape = call.shape()
        passes = 2 if self.centred else 1
        worthwhile = 0 < 2 * passes * math.prod(shape) // max(self.terms(call), 1) < math.prod(shape)
        names = sorted(_slots(call), key=_slots(call).__getitem__)[1:]
        for dim in range(len(shape)):
            tag = MOMENTS if self.takes_part(call, dim) else ""
            if tag and not worthwhile:
                continue
            owned = self.owned_dim(call, dim)
            cut = R if owned is None else Shard(owned)
            for plain in dict.fromkeys((cut, R)):
                others: list[Placement] = [cut if name in STATISTICS else plain for name in names]
                yield AxisRule((Shard(dim), *others), (Shard(dim),), tag)

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The operator itself on the own part, or the definition with moments of all ranks."""
        layout = call.layouts[0]
        axes = [axis for axis, rule in enumerate(rules) if rule.tag == MOMENTS]
        stretches = {slot: self._stretch(call, slot) for slot in _slots(call).values() if slot}
        scalars = self.local_scalars(call)
        parts = [layout.slices_at(at) for at in itertools.product(*map(range, layout.mesh.mesh_shape))]
        if axes or not all(self.works_on(call, [length for _, length in part]) for part in parts):
            return self._by_definition(call, axes, stretches)
        if not scalars and not any(stretches.values()):
            return None
        rest = {n: v for n, v in call.params.items() if not isinstance(v, Slot)} | scalars
        slots, narrow = _slots(call), self.platform.narrow

        def local(*tensors: Any) -> Any:
            own = [narrowed(narrow, tensor, stretches.get(slot)) for slot, tensor in enumerate(tensors)]
            return func(**{name: own[slot] for name, slot in slots.items()}, **rest)

        return local

    def _by_definition(
        self, call: OpCall, axes: Sequence[int], stretches: dict[int, list[Stretch]]
    ) -> Callable[..., Any]:
        platform, mesh, op_name = self.platform, call.layouts[0].mesh, self.op_name
        slots, eps = _slots(call), call["eps"]
        count, centred = self.terms(call), self.centred
        if count < 1:
            raise LayoutError(explain(op_name, "the normalised dims", "not empty", call.shape()))
        pool, spread = self.pools(call)
        shape = tuple(
            n if self.owned_dim(call, d) is not None else 1 for d, n in enumerate(call.layouts[0].local_shape)
        )
        widened, epsilon, cast_like, narrow = platform.widened, platform.epsilon, platform.cast_like, platform.narrow
        keep_statistics = self.statistics_update(call)
        by_statistics = () if call.get("training", True) else STATISTICS

        def mean_of(x: Any) -> Any:
            moment = pool(x)
            for axis in axes:
                moment = platform.all_reduce_used_locally(moment, mesh, axis)
            return moment / count

        def impl(*tensors: Any) -> Any:
            platform.require_float(op_name, tensors[0], None)
            own = [narrowed(narrow, tensor, stretches.get(slot)) for slot, tensor in enumerate(tensors)]
            x = widened(own[0])
            known = [own[slots[name]].reshape(shape) for name in by_statistics]
            mean = known[0] if known else mean_of(x) if centred else None
            x = x if mean is None else x - spread(mean)
            square = known[1] if known else mean_of(x * x)
            if keep_statistics is not None:
                keep_statistics(own, mean, square)
            out = x * (spread(square) + (epsilon(x) if eps is None else eps)) ** -0.5
            for name in ("weight", "bias"):
                if name in slots:
                    other = own[slots[name]].reshape(shape)
                    out = out * other if name == "weight" else out + other
            return cast_like(out, own[0])

        return impl

    def statistics_update(self, call: OpCall) -> Callable[..., None] | None:
        """What writes running statistics from (tensors, mean, variance), if there are any."""
        return None

    def _stretch(self, call: OpCall, slot: int) -> list[Stretch]:
        """(dim, start, length) of the own stretch of a weight, for dims where its part is larger than the input's."""
        layout, other = call.layouts[0], call.layouts[slot]
        found = []
        for dim in range(layout.ndim):
            owned = self.owned_dim(call, dim)
            stretch = None if owned is None else own_stretch(self.op_name, layout, dim, other, owned)
            found += [stretch] if stretch else []
        return found


class LayerNormDistributedOp(NormDistributedOp):
    """layer_norm: the last dims are normalised."""

    signature: ClassVar[str] = "input, normalized_shape, weight=None, bias=None, eps=1e-5"

    def normalised(self, call: OpCall) -> tuple[int, ...]:
        """See the base class."""
        shape, given = call.shape(), call["normalized_shape"]
        last = (given,) if isinstance(given, int) else tuple(given)
        if not last or shape[-len(last) :] != last:
            raise LayoutError(explain(self.op_name, "normalized_shape", f"the last dims of {shape}", last))
        return tuple(range(len(shape) - len(last), len(shape)))

    def owned_dim(self, call: OpCall, dim: int) -> int | None:
        """See the base class."""
        first = self.normalised(call)[0]
        return dim - first if dim >= first else None


class RmsNormDistributedOp(LayerNormDistributedOp):
    """rms_norm: no mean is taken; `eps` depends on the dtype unless given."""

    signature: ClassVar[str] = "input, normalized_shape, weight=None, eps=None"
    centred: ClassVar[bool] = False


class BatchNormDistributedOp(NormDistributedOp):
    """batch_norm: every dim but the channels (dim 1) is normalised; by running statistics, nothing is.

    Rules:
        1. In training, a cut of another dim all-reduces the moments; every rank updates its running statistics alike.
        2. Running statistics are cut like the channels; they are never redistributed, as they are written to.
    """

    signature: ClassVar[str] = (
        "input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5"
    )

    def normalised(self, call: OpCall) -> tuple[int, ...]:
        """See the base class."""
        shape = call.shape()
        if len(shape) < 2:
            raise LayoutError(explain(self.op_name, "input dims", "at least 2", len(shape)))
        return tuple(d for d in range(len(shape)) if d != 1)

    def takes_part(self, call: OpCall, dim: int) -> bool:
        """See the base class."""
        return bool(call["training"]) and dim != 1

    def works_on(self, call: OpCall, part: Sequence[int]) -> bool:
        """Not on an empty part, whose channels or derivatives the operator misses."""
        return math.prod(part) > 0

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        given = [isinstance(call[name], Slot) for name in STATISTICS]
        if given[0] != given[1] or not (call["training"] or given[0]):
            raise LayoutError(explain(self.op_name, "running statistics", "both, or none in training", given))
        if call["training"] and self.terms(call) < 2:
            raise LayoutError(explain(self.op_name, "values per channel", "at least 2 in training", call.shape()))
        return super().output_shapes(call)

    def candidates(self, cache_values: Sequence[Any]) -> Iterator[tuple[Layout, ...]]:
        """Those that leave running statistics as they are."""
        call = self.call_of(cache_values)
        fixed = [call[name].index for name in STATISTICS if isinstance(call[name], Slot)]
        for layouts in super().candidates(cache_values):
            if all(layouts[slot] is call.layouts[slot] for slot in fixed):
                yield layouts

    def statistics_update(self, call: OpCall) -> Callable[..., None] | None:
        """See the base class; in training only."""
        slots, momentum, count = _slots(call), call["momentum"], self.terms(call)
        if not call["training"] or not all(name in slots for name in STATISTICS):
            return None
        update = self.platform.update_running

        def keep(tensors: Sequence[Any], mean: Any, square: Any) -> None:
            update(tensors[slots["running_mean"]], mean, momentum)
            update(tensors[slots["running_var"]], square * (count / (count - 1)), momentum)

        return keep


class GroupNormDistributedOp(NormDistributedOp):
    """group_norm: channels (dim 1) are normalised in groups, over all later dims.

    Rules:
        1. A cut of the channels between groups needs no other rank; one within a group all-reduces moments per group.
    """

    signature: ClassVar[str] = "input, num_groups, weight=None, bias=None, eps=1e-5"

    def groups(self, call: OpCall) -> int:
        """Number of groups.

        Raises:
            LayoutError: it does not divide the channels.
        """
        shape, groups = call.shape(), call["num_groups"]
        if len(shape) < 2 or not isinstance(groups, int) or groups < 1 or not shape[1] or shape[1] % groups:
            raise LayoutError(explain(self.op_name, "groups", f"a divisor of dim 1 of {shape}", groups))
        return groups

    def normalised(self, call: OpCall) -> tuple[int, ...]:
        """See the base class."""
        self.groups(call)
        return tuple(range(2, len(call.shape())))

    def terms(self, call: OpCall) -> int:
        """See the base class."""
        return super().terms(call) * (call.shape()[1] // self.groups(call))

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        if math.prod(call.shape()) // self.groups(call) == 1:
            raise LayoutError(explain(self.op_name, "values per group", "at least 2", call.shape()))
        return super().output_shapes(call)

    def takes_part(self, call: OpCall, dim: int) -> bool:
        """See the base class."""
        return dim > 1 or (dim == 1 and not self._between_groups(call))

    def _between_groups(self, call: OpCall) -> bool:
        """Whether every rank holds whole groups."""
        layout, size = call.layouts[0], call.shape()[1] // self.groups(call)
        spans = {layout.slices_at(at)[1] for at in itertools.product(*map(range, layout.mesh.mesh_shape))}
        return all(start % size == length % size == 0 for start, length in spans)

    def works_on(self, call: OpCall, part: Sequence[int]) -> bool:
        """Not without a group, and not with a single value in each."""
        own = part[1] * self.groups(call) // call.shape()[1]
        return math.prod(part) > own > 0

    def local_scalars(self, call: OpCall) -> dict[str, Any]:
        """The number of own groups, if it differs."""
        own, whole = call.layouts[0].local_shape[1], call.shape()[1]
        return {} if own == whole else {"num_groups": own * self.groups(call) // whole}

    def pools(self, call: OpCall) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        """Moments of all groups; own channels stand at their place among zeros."""
        platform, layout, groups = self.platform, call.layouts[0], self.groups(call)
        later, channels = self.normalised(call), call.shape()[1]
        rows, own = layout.local_shape[:2]
        start = min(layout.local_offset[1], channels)
        ones = (1,) * len(later)

        def pool(x: Any) -> Any:
            sums = platform.among_zeros(platform.sum(x, later, False, None), start, channels - start - own)
            return platform.sum(sums.reshape((rows, groups, channels // groups)), (2,), False, None)

        def spread(moment: Any) -> Any:
            wide = moment.reshape((rows, groups, 1)).broadcast_to((rows, groups, channels // groups))
            return platform.narrow(wide.reshape((rows, channels)), 1, start, own).reshape((rows, own, *ones))

        return pool, spread


class InstanceNormDistributedOp(NormDistributedOp):
    """instance_norm by the input's own moments and without running statistics: each channel of each sample."""

    signature: ClassVar[str] = (
        "input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, "
        "eps=1e-5"
    )

    def normalised(self, call: OpCall) -> tuple[int, ...]:
        """See the base class."""
        if not call["use_input_stats"] or any(isinstance(call[name], Slot) for name in STATISTICS):
            raise LayoutError(explain(self.op_name, "running statistics", "unused", "used"))
        if len(call.shape()) < 3:
            raise LayoutError(explain(self.op_name, "input dims", "at least 3", len(call.shape())))
        return tuple(range(2, len(call.shape())))

    def works_on(self, call: OpCall, part: Sequence[int]) -> bool:
        """Not on an empty part."""
        return math.prod(part) > 0

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        if self.terms(call) < 2:
            raise LayoutError(explain(self.op_name, "values per channel", "at least 2", call.shape()))
        return super().output_shapes(call)


class ResponseNormDistributedOp(AxisRuleOp):
    """local_response_norm.

    Rules:
        1. Every dim but the channels (dim 1) may be cut; the result is cut alike and nothing is sent.
    """

    signature: ClassVar[str] = "input, size, alpha=0.0001, beta=0.75, k=1.0"

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        if len(call.shape()) < 3:
            raise LayoutError(explain(self.op_name, "input dims", "at least 3", len(call.shape())))
        return (call.shape(),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        for dim in range(len(call.shape())):
            if dim != 1:
                yield AxisRule((Shard(dim),), (Shard(dim),))


def _slots(call: OpCall) -> dict[str, int]:
    """Slot of every parameter given as a tensor."""
    return {name: value.index for name, value in call.params.items() if isinstance(value, Slot)}
