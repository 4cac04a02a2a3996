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
"""Scaled dot-product attention: what is sent, if anything, is keys and values, or what they add to the result."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.runs import only_axis
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.ops.stretch import Stretch, narrowed, own_stretch
from hyper_parallel.ops.windows import Windows, interval
from hyper_parallel.placements import Placement, R, Shard
from hyper_parallel.redistribute import redistribute_local

ROWS, GATHER, MERGE = "rows", "gather", "merge"
NAMES = ("query", "key", "value", "attn_mask")


class AttentionDistributedOp(AxisRuleOp):
    """scaled_dot_product_attention without dropout.

    Rules:
        1. A leading dim (batch, heads) may be cut in query, key and value alike. Grouped heads have to be cut between
           groups.
        2. The query's sequence may be cut with key and value replicated; causal masks start at the own rows.
        3. All sequences may be cut: each rank gets the keys and values that its rows see; the result is cut alike. On
           three ranks or more, where that is fewer bytes, query, key and value trade the cut for one of heads or batch
           and the result trades back.
        4. Key and value may be cut with the query replicated, if there are few rows: softmax is put together from the
           parts' sums. The result is replicated.
        5. A mask may be cut as the query is, or be replicated: then each rank uses its stretch.
    """

    signature: ClassVar[str] = (
        "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False"
    )
    fits_stand_ins: ClassVar[bool] = True

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        query, key, value = (call.shape(name) for name in NAMES[:3])
        mask = call["attn_mask"]
        if call["dropout_p"] or (mask is not None and (call["is_causal"] or not isinstance(mask, Slot))):
            raise LayoutError(explain(self.op_name, "dropout_p, and a mask beside is_causal", "absent", "given"))
        heads = self._per_group(call)
        grown = tuple(n * heads if d == len(key) - 3 else n for d, n in enumerate(key[:-2]))
        if len(query) < 2 or query[:-2] != grown or key[:-1] != value[:-1] or query[-1] != key[-1] or not key[-2]:
            raise LayoutError(explain(self.op_name, "query, key and value", "of fitting shapes", (query, key, value)))
        if mask is not None:
            full = (*query[:-1], key[-2])
            shape = call.shape("attn_mask")
            fits = all(n in (1, m) for n, m in zip(shape[::-1], full[::-1], strict=False))
            if len(shape) > len(full) or len(shape) < 2 or not fits:
                raise LayoutError(explain(self.op_name, "the mask", f"of a shape that fits {full}", shape))
        return ((*query[:-1], value[-1]),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        rows = len(call.shape("query")) - 2
        for dim in range(rows + 1):
            others = Shard(dim) if dim < rows else R
            yield from self._rules_for(call, dim, others, ROWS if dim == rows else "")
        if self._gather_is_cheap(call):
            yield from self._rules_for(call, rows, Shard(rows), GATHER)
        if call["attn_mask"] is None and self._merge_is_cheap(call):
            yield AxisRule(self._by_slot(call, (R, Shard(rows), Shard(rows))), (R,), MERGE)

    def _rules_for(self, call: OpCall, dim: int, others: Placement, tag: str) -> Iterator[AxisRule]:
        """The query is cut at `dim`, the mask alike (if it is that long) or not at all."""
        masks: list[Placement] = [R]
        if call["attn_mask"] is not None:
            shape = call.shape("attn_mask")
            own = dim - len(call.shape("query")) + len(shape)
            if own >= 0 and shape[own] > 1:
                masks.insert(0, Shard(own))
        for mask in masks:
            yield AxisRule(self._by_slot(call, (Shard(dim), others, others, mask)), (Shard(dim),), tag)

    def _by_slot(self, call: OpCall, places: Sequence[Placement]) -> tuple[Placement, ...]:
        """Placements of query, key, value and mask in the order of the call's tensors."""
        named = {call[name].index: place for name, place in zip(NAMES, places, strict=False) if call[name] is not None}
        return tuple(named[slot] for slot in range(len(call.layouts)))

    # -- bytes, counted in elements; (n - 1) / n of each is sent
    def _merge_cost(self, call: OpCall) -> int:
        rows = math.prod(call.shape("query")[:-1])
        return 2 * rows * (call.shape("value")[-1] + 2)

    def _gather_cost(self, call: OpCall) -> int:
        return math.prod(call.shape("key")) + math.prod(call.shape("value"))

    def _gather_is_cheap(self, call: OpCall) -> bool:
        return self._gather_cost(call) <= math.prod(call.shape("query")) + self._merge_cost(call)

    def _merge_is_cheap(self, call: OpCall) -> bool:
        """Cheaper even than to cut other dims of key and value instead."""
        key = call.layout("key")
        ranks = math.prod(key.mesh.mesh_shape[axis] for axis in key.dim_axes[-2])
        return self._merge_cost(call) * ranks < self._gather_cost(call)

    # -- the local call
    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Attention of the own rows to all keys they see."""
        self._check_groups(call)
        tags = {rule.tag: axis for axis, rule in enumerate(rules) if rule.tag}
        axes = [axis for axis, rule in enumerate(rules) if rule.tag == MERGE]
        if GATHER in tags:
            axis = only_axis(self.op_name, call.layout("key"), -2)
            swapped = self._swapped(call, tags[GATHER])
            return self._traded(func, call, swapped) if swapped else self._gathered(func, call, axis)
        if axes:
            return self._merged(call, axes)
        query = call.layout("query")
        if self._mask_stretches(call, query) or (ROWS in tags and call["is_causal"]):
            return self._gathered(func, call, None)
        return None

    def _attend(self, func: Any, call: OpCall, causal: bool) -> Callable[..., Any]:
        """The operator itself on query, key, value and mask."""
        rest = {"dropout_p": 0.0, "is_causal": causal, "scale": call["scale"]}
        rest |= {"enable_gqa": True} if call["enable_gqa"] else {}
        return lambda query, key, value, mask: func(query, key, value, attn_mask=mask, **rest)

    def _gathered(self, func: Any, call: OpCall, axis: int | None) -> Callable[..., Any]:
        """Own rows; keys and values are whole already (`axis` None) or fetched as far as the rows see."""
        layout, keys, platform = call.layout("query"), call.layout("key"), self.platform
        mesh, dim, size = layout.mesh, layout.ndim - 2, keys.shape[-2]
        holds, wants = self._windows(call, axis) if axis is not None else ((), ())
        first, rows = layout.local_offset[dim], layout.local_shape[dim]
        causal, masks = bool(call["is_causal"]), self._mask_stretches(call, layout)
        seen = min(size, first + rows) if causal else size
        masked = causal and first > 0
        attend = self._attend(func, call, causal and not masked)
        pick, causal_rows = self._picker(call), platform.causal_rows if causal else None

        def impl(*tensors: Any) -> Any:
            query, key, value, mask = pick(tensors)
            if axis is not None:
                same = value is key
                key = platform.move_windows(key, mesh, axis, dim, holds, wants)
                value = key if same else platform.move_windows(value, mesh, axis, dim, holds, wants)
            elif seen < size:
                key, value = (platform.narrow(part, dim, 0, seen) for part in (key, value))
            mask = narrowed(platform.narrow, mask, masks)
            if causal_rows is not None and masked:
                mask = causal_rows(query, rows, seen, first)
            return attend(query, key, value, mask)

        return impl

    def _traded(self, func: Any, call: OpCall, swapped: dict[str, Layout]) -> Callable[..., Any]:
        """Whole sequences of some heads (or samples), and back."""
        layouts = {name: call.layout(name) for name in swapped}
        platform, pick = self.platform, self._picker(call)
        masks = self._mask_stretches(call, swapped["query"])
        attend = self._attend(func, call, bool(call["is_causal"]))
        shape = (*layouts["query"].shape[:-1], layouts["value"].shape[-1])
        out_from, out_to = swapped["query"].with_shape(shape), layouts["query"].with_shape(shape)

        def impl(*tensors: Any) -> Any:
            *parts, mask = pick(tensors)
            moved: dict[int, Any] = {}
            for name, part in zip(NAMES[:3], parts, strict=True):
                if id(part) not in moved:
                    moved[id(part)] = redistribute_local(platform, part, layouts[name], swapped[name])
            mask = narrowed(platform.narrow, mask, masks)
            out = attend(*(moved[id(part)] for part in parts), mask)
            return redistribute_local(platform, out, out_from, out_to)

        return impl

    def _merged(self, call: OpCall, axes: Sequence[int]) -> Callable[..., Any]:
        """All rows to own keys; sums of weights and of weighted values are added up over the ranks."""
        query, key, platform = call.layout("query"), call.layout("key"), self.platform
        mesh, pick = query.mesh, self._picker(call)
        scale = call["scale"] if call["scale"] is not None else query.shape[-1] ** -0.5
        diagonal = query.local_offset[-2] - key.local_offset[-2] if call["is_causal"] else None
        attention_terms, cast_like = platform.attention_terms, platform.cast_like

        def largest(top: Any) -> Any:
            for axis in axes:
                top = platform.all_reduce(top, mesh, axis, "max")
            return top

        def impl(*tensors: Any) -> Any:
            own, keys, values, _ = pick(tensors)
            platform.require_float(self.op_name, own, None)
            terms = attention_terms(own, keys, values, scale, diagonal, largest)
            for axis in axes:
                terms = platform.all_reduce(terms, mesh, axis)
            return cast_like(terms[..., 1:] / terms[..., :1], own)

        return impl

    # -- layouts
    def _per_group(self, call: OpCall) -> int:
        """Query heads per key head."""
        query, key = call.shape("query"), call.shape("key")
        if not call["enable_gqa"] or len(query) < 3 or len(key) < 3:
            return 1
        if not key[-3] or query[-3] % key[-3]:
            raise LayoutError(explain(self.op_name, "query heads", f"a multiple of {key[-3]}", query[-3]))
        return query[-3] // key[-3]

    def _check_groups(self, call: OpCall) -> None:
        """Every rank's query heads have to be those of its key heads."""
        times, query, key = self._per_group(call), call.layout("query"), call.layout("key")
        if times == 1:
            return
        for at in itertools.product(*map(range, query.mesh.mesh_shape)):
            own, shared = query.slices_at(at)[-3], key.slices_at(at)[-3]
            if own != (times * shared[0], times * shared[1]) or not shared[1]:
                raise LayoutError(explain(self.op_name, "the cut of heads", "between groups, of no empty part", own))

    def _mask_stretches(self, call: OpCall, query: Layout) -> list[Stretch]:
        """The part of the own mask that belongs to the own part of the query."""
        if call["attn_mask"] is None:
            return []
        mask = call.layout("attn_mask")
        found = []
        for dim in range(mask.ndim - 1):
            if mask.shape[dim] > 1:
                stretch = own_stretch(self.op_name, query, dim + query.ndim - mask.ndim, mask, dim)
                found += [stretch] if stretch else []
        return found

    def _windows(self, call: OpCall, axis: int) -> tuple[Windows, Windows]:
        """Which keys every rank of the axis holds, and which it needs."""
        query, key = call.layout("query"), call.layout("key")
        size, here = key.shape[-2], list(query.mesh.own_coordinate())
        holds, wants = [], []
        for rank in range(query.mesh.mesh_shape[axis]):
            here[axis] = rank
            start, length = key.slices_at(here)[-2]
            holds.append(interval(start, start + length))
            first, rows = query.slices_at(here)[-2]
            wants.append(interval(0, min(size, first + rows) if call["is_causal"] else size))
        return tuple(holds), tuple(wants)

    def _swapped(self, call: OpCall, axis: int) -> dict[str, Layout]:
        """Layouts with the cut of the sequence traded for one of a leading dim; none if that is not cheaper."""
        layouts = {name: call.layout(name) for name in NAMES[:3]}
        ranks = layouts["query"].mesh.mesh_shape[axis]
        shapes = [layout.shape for layout in layouts.values()]
        traded = sum(map(math.prod, [*shapes, (*shapes[0][:-1], shapes[2][-1])]))
        alone = all(layout.dim_axes[-2] == (axis,) for layout in layouts.values())
        if not alone or traded >= ranks * self._gather_cost(call):
            return {}
        if call["attn_mask"] is not None and call.layout("attn_mask").placements[axis] != R:
            return {}
        for dim in reversed(range(len(shapes[0]) - 2)):
            if all(not x.dim_axes[dim] and x.shape[dim] % ranks == 0 < x.shape[dim] for x in layouts.values()):
                return {name: layout.replace_axis(axis, Shard(dim)) for name, layout in layouts.items()}
        return {}

    def _picker(self, call: OpCall) -> Callable[[Sequence[Any]], list[Any]]:
        """From tensors by slot to query, key, value, mask."""
        places = [None if call[name] is None else call[name].index for name in NAMES]
        return lambda tensors: [None if place is None else tensors[place] for place in places]
