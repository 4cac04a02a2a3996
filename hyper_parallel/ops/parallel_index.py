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
"""Indexing with ints, slices, None, Ellipsis and tensors of positions; select and narrow; assignment to such a part.

A range of a cut dim stays cut: its positions move to ceil-division places. One position of a cut dim is sent to all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.index_terms import IndexPlan, New, Pick, Table, parse_index
from hyper_parallel.ops.parallel_join import CopyingViewOp
from hyper_parallel.ops.runs import only_axis, own_picks, rebalance
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.ops.windows import chunks, interval
from hyper_parallel.placements import P_AVG, P_MAX, P_MIN, P_PROD, P_SUM, Placement, R, Shard

WHOLE = slice(None)


class GetItemDistributedOp(CopyingViewOp):
    """`x[index]`, select, narrow. YAML key `kind`: index, select, narrow.

    Rules:
        1. An axis that cuts a dim of which a range is taken cuts the result's dim; the range is moved to
           ceil-division parts. Only one axis may cut a dim of which less than everything is taken.
        2. An axis that cuts a dim of which one position is taken: the holder sends it to all, the result is replicated.
        3. An axis may cut all position tensors alike (if they have one shape) and then cuts the result there.
        4. An axis that cuts the only dim that a position tensor picks from: positions are sent to the rank whose part
           of the result (cut at the first dim of the tensor) has them, unless that is more than the whole dim.
        5. Pending reductions stay pending.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "input, index"

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Brings select(dim, index) and narrow(dim, start, length) to one form."""
        kind = self.options.get("kind", "index")
        if kind == "index":
            return super().bind(args, kwargs)
        names = ("input", "dim", "index") if kind == "select" else ("input", "dim", "start", "length")
        bound = dict(zip(names, args, strict=False))
        bound.update(kwargs)
        if len(args) > len(names) or set(bound) != set(names):
            raise LayoutError(explain(self.op_name, "arguments", f"{names}", sorted(bound)))
        return bound

    def plan_of(self, call: OpCall) -> IndexPlan:
        """The parsed index."""
        if self.options.get("kind", "index") == "index":
            return parse_index(self.op_name, call["index"], call.shapes)
        shape = call.shape()
        if not shape or len(call.layouts) != 1:
            raise LayoutError(explain(self.op_name, "input", "one tensor, at least 1-D", call.shapes))
        dim = call.dim("dim", len(shape))
        if "length" not in call.params:
            return parse_index(self.op_name, (WHOLE,) * dim + (call["index"],), call.shapes)
        start, length = call["start"], call["length"]
        if not isinstance(start, int) or not isinstance(length, int) or length < 0:
            raise LayoutError(explain(self.op_name, "start and length", "ints", (start, length)))
        start += shape[dim] if start < 0 else 0
        if not 0 <= start <= shape[dim] - length:
            raise LayoutError(explain(self.op_name, "start", f"in [0, {shape[dim] - length}]", start))
        return parse_index(self.op_name, (WHOLE,) * dim + (slice(start, start + length),), call.shapes)

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        return (self.plan_of(call).shape,)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        plan = self.plan_of(call)
        rest = len(call.layouts) - 1
        for dim, pick in plan.picks.items():
            out: Placement = R if pick.step == 0 else Shard(plan.targets[dim])
            yield AxisRule((Shard(dim), *(R,) * rest), (out,))
        for p in (P_SUM, P_AVG, P_MAX, P_MIN, P_PROD):
            yield AxisRule((p, *(R,) * rest), (p,))
        tables = plan.tables
        if tables and all(call.shapes[table.slot] == plan.table_shape for table in tables):
            for d in range(len(plan.table_shape)):
                yield AxisRule((R, *(Shard(d),) * rest), (Shard(plan.table_at + d),))
        if len(tables) == 1 and plan.table_shape and math.prod(plan.table_shape) <= call.shape()[tables[0].dim]:
            yield AxisRule((Shard(tables[0].dim), R), (Shard(plan.table_at),), "rows")

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Moves on the cut dims first, then the rest of the index on the own part."""
        plan, layout = self.plan_of(call), call.layouts[0]
        steps: list[Callable[[Any], Any]] = []
        index: list[Any] = []
        plain = True
        for term in plan.terms:
            if isinstance(term, New):
                index.append(None)
            elif isinstance(term, Table):
                index.append(Slot(term.slot))
            else:
                step, local = self._pick(layout, term)
                index.append(local)
                plain = plain and (not layout.dim_axes[term.dim] or _says_whole(call, plan, term))
                if step is not None:
                    steps.append(step)
        rows = [axis for axis, rule in enumerate(rules) if rule.tag == "rows"]
        if rows:
            return self._rows(call, plan, steps, index, rows)
        if plain:
            return None
        return _local_index(self, steps, index)

    def _pick(self, layout: Layout, pick: Pick) -> tuple[Callable[[Any], Any] | None, Any]:
        """(move of the cut dim, what then remains to be done on the own part)."""
        dim, size = pick.dim, layout.shape[pick.dim]
        if not layout.dim_axes[dim]:
            return None, pick.start if pick.step == 0 else _range(pick)
        if pick.whole(size):
            return None, WHOLE
        axis = only_axis(self.op_name, layout, dim)
        assert axis is not None
        if pick.step:
            return rebalance(self.platform, self.op_name, layout, dim, pick.start, pick.count, pick.step), WHOLE
        platform, mesh = self.platform, layout.mesh
        holds, window = chunks(size, mesh.mesh_shape[axis]), interval(pick.start, pick.start + 1)
        return lambda x: platform.fetch_window(x, mesh, axis, dim, holds, window), 0

    def _rows(
        self, call: OpCall, plan: IndexPlan, steps: list[Any], index: list[Any], rows: list[int]
    ) -> Callable[..., Any]:
        table = plan.tables[0]
        layout, platform = call.layouts[0], self.platform
        axis = only_axis(self.op_name, layout, table.dim)
        if axis is None or rows != [axis]:
            raise LayoutError(explain(self.op_name, f"mesh axes that cut dim {table.dim}", "one", rows))
        mesh, dim, size = layout.mesh, table.dim, layout.shape[table.dim]
        basic = tuple(WHOLE if isinstance(item, Slot) else item for item in index)
        trivial = all(item == WHOLE for item in basic)
        if len(plan.table_shape) > 1 and not trivial:
            raise LayoutError(explain(self.op_name, "other indices beside a tensor with several dims", "':'", basic))

        def run(x: Any, positions: Any) -> Any:
            for step in steps:
                x = step(x)
            part = platform.take_rows(x, positions, mesh, axis, dim, size, True)
            return part if trivial else part[basic]

        return run


