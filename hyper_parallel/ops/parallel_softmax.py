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
"""Softmax and its relatives: along a cut dim two numbers per line are reduced over the ranks, nothing is gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel import planner
from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout
from hyper_parallel.ops.shapes import Shape
from hyper_parallel.placements import R, Shard

ACROSS = "across"
NUMBERS_PER_LINE = 3.0
"""Largest element and sum forward, one sum backward; half precision needs as much, its sum being twice as wide."""


class SoftmaxDistributedOp(AxisRuleOp):
    """softmax, log_softmax, softmin along one dim.

    Rules:
        1. Every dim may be cut; the result is cut alike.
        2. Along the dim worked on, the largest element and the sum are reduced over the ranks, if that is not more
           than a gather.
        3. The dim has to be given: its default depends on the number of dims.
    """

    signature: ClassVar[str] = "input, dim=None, _stacklevel=3, dtype=None"

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        return (call.shape(),)

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        ndim = len(call.shape())
        along = call.dim("dim", ndim)
        for dim in range(ndim):
            if dim != along:
                yield AxisRule((Shard(dim),), (Shard(dim),))
        if ndim:
            yield AxisRule((Shard(along),), (Shard(along),), ACROSS)

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """See the base class."""
        axes = [axis for axis, rule in enumerate(rules) if rule.tag == ACROSS]
        if not axes:
            return None
        layout = call.layouts[0]
        dim = call.dim("dim", len(layout.shape))
        require_long_enough(self.op_name, layout, dim)
        dtype = call["dtype"]
        if not isinstance(call.get("_stacklevel", 3), int):
            dtype = call["_stacklevel"]  # the method's third argument is the dtype
        log, negate, across = "log" in self.op_name, self.op_name == "softmin", self.platform.softmax_across

        def impl(x: Any) -> Any:
            return across(-x if negate else x, dim, log, dtype, layout.mesh, axes)

        return impl


class BuiltinSoftmaxDistributedOp(SoftmaxDistributedOp):
    """torch.softmax, torch.log_softmax and those of torch.special, whose third argument is the dtype."""

    signature: ClassVar[str] = "input, dim=None, dtype=None"


def require_long_enough(op: str, layout: Layout, dim: int) -> None:
    """Refuse to reduce along a cut dim so short that a gather sends less.

    Raises:
        LayoutError: it is.
    """
    sizes, axes = layout.mesh.mesh_shape, layout.dim_axes[dim]
    lines = 1
    for d, size in enumerate(layout.max_local_shape):
        lines *= size if d != dim else 1
    reduced = sum(2.0 * (sizes[axis] - 1) / sizes[axis] for axis in axes) * lines * NUMBERS_PER_LINE
    whole = layout.with_placements([R if axis in axes else p for axis, p in enumerate(layout.placements)])
    if reduced > planner.cost(layout, whole):
        raise LayoutError(explain(op, f"the length of the cut dim {dim}", "worth reducing along", layout.shape[dim]))
