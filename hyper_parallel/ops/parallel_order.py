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
"""Sorting, selecting and ranking: along a cut dim the ranks agree on where to split, and send only what has to move.

Where parts are so short that agreeing costs more than a gather, the rule refuses, and the engine finds another way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from hyper_parallel.dispatch.axis_rules import AxisRule, AxisRuleOp
from hyper_parallel.dispatch.call import OpCall
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout, chunk_sizes
from hyper_parallel.ops.runs import only_axis
from hyper_parallel.ops.shapes import Shape, reduced
from hyper_parallel.placements import R, Shard


def rounds(positions: int) -> float:
    """Rounds that agreeing on a split of a line of so many positions takes, as measured on random data."""
    return math.log2(max(positions, 2)) + 1


def sorting_pays(longest: int, ranks: int) -> bool:
    """Whether sorting parts of `longest` four-byte elements sends less than gathering them.

    What moves (on random data), a bit per element and other rank, and per round and split an element and a count.
    """
    moved = longest * ((ranks - 1) / ranks + (ranks - 1) / 32)
    splits = 1.25 * rounds(longest * ranks) * (ranks - 1) ** 2
    return moved + splits < longest * (ranks - 1)


def selecting_pays(longest: int, ranks: int) -> bool:
    """Whether finding one element of a line sends less than gathering parts of `longest` elements."""
    return 1.25 * rounds(longest * ranks) + 3 < longest


class OrderDistributedOp(AxisRuleOp):
    """Common part of operators that order the elements along one dim.

    Rules:
        1. Any other dim may be cut; the results are cut alike.
        2. The ordered dim may be cut by one axis; `cut_output` tells how the results are placed.
    """

    signature: ClassVar[str] = "input, dim=-1, descending=False, *, stable=False"
    outputs: int = 2
    keeps: ClassVar[bool] = True

    def ordered(self, call: OpCall) -> int:
        """The ordered dim."""
        return call.dim("dim", len(call.shape()))

    def keepdim(self, call: OpCall) -> bool:
        """Whether the ordered dim stays in the results."""
        return self.keeps or bool(call["keepdim"])

    def size(self, call: OpCall) -> int:
        """The results' size of the ordered dim."""
        return call.shape()[self.ordered(call)]

    def output_shapes(self, call: OpCall) -> Sequence[Shape]:
        """See the base class."""
        shape = call.shape()
        if len(call.layouts) != 1 or not shape:
            raise LayoutError(explain(self.op_name, "tensor arguments", "one, at least 1-D", call.shapes))
        dim, size = self.ordered(call), self.size(call)
        if not self.keepdim(call):
            return (reduced(shape, (dim,), False),) * self.outputs
        return (tuple(size if d == dim else n for d, n in enumerate(shape)),) * self.outputs

    def axis_rules(self, call: OpCall) -> Iterator[AxisRule]:
        """See the base class."""
        dim, keep = self.ordered(call), self.keepdim(call)
        yield AxisRule((Shard(dim),), (self.cut_output(dim),) * self.outputs)
        for d in range(len(call.shape())):
            if d != dim:
                yield AxisRule((Shard(d),), (Shard(d if keep or d < dim else d - 1),) * self.outputs)

    def cut_output(self, dim: int) -> Any:
        """Placement of the results where an axis cuts the ordered dim."""
        return R

    def pays(self, call: OpCall, longest: int, ranks: int) -> bool:
        """Whether the exchange sends less than a gather."""
        return selecting_pays(longest, ranks)

    def make_impl(
        self, func: Callable[..., Any], call: OpCall, outs: Sequence[Layout], rules: Sequence[AxisRule]
    ) -> Callable[..., Any] | None:
        """The exchange along the axis that cuts the ordered dim."""
        layout, dim = call.layouts[0], self.ordered(call)
        axis = only_axis(self.op_name, layout, dim)
        if axis is None:
            return None
        ranks = layout.mesh.mesh_shape[axis]
        sizes = tuple(chunk_sizes(layout.shape[dim], ranks))
        if ranks > 1 and not self.pays(call, sizes[0], ranks):
            raise LayoutError(explain(self.op_name, f"parts of dim {dim}", "long enough to be worth it", sizes))
        return self.exchange(call, dim, (layout.mesh, axis, sizes))

    def exchange(self, call: OpCall, dim: int, where: tuple[Any, ...]) -> Callable[..., Any]:
        """The local call; `where` is the mesh, the axis and the sizes of all parts."""
        raise NotImplementedError


