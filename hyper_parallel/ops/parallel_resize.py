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
"""interpolate: batch and channels stay local; cut rows and columns bring the neighbours that a result looks at."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from hyper_parallel.dispatch.call import OpCall
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.ops.halo import Line, Scaled, Sliding, per_dim
from hyper_parallel.ops.parallel_pool import WindowDistributedOp

MARGINS = {"nearest": 0, "nearest-exact": 0, "linear": 1, "bilinear": 1, "trilinear": 1, "bicubic": 2}
"""Neighbours on either side that a result depends on, by mode."""


class InterpolateDistributedOp(WindowDistributedOp):
    """nn.functional.interpolate.

    Rules:
        1. Batch and channels may be cut.
        2. A resized dim may be cut where the part's own places are exactly those of the whole: it grows by a power of
           two, or (not bicubic) shrinks to a whole fraction; never with align_corners or antialias, whose places
           depend on both ends. Places are worked out in floating point: other factors would round differently.
    """

    signature: ClassVar[str] = (
        "input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None, "
        "antialias=False"
    )

    def lines(self, call: OpCall) -> Mapping[int, Line]:
        """See the base class: the dims that rule 2 allows."""
        return {dim: line for dim, line in self._resized(call).items() if type(line) is not Line}

    def whole(self, call: OpCall) -> Mapping[int, tuple[int, int]]:
        """The other resized dims."""
        return {dim: (dim, line.out) for dim, line in self._resized(call).items() if type(line) is Line}

    def _resized(self, call: OpCall) -> dict[int, Line]:
        shape, count = call.shape(), len(call.shape()) - 2
        if call["mode"] not in MARGINS or count < 1 or call["recompute_scale_factor"]:
            raise LayoutError(explain(self.op_name, "mode", f"among {sorted(MARGINS)}", call["mode"]))
        if call["size"] is not None:
            sizes = per_dim(self.op_name, "size", call["size"], count)
        else:
            sizes = tuple(
                math.floor(float(n) * factor) for n, factor in zip(shape[2:], self._factors(call, count), strict=True)
            )
        return {2 + i: self._line(call, 2 + i, shape[2 + i], out) for i, out in enumerate(sizes)}

    def _factors(self, call: OpCall, count: int) -> tuple[float, ...]:
        given = call["scale_factor"]
        factors = tuple(given) if isinstance(given, tuple | list) else (given,) * count
        if len(factors) != count or any(isinstance(f, bool) or not isinstance(f, int | float) for f in factors):
            raise LayoutError(explain(self.op_name, "scale_factor", f"a number or {count} numbers", given))
        return tuple(float(f) for f in factors)

    def _line(self, call: OpCall, dim: int, size: int, out: int) -> Line:
        if size < 1 or out < 1 or call["align_corners"] or call["antialias"]:
            return Line(dim, size, out)
        ratio = out / size if call["size"] is not None else self._factors(call, len(call.shape()) - 2)[dim - 2]
        if ratio >= 1 and math.frexp(ratio)[0] == 0.5 and out == size * ratio:
            return Scaled(dim, size, out, int(ratio), MARGINS[call["mode"]])
        step, rest = divmod(size, out)
        exact = call["size"] is not None or (ratio > 0 and math.frexp(ratio)[0] == 0.5)
        if rest == 0 and exact and call["mode"] != "bicubic":
            return Sliding(dim, size, out, step, step)
        return Line(dim, size, out)

    def local(self, func: Callable[..., Any], call: OpCall, starts: Mapping[int, int]) -> Callable[..., Any]:
        """See the base class; the size of a cut dim is that of its window, resized alike."""
        rest = {name: call[name] for name in ("mode", "align_corners", "antialias")}
        if call["size"] is None:
            return lambda x: func(x, scale_factor=call["scale_factor"], **rest)
        lines = self._resized(call)

        def run(x: Any) -> Any:
            sizes = [x.shape[d] * line.out // line.size if d in starts else line.out for d, line in lines.items()]
            return func(x, tuple(sizes), **rest)

        return run
