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
"""Finding, telling apart and counting elements of cut tensors.

What is found is small or one bit of each element, and is gathered; counts stay pending sums. Sizes that depend on data
are agreed on by the same exchange, so all ranks see the same shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot, replace_tensors
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.placements import P_SUM, Partial, Placement, R, Shard
from hyper_parallel.planner import peers_sizes


@dataclass(frozen=True)
class Found:
    """Results whose sizes are known only now, and the layout of each tensor in them."""

    results: Any
    layouts: Sequence[Layout]


class FindDistributedOp(AxisRuleOp):
    """Common part of operators whose results' sizes depend on data."""

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """None is known beforehand."""
        if len(call.layouts) != 1:
            raise LayoutError(explain(self.op_name, "tensor arguments", 1, len(call.layouts)))
        return ()

    def crossing_inputs(self, inputs: Sequence[Layout], outputs: Sequence[Layout]) -> list[tuple[int, ...]]:
        """Nothing here has a gradient."""
        return [() for _ in inputs]

    def wrap_output(self, py_output: Any, output_layouts: Sequence[Layout]) -> Any:
        """See the base class."""
        stream = iter(py_output.layouts)
        platform = self.platform
        return replace_tensors(py_output.results, lambda t: platform.wrap(t, next(stream)), platform.is_tensor)

    def local(self, func: Callable[..., Any], call: OpCall) -> Callable[..., Any]:
        """The operator itself, where no axis cuts the input."""
        mesh = call.layouts[0].mesh
        given = {name: value for name, value in call.params.items() if not isinstance(value, Slot)}
        slots = [name for name, value in call.params.items() if isinstance(value, Slot)]

        def run(first: Any, *others: Any) -> Any:
            named = dict(zip(slots[1:], others, strict=True))
            return self.found(func(first, **named, **given), mesh, (R,) * mesh.ndim)

        return run

    def found(self, results: Any, mesh: Any, placements: Sequence[Placement]) -> Found:
        """Results that all have the same placements, none of them a cut."""
        tensors = results if isinstance(results, tuple | list) else [results]
        return Found(results, [Layout(mesh, placements, self.platform.local_shape(t)) for t in tensors])


class NonzeroDistributedOp(FindDistributedOp):
    """nonzero, argwhere: ranks send one bit of each element; results are replicated.

    Rules:
        1. Every dim may be cut, by any number of axes.
    """

    signature: ClassVar[str] = "input, *, as_tuple=False"

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        for dim in range(len(call.shape())):
            yield AxisRule((Shard(dim),), ())

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The operator on the gathered flags."""
        layout, gather = call.layouts[0], self.platform.gather_flags
        mesh = layout.mesh
        cuts = [(axis, dim) for dim, axes in enumerate(layout.dim_axes) for axis in reversed(axes)]
        steps = [(mesh, axis, dim, tuple(peers_sizes(layout, axis, dim))) for axis, dim in cuts]
        named = {"as_tuple": True} if call["as_tuple"] else {}

        def run(x: Any) -> Any:
            for step in steps:
                x = gather(x, *step)
            return self.found(func(x, **named), mesh, (R,) * mesh.ndim)

        return run


class UniqueDistributedOp(FindDistributedOp):
    """unique, unique_consecutive: what is unique in each part is gathered and merged.

    Rules:
        1. With `dim`, that dim may be cut by one axis; without, any dim (unique_consecutive: the first) may.
        2. Values and counts are replicated; the inverse is cut as the input is.

    YAML key `consecutive`.
    """

    signature: ClassVar[str] = "input, sorted=True, return_inverse=False, return_counts=False, dim=None"

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        shape = call.shape()
        if call["dim"] is not None:
            yield AxisRule((Shard(call.dim("dim", len(shape))),), ())
        else:
            for dim in range(min(len(shape), 1) if self.options.get("consecutive") else len(shape)):
                yield AxisRule((Shard(dim),), ())

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The merged uniques of all parts."""
        layout, merge = call.layouts[0], self.platform.merge_unique
        cuts = [(axis, dim) for dim, axes in enumerate(layout.dim_axes) for axis in axes]
        if not cuts:
            return self.local(func, call)
        if len(cuts) != 1 or not layout.numel or not call.get("sorted", True):
            raise LayoutError(explain(self.op_name, "input", "not empty, cut by one axis, and sorted", layout))
        ((axis, cut),) = cuts
        consecutive, counted = bool(self.options.get("consecutive")), bool(call["return_counts"])
        whole, mesh = call["dim"] is None, layout.mesh
        along = [Shard(0) if a == axis else R for a in range(mesh.ndim)]
        inverse_layout = layout if whole else Layout(mesh, along, (layout.shape[cut],))

        def run(x: Any) -> Any:
            values, inverse, counts = merge(x, None if whole else cut, consecutive, counted, mesh, axis)
            kept = self.found(values, mesh, (R,) * mesh.ndim)
            results, layouts = [values], list(kept.layouts)
            if call["return_inverse"]:
                results.append(inverse)
                layouts.append(inverse_layout)
            if counted:
                results.append(counts)
                layouts.extend(self.found(counts, mesh, (R,) * mesh.ndim).layouts)
            return Found(tuple(results) if len(results) > 1 else values, layouts)

        return run


