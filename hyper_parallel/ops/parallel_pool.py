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
"""Pooling: leading dims stay local, pooled dims that are cut exchange the border rows of their windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall, Slot
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.halo import Line, Padded, Step, chained, entry, keeper, per_dim, stand_in
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.placements import P_AVG, P_SUM, Placement, Shard


class WindowDistributedOp(AxisRuleOp):
    """An operator on one tensor, each of whose results depends on a window of some dims (`lines`) and one place of
    the others.

    Rules:
        1. A dim without a line may be cut; the result is cut alike.
        2. A dim with a line may be cut, by one axis: what windows lack travels, the result is cut alike.
        3. Pending reductions of `partials` stay pending.
    """

    _allow_partial_inputs: ClassVar[bool] = True

    def lines(self, call: OpCall) -> Mapping[int, Line]:
        """By input dim.

        Raises:
            LayoutError: the arguments do not fit or are not handled.
        """
        raise NotImplementedError

    def whole(self, call: OpCall) -> Mapping[int, tuple[int, int]]:
        """Dims that change and may not be cut: input dim → (the result's dim, its size)."""
        return {}

    def partials(self, call: OpCall) -> Sequence[Placement]:
        """Pending reductions that go through."""
        return ()

    def outputs(self, call: OpCall) -> int:
        """Number of tensors, all of one shape."""
        return 1

    def local(self, func: Callable[..., Any], call: OpCall, starts: Mapping[int, int]) -> Callable[..., Any]:
        """The local call on the windows; `starts`: where in the input the windows of cut dims start."""
        name = next(key for key, value in call.params.items() if isinstance(value, Slot))
        rest = {key: value for key, value in call.params.items() if key != name and value is not None}
        return lambda x: func(x, **rest)

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        if call.get("input") != Slot(0) or len(call.layouts) != 1:
            raise LayoutError(explain(self.op_name, "tensor arguments", "one, the input", len(call.layouts)))
        shape, lines, whole = call.shape(), self.lines(call), self.whole(call)
        sizes = {d: n for d, n in enumerate(shape) if d not in lines and d not in whole}
        sizes.update({line.out_dim: line.out for line in lines.values()})
        sizes.update(dict(whole.values()))
        if any(line.out < 1 or line.size < 1 for line in lines.values()):
            raise LayoutError(explain(self.op_name, "sizes of windowed dims", "positive", shape))
        return (tuple(sizes[d] for d in range(len(sizes))),) * self.outputs(call)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        lines, whole, count = self.lines(call), self.whole(call), self.outputs(call)
        for d in range(call.layouts[0].ndim):
            if d not in whole:
                yield AxisRule((Shard(d),), (Shard(lines[d].out_dim if d in lines else d),) * count)
        for pending in self.partials(call):
            yield AxisRule((pending,), (pending,) * count)

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The operator on the own windows; a part that is empty computes from constants and keeps nothing."""
        layout, lines = call.layouts[0], self.lines(call)
        before: list[Step] = []
        after: list[Step] = []
        starts: dict[int, int] = {}
        for dim, line in lines.items():
            if layout.dim_axes[dim]:
                bring, keep, starts[dim] = entry(self.platform, self.op_name, layout, dim, line)
                before.append(bring)
                after.append(keep)
        for dim, size in enumerate(layout.shape):
            if dim not in lines and size and not layout.local_shape[dim]:
                before.append(stand_in(self.platform, dim))
                after.append(keeper(self.platform, dim, 0, 0))
        if not before:
            return None
        enter, leave, local = chained(before), chained(after), self.local(func, call, starts)

        def run(x: Any) -> Any:
            out = local(enter(x))
            return tuple(leave(one) for one in out) if isinstance(out, tuple) else leave(out)

        return run


class PoolDistributedOp(WindowDistributedOp):
    """max_pool and the like; YAML keys `spatial`: the number of pooled dims, `indices`: positions are returned too.

    Rules:
        As the base class. Positions count through the whole input, whatever its cut.
    """

    signature: ClassVar[str] = (
        "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False"
    )

    def lines(self, call: OpCall) -> Mapping[int, Line]:
        """See the base class."""
        count, shape = int(self.options["spatial"]), call.shape()
        first = len(shape) - count
        if first < 1 or bool(call.get("return_indices")) != bool(self.options.get("indices")):
            raise LayoutError(explain(self.op_name, "input", f"of more than {count} dims, indices as named", shape))
        kernels = per_dim(self.op_name, "kernel_size", call["kernel_size"], count)
        given = kernels if call["stride"] in (None, (), []) else call["stride"]
        strides = per_dim(self.op_name, "stride", given, count)
        pads = per_dim(self.op_name, "padding", call.get("padding", 0), count)
        dilations = per_dim(self.op_name, "dilation", call.get("dilation", 1), count)
        lines = {}
        for i, (kernel, stride, pad, apart) in enumerate(zip(kernels, strides, pads, dilations, strict=True)):
            if min(kernel, stride, apart) < 1 or not 0 <= 2 * pad <= apart * (kernel - 1) + 1:
                raise LayoutError(explain(self.op_name, "windows", "valid", (kernel, stride, pad, apart)))
            size = shape[first + i]
            if pad and apart > size:  # a window may lie between its holes: torch then names a place outside the input
                raise LayoutError(explain(self.op_name, "dilation", f"at most the size {size}", apart))
            out = pooled(size, kernel, stride, pad, apart, bool(call.get("ceil_mode")))
            lines[first + i] = Padded(first + i, size, out, kernel, stride, pad, apart)
        return lines

    def outputs(self, call: OpCall) -> int:
        """See the base class."""
        return 2 if self.options.get("indices") else 1

    def partials(self, call: OpCall) -> Sequence[Placement]:
        """See the base class; YAML key `linear`."""
        return (P_SUM, P_AVG) if self.options.get("linear") else ()

    def local(self, func: Callable[..., Any], call: OpCall, starts: Mapping[int, int]) -> Callable[..., Any]:
        """See the base class."""
        run = super().local(func, call, starts)
        if not self.options.get("indices"):
            return run
        sizes = {dim: line.size for dim, line in self.lines(call).items()}
        return lambda x: relocated(run(x), x, starts, sizes)


class BuiltinPoolDistributedOp(PoolDistributedOp):
    """torch.max_pool1d and the like, which return no positions."""

    signature: ClassVar[str] = "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False"


def relocated(pair: Any, x: Any, starts: Mapping[int, int], sizes: Mapping[int, int]) -> tuple[Any, Any]:
    """(values, positions within windows `x`) with the positions counted through the whole pooled dims."""
    values, at = pair
    whole, below = 0, 1
    for dim in sorted(sizes, reverse=True):
        whole = whole + (at % x.shape[dim] + starts.get(dim, 0)) * below
        at = at // x.shape[dim]
        below *= sizes[dim]
    return values, whole


def pooled(size: int, kernel: int, stride: int, pad: int, dilation: int, ceil_mode: bool) -> int:
    """Number of windows: with `ceil_mode` the last one may end behind the padding, but has to start before it."""
    room = size + 2 * pad - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + pad else count


class AvgPoolDistributedOp(PoolDistributedOp):
    """avg_pool1d, avg_pool2d, avg_pool3d."""

    signature: ClassVar[str] = (
        "input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None"
    )


class LpPoolDistributedOp(PoolDistributedOp):
    """lp_pool1d, lp_pool2d, lp_pool3d."""

    signature: ClassVar[str] = "input, norm_type, kernel_size, stride=None, ceil_mode=False"
