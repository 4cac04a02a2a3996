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
"""Views: reshape, dims moved, added, dropped, expanded. Values do not change, so pending reductions go through."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot, wrap_dim
from hyper_parallel.dispatch.op import InferResult
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout, chunk_sizes
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.placements import P_AVG, P_MAX, P_MIN, P_PROD, P_SUM, Shard


class ViewDistributedOp(AxisRuleOp):
    """An operator that maps each input dim to at most one output dim of the same size.

    Rules:
        1. An axis that cuts an input dim cuts the output dim it becomes.
        2. A dim that is dropped or expanded may not be cut.
        3. Pending reductions stay pending.
    """

    _allow_partial_inputs: ClassVar[bool] = True

    def dim_map(self, call: OpCall) -> tuple[dict[int, int], Shape]:
        """Input dim -> output dim for the dims that live on, and the output shape."""
        raise NotImplementedError

    def input_shape(self, call: OpCall) -> Shape:
        """Global shape of the viewed tensor, which is slot 0."""
        return call.layouts[0].shape

    def output_shapes(self, call: OpCall) -> Sequence[tuple[int, ...]]:
        """See the base class."""
        return (self.dim_map(call)[1],)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        count = len(self.output_shapes(call))
        for source, target in self.dim_map(call)[0].items():
            yield AxisRule((Shard(source),), (Shard(target),) * count)
        for p in (P_SUM, P_AVG, P_MAX, P_MIN, P_PROD):
            yield AxisRule((p,), (p,) * count)


class PermuteDistributedOp(ViewDistributedOp):
    """Dims in another order. YAML key `kind`: transpose, t, permute, movedim, matrix (last two), reverse (T)."""

    signature: ClassVar[str] = "input, *dims"

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Keyword forms: dim0/dim1, axis0/axis1, dims, source/destination."""
        rest = list(args[1:])
        for names in (("dim0", "axis0", "source", "dims"), ("dim1", "axis1", "destination")):
            rest.extend(kwargs[name] for name in names if name in kwargs)
        if not args:
            raise LayoutError(explain(self.op_name, "input", "positional", sorted(kwargs)))
        return {"input": args[0], "dims": tuple(rest)}

    def dim_map(self, call: OpCall) -> tuple[dict[int, int], Shape]:
        """See the base class."""
        shape = self.input_shape(call)
        order = self._order(call, len(shape))
        return {source: target for target, source in enumerate(order)}, tuple(shape[d] for d in order)

    def _order(self, call: OpCall, ndim: int) -> list[int]:
        kind, dims = self.options["kind"], call["dims"]
        order = list(range(ndim))
        if kind == "reverse" or (kind == "t" and ndim == 2):
            return order[::-1]
        if kind == "t" or ndim == 0:
            return order
        if kind == "matrix":
            if ndim < 2:
                raise LayoutError(explain(self.op_name, "dims", "at least 2", ndim))
            order[-2:] = order[-1], order[-2]
            return order
        if kind == "permute":
            flat = dims[0] if len(dims) == 1 and isinstance(dims[0], tuple) else dims
            order = [wrap_dim(self.op_name, d, ndim) for d in flat]
            if sorted(order) != list(range(ndim)):
                raise LayoutError(explain(self.op_name, "dims", f"a permutation of {ndim} dims", dims))
            return order
        first, second = dims
        if kind == "transpose":
            a, b = wrap_dim(self.op_name, first, ndim), wrap_dim(self.op_name, second, ndim)
            order[a], order[b] = b, a
            return order
        sources = [wrap_dim(self.op_name, d, ndim) for d in (first if isinstance(first, tuple) else (first,))]
        targets = [wrap_dim(self.op_name, d, ndim) for d in (second if isinstance(second, tuple) else (second,))]
        placed = dict(zip(targets, sources, strict=True))
        rest = iter([d for d in range(ndim) if d not in sources])
        return [placed[d] if d in placed else next(rest) for d in range(ndim)]


class UnsqueezeDistributedOp(ViewDistributedOp):
    """A new dim of size 1."""

    signature: ClassVar[str] = "input, dim"

    def dim_map(self, call: OpCall) -> tuple[dict[int, int], Shape]:
        """See the base class."""
        shape = self.input_shape(call)
        dim = call.dim("dim", len(shape) + 1)
        return {d: d + (d >= dim) for d in range(len(shape))}, (*shape[:dim], 1, *shape[dim:])


