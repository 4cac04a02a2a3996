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
"""Windows as data (Tensor.unfold, nn.functional.unfold and fold) and places moved between channels and rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule
from hyper_parallel.dispatch.call import OpCall
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.halo import Line, Reach, Scaled, Sliding, per_dim
from hyper_parallel.ops.parallel_join import CopyingViewOp
from hyper_parallel.ops.parallel_pool import WindowDistributedOp
from hyper_parallel.ops.parallel_shift import EVERY_PARTIAL
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.placements import P_AVG, P_SUM, Placement


class UnfoldDistributedOp(CopyingViewOp, WindowDistributedOp):
    """Tensor.unfold: windows of one dim, as a view with a new last dim.

    Rules:
        1. The dim itself may be cut, by one axis; the result is then a copy, and writing to it is an error. Others may
           be cut, too; the result is a view.
        2. Pending reductions stay pending.
    """

    signature: ClassVar[str] = "input, dimension, size, step"

    def _args(self, call: OpCall) -> tuple[int, int, int]:
        """dim, size, step."""
        ndim, size, step = len(call.shape()), call["size"], call["step"]
        if not ndim or not isinstance(size, int) or not isinstance(step, int) or size < 1 or step < 1:
            raise LayoutError(explain(self.op_name, "size and step", "positive, of a tensor with dims", (size, step)))
        dim = call.dim("dimension", ndim)
        if size > call.shape()[dim]:
            raise LayoutError(explain(self.op_name, "size", f"at most {call.shape()[dim]}", size))
        return dim, size, step

    def lines(self, call: OpCall) -> Mapping[int, Line]:
        """See the base class."""
        dim, size, step = self._args(call)
        whole = call.shape()[dim]
        return {dim: Sliding(dim, whole, (whole - size) // step + 1, size, step)}

    def partials(self, call: OpCall) -> Sequence[Placement]:
        """See the base class."""
        return EVERY_PARTIAL

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        return ((*super().output_shapes(call)[0], self._args(call)[1]),)

    def local(self, func: Callable[..., Any], call: OpCall, starts: Mapping[int, int]) -> Callable[..., Any]:
        """See the base class."""
        dim, size, step = self._args(call)
        return lambda x: func(x, dim, size, step)

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """Windows of a cut dim are copies; an empty part of another dim is still a view."""
        if not call.layouts[0].dim_axes[self._args(call)[0]]:
            return None
        run = super().make_impl(func, call, outs, rules)
        return run and (lambda x: self.copied(run(x), x))


@dataclass(frozen=True)
class Blocks(Line):
    """Rows that become blocks of `width` results each, one for every column: the windows of `rows`, laid out flat."""

    rows: Sliding = field(kw_only=True)
    width: int = field(kw_only=True)

    @property
    def least(self) -> int:
        """See the base class."""
        return self.rows.least

    def reach(self, first: int, last: int) -> Reach:
        """See the base class."""
        top = first // self.width
        rows = self.rows.reach(top, -(-last // self.width))
        return Reach(rows.start, rows.stop, first - top * self.width)


class Im2ColDistributedOp(WindowDistributedOp):
    """nn.functional.unfold: patches of an image as columns.

    Rules:
        1. The batch may be cut.
        2. Rows may be cut, by one axis: so are the patches. Columns may not.
        3. Channels may be cut, by one axis: so are the result's rows.
        4. A pending sum or average stays pending.
    """

    signature: ClassVar[str] = "input, kernel_size, dilation=1, padding=0, stride=1"

    def _windows(self, call: OpCall) -> tuple[Sliding, Sliding]:
        shape = call.shape()
        if len(shape) not in (3, 4):
            raise LayoutError(explain(self.op_name, "input dims", "3 or 4", len(shape)))
        args = [per_dim(self.op_name, what, call[what], 2) for what in ("kernel_size", "dilation", "padding", "stride")]
        found = []
        for size, kernel, apart, pad, stride in zip(shape[-2:], *args, strict=True):
            if min(kernel, apart, stride) < 1 or pad < 0:
                raise LayoutError(explain(self.op_name, "windows", "valid", (kernel, apart, pad, stride)))
            out = (size + 2 * pad - apart * (kernel - 1) - 1) // stride + 1
            found.append(Sliding(0, size, out, kernel, stride, pad, apart))
        return found[0], found[1]

    def lines(self, call: OpCall) -> Mapping[int, Line]:
        """See the base class."""
        rows, columns = self._windows(call)
        if min(rows.out, columns.out) < 1:
            raise LayoutError(explain(self.op_name, "the number of patches", "positive", (rows.out, columns.out)))
        ndim, kernel = len(call.shape()), rows.kernel * columns.kernel
        channels = call.shape()[-3]
        return {
            ndim - 3: Scaled(ndim - 3, channels, channels * kernel, kernel),
            ndim - 2: Blocks(ndim - 2, rows.size, rows.out * columns.out, rows=rows, width=columns.out),
        }

    def whole(self, call: OpCall) -> Mapping[int, tuple[int, int]]:
        """Columns go into the patches with the rows."""
        ndim = len(call.shape())
        return {ndim - 1: (ndim - 2, self.lines(call)[ndim - 2].out)}

    def partials(self, call: OpCall) -> Sequence[Placement]:
        """See the base class."""
        return P_SUM, P_AVG

    def local(self, func: Callable[..., Any], call: OpCall, starts: Mapping[int, int]) -> Callable[..., Any]:
        """See the base class; the padding of cut rows is brought."""
        rows, columns = self._windows(call)
        top = 0 if len(call.shape()) - 2 in starts else rows.left
        kernels, apart = (rows.kernel, columns.kernel), (rows.dilation, columns.dilation)
        pads, strides = (top, columns.left), (rows.stride, columns.stride)
        return lambda x: func(x, kernels, apart, pads, strides)


class Col2ImDistributedOp(WindowDistributedOp):
    """nn.functional.fold: patches added up to an image.

    Rules:
        1. The batch may be cut; patches may not.
        2. Rows of the input (channel times place in the patch) may be cut: the result is cut by channels.
        3. A pending sum or average stays pending.
    """

    signature: ClassVar[str] = "input, output_size, kernel_size, dilation=1, padding=0, stride=1"

    def lines(self, call: OpCall) -> Mapping[int, Line]:
        """See the base class."""
        shape, kernel = call.shape(), math.prod(per_dim(self.op_name, "kernel_size", call["kernel_size"], 2))
        if len(shape) not in (2, 3) or kernel < 1 or shape[-2] % kernel:
            raise LayoutError(explain(self.op_name, "input", f"of 2 or 3 dims, {kernel} rows a channel", shape))
        at = len(shape) - 2
        return {at: Sliding(at, shape[at], shape[at] // kernel, kernel, kernel)}

    def whole(self, call: OpCall) -> Mapping[int, tuple[int, int]]:
        """Patches become the image."""
        last = len(call.shape()) - 1
        return {last: (last, per_dim(self.op_name, "output_size", call["output_size"], 2)[0])}

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        return ((*super().output_shapes(call)[0], per_dim(self.op_name, "output_size", call["output_size"], 2)[1]),)

    def partials(self, call: OpCall) -> Sequence[Placement]:
        """See the base class."""
        return P_SUM, P_AVG


class PixelShuffleDistributedOp(WindowDistributedOp):
    """pixel_shuffle; YAML key `back`: pixel_unshuffle. Channels become finer rows and columns, or the other way round.

    Rules:
        1. Every dim may be cut, rows, columns and channels by one axis each: places of other parts travel where the
           parts of the result do not fall together with those of the input.
        2. Pending reductions stay pending.
    """

    signature: ClassVar[str] = "input, factor"

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Both operators name the factor in their own way."""
        names = {"upscale_factor", "downscale_factor"}
        return super().bind(args, {("factor" if name in names else name): value for name, value in kwargs.items()})

    def lines(self, call: OpCall) -> Mapping[int, Line]:
        """See the base class."""
        shape, factor = call.shape(), call["factor"]
        if len(shape) < 3 or isinstance(factor, bool) or not isinstance(factor, int) or factor < 1:
            raise LayoutError(explain(self.op_name, "input and factor", "of 3 dims, positive", (shape, factor)))
        at, square = len(shape) - 3, factor * factor
        fine, coarse = (slice(at, at + 1), slice(at + 1, at + 3))[:: -1 if self.options.get("back") else 1]
        by = square if not self.options.get("back") else factor
        if any(n % by for n in shape[fine]):
            raise LayoutError(explain(self.op_name, "the sizes", f"multiples of {by}", shape))
        rest = factor if not self.options.get("back") else square
        lines: dict[int, Line] = {}
        for d in range(fine.start, fine.stop):
            lines[d] = Sliding(d, shape[d], shape[d] // by, by, by)
        for d in range(coarse.start, coarse.stop):
            lines[d] = Scaled(d, shape[d], shape[d] * rest, rest)
        return lines

    def partials(self, call: OpCall) -> Sequence[Placement]:
        """See the base class."""
        return EVERY_PARTIAL

    def local(self, func: Callable[..., Any], call: OpCall, starts: Mapping[int, int]) -> Callable[..., Any]:
        """See the base class."""
        factor = call["factor"]
        return lambda x: func(x, factor)


class ChannelShuffleDistributedOp(WindowDistributedOp):
    """channel_shuffle: every dim but that of channels may be cut; pending reductions stay pending."""

    signature: ClassVar[str] = "input, groups"

    def lines(self, call: OpCall) -> Mapping[int, Line]:
        """See the base class."""
        return {}

    def whole(self, call: OpCall) -> Mapping[int, tuple[int, int]]:
        """Channels change places."""
        if len(call.shape()) < 3:
            raise LayoutError(explain(self.op_name, "input dims", "at least 3", len(call.shape())))
        return {1: (1, call.shape()[1])}

    def partials(self, call: OpCall) -> Sequence[Placement]:
        """See the base class."""
        return EVERY_PARTIAL
