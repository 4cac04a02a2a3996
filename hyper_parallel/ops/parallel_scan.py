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
"""Running sums, products and extremes along a cut dim: parts exchange one slice each, their total.

A rank scans the totals of the parts before its own and then its own part, and drops the first rows. Scans are
associative, so values, indices and gradients (at zeros, ties, NaN and infinities too) are those of the whole scan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.runs import only_axis
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.placements import P_AVG, P_SUM, Shard


class ScanDistributedOp(AxisRuleOp):
    """cumsum, cumprod, logcumsumexp.

    Rules:
        1. Every dim may be cut; the result is cut alike. Along the scanned dim one axis may cut, and each rank sends
           one slice to every other.
        2. YAML key `linear`: a pending sum or average stays pending, unless a dtype is asked for (it may round).

    YAML key `total`: the reduction that gives a part's last row.
    """

    _allow_partial_inputs: ClassVar[bool] = True
    signature: ClassVar[str] = "input, dim, *, dtype=None"
    outputs: ClassVar[int] = 1

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        if len(call.layouts) != 1:
            raise LayoutError(explain(self.op_name, "tensor arguments", 1, len(call.layouts)))
        call.dim("dim", len(call.shape()))
        return (call.shape(),) * self.outputs

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        for dim in range(len(call.shape())):
            yield AxisRule((Shard(dim),), (Shard(dim),) * self.outputs)
        if self.options.get("linear") and call["dtype"] is None:
            yield AxisRule((P_SUM,), (P_SUM,))
            yield AxisRule((P_AVG,), (P_AVG,))

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The scan of earlier parts' totals and the own part."""
        layout, dim = call.layouts[0], call.dim("dim", len(call.shape()))
        axis = only_axis(self.op_name, layout, dim) if layout.ndim else None
        impl = None if axis is None else self.scan(func, call, dim, axis)
        if self.options.get("total") == "prod" and layout.is_sharded() and math.prod(layout.local_shape) <= 1:
            return self.tied(impl or func, call, dim, impl is None)
        return impl

    def tied(self, scan: Callable[..., Any], call: OpCall, dim: int, plain: bool) -> Callable[..., Any]:
        """A scan whose gradient depends on the input even for one element or none.

        PyTorch takes such a product for the identity, and this rank would be missing in the second backward.
        """
        platform, dims = self.platform, tuple(range(len(call.shape())))
        named = {"dtype": call["dtype"]} if plain and call["dtype"] is not None else {}

        def run(x: Any) -> Any:
            result = scan(x, dim, **named) if plain else scan(x)
            nothing = platform.narrow(x * x, dim, 0, 0)
            return result + platform.sum(nothing, dims, False, result.dtype)

        return run

    def scan(self, func: Callable[..., Any], call: OpCall, dim: int, axis: int) -> Callable[..., Any]:
        """The local call where `axis` cuts the scanned dim."""
        platform, mesh, dtype = self.platform, call.layouts[0].mesh, call["dtype"]
        me, ones = mesh.own_coordinate()[axis], (1,) * mesh.mesh_shape[axis]
        own, kind = call.layouts[0].local_shape[dim], self.options["total"]
        named = {} if dtype is None else {"dtype": dtype}
        cat, dims = platform.cat, tuple(range(len(call.shape())))
        lone = kind == "prod" and me + own <= 1

        def run(x: Any) -> Any:
            if kind == "sum":
                total = platform.sum(x, (dim,), True, dtype)
            else:
                total = platform.reduce(kind, x, (dim,), True, dtype)
            rows = platform.gather_cross(total, mesh, axis, dim, ones)
            joined = cat([platform.narrow(rows, dim, 0, me), x], dim)
            result = func(joined, dim, **named)
            if lone:  # see `tied`
                result = result + platform.sum(platform.narrow(joined * joined, dim, 0, 0), dims, False, result.dtype)
            return platform.narrow(result, dim, me, own)

        return run


class LogScanDistributedOp(ScanDistributedOp):
    """logcumsumexp: the parts go on from each other in turn, as its gradient is sensitive to every rounding."""

    signature: ClassVar[str] = "input, dim"

    def scan(self, func: Callable[..., Any], call: OpCall, dim: int, axis: int) -> Callable[..., Any]:
        """See the base class."""
        platform, mesh = self.platform, call.layouts[0].mesh
        joined = super().scan(func, OpCall(call.op, call.layouts, {**call.params, "dtype": None}), dim, axis)
        in_turn = platform.log_scan

        def run(x: Any) -> Any:
            return joined(x) if platform.is_complex(x) else in_turn(x, dim, mesh, axis)

        return run


class ExtremeScanDistributedOp(ScanDistributedOp):
    """cummax, cummin: values and global indices, the last of equals as on one device.

    Rules:
        As the base class; pending reductions are not handled.
    """

    signature: ClassVar[str] = "input, dim"
    outputs: ClassVar[int] = 2

    def scan(self, func: Callable[..., Any], call: OpCall, dim: int, axis: int) -> Callable[..., Any]:
        """See the base class."""
        platform, layout = self.platform, call.layouts[0]
        mesh, own, offset = layout.mesh, layout.local_shape[dim], layout.local_offset[dim]
        me, ones = mesh.own_coordinate()[axis], (1,) * mesh.mesh_shape[axis]
        cat, name = platform.cat, self.op_name

        def last(x: Any) -> Any:
            # Parts without a position come after all others, so what they say is never used.
            return platform.narrow(x, dim, own - 1, 1) if own else platform.sum(x, (dim,), True, x.dtype)

        def run(x: Any) -> Any:
            values, index = func(x, dim)
            # PyTorch's gradient of an empty scan hangs on nothing: this rank would be missing in the second backward.
            rows = platform.gather_cross(last(values if own else x), mesh, axis, dim, ones)
            places = platform.all_gather(last(index) + offset, mesh, axis, dim, ones)
            values, index = func(cat([platform.narrow(rows, dim, 0, me), x], dim), dim)
            values, index = (platform.narrow(part, dim, me, own) for part in (values, index))
            here = index + (offset - me)
            if me:
                early = index < me
                here = here * ~early + platform.take_along(places, index * early, dim) * early
            return platform.as_pair(name, values, here)

        return run