class SqueezeDistributedOp(ViewDistributedOp):
    """Dims of global size 1 dropped; which ones is decided on the global shape, as parts can have size 1 by chance."""

    signature: ClassVar[str] = "input, dim=None"

    def _dropped(self, call: OpCall) -> tuple[int, ...]:
        shape, dim = self.input_shape(call), call["dim"]
        if dim is None:
            return tuple(d for d, n in enumerate(shape) if n == 1)
        dims = dim if isinstance(dim, tuple) else (dim,)
        wrapped = [wrap_dim(self.op_name, d, len(shape)) for d in dims]
        return tuple(d for d in wrapped if shape and shape[d] == 1)

    def dim_map(self, call: OpCall) -> tuple[dict[int, int], Shape]:
        """See the base class."""
        shape, dropped = self.input_shape(call), self._dropped(call)
        kept = [d for d in range(len(shape)) if d not in dropped]
        return {d: i for i, d in enumerate(kept)}, tuple(shape[d] for d in kept)

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Name the dropped dims."""
        dropped = self._dropped(call)
        return lambda x: func(x, dropped)


class ExpandDistributedOp(ViewDistributedOp):
    """expand, broadcast_to (and the `_as` forms): dims of size 1 repeated, new leading dims."""

    signature: ClassVar[str] = "input, *size, implicit=False"

    def dim_map(self, call: OpCall) -> tuple[dict[int, int], Shape]:
        """See the base class."""
        shape = self.input_shape(call)
        size = call["size"]
        lead = len(size) - len(shape)
        if lead < 0 or any(isinstance(n, Slot | bool) or not isinstance(n, int) for n in size):
            raise LayoutError(explain(self.op_name, "size", f"ints for at least {len(shape)} dims", size))
        out = [shape[i - lead] if n == -1 and i >= lead else n for i, n in enumerate(size)]
        if any(n != out[d + lead] and n != 1 for d, n in enumerate(shape)) or any(n < 0 for n in out):
            raise LayoutError(explain(self.op_name, "size", f"an expansion of {shape}", size))
        return {d: d + lead for d, n in enumerate(shape) if n == out[d + lead]}, tuple(out)

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Expand to the own part's size."""
        size = outs[0].local_shape
        return lambda x: func(x, size)