def _local_index(op: GetItemDistributedOp, steps: Sequence[Any], index: Sequence[Any]) -> Callable[..., Any]:
    def run(x: Any, *tables: Any) -> Any:
        source = x
        for step in steps:
            x = step(x)
        local = tuple(tables[item.index - 1] if isinstance(item, Slot) else item for item in index)
        out = x[local]
        return op.copied(out, source) if steps and not tables and not op.op_name.endswith("_copy") else out

    return run


def _says_whole(call: OpCall, plan: IndexPlan, pick: Pick) -> bool:
    """Whether the call itself, run on a part, would take all of it."""
    index = call.get("index")
    items = index if isinstance(index, tuple) else (index,)
    named = [item for item in items if item is not None]
    if "dim" in call.params or not pick.whole(call.shape()[pick.dim]):
        return "dim" in call.params and pick.dim != call.dim("dim", len(call.shape()))
    if Ellipsis in [item for item in named if not isinstance(item, Slot)]:
        at = named.index(Ellipsis)
        back = len(call.shape()) - pick.dim
        place = pick.dim if pick.dim < at else (len(named) - back if back <= len(named) - 1 - at else None)
    else:
        place = pick.dim if pick.dim < len(named) else None
    return place is None or named[place] == WHOLE


def _range(pick: Pick) -> slice:
    return slice(pick.start, pick.start + pick.count * pick.step if pick.count else pick.start, pick.step)


