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
"""Dims shifted, mirrored, padded, differenced: along a cut dim only what crosses a border is sent.

Results keep their sharding, in ceil-division parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, wrap_dim
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout, chunk_of
from hyper_parallel.ops.runs import FILL, Runs, again, backwards, only_axis, onwards, rebuild, total
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.ops.windows import chunks
from hyper_parallel.placements import P_AVG, P_MAX, P_MIN, P_PROD, P_SUM, Placement, Shard

EVERY_PARTIAL = (P_SUM, P_AVG, P_MAX, P_MIN, P_PROD)


class RunsDistributedOp(AxisRuleOp):
    """An operator that rebuilds some dims from runs of their own positions.

    Rules:
        1. An axis that cuts a dim cuts the same dim of the result; only one axis may cut a rebuilt dim.
        2. Pending reductions stay pending where the new values are old ones.
    """

    _allow_partial_inputs: ClassVar[bool] = True

    def dim_runs(self, call: OpCall) -> dict[int, Runs]:
        """The runs of every rebuilt dim.

        Raises:
            LayoutError: the arguments are not plain enough to know, or wrong.
        """
        raise NotImplementedError

    def partials(self, call: OpCall) -> Sequence[Placement]:
        """The pending reductions that go through."""
        return EVERY_PARTIAL

    def fill(self, call: OpCall) -> Any:
        """The constant of `FILL` runs."""
        return 0

    def output_dim(self, call: OpCall, dim: int) -> int:
        """The result's dim for an input dim."""
        return dim

    def finish(self, call: OpCall) -> Callable[[Any], Any] | None:
        """What is done to the rebuilt part at last, without communication."""
        return None

    def refuses_empty(self, call: OpCall) -> bool:
        """Whether the operator itself fails on empty parts (of dims that it leaves alone)."""
        return False

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        runs = self.dim_runs(call)
        shape = call.layouts[0].shape
        sizes = {self.output_dim(call, d): total(runs[d]) if d in runs else n for d, n in enumerate(shape)}
        return (tuple(sizes[d] for d in range(len(shape))),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        if len(call.layouts) != 1:
            raise LayoutError(explain(self.op_name, "tensor arguments", 1, len(call.layouts)))
        runs = self.dim_runs(call)
        for d in range(len(call.layouts[0].shape)):
            yield AxisRule((Shard(d),), (Shard(self.output_dim(call, d)),), "borders" if d in runs else "")
        for p in self.partials(call):
            yield AxisRule((p,), (p,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Rebuild every dim of `dim_runs`, the cut ones last; without a cut one, the operator itself does it."""
        layout, runs = call.layouts[0], self.dim_runs(call)
        if not any(layout.dim_axes[d] for d in runs) and not (layout.is_sharded() and self.refuses_empty(call)):
            return None
        order = sorted(runs, key=lambda d: bool(layout.dim_axes[d]))
        fill = self.fill(call)
        steps = [rebuild(self.platform, self.op_name, layout, d, runs[d], fill) for d in order]
        last = self.finish(call)
        if last is not None:
            steps.append(last)

        def run(x: Any) -> Any:
            for step in steps:
                x = step(x)
            return x

        return run


class RollDistributedOp(RunsDistributedOp):
    """roll."""

    signature: ClassVar[str] = "input, shifts, dims=None"

    def dim_runs(self, call: OpCall) -> dict[int, Runs]:
        """See the base class."""
        shape = call.shape()
        dims, shifts = call["dims"], call["shifts"]
        if dims is None or dims == ():
            if len(shape) != 1:
                raise LayoutError(explain(self.op_name, "dims", "given for a tensor that is not 1-D", dims))
            dims = (0,)
        dims = dims if isinstance(dims, tuple) else (dims,)
        shifts = shifts if isinstance(shifts, tuple) else (shifts,)
        if len(dims) != len(shifts) or not all(isinstance(s, int) for s in shifts) or not shape:
            raise LayoutError(explain(self.op_name, "shifts", f"one int for each of the dims {dims}", shifts))
        by: dict[int, int] = {}
        for d, shift in zip(dims, shifts, strict=True):
            dim = wrap_dim(self.op_name, d, len(shape))
            by[dim] = by.get(dim, 0) + shift
        return {d: _rolled(shape[d], shift) for d, shift in by.items()}


def _rolled(size: int, shift: int) -> Runs:
    first = -shift % size if size else 0
    return onwards(first, size - first) + onwards(0, first)


class FlipDistributedOp(RunsDistributedOp):
    """flip; YAML key `dim`: fliplr, flipud."""

    signature: ClassVar[str] = "input, *dims"

    def dim_runs(self, call: OpCall) -> dict[int, Runs]:
        """See the base class."""
        shape = call.shape()
        given = call["dims"]
        if "dim" in self.options:
            if given or len(shape) <= self.options["dim"]:
                raise LayoutError(explain(self.op_name, "input", f"at least {self.options['dim'] + 1}-D", shape))
            given = (self.options["dim"],)
        if not isinstance(given, tuple):
            raise LayoutError(explain(self.op_name, "dims", "a sequence of ints", given))
        dims = [wrap_dim(self.op_name, d, len(shape)) for d in given]
        if len(set(dims)) != len(dims):
            raise LayoutError(explain(self.op_name, "dims", "without repetition", given))
        return {d: backwards(shape[d] - 1, shape[d]) for d in dims if shape}


class Rot90DistributedOp(RunsDistributedOp):
    """rot90: one or two dims mirrored, then for odd turns both exchanged."""

    signature: ClassVar[str] = "input, k=1, dims=(0, 1)"

    def _turn(self, call: OpCall) -> tuple[int, int, int]:
        ndim, dims, turns = len(call.shape()), call["dims"], call["k"]
        if not isinstance(dims, tuple) or len(dims) != 2 or not isinstance(turns, int):
            raise LayoutError(explain(self.op_name, "dims", "two ints", dims))
        first, second = (wrap_dim(self.op_name, d, ndim) for d in dims)
        if first == second:
            raise LayoutError(explain(self.op_name, "dims", "two different dims", dims))
        return turns % 4, first, second

    def dim_runs(self, call: OpCall) -> dict[int, Runs]:
        """See the base class."""
        turns, first, second = self._turn(call)
        shape = call.shape()
        mirrored = {0: (), 1: (second,), 2: (first, second), 3: (first,)}[turns]
        return {d: backwards(shape[d] - 1, shape[d]) for d in mirrored}

    def output_dim(self, call: OpCall, dim: int) -> int:
        """See the base class."""
        turns, first, second = self._turn(call)
        return {first: second, second: first}.get(dim, dim) if turns % 2 else dim

    def finish(self, call: OpCall) -> Callable[[Any], Any] | None:
        """See the base class."""
        turns, first, second = self._turn(call)
        return (lambda x: x.transpose(first, second)) if turns % 2 else None


class PadDistributedOp(RunsDistributedOp):
    """pad in the modes constant, reflect, replicate and circular; only the border rows that are repeated travel.

    Rules:
        As the base class; padding a pending reduction with a constant needs one that the reduction keeps:
        0 for a sum, any for avg, max and min, 0 or 1 for a product.
    """

    signature: ClassVar[str] = "input, pad, mode='constant', value=None"

    def dim_runs(self, call: OpCall) -> dict[int, Runs]:
        """See the base class."""
        shape, pad, mode = call.shape(), call["pad"], call["mode"]
        if not isinstance(pad, tuple) or len(pad) % 2 or len(pad) > 2 * len(shape):
            raise LayoutError(explain(self.op_name, "pad", f"up to {len(shape)} pairs", pad))
        if any(isinstance(n, bool) or not isinstance(n, int) for n in pad):
            raise LayoutError(explain(self.op_name, "pad", "ints", pad))
        if mode != "constant" and len(shape) not in (len(pad) // 2 + 1, len(pad) // 2 + 2):
            raise LayoutError(explain(self.op_name, "pad", f"one pair for each inner dim of {shape}", pad))
        result = {}
        for back, (left, right) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
            dim = len(shape) - 1 - back
            if left or right:
                result[dim] = self._padded(mode, shape[dim], left, right)
        return result

    def _padded(self, mode: str, size: int, left: int, right: int) -> Runs:
        kept = size + min(left, 0) + min(right, 0)
        if kept < 0 or size + left + right < 0 or (mode != "constant" and (left < 0 or right < 0 or size == 0)):
            raise LayoutError(explain(self.op_name, "pad", f"possible for {size} positions", (left, right)))
        most = {"reflect": size - 1, "circular": size}.get(mode)
        if most is not None and max(left, right) > most:
            raise LayoutError(explain(self.op_name, "pad", f"at most {most} in mode {mode}", (left, right)))
        main = onwards(max(-left, 0), kept)
        match mode:
            case "constant":
                return again(FILL, left) + main + again(FILL, right)
            case "reflect":
                return backwards(left, left) + main + backwards(size - 2, right)
            case "replicate":
                return again(0, left) + main + again(size - 1, right)
            case "circular":
                return onwards(size - left, left) + main + onwards(0, right)
        raise LayoutError(explain(self.op_name, "mode", "constant, reflect, replicate or circular", mode))

    def refuses_empty(self, call: OpCall) -> bool:
        """See the base class."""
        return bool(call["mode"] != "constant")

    def fill(self, call: OpCall) -> Any:
        """See the base class."""
        return 0 if call["value"] is None else call["value"]

    def partials(self, call: OpCall) -> Sequence[Placement]:
        """See the base class."""
        if call["mode"] != "constant":
            return EVERY_PARTIAL
        fill = self.fill(call)
        return [p for p in EVERY_PARTIAL if (p != P_SUM or fill == 0) and (p != P_PROD or fill in (0, 1))]


class DiffDistributedOp(AxisRuleOp):
    """diff: every part needs its right neighbour's first n positions, and the parts move up by ceil division.

    Rules:
        1. An axis that cuts an input dim cuts the same dim of the result.
        2. A pending sum or average stays pending, except where differences are exclusive ors (bool).
        3. `prepend` and `append` are not handled here.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "input, n=1, dim=-1, prepend=None, append=None"

    def _order(self, call: OpCall) -> tuple[int, int]:
        shape, order = call.shape(), call["n"]
        if call["prepend"] is not None or call["append"] is not None:
            raise LayoutError(explain(self.op_name, "prepend and append", "None", "tensors"))
        if isinstance(order, bool) or not isinstance(order, int) or order < 1 or not shape:
            raise LayoutError(explain(self.op_name, "n", "a positive int, for at least 1-D input", order))
        return call.dim("dim", len(shape)), order

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        dim, order = self._order(call)
        return (tuple(max(n - order, 0) if d == dim else n for d, n in enumerate(call.shape())),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        dim, _ = self._order(call)
        for d in range(len(call.shape())):
            yield AxisRule((Shard(d),), (Shard(d),), "borders" if d == dim else "")
        for p in (P_SUM, P_AVG):
            yield AxisRule((p,), (p,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Differences of the own window."""
        layout, (dim, order) = call.layouts[0], self._order(call)
        axis = only_axis(self.op_name, layout, dim)
        if axis is None:
            return None
        mesh, platform = layout.mesh, self.platform
        ranks, size = mesh.mesh_shape[axis], outs[0].shape[dim]
        spans = [chunk_of(size, ranks, rank) for rank in range(ranks)]
        wants = tuple(((start, start + length + order),) if length else () for start, length in spans)
        holds = chunks(layout.shape[dim], ranks)
        empty = not math.prod(outs[0].local_shape[dim : dim + 1])

        def run(x: Any) -> Any:
            part = platform.move_windows(x, mesh, axis, dim, holds, wants)
            return part if empty else func(part, order, dim)

        return run
