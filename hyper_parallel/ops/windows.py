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
"""Who holds which positions of a dim, who wants which, and what therefore has to be sent: interval arithmetic only.

Positions count along one tensor dim of a global tensor (input or output space, as the caller likes). `Windows` gives
for every rank of a mesh axis the intervals `(start, stop)` that its local part consists of, in local order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import chunk_of

Interval = tuple[int, int]
Windows = tuple[tuple[Interval, ...], ...]


@dataclass(frozen=True)
class Piece:
    """A run of positions: where it lies in the sender's local part and where in the receiver's."""

    source: int
    source_at: int
    target: int
    target_at: int
    length: int


def chunks(size: int, ranks: int, start: int = 0) -> Windows:
    """The ceil-division parts of `size` positions that begin at `start`, one interval per rank (empty ones dropped)."""
    result = []
    for rank in range(ranks):
        offset, length = chunk_of(size, ranks, rank)
        result.append(interval(start + offset, start + offset + length))
    return tuple(result)


def interval(start: int, stop: int) -> tuple[Interval, ...]:
    """One interval, none if it is empty."""
    return ((start, stop),) if stop > start else ()


def clip(start: int, stop: int, low: int, high: int) -> tuple[Interval, ...]:
    """The part of [start, stop) within [low, high)."""
    return interval(max(start, low), min(stop, high))


def width(intervals: Iterable[Interval]) -> int:
    """Number of positions."""
    return sum(stop - start for start, stop in intervals)


def shifted(windows: Windows, by: int) -> Windows:
    """The same intervals, `by` positions further."""
    return tuple(tuple((start + by, stop + by) for start, stop in own) for own in windows)


def joined(parts: Sequence[Windows]) -> Windows:
    """Per rank the intervals of all `parts`, one after the other."""
    return tuple(tuple(piece for own in ranks for piece in own) for ranks in zip(*parts, strict=True))


@lru_cache(maxsize=4096)
def pieces(holds: Windows, wants: Windows) -> tuple[Piece, ...]:
    """Every run that goes from a holder to a wanter (its own rank included), by receiver and place there.

    Raises:
        LayoutError: a wanted position is held by no rank.
    """
    held: list[tuple[int, int, int, int]] = []
    for rank, own in enumerate(holds):
        at = 0
        for start, stop in own:
            if stop > start:
                held.append((start, stop, rank, at))
            at += stop - start
    held.sort()
    starts = [item[0] for item in held]
    result: list[Piece] = []
    for rank, own in enumerate(wants):
        at = 0
        for start, stop in own:
            while start < stop:
                found = bisect_right(starts, start) - 1
                if found < 0 or held[found][1] <= start:
                    raise LayoutError(explain("move_windows", "wanted positions", "held by some rank", start))
                first, last, source, source_at = held[found]
                length = min(stop, last) - start
                result.append(Piece(source, source_at + start - first, rank, at, length))
                start, at = start + length, at + length
    return tuple(result)


def crossing(holds: Windows, wants: Windows) -> int:
    """Number of positions that go from one rank to another."""
    return sum(piece.length for piece in pieces(holds, wants) if piece.source != piece.target)


def busiest(holds: Windows, wants: Windows) -> int:
    """Number of positions that the rank with most to send sends."""
    sent = [0] * len(holds)
    for piece in pieces(holds, wants):
        if piece.source != piece.target:
            sent[piece.source] += piece.length
    return max(sent, default=0)