class SetItemDistributedOp(AxisRuleOp):
    """`x[index] = value` with ints, slices, None and Ellipsis (position tensors on dims that no axis cuts).

    Rules:
        1. An axis that cuts the target stays; every rank writes what lies in its part.
        2. The value is replicated there (each rank takes what it needs), or cut at the dim that runs along the cut
           one, and then moved to where it is written.
    """

    signature: ClassVar[str] = "input, index, value"

    def crossing_inputs(self, inputs: Sequence[Layout], outputs: Sequence[Layout]) -> list[tuple[int, ...]]:
        """The local call adds up the value's gradient itself."""
        return []

    def candidates(self, cache_values: Sequence[Any]) -> Iterable[tuple[Layout, ...]]:
        """Only such that leave the target where it is."""
        target = cache_values[0]
        return (used for used in super().candidates(cache_values) if used[0] is target)

    def _plan(self, call: OpCall) -> tuple[IndexPlan, int | None]:
        """(the index, slot of the value or None)."""
        value = call["value"]
        slot = value.index if isinstance(value, Slot) else None
        if slot is None and not isinstance(value, int | float | complex):
            raise LayoutError(explain(self.op_name, "value", "a number or tensor", repr(value)))
        plan = parse_index(self.op_name, call["index"], call.shapes)
        if slot is not None:
            shape = call.shapes[slot]
            fits = all(n in (1, m) for n, m in zip(shape[::-1], plan.shape[::-1], strict=False))
            if len(shape) > len(plan.shape) or not fits:
                raise LayoutError(explain(self.op_name, "value's shape", f"expandable to {plan.shape}", shape))
        return plan, slot

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """No output."""
        self._plan(call)
        return ()

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        plan, slot = self._plan(call)
        rest = [R] * (len(call.layouts) - 1)
        for dim, pick in plan.picks.items():
            yield AxisRule((Shard(dim), *rest), ())
            along = None if slot is None or pick.step == 0 else _value_dim(call, plan, slot, dim)
            if slot is not None and along is not None:
                other: list[Placement] = list(rest)
                other[slot - 1] = Shard(along)
                yield AxisRule((Shard(dim), *other), ())

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Write the own part of the value into the own part of the target."""
        plan, slot = self._plan(call)
        layout, platform = call.layouts[0], self.platform
        mesh = layout.mesh
        index: list[Any] = []
        steps: list[Callable[[Any], Any]] = []
        for axis, rule in enumerate(rules):
            if slot is not None and rule.inputs[0] != R and rule.inputs[slot] == R and mesh.mesh_shape[axis] > 1:
                steps.append(partial(platform.cross, mesh=mesh, axis=axis))
        for term in plan.terms:
            if isinstance(term, New):
                index.append(None)
            elif isinstance(term, Table):
                index.append(Slot(term.slot))
            elif not layout.dim_axes[term.dim]:
                index.append(term.start if term.step == 0 else _range(term))
            else:
                local, step = self._own(call, plan, slot, term)
                index.append(local)
                steps.extend(step)
        number = call["value"]

        def run(x: Any, *others: Any) -> None:
            value = number if slot is None else others[slot - 1]
            for step in steps:
                value = step(value)
            x[tuple(others[item.index - 1] if isinstance(item, Slot) else item for item in index)] = value

        return run

    def _own(
        self, call: OpCall, plan: IndexPlan, slot: int | None, pick: Pick
    ) -> tuple[Any, list[Callable[[Any], Any]]]:
        """(index of what is written in the own part of a cut dim, how the value is brought there)."""
        layout, dim, platform = call.layouts[0], pick.dim, self.platform
        along = None if slot is None or pick.step == 0 else _value_dim(call, plan, slot, dim)
        ready = along is not None and slot is not None and call.layouts[slot].dim_axes[along] == layout.dim_axes[dim]
        if ready and pick.whole(layout.shape[dim]):
            return WHOLE, []
        axis = only_axis(self.op_name, layout, dim)
        assert axis is not None
        mesh = layout.mesh
        ranks, me = mesh.mesh_shape[axis], mesh.own_coordinate()[axis]
        picks = own_picks(layout.shape[dim], ranks, pick.start, pick.count, max(pick.step, 1))
        first, last, at = picks[me]
        local = slice(at, at + (last - first) * max(pick.step, 1) if last > first else at, max(pick.step, 1))
        if pick.step == 0:
            if plan.tables or New() in plan.terms:
                raise LayoutError(explain(self.op_name, "an int for a cut dim", "without None and tensors", pick))
            return local, [] if slot is None else [self._with_dim(call, plan, slot, dim)]
        if along is None or slot is None:
            return local, []
        if not call.layouts[slot].dim_axes[along]:
            return local, [lambda v: platform.narrow(v, along, first, last - first)]
        if call.layouts[slot].dim_axes[along] != (axis,):
            raise LayoutError(explain(self.op_name, f"mesh axes that cut dim {along} of the value", axis, "others"))
        holds: Any = chunks(pick.count, ranks)
        wants = tuple(interval(a, b) for a, b, _ in picks)
        return local, [lambda v: platform.move_windows(v, mesh, axis, along, holds, wants)]

    def _with_dim(self, call: OpCall, plan: IndexPlan, slot: int, dim: int) -> Callable[[Any], Any]:
        """An int of a cut dim is written as a range of at most one: the value gets that dim, of size 1."""
        after = sum(1 for d, pick in plan.picks.items() if d > dim and pick.step)
        if any(pick.step == 0 and call.layouts[0].dim_axes[d] for d, pick in plan.picks.items() if d != dim):
            raise LayoutError(explain(self.op_name, "ints for cut dims", "at most one", call["index"]))
        ndim = len(call.shapes[slot])
        return (lambda v: v) if ndim <= after else (lambda v: v.unsqueeze(ndim - after))


def _value_dim(call: OpCall, plan: IndexPlan, slot: int, dim: int) -> int | None:
    """The value's dim that runs along a target's dim; None where the value is broadcast there."""
    shape = call.shapes[slot]
    target = plan.targets[dim] - len(plan.shape) + len(shape)
    return target if target >= 0 and shape[target] == plan.shape[plan.targets[dim]] != 1 else None
