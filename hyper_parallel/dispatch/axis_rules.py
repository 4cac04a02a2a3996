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
"""Compact rules: what an operator accepts on ONE mesh axis; the engine expands them to any mesh.

A rule writer lists `AxisRule`s for the call's global shapes and scalars. "All replicated" is always implied. A rule may
pair dims of different tensors only where their sizes agree, since uneven dims are cut by ceil division.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hyper_parallel.dispatch.call import OpCall
from hyper_parallel.dispatch.op import DistributedOp, InferResult
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.placements import Partial, Placement, R, Replicate, Shard

KEPT_PER_AXIS = 6
MAX_COMBINATIONS = 64


@dataclass(frozen=True)
class AxisRule:
    """Placements on one mesh axis: one per tensor input (by slot), one per tensor output.

    `tag` is for `make_impl`: it tells which local computation this rule needs.
    """

    inputs: tuple[Placement, ...]
    outputs: tuple[Placement, ...]
    tag: str = ""


class AxisRuleOp(DistributedOp):
    """Operator described by single-axis rules."""

    def axis_rules(self, call: OpCall) -> Iterable[AxisRule]:
        """Rules for this call, best first; all-replicated need not be listed."""
        raise NotImplementedError

    def output_shapes(self, call: OpCall) -> Sequence[tuple[int, ...]]:
        """Global shapes of the tensor outputs."""
        raise NotImplementedError

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """What to run on the local tensors (by slot) in place of `func`, or None.

        `call.layouts` are the layouts the local tensors have, `rules` the rule chosen per mesh axis.
        """
        return None

    def infer_layout(self, cache_values: Sequence[Any]) -> InferResult:
        """See the base class."""
        call = self.call_of(cache_values)
        _check_nesting(call)
        shapes = self.output_shapes(call)
        chosen = self._match(call, len(shapes))
        return tuple(_output_layout(call, chosen, index, shape) for index, shape in enumerate(shapes)), None

    def get_expand_impl(
        self, func: Callable[..., Any], infer_result: InferResult, cache_values: Sequence[Any]
    ) -> Callable[..., Any] | None:
        """See the base class."""
        call = self.call_of(cache_values)
        impl = self.make_impl(func, call, infer_result[0], self._match(call, len(infer_result[0])))
        if impl is not None:
            impl.takes_tensors = True  # type: ignore[attr-defined]
        return impl

    def candidates(self, cache_values: Sequence[Any]) -> Iterable[tuple[Layout, ...]]:
        """Input layouts that the rules accept, pruned per axis by an estimate of the bytes."""
        call = self.call_of(cache_values)
        mesh = call.layouts[0].mesh
        listed = [rule.inputs for rule in self._rules(call, len(self.output_shapes(call)))]
        unique = list(dict.fromkeys(listed))
        per_axis = []
        for axis in range(mesh.ndim):
            ranked = sorted(unique, key=lambda inputs: _estimate(call.layouts, axis, inputs))
            per_axis.append(ranked[:KEPT_PER_AXIS])
        for choice in itertools.islice(itertools.product(*per_axis), MAX_COMBINATIONS):
            yield tuple(
                _ordered(call, layout, [inputs[slot] for inputs in choice]) for slot, layout in enumerate(call.layouts)
            )

    def _rules(self, call: OpCall, outputs: int) -> list[AxisRule]:
        replicated = AxisRule((R,) * len(call.layouts), (R,) * outputs)
        return [replicated, *self.axis_rules(call)]

    def _match(self, call: OpCall, outputs: int) -> list[AxisRule]:
        if not call.layouts:
            raise LayoutError(explain(self.op_name, "tensor inputs", "at least one", "none"))
        rules: list[AxisRule] | None = None
        chosen = []
        mesh = call.layouts[0].mesh
        for axis in range(mesh.ndim):
            given = tuple(_base(layout.placements[axis]) for layout in call.layouts)
            if all(isinstance(p, Replicate) for p in given):
                chosen.append(AxisRule(given, (R,) * outputs))
                continue
            rules = self._rules(call, outputs) if rules is None else rules
            rule = next((r for r in rules if r.inputs == given), None)
            if rule is None:
                expected = " or ".join(_show(r.inputs) for r in rules[:8])
                where = f"input placements on mesh axis '{mesh.axis_name(axis)}'"
                raise LayoutError(explain(self.op_name, where, expected, _show(given)))
            chosen.append(rule)
        return chosen


def _base(placement: Placement) -> Placement:
    return Shard(placement.dim) if isinstance(placement, Shard) else placement


def _show(placements: Sequence[Placement]) -> str:
    return "(" + ", ".join(map(str, placements)) + ")"


def _output_layout(call: OpCall, chosen: Sequence[AxisRule], index: int, shape: tuple[int, ...]) -> Layout:
    mesh = call.layouts[0].mesh
    placements = [rule.outputs[index] for rule in chosen]
    partial = [p if isinstance(p, Partial) else None for p in placements]
    cuts: list[list[int]] = [[] for _ in shape]
    for axis, placement in enumerate(placements):
        if isinstance(placement, Shard):
            cuts[placement.dim].append(axis)
    if all(len(axes) < 2 for axes in cuts):
        return Layout(mesh, [_base(p) for p in placements], shape)
    for dim, axes in enumerate(cuts):
        if len(axes) > 1:
            orders = _nestings(call.layouts, axes)
            if len(orders) > 1:
                raise LayoutError(
                    explain(call.op, f"nesting order of mesh axes {axes}", "the same in all inputs", sorted(orders))
                )
            cuts[dim] = list(next(iter(orders), tuple(axes)))
    return Layout.from_dim_axes(mesh, cuts, shape, partial)


def _check_nesting(call: OpCall) -> None:
    """Refuse inputs whose dims are cut by the same axes in another nesting order: their parts do not fall together."""
    orders: dict[frozenset[int], tuple[int, int]] = {}
    for layout in call.layouts:
        for cut in layout.dim_axes:
            for pair in itertools.combinations(cut, 2):
                if orders.setdefault(frozenset(pair), pair) != pair:
                    known = [orders[frozenset(pair)], pair]
                    raise LayoutError(
                        explain(call.op, f"nesting order of mesh axes {sorted(pair)}", "the same in all inputs", known)
                    )


def _nestings(layouts: Iterable[Layout], axes: Sequence[int]) -> dict[tuple[int, ...], None]:
    """The different orders in which the inputs nest all of `axes` on one dim."""
    wanted = set(axes)
    found: dict[tuple[int, ...], None] = {}
    for layout in layouts:
        for cut in layout.dim_axes:
            if wanted <= set(cut):
                found[tuple(a for a in cut if a in wanted)] = None
    return found


def _ordered(call: OpCall, layout: Layout, placements: Sequence[Placement]) -> Layout:
    """`layout` under `placements`, several axes on one dim nested as the largest input nests them."""
    cuts: list[list[int]] = [[] for _ in layout.shape]
    for axis, placement in enumerate(placements):
        if isinstance(placement, Shard):
            cuts[placement.dim].append(axis)
    if all(len(axes) < 2 for axes in cuts):
        return layout.with_placements(placements)
    by_size = sorted(call.layouts, key=lambda x: -x.numel)
    for dim, axes in enumerate(cuts):
        if len(axes) > 1:
            cuts[dim] = list(next(iter(_nestings(by_size, axes)), tuple(axes)))
    partial = [p if isinstance(p, Partial) else None for p in placements]
    return Layout.from_dim_axes(layout.mesh, cuts, layout.shape, partial)


def _estimate(layouts: Sequence[Layout], axis: int, inputs: Sequence[Placement]) -> tuple[float, int]:
    """Rough elements moved to bring each input to its placement on one axis; ties: even cuts first."""
    total, uneven = 0.0, 0
    for layout, target in zip(layouts, inputs, strict=True):
        now = _base(layout.placements[axis])
        peers = layout.mesh.mesh_shape[axis]
        if isinstance(target, Shard) and layout.shape[target.dim] % peers:
            uneven = 1
        if now == target or isinstance(now, Replicate):
            continue
        volume = 1
        for size in layout.max_local_shape:
            volume *= size
        if isinstance(now, Partial):
            total += volume * (1.0 if isinstance(target, Shard) else 2.0)
        else:
            total += volume * (1.0 / peers if isinstance(target, Shard) else float(peers - 1))
    return total, uneven