class SortDistributedOp(OrderDistributedOp):
    """sort, argsort: stable, NaN last, indices global; results are cut as the input is.

    YAML key `result`: 0 values, 1 indices; both if absent.
    """

    def __init__(self, op_name: str, platform: Any = None, **options: Any) -> None:
        super().__init__(op_name, platform, **options)
        self.outputs = 1 if "result" in options else 2

    def cut_output(self, dim: int) -> Any:
        """See the base class."""
        return Shard(dim)

    def pays(self, call: OpCall, longest: int, ranks: int) -> bool:
        """See the base class."""
        return sorting_pays(longest, ranks)

    def exchange(self, call: OpCall, dim: int, where: tuple[Any, ...]) -> Callable[..., Any]:
        """See the base class."""
        sort, pair, name = self.platform.sort_cut, self.platform.as_pair, self.op_name
        descending = bool(call["descending"])
        if "result" in self.options:
            return lambda x: sort(x, dim, descending, *where)[self.options["result"]]
        return lambda x: pair(name, *sort(x, dim, descending, *where))


class MsortDistributedOp(SortDistributedOp):
    """msort: the values along dim 0."""

    signature: ClassVar[str] = "input"

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The one argument, and what `sort` would be given beside it."""
        return {**super().bind(args, kwargs), "dim": 0, "descending": False}


class KthDistributedOp(OrderDistributedOp):
    """kthvalue: found on all ranks by a few values from each."""

    signature: ClassVar[str] = "input, k, dim=-1, keepdim=False"
    keeps: ClassVar[bool] = False

    def size(self, call: OpCall) -> int:
        """See the base class."""
        return 1

    def which(self, call: OpCall) -> int | str:
        """What `kth_cut` looks for.

        Raises:
            LayoutError: the line has no such element.
        """
        k, size = call["k"], call.shape()[self.ordered(call)]
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= size:
            raise LayoutError(explain(self.op_name, "k", f"an int from 1 to {size}", k))
        return k

    def exchange(self, call: OpCall, dim: int, where: tuple[Any, ...]) -> Callable[..., Any]:
        """See the base class."""
        select, pair, name = self.platform.kth_cut, self.platform.as_pair, self.op_name
        which, keep = self.which(call), self.keepdim(call)

        def run(x: Any) -> Any:
            value, index = select(x, dim, which, *where)
            return pair(name, value, index) if keep else pair(name, value.squeeze(dim), index.squeeze(dim))

        return run


class MedianDistributedOp(KthDistributedOp):
    """median and nanmedian along a dim; over all dims they are left to the fallback."""

    signature: ClassVar[str] = "input, dim, keepdim=False"

    def which(self, call: OpCall) -> int | str:
        """See the base class."""
        if not call.shape()[self.ordered(call)]:
            raise LayoutError(explain(self.op_name, "the reduced dim", "not empty", call.shape()))
        return self.op_name


class TopKDistributedOp(OrderDistributedOp):
    """topk: each part's own candidates are gathered, at most k of each."""

    signature: ClassVar[str] = "input, k, dim=-1, largest=True, sorted=True"

    def size(self, call: OpCall) -> int:
        """See the base class."""
        k, size = call["k"], call.shape()[self.ordered(call)]
        if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k <= size:
            raise LayoutError(explain(self.op_name, "k", f"an int from 0 to {size}", k))
        return k

    def pays(self, call: OpCall, longest: int, ranks: int) -> bool:
        """Candidates are values with a short index: up to twice the bytes of a value."""
        return 2 * self.size(call) <= longest

    def exchange(self, call: OpCall, dim: int, where: tuple[Any, ...]) -> Callable[..., Any]:
        """See the base class."""
        select, pair, name = self.platform.topk_cut, self.platform.as_pair, self.op_name
        k, largest = self.size(call), bool(call["largest"])
        return lambda x: pair(name, *select(x, k, dim, largest, *where))
