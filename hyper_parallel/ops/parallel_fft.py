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
"""Fourier transforms: dims that are not transformed stay cut; shifts of a cut dim move only what changes its part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.call import OpCall, wrap_dim
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.ops.parallel_pool import WindowDistributedOp
from hyper_parallel.ops.parallel_shift import RunsDistributedOp
from hyper_parallel.ops.runs import Runs, onwards
from hyper_parallel.ops.shapes import dims_of
from hyper_parallel.placements import P_AVG, P_SUM, Placement


class FftDistributedOp(WindowDistributedOp):
    """fft.fft and its kin; YAML keys `half`: `out` if the last transformed dim comes out halved (rfft), `in` if it goes
    in halved (irfft); `dims`: `one`, `two` (the last ones by default) or `many`.

    Rules:
        1. A dim that is not transformed may be cut; the result is cut alike.
        2. A pending sum or average stays pending.
    """

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """`n` and `s`, the sizes to transform, are one parameter."""
        return super().bind(args, {("sizes" if name in {"n", "s"} else name): v for name, v in kwargs.items()})

    signature: ClassVar[str] = "input, sizes=None, dim=(), norm=None"

    def _dims(self, call: OpCall) -> tuple[int, ...]:
        """The transformed dims, in order."""
        ndim, sizes, given, kind = len(call.shape()), call["sizes"], call["dim"], self.options["dims"]
        if given == () and kind != "many":
            given = {"one": -1, "two": (-2, -1)}[kind]
        if given in ((), None):
            given = tuple(range(-len(sizes), 0)) if sizes is not None else tuple(range(ndim))
        listed = given if isinstance(given, tuple | list) else (given,)
        dims = tuple(wrap_dim(self.op_name, d, ndim) for d in listed)
        if not ndim or not dims or len(set(dims)) != len(dims):
            raise LayoutError(explain(self.op_name, "dims", "different dims of the input", given))
        return dims

    def lines(self, call: OpCall) -> Mapping[int, Any]:
        """None: no transformed dim may be cut."""
        return {}

    def whole(self, call: OpCall) -> Mapping[int, tuple[int, int]]:
        """The transformed dims."""
        dims, shape, given = self._dims(call), call.shape(), call["sizes"]
        sizes = tuple(given) if isinstance(given, tuple | list) else (given,) * len(dims)
        if len(sizes) != len(dims) or any(n is not None and (not isinstance(n, int) or n == 0) for n in sizes):
            raise LayoutError(explain(self.op_name, "sizes", f"positive, for dims {dims}", given))
        result = {}
        for d, n in zip(dims, sizes, strict=True):
            size = shape[d] if n in (None, -1) else n
            if d == dims[-1] and self.options.get("half") == "out":
                size = size // 2 + 1
            if d == dims[-1] and self.options.get("half") == "in" and n in (None, -1):
                size = 2 * (size - 1)
            result[d] = (d, size)
        return result

    def partials(self, call: OpCall) -> Sequence[Placement]:
        """See the base class."""
        return P_SUM, P_AVG

    def local(self, func: Callable[..., Any], call: OpCall, starts: Mapping[int, int]) -> Callable[..., Any]:
        """See the base class."""
        rest = {name: call[name] for name in ("dim", "norm") if call[name] not in ((), None)}
        return lambda x: func(x, call["sizes"], **rest)


class FftShiftDistributedOp(RunsDistributedOp):
    """fft.fftshift; YAML key `back`: fft.ifftshift."""

    signature: ClassVar[str] = "input, dim=None"

    def dim_runs(self, call: OpCall) -> dict[int, Runs]:
        """See the base class."""
        shape, result = call.shape(), {}
        for d in dims_of(self.op_name, call["dim"], len(shape)):
            first = shape[d] // 2 if self.options.get("back") else (shape[d] + 1) // 2
            result[d] = onwards(first, shape[d] - first) + onwards(0, first)
        return result
