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
"""An index expression, read against a global shape: which input dim becomes which output dim, and by what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hyper_parallel.dispatch.call import Slot
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.ops.shapes import Shape, broadcast


@dataclass(frozen=True)
class Pick:
    """One index (`step` 0: the dim goes) or a range of an input dim."""

    dim: int
    start: int
    count: int
    step: int

    def whole(self, size: int) -> bool:
        """Whether the range is the whole dim."""
        return self.step == 1 and self.count == size


@dataclass(frozen=True)
class New:
    """A new dim of size 1."""


@dataclass(frozen=True)
class Table:
    """A tensor of positions in an input dim."""

    dim: int
    slot: int


Term = Pick | New | Table


@dataclass(frozen=True)
class IndexPlan:
    """A parsed index.

    Attributes:
        terms: one per input dim and new dim, in order.
        shape: shape of the result.
        targets: input dim -> result dim, for dims that a range is taken of.
        table_at: first result dim of the position tensors, -1 without any.
        table_shape: their common shape.
    """

    terms: tuple[Term, ...]
    shape: Shape
    targets: dict[int, int]
    table_at: int
    table_shape: Shape

    @property
    def picks(self) -> dict[int, Pick]:
        """The pick of every input dim that has one."""
        return {term.dim: term for term in self.terms if isinstance(term, Pick)}

    @property
    def tables(self) -> list[Table]:
        """The position tensors."""
        return [term for term in self.terms if isinstance(term, Table)]


def parse_index(op: str, index: Any, shapes: Sequence[Shape]) -> IndexPlan:
    """Read an index on the tensor of slot 0; `shapes` are the global shapes by slot.

    Raises:
        LayoutError: it is wrong, or holds something else than ints, slices, None, Ellipsis and position tensors.
    """
    shape = shapes[0]
    items = list(index) if isinstance(index, tuple) else [index]
    used = sum(not (item is None or item is Ellipsis) for item in items)
    if sum(item is Ellipsis for item in items) > 1 or used > len(shape):
        raise LayoutError(explain(op, "index", f"for {len(shape)} dims", index))
    if Ellipsis not in [item for item in items if not isinstance(item, Slot)]:
        items.append(Ellipsis)
    at = items.index(Ellipsis)
    items[at : at + 1] = [slice(None)] * (len(shape) - used)
    terms: list[Term] = []
    dim = 0
    for item in items:
        if item is None:
            terms.append(New())
            continue
        terms.append(_term(op, item, dim, shape[dim]))
        dim += 1
    return _plan(op, tuple(terms), shapes)


def _term(op: str, item: Any, dim: int, size: int) -> Term:
    if isinstance(item, Slot):
        return Table(dim, item.index)
    if isinstance(item, int) and not isinstance(item, bool):
        if not -size <= item < size:
            raise LayoutError(explain(op, f"index of dim {dim}", f"in [{-size}, {size})", item))
        return Pick(dim, item % size, 1, 0)
    if isinstance(item, slice):
        ends = (item.start, item.stop, item.step)
        if any(isinstance(end, bool) or not isinstance(end, int | None) for end in ends) or (item.step or 1) < 1:
            raise LayoutError(explain(op, f"slice of dim {dim}", "of ints, with a positive step", item))
        start, stop, step = item.indices(size)
        return Pick(dim, start, len(range(start, stop, step)), step)
    raise LayoutError(explain(op, f"index of dim {dim}", "an int, slice or tensor of positions", repr(item)))


def _plan(op: str, terms: tuple[Term, ...], shapes: Sequence[Shape]) -> IndexPlan:
    """Position tensors that stand side by side are replaced where they stand, others go first (torch's rule)."""
    kept = [term for term in terms if not (isinstance(term, Pick) and term.step == 0)]
    places = [i for i, term in enumerate(kept) if isinstance(term, Table)]
    common = broadcast(op, [shapes[term.slot] for term in kept if isinstance(term, Table)])
    together = not places or places[-1] - places[0] + 1 == len(places)
    table_at = -1 if not places else (places[0] if together else 0)
    result: list[int] = []
    targets: dict[int, int] = {}
    if places and not together:
        result.extend(common)
    for i, term in enumerate(kept):
        if isinstance(term, Table):
            if together and i == places[0]:
                result.extend(common)
        elif isinstance(term, Pick):
            targets[term.dim] = len(result)
            result.append(term.count)
        else:
            result.append(1)
    return IndexPlan(terms, tuple(result), targets, table_at, common)
