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

from bot.diagnosis.general.rarity import Rarity
from bot.diagnosis.general.regions import Region

BUDGET = 38
"""Lines to show when something recognised explains the failure."""
UNDECIDED_BUDGET = 80
"""Lines to show when two places explain it about equally well."""
WIDE_BUDGET = 120
"""Lines to show when nothing does: then the reader gets more to look at."""
_RELEVANT, _NEARLY = 0.2, 0.75
# a second explanation so many lines away that is nearly as good: show more
_RIVAL, _TWIN, _FAR = 0.88, 0.75, 15
_GROW, _GROW_BACK = 12, 6
_SURE_TAIL, _TAIL = 4, 20
_PADDING = (2, 3)
_LEAST = 4
# so few lines between two stretches are not worth leaving out
_SLIT = 2
_OVERRUN = 8
"""Lines beyond the budget for which a report, or the next of its kind right below it, is not cut."""
SURE = 5.0
"""Score from which on a region counts as an explanation."""


def choose(regions: Sequence[Region], tail: Region, texts: Sequence[str], rare: Rarity, spent: int = 0) -> list[Region]:
    """Picks regions, best first, until the budget is spent.

    Args:
        regions: Candidates, overlapping or not.
        tail: The end of the failed step; always shown in part, in full when nothing else is sure.
        texts: The log (indexes run from 0).
        rare: Which of its lines are unlike the rest.
        spent: Lines that the reader is shown elsewhere.

    Returns:
        Disjoint regions, best first.
    """
    ordered = sorted(regions, key=lambda region: (-region.score, region.first))
    best = ordered[0].score if ordered else 0.0
    length = _SURE_TAIL if best >= SURE else _TAIL
    chosen = _Chosen(
        texts, range(max(tail.last - length + 1, tail.first), tail.last + 1), _budget(ordered, best) - spent
    )
    near = [region for region in ordered if region.score >= _NEARLY * best]
    for region in near:
        chosen.take(region, overrun=_OVERRUN)
    chosen.grow(rare)
    reasons = {region.why for region in near}
    for region in ordered[len(near) :]:
        if region.score < _RELEVANT * best:
            break
        chosen.take(region, overrun=_OVERRUN if region.why in reasons else 0)
    return chosen.finish(Region(tail.first, tail.last, max(0.2 * best, 0.5), tail.why))


class _Chosen:
    """What was chosen so far, within the budget; ``reserve`` are lines that are shown in any case."""

    def __init__(self, texts: Sequence[str], reserve: range, budget: int) -> None:
        self._texts = texts
        self._reserve = reserve
        self._budget = budget
        self._shown: set[int] = set()
        self._picked: list[Region] = []

    def _room(self) -> int:
        return self._budget - len(self._shown) - sum(index not in self._shown for index in self._reserve)

    def take(self, region: Region, overrun: int = 0) -> None:
        """Adds a region with some lines around it, without them or in part where there is no room for more.

        Args:
            region: The region.
            overrun: Lines that may be shown beyond the budget so that what goes on from shown lines is not cut.
        """
        room = self._room()
        if room + overrun <= 0 or all(index in self._shown for index in range(region.first, region.last + 1)):
            return
        before, after = (1, 1) if self._picked else _PADDING
        wide = range(max(region.first - before, 0), min(region.last + after, len(self._texts) - 1) + 1)
        new = [index for index in wide if index not in self._shown]
        if len(new) > room:
            own = [index for index in new if region.first <= index <= region.last]
            goes_on = bool(own) and any(index in self._shown for index in range(own[0] - 1 - _SLIT, own[0]))
            if goes_on and len(own) - room <= overrun:
                new = own
            else:
                new = own[:room] if room >= _LEAST or not self._picked else []
        if new:
            self._add(new, region)

    def _add(self, indexes: Sequence[int], region: Region) -> None:
        self._shown.update(indexes)
        self._picked.extend(_runs(indexes, region))

    def grow(self, rare: Rarity) -> None:
        """Adds the lines around the best regions that are as unlike the rest of the log as a failure is."""
        for place, region in enumerate(tuple(self._picked)):
            for start, step, most in ((region.last + 1, 1, _GROW), (region.first - 1, -1, _GROW_BACK)):
                new: list[int] = []
                index = start
                # the best report is shown whole, if need be beyond the budget
                room = max(self._room(), 0 if place else _GROW)
                while len(new) < min(most, room) and 0 <= index < len(self._texts):
                    if self._texts[index].strip() and not rare.alien(index):
                        break
                    new.append(index)
                    index += step
                while new and not self._texts[new[-1]].strip():
                    new.pop()
                self._add(sorted(one for one in new if one not in self._shown), region)

    def finish(self, tail: Region) -> list[Region]:
        """Adds the reserve."""
        self._add([index for index in self._reserve if index not in self._shown and index < len(self._texts)], tail)
        return _joined(self._picked)


def _budget(ordered: Sequence[Region], best: float) -> int:
    """Lines to show: few when one place explains the failure, more when several do, or none."""
    if best < SURE:
        return WIDE_BUDGET
    rival = any(
        region.score >= (_RIVAL if region.why != ordered[0].why else _TWIN) * best and _apart(region, ordered[0])
        for region in ordered[1:40]
    )
    length = ordered[0].last - ordered[0].first + 1
    return max(UNDECIDED_BUDGET if rival else BUDGET, min(length + _SURE_TAIL + 3, WIDE_BUDGET))


def _apart(one: Region, other: Region) -> bool:
    return one.first > other.last + _FAR or other.first > one.last + _FAR


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
    """Joins stretches that touch or nearly do; the better one gives score and reason."""
    joined: list[Region] = []
    for region in sorted(picked, key=lambda one: one.first):
        if joined and region.first <= joined[-1].last + 1 + _SLIT:
            better = max(joined[-1], region, key=lambda one: one.score)
            joined[-1] = Region(joined[-1].first, max(joined[-1].last, region.last), better.score, better.why)
        else:
            joined.append(region)
    return sorted(joined, key=lambda one: (-one.score, one.first))
