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
"""Reductions: over dims that no axis cuts they are local; over cut dims they stay pending (sum) or combine the parts.

Parts are combined by gathering each rank's small result and reducing it again with the same function, which is exact
for every function used here and has the right gradient at ties, zeros and infinities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.shapes import dims_of, reduced
from hyper_parallel.placements import P_AVG, P_SUM, Partial, Placement, R, Shard

COMBINE = "combine"


class ReduceDistributedOp(AxisRuleOp):
    """Common part of all reductions.

    Rules:
        1. An axis that cuts a dim which is not reduced cuts the same dim of the output.
        2. What an axis that cuts a reduced dim gives is told by `cut_output`.
    """

    signature: ClassVar[str] = "input, dim=None, keepdim=False, *, dtype=None"

    def dims(self, call: OpCall) -> tuple[int, ...]:
        """The reduced dims."""
        return dims_of(self.op_name, call["dim"], len(call.shape()))

    def keepdim(self, call: OpCall) -> bool:
        """Whether reduced dims stay as size 1."""
        return bool(call.get("keepdim", False))

    def output_shapes(self, call: OpCall) -> Sequence[tuple[int, ...]]:
        """See the base class."""
        if len(call.layouts) != 1:
            raise LayoutError(explain(self.op_name, "tensor arguments", "one", len(call.layouts)))
        return (reduced(call.shape(), self.dims(call), self.keepdim(call)),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        dims, keep = self.dims(call), self.keepdim(call)
        count = len(self.output_shapes(call))
        place = 0
        for dim in range(len(call.shape())):
            if dim in dims:
                place += keep
                rule = self.cut_output(call, dim)
                if rule is not None:
                    yield AxisRule((Shard(dim),), (rule,) * count, COMBINE)
            else:
                yield AxisRule((Shard(dim),), (Shard(place),) * count)
                place += 1
        yield from self.partial_rules(call)

    def cut_output(self, call: OpCall, dim: int) -> Placement | None:
        """Output placement where an axis cuts a reduced dim; None: not supported."""
        return R

    def partial_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """Rules for pending inputs."""
        yield from ()


class SumDistributedOp(ReduceDistributedOp):
    """sum, nansum, count_nonzero: over a cut dim the result is a pending sum.

    YAML key `linear: false` for functions that are not additive in the input.
    """

    _allow_partial_inputs: ClassVar[bool] = True

    def cut_output(self, call: OpCall, dim: int) -> Placement | None:
        """See the base class."""
        return P_SUM

    def partial_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """A pending sum or average goes through a sum."""
        rounds = call.get("dtype") is not None and not any(k in str(call["dtype"]) for k in ("float", "complex"))
        if self.options.get("linear", True) and not rounds:
            yield AxisRule((P_SUM,), (P_SUM,))
            yield AxisRule((P_AVG,), (P_AVG,))


class MeanDistributedOp(SumDistributedOp):
    """mean: each part's own mean weighted by its share of the elements, as a pending sum.

    Uneven and empty parts count as they should, and half precision does not overflow as a bare sum would.
    """

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """See the base class."""
        if all(rule.tag != COMBINE for rule in rules):
            return None
        layout = call.layouts[0]
        dims = self.dims(call)
        count = math.prod(layout.shape[d] for d in dims)
        keep, dtype = self.keepdim(call), call["dtype"]
        if count == 0:
            raise LayoutError(explain(self.op_name, "the reduced dims", "not empty", layout.shape))
        own = math.prod(layout.local_shape[d] for d in dims)
        average = self.platform.mean if own else self.platform.sum

        def impl(x: Any) -> Any:
            self.platform.require_float(self.op_name, x, dtype)
            return average(x, dims, keep, dtype) * (own / count)

        return impl


class GatherReduceDistributedOp(ReduceDistributedOp):
    """Functions f with f(all) = f(f(part 1), f(part 2), …): prod, logsumexp, all, any, vector norms, amax, amin.

    YAML keys: `dims: one` where the function takes a single int dim (or none for all); `empty`: what an empty part
    counts as (`-inf`, `inf`), for functions that refuse empty input.
    """

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """See the base class."""
        axes = [axis for axis, rule in enumerate(rules) if rule.tag == COMBINE]
        if not axes:
            return None
        layout, dims, keep = call.layouts[0], self.dims(call), self.keepdim(call)
        platform, mesh = self.platform, layout.mesh
        reduce_dims = self.local_reduction(call, func)
        steps = list(zip(axes, filled_parts(layout, dims, axes), strict=True))

        def impl(x: Any) -> Any:
            part = reduce_dims(x, dims, keep, True)
            for axis, filled in steps:
                part = platform.all_gather(platform.unsqueeze(part, 0), mesh, axis, 0, [1] * mesh.mesh_shape[axis])
                part = reduce_dims(platform.narrow(part, 0, 0, filled), (0,), False, False)
            return part

        return impl

    def local_reduction(self, call: OpCall, func: Any) -> Callable[[Any, tuple[int, ...], bool, bool], Any]:
        """f(x, dims, keepdim, first) – `first` for the input itself, false for gathered results."""
        name = self.op_name
        dtype = call.get("dtype")
        platform = self.platform

        def run(x: Any, dims: tuple[int, ...], keep: bool, first: bool) -> Any:
            return platform.reduce(name, x, dims, keep, dtype)

        return run


def filled_parts(layout: Layout, dims: Sequence[int], axes: Sequence[int]) -> list[int]:
    """By axis, gathered in this order: how many parts (empty ones trail) hold anything along `dims`; at least one.

    What an empty part counts as must not be reduced again: a norm of order 3 has no second gradient at 0.
    """
    mesh, own = layout.mesh, layout.mesh.own_coordinate()
    counts = []
    for position, axis in enumerate(axes):
        done, last = set(axes[:position]), 1
        for here in range(1, mesh.mesh_shape[axis]):
            choices = [
                range(n) if a in done else (here if a == axis else own[a],) for a, n in enumerate(mesh.mesh_shape)
            ]
            parts = (layout.slices_at(coordinate) for coordinate in product(*choices))
            if any(all(part[dim][1] for dim in dims) for part in parts):
                last = here + 1
        counts.append(last)
    return counts


class NormDistributedOp(GatherReduceDistributedOp):
    """vector norms: the norm of the parts' norms; `ord` 0 adds the parts' counts; ±inf and negative are gathered."""

    signature: ClassVar[str] = "input, ord=2, dim=None, keepdim=False, *, dtype=None"

    def local_reduction(self, call: OpCall, func: Any) -> Callable[[Any, tuple[int, ...], bool, bool], Any]:
        """See the base class."""
        order, dtype = call["ord"], call["dtype"]
        if isinstance(order, Slot | str) or order is None or abs(order) == math.inf or order < 0:
            raise LayoutError(explain(self.op_name, "ord over a cut dim", "a finite number >= 0", order))
        platform = self.platform

        def run(x: Any, dims: tuple[int, ...], keep: bool, first: bool) -> Any:
            if order == 0 and not first:
                return platform.sum(x, dims, keep, None)
            return platform.vector_norm(x, order, dims, keep, dtype if first else None)

        return run


class TorchNormDistributedOp(NormDistributedOp):
    """torch.norm / Tensor.norm: with `p` "fro" or a number and no matrix norms."""

    signature: ClassVar[str] = "input, p='fro', dim=None, keepdim=False, dtype=None, out=None"

    def local_reduction(self, call: OpCall, func: Any) -> Callable[[Any, tuple[int, ...], bool, bool], Any]:
        """See the base class."""
        p = 2 if call["p"] in ("fro", None) else call["p"]
        return super().local_reduction(OpCall(call.op, call.layouts, {**call.params, "ord": p}), func)


class VarDistributedOp(ReduceDistributedOp):
    """var and std: two passes, the global mean first; `outputs: 2` for the forms that return the mean too."""

    signature: ClassVar[str] = "input, dim=None, unbiased=None, keepdim=False, *, correction=None"

    def dims(self, call: OpCall) -> tuple[int, ...]:
        """`var(x, unbiased)` has a bool in the place of dim."""
        if isinstance(call["dim"], bool):
            return tuple(range(len(call.shape())))
        return super().dims(call)

    def output_shapes(self, call: OpCall) -> Sequence[tuple[int, ...]]:
        """See the base class."""
        return tuple(super().output_shapes(call)) * int(self.options.get("outputs", 1))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """See the base class."""
        axes = [axis for axis, rule in enumerate(rules) if rule.tag == COMBINE]
        if not axes:
            return None
        layout, dims, keep = call.layouts[0], self.dims(call), self.keepdim(call)
        unbiased = call["dim"] if isinstance(call["dim"], bool) else call["unbiased"]
        correction = call["correction"]
        if correction is None:
            correction = 1 if unbiased is None else int(unbiased)
        platform, mesh = self.platform, layout.mesh
        count = math.prod(layout.shape[d] for d in dims)
        root, both = "std" in self.op_name, len(outs) == 2
        if count - correction <= 0:
            raise LayoutError(explain(self.op_name, "the number of reduced elements", f"> {correction}", count))

        def total(x: Any, used_locally: bool) -> Any:
            for axis in axes:
                x = platform.all_reduce(x, mesh, axis)
                if used_locally:
                    x = platform.cross(x, mesh, axis)
            return x

        def impl(x: Any) -> Any:
            if platform.is_complex(x):
                parts = platform.view_as_real(x)
                halves = [impl(part) for part in (parts[..., 0], parts[..., 1])]
                return platform.join_complex_variance(halves, root, both)
            platform.require_float(self.op_name, x, None)
            mean = total(platform.sum(x, dims, True, None), True) / count
            square = total(platform.sum((x - mean) ** 2, dims, keep, None), False) / (count - correction)
            result = platform.safe_sqrt(square) if root else square
            if not both:
                return result
            return result, total(platform.sum(x, dims, keep, None), False) / count

        return impl


class ExtremeDistributedOp(ReduceDistributedOp):
    """amax, amin, and max/min over everything: the gradient is shared evenly by all ties, as on one device."""

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """See the base class."""
        axes = [axis for axis, rule in enumerate(rules) if rule.tag == COMBINE]
        if not axes:
            return None
        layout, dims, keep = call.layouts[0], self.dims(call), self.keepdim(call)
        if math.prod(layout.shape[d] for d in dims) == 0:
            raise LayoutError(explain(self.op_name, "the reduced dims", "not empty", layout.shape))
        platform, mesh = self.platform, layout.mesh
        largest = "max" in self.op_name

        def impl(x: Any) -> Any:
            return platform.tied_extreme(x, dims, keep, largest, mesh, axes)

        return impl

    def partial_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """A pending maximum goes through a maximum of another dim."""
        kind = Partial("max" if "max" in self.op_name else "min")
        yield AxisRule((kind,), (kind,))


class MaxDistributedOp(ExtremeDistributedOp):
    """max and min in their three forms: over everything; over one dim with indices; of two tensors."""

    signature: ClassVar[str] = "input, dim=None, keepdim=False, *, other=None"

    def output_shapes(self, call: OpCall) -> Sequence[tuple[int, ...]]:
        """See the base class."""
        shapes = super().output_shapes(call)
        return shapes if call["dim"] is None else (shapes[0],) * 2

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        if call["dim"] is not None and call.shape():
            call.dim("dim", len(call.shape()))
        yield from super().axis_rules(call)

    def partial_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """Pending input only without indices."""
        if call["dim"] is None:
            yield from super().partial_rules(call)

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """See the base class."""
        if call["dim"] is None:
            return super().make_impl(func, call, outs, rules)
        if all(rule.tag != COMBINE for rule in rules):
            return None
        pick = ArgExtreme(self.platform, call.layouts[0], call.dim("dim", len(call.shape())), "max" in self.op_name)
        keep = self.keepdim(call)

        def impl(x: Any) -> Any:
            return self.platform.as_pair(self.op_name, *pick.values_and_index(x, keep))

        return impl


class ArgMaxDistributedOp(ReduceDistributedOp):
    """argmax and argmin: the parts' best values and their global indices are gathered, nothing else."""

    signature: ClassVar[str] = "input, dim=None, keepdim=False"

    def cut_output(self, call: OpCall, dim: int) -> Placement | None:
        """Over all dims a flat index is asked for; that needs one cut dim to be told from, so only 1-D is combined."""
        return R if call["dim"] is not None or len(call.shape()) == 1 else None

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        if isinstance(call["dim"], int) or call["dim"] is None:
            yield from super().axis_rules(call)

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """See the base class."""
        if all(rule.tag != COMBINE for rule in rules):
            return None
        dim = self.dims(call)[0]
        pick = ArgExtreme(self.platform, call.layouts[0], dim, "max" in self.op_name)
        keep = self.keepdim(call)
        return lambda x: pick.values_and_index(x, keep)[1]


class ArgExtreme:
    """Maximum or minimum along one cut dim with its global index; the first of equals, as the local operator has it."""

    def __init__(self, platform: Any, layout: Layout, dim: int, largest: bool) -> None:
        if layout.shape[dim] == 0:
            raise LayoutError(explain("max", "the reduced dim", "not empty", layout.shape))
        self.platform, self.layout, self.dim, self.largest = platform, layout, dim, largest
        self.offset = layout.local_offset[dim]
        self.axes = list(layout.dim_axes[dim])

    def values_and_index(self, x: Any, keep: bool) -> tuple[Any, Any]:
        """Extreme values and global indices, on every rank of the cutting axes."""
        platform, mesh, dim = self.platform, self.layout.mesh, self.dim
        value, index = platform.extreme_or_fill(x, dim, self.largest)
        index = index + self.offset
        for axis in reversed(self.axes):
            sizes = [1] * mesh.mesh_shape[axis]
            values = platform.all_gather(value, mesh, axis, dim, sizes)
            indices = platform.all_gather(index, mesh, axis, dim, sizes)
            value, best = platform.first_extreme(values, dim, self.largest)
            index = platform.take_along(indices, best, dim)
        return (value, index) if keep else (value.squeeze(dim), index.squeeze(dim))
