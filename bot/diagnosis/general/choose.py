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
"""Spends a budget of lines on the regions that tell most."""

from __future__ import annotations

from collections.abc import Sequence

from bot.diagnosis.general.regions import Region

BUDGET = 38
"""Lines to show when something recognised explains the failure."""
UNDECIDED_BUDGET = 56
"""Lines to show when two places explain it about equally well."""
WIDE_BUDGET = 70
"""Lines to show when nothing does: then the reader gets more to look at."""
_BEFORE, _AFTER = 6, 10
_RELEVANT = 0.36
# a second explanation elsewhere that is nearly as good: show more
_RIVAL, _FAR = 0.85, 15
# lines before and behind the best, the second and the third region that are shown with it at once
_PADDING = ((3, 5), (2, 4), (1, 3), (0, 1))
SURE = 5.0
"""Score from which on a region counts as an explanation."""


def choose(regions: Sequence[Region], tail: Region, size: int) -> list[Region]:
    """Picks regions, best first, until the budget is spent.

    Args:
        regions: Candidates, overlapping or not.
        tail: The end of the failed step; always shown in part, in full when nothing else is sure.
        size: Number of lines of the log (indexes run from 0).

    Returns:
        Disjoint regions, best first.
    """
    ordered = sorted(regions, key=lambda region: (-region.score, region.first))
    best = ordered[0].score if ordered else 0.0
    sure = best >= SURE
    rival = any(
        region.score >= _RIVAL * best and region.why != ordered[0].why and _apart(region, ordered[0])
        for region in ordered[1:40]
    )
    budget = WIDE_BUDGET if not sure else UNDECIDED_BUDGET if rival else BUDGET
    shown: set[int] = set()
    picked: list[Region] = []
    reserve = range(max(tail.last - (7 if sure else 19), tail.first), tail.last + 1)
    pads = 0
    for region in ordered:
        if region.score < _RELEVANT * best or len(shown) >= budget:
            break
        before, after = _PADDING[min(pads, len(_PADDING) - 1)]
        wide = range(max(region.first - before, 0), min(region.last + after, size - 1) + 1)
        new = [index for index in wide if index not in shown]
        kept = [index for index in reserve if index not in shown and index not in wide]
        room = budget - len(shown) - len(kept)
        if not any(index not in shown for index in range(region.first, region.last + 1)) or room <= 0:
            continue
        pads += 1
        if len(new) > room:
            new = new[: room if room >= 4 or not picked else 0]
        if not new:
            continue
        shown.update(new)
        picked.extend(_runs(new, region))
    rest = [index for index in reserve if index not in shown and index < size]
    shown.update(rest)
    picked.extend(_runs(rest, Region(tail.first, tail.last, max(0.2 * best, 0.5), tail.why)))
    picked = _joined(picked)
    return _joined([*picked, *_context(picked, shown, budget - len(shown), size)])


def _apart(one: Region, other: Region) -> bool:
    return one.first > other.last + _FAR or other.first > one.last + _FAR


def _context(picked: Sequence[Region], shown: set[int], left: int, size: int) -> list[Region]:
    """Spends what is left of the budget on lines around the picked regions, the best regions first."""
    extra: list[Region] = []
    for region in picked:
        around = [
            *range(region.first - 1, region.first - 1 - _BEFORE, -1),
            *range(region.last + 1, region.last + 1 + _AFTER),
        ]
        # alternately before and behind, nearest first
        around.sort(key=lambda index: (region.first - index) * 1.5 if index < region.first else index - region.last)
        for index in around:
            if left <= 0:
                return extra
            if 0 <= index < size and index not in shown:
                shown.add(index)
                left -= 1
                extra.append(Region(index, index, region.score * 0.5, region.why))
    return extra


def _runs(indexes: Sequence[int], region: Region) -> list[Region]:
    """Consecutive stretches of some indexes."""
    runs: list[Region] = []
    for index in indexes:
        if runs and index == runs[-1].last + 1:
            runs[-1] = Region(runs[-1].first, index, region.score, region.why)
        else:
            runs.append(Region(index, index, region.score, region.why))
    return runs


def _joined(picked: Sequence[Region]) -> list[Region]:
    """Joins stretches that touch; the better one gives score and reason."""
    joined: list[Region] = []
    for region in sorted(picked, key=lambda one: one.first):
        if joined and region.first <= joined[-1].last + 1:
            better = max(joined[-1], region, key=lambda one: one.score)
            joined[-1] = Region(joined[-1].first, max(joined[-1].last, region.last), better.score, better.why)
        else:
            joined.append(region)
    return sorted(joined, key=lambda one: (-one.score, one.first))