class ReshapeDistributedOp(AxisRuleOp):
    """view, reshape, flatten, unflatten, ravel: dims are grouped by equal products.

    YAML key `kind`: size (explicit size), flatten, unflatten, ravel.

    Rules:
        1. The first dim (of size > 1) of a group may be cut if the cut falls on the same elements before and after;
           it then cuts the first dim of the group after the view. Uneven sizes are checked part by part.
        2. Other dims of a group with several dims may not be cut.
        3. Pending reductions stay pending.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "input, *size"

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Parameters by the kind of operator."""
        kind = self.options["kind"]
        if kind == "size":
            if "shape" in kwargs or "size" in kwargs:
                args = (*args, kwargs.get("shape", kwargs.get("size")))
            elif kwargs:
                raise LayoutError(explain(self.op_name, "arguments", "a size", sorted(kwargs)))
            size = args[1] if len(args) == 2 and isinstance(args[1], tuple) else tuple(args[1:])
            return {"input": args[0], "size": size}
        names = {"flatten": ("input", "start_dim", "end_dim"), "unflatten": ("input", "dim", "sizes")}
        default = {"start_dim": 0, "end_dim": -1}
        return {**default, **dict(zip(names.get(kind, ("input",)), args, strict=False)), **kwargs}

    def target(self, call: OpCall) -> Shape:
        """Global output shape.

        Raises:
            LayoutError: the arguments do not name one.
        """
        shape, kind = call.layouts[0].shape, self.options["kind"]
        if kind == "ravel":
            return (math.prod(shape),)
        if kind == "flatten":
            if not shape:
                return (1,)
            start, end = call.dim("start_dim", len(shape)), call.dim("end_dim", len(shape))
            if start > end:
                raise LayoutError(explain(self.op_name, "start_dim", f"at most end_dim {end}", start))
            return (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])
        if kind == "unflatten":
            dim = call.dim("dim", len(shape))
            return (*shape[:dim], *self._sized(call["sizes"], shape[dim]), *shape[dim + 1 :])
        return self._sized(call["size"], math.prod(shape))

    def _sized(self, size: Any, numel: int) -> Shape:
        if not isinstance(size, tuple) or any(isinstance(n, bool) or not isinstance(n, int) for n in size):
            raise LayoutError(explain(self.op_name, "size", "ints", size))
        known = math.prod(n for n in size if n != -1)
        if size.count(-1) == 1:
            if not known or numel % known:
                raise LayoutError(explain(self.op_name, "size", f"a divisor of {numel} elements", size))
            return tuple(numel // known if n == -1 else n for n in size)
        if known != numel or any(n < 0 for n in size):
            raise LayoutError(explain(self.op_name, "size", f"{numel} elements", size))
        return tuple(size)

    def output_shapes(self, call: OpCall) -> Sequence[tuple[int, ...]]:
        """See the base class."""
        if len(call.layouts) != 1:
            raise LayoutError(explain(self.op_name, "tensor arguments", 1, len(call.layouts)))
        return (self.target(call),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        shape, out = call.layouts[0].shape, self.target(call)
        parts = set(call.layouts[0].mesh.mesh_shape)
        for source, target in leading_pairs(shape, out):
            if all(_same_cut(shape, source, out, target, n) for n in parts):
                yield AxisRule((Shard(source),), (Shard(target),))
        for p in (P_SUM, P_AVG, P_MAX, P_MIN, P_PROD):
            yield AxisRule((p,), (p,))

    def infer_layout(self, cache_values: Sequence[Any]) -> InferResult:
        """As the base class, plus a check of every part where several axes cut one dim unevenly."""
        result = super().infer_layout(cache_values)
        before, after = self.call_of(cache_values).layouts[0], result[0][0]
        if any(len(axes) > 1 for axes in before.dim_axes) and not (before.is_even and after.is_even):
            for place in itertools.product(*(range(n) for n in before.mesh.mesh_shape)):
                if _elements(before, place) != _elements(after, place):
                    raise LayoutError(explain(self.op_name, "every part", "the same elements after the view", before))
        return result

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """View to the own part's size."""
        size = outs[0].local_shape
        if self.options["kind"] == "size":
            return lambda x: func(x, size)
        return lambda x: x.reshape(size)


def leading_pairs(shape: Shape, out: Shape) -> list[tuple[int, int]]:
    """(input dim, output dim) that lead the same group of elements: only dims of size 1 lie before them in it."""
    if 0 in shape:
        return []
    pairs = []
    a = b = 0
    before = after = 1
    while a < len(shape) and b < len(out):
        if before == after:
            while a < len(shape) and shape[a] == 1:
                a += 1
            while b < len(out) and out[b] == 1:
                b += 1
            if a == len(shape) or b == len(out):
                break
            pairs.append((a, b))
            before, after, a, b = before * shape[a], after * out[b], a + 1, b + 1
        elif before < after:
            before, a = before * shape[a], a + 1
        else:
            after, b = after * out[b], b + 1
        while before < after and a < len(shape):
            before, a = before * shape[a], a + 1
        while after < before and b < len(out):
            after, b = after * out[b], b + 1
    return pairs


def _same_cut(shape: Shape, source: int, out: Shape, target: int, parts: int) -> bool:
    """Whether cutting both dims in `parts` gives the same elements to every part."""
    inner, outer = math.prod(shape[source + 1 :]), math.prod(out[target + 1 :])
    return [n * inner for n in chunk_sizes(shape[source], parts)] == [
        n * outer for n in chunk_sizes(out[target], parts)
    ]


def _elements(layout: Layout, place: Sequence[int]) -> list[tuple[int, int]]:
    """(start, length) in elements of the cut dims of one part, empty parts alike."""
    cuts = layout.slices_at(place)
    if any(size == 0 for _, size in cuts):
        return []
    spans = []
    for dim, (start, size) in enumerate(cuts):
        if layout.dim_axes[dim]:
            inner = math.prod(layout.shape[dim + 1 :])
            spans.append((start * inner, size * inner))
    return spans


class UnbindDistributedOp(ViewDistributedOp):
    """unbind: one result per index of a dim that is not cut."""

    signature: ClassVar[str] = "input, dim=0"

    def dim_map(self, call: OpCall) -> tuple[dict[int, int], Shape]:
        """See the base class."""
        shape = self.input_shape(call)
        dim = call.dim("dim", len(shape))
        if not shape:
            raise LayoutError(explain(self.op_name, "input", "at least 1-D", shape))
        kept = {d: d - (d > dim) for d in range(len(shape)) if d != dim}
        return kept, tuple(n for d, n in enumerate(shape) if d != dim)

    def output_shapes(self, call: OpCall) -> Sequence[tuple[int, ...]]:
        """See the base class."""
        shape = self.input_shape(call)
        return (self.dim_map(call)[1],) * shape[call.dim("dim", len(shape))]


class RealViewDistributedOp(ViewDistributedOp):
    """view_as_real (a new last dim of 2) and view_as_complex (its inverse)."""

    signature: ClassVar[str] = "input"

    def dim_map(self, call: OpCall) -> tuple[dict[int, int], Shape]:
        """See the base class."""
        shape = self.input_shape(call)
        if self.op_name.endswith("real"):
            return {d: d for d in range(len(shape))}, (*shape, 2)
        if not shape or shape[-1] != 2:
            raise LayoutError(explain(self.op_name, "the last dim", 2, shape))
        return {d: d for d in range(len(shape) - 1)}, shape[:-1]