class ConsecutiveDistributedOp(UniqueDistributedOp):
    """unique_consecutive, which always keeps the order."""

    signature: ClassVar[str] = "input, return_inverse=False, return_counts=False, dim=None"


class BincountDistributedOp(FindDistributedOp):
    """bincount: each part's counts, as a pending sum; the length is agreed on first.

    Rules:
        1. The input (and the weights alike) may be cut by one axis.
    """

    signature: ClassVar[str] = "input, weights=None, minlength=0"

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        if any(shape != call.shape() for shape in call.shapes) or len(call.shape()) != 1 or not call.layouts[0].numel:
            raise LayoutError(explain(self.op_name, "input and weights", "1-D of one size, not empty", call.shapes))
        return ()

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        yield AxisRule((Shard(0),) * len(call.layouts), ())

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The own part's counts."""
        layout, count, minlength = call.layouts[0], self.platform.bincount_part, call["minlength"]
        axes = layout.dim_axes[0]
        if not axes:
            return self.local(func, call)
        if len(axes) != 1 or call["input"] != Slot(0):
            raise LayoutError(explain(self.op_name, "input", "the first tensor, cut by one axis", layout))
        mesh, (axis,) = layout.mesh, axes
        placements = [P_SUM if a == axis else R for a in range(mesh.ndim)]

        def run(x: Any, weights: Any = None) -> Any:
            return self.found(count(x, weights, minlength, mesh, axis), mesh, placements)

        return run


class HistcDistributedOp(AxisRuleOp):
    """histc: each part's counts, as a pending sum; bounds taken from the data are agreed on first.

    Rules:
        1. Every dim may be cut.
    """

    signature: ClassVar[str] = "input, bins=100, min=0, max=0"

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        if len(call.layouts) != 1 or not call.layouts[0].numel or not isinstance(call["bins"], int):
            raise LayoutError(explain(self.op_name, "input and bins", "one tensor, not empty, and an int", call.shapes))
        return ((call["bins"],),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        for dim in range(len(call.shape())):
            yield AxisRule((Shard(dim),), (P_SUM,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The own part's counts."""
        layout = call.layouts[0]
        axes = [axis for cut in layout.dim_axes for axis in cut]
        if not axes:
            return None
        count, mesh = self.platform.histc_part, layout.mesh
        bins, low, high = call["bins"], call["min"], call["max"]
        return lambda x: count(x, bins, low, high, mesh, axes)


class PlaceDistributedOp(AxisRuleOp):
    """searchsorted, bucketize.

    Rules:
        1. Values may be cut along any dim, the sequence being replicated (or cut alike along leading dims).
        2. The sequence may be cut, the values being replicated: places in the parts add up, as a pending sum.
        3. A `sorter` is not handled.

    YAML keys: `sequence`, `values`: the parameters' names.
    """

    signature: ClassVar[str] = "sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None"

    def _values(self, call: OpCall) -> Shape:
        values = call[self.options["values"]]
        return call.layouts[values.index].shape if isinstance(values, Slot) else ()

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        if call.get("sorter") is not None:
            raise LayoutError(explain(self.op_name, "sorter", None, "a tensor"))
        sequence, values = call.shape(self.options["sequence"]), self._values(call)
        if len(sequence) > 1 and (len(sequence) != len(values) or sequence[:-1] != values[:-1]):
            raise LayoutError(explain(self.op_name, "leading dims", "equal", (sequence, values)))
        return (values,)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        given = [call[self.options[name]] for name in ("sequence", "values")]
        last = len(call.shape(self.options["sequence"])) - 1
        for dim in range(len(self._values(call))):
            yield _by_slot(given, [Shard(dim) if dim < last else R, Shard(dim)], Shard(dim))
        yield _by_slot(given, [Shard(last), R], P_SUM)


class BucketizeDistributedOp(PlaceDistributedOp):
    """bucketize, whose values come first."""

    signature: ClassVar[str] = "input, boundaries, *, out_int32=False, right=False"


class IsInDistributedOp(AxisRuleOp):
    """isin.

    Rules:
        1. The elements may be cut along any dim, the test elements being replicated.
        2. The test elements may be cut, the elements being replicated: whether any part (with `invert`: every part)
           says so stays a pending maximum (minimum).
    """

    signature: ClassVar[str] = "elements, test_elements, *, assume_unique=False, invert=False"

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        elements = call["elements"]
        return (call.layouts[elements.index].shape if isinstance(elements, Slot) else (),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        given = [call["elements"], call["test_elements"]]
        for dim in range(len(self.output_shapes(call)[0])):
            yield _by_slot(given, [Shard(dim), R], Shard(dim))
        if isinstance(given[1], Slot):
            for dim in range(len(call.shape("test_elements"))):
                yield _by_slot(given, [R, Shard(dim)], Partial("min" if call["invert"] else "max"))


def _by_slot(given: Sequence[Any], wanted: Sequence[Placement], output: Placement) -> AxisRule:
    """A rule for two parameters of which one may be a number."""
    placed = {value.index: place for value, place in zip(given, wanted, strict=True) if isinstance(value, Slot)}
    return AxisRule(tuple(placed[index] for index in range(len(placed))), (output,))
