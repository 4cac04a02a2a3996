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
"""Candidate regions: blocks that detectors recognise, clusters of telling lines, and the end of the failed step."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bot.diagnosis.general.detector import Detector, all_detectors
from bot.diagnosis.general.rarity import Rarity, spread
from bot.diagnosis.general.steps import Prior
from bot.diagnosis.general.words import TRIGGER, WRAPPER, line_score
from bot.diagnosis.scan import Scanner, build_scanner
from bot.diagnosis.templates import GreenTemplates

MAX_HITS = 5_000
"""Lines that are looked at closely, the last ones of the log."""
_KNOWN = 4_096
_LOOK = 1_000
"""Characters of a line that patterns see."""
_CLUSTER_GAP, _LONGEST_CLUSTER = 3, 20
_BEFORE, _AFTER = 8, 16
_MOST_POINTS = 6.5
_GREEN = 0.02
"""Factor for what green builds print too: shown only where there is nothing else to show."""
_REPEATED = 0.8
_FAINT = 0.4
_MOST_BLOCKS = 200
"""Blocks of one form; each tells less than the one before it."""
_WRAPPED = 3.0
"""Most points of a report that only says that a command failed."""
_HEAD = 3
"""Lines at the head of a report that say what it is about."""
_MARK = re.compile(r"travis_(?:time|fold):|section_(?:start|end):|##\[endgroup\]")
_PASSED_ON = 16
"""Most lines in which callers pass a failure on after the last words of what failed."""


@dataclass(frozen=True, slots=True)
class Region:
    """Lines ``first`` to ``last`` (indexes, inclusive) with their score."""

    first: int
    last: int
    score: float
    why: str


@lru_cache(maxsize=1)
def _filters() -> tuple[re.Pattern[str], tuple[int, ...], tuple[int, ...]]:
    """One pattern that matches at the start of every line that an anchored detector may want, and which those are.

    Trying one alternation costs a hundredth of trying two hundred patterns, and most lines interest nobody.
    """
    branches: list[str] = []
    anchored: list[int] = []
    free: list[int] = []
    for number, one in enumerate(all_detectors()):
        parts = alternatives(one.start.pattern)
        if all(part.startswith("^") for part in parts):
            anchored.append(number)
            branches.extend(part[1:] for part in parts)
        else:
            free.append(number)
    return re.compile("|".join(f"(?:{branch})" for branch in branches)), tuple(anchored), tuple(free)


def alternatives(pattern: str) -> list[str]:
    """Splits a regular expression at its top-level bars."""
    parts, depth, start, index, in_class = [], 0, 0, 0, False
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            index += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
            index += pattern[index + 1 : index + 2] in ("]", "^")
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            parts.append(pattern[start:index])
            start = index + 1
        index += 1
    return [*parts, pattern[start:]]


@lru_cache(maxsize=1)
def _word_scanner() -> Scanner:
    return build_scanner((TRIGGER,))


def find_hits(texts: Sequence[str]) -> tuple[dict[int, list[int]], list[int]]:
    """Looks for detector starts and for lines with error words.

    Args:
        texts: Cleaned lines.

    Returns:
        Indexes of detectors by line index, and the line indexes that hold an error word, ascending.
    """
    spoken = _spoken(texts)
    maybe, anchored, free = _filters()
    detectors = all_detectors()
    hopeful: list[int] = []
    known: dict[str, bool] = {}
    for index, text in enumerate(texts):
        hope = known.get(text)
        if hope is None:
            hope = maybe.match(text, 0, _LOOK) is not None
            if len(known) < _KNOWN:
                known[text] = hope
        if hope:
            hopeful.append(index)
    starts = _matching(texts, hopeful[-MAX_HITS:], [(number, detectors[number].start.match) for number in anchored])
    # a detector that may match anywhere in a line only looks at lines that hold an error word
    for index, found in _matching(
        texts, spoken[-MAX_HITS:], [(number, detectors[number].start.search) for number in free]
    ).items():
        starts[index] = sorted([*starts.get(index, ()), *found])
    return starts, spoken


def _matching(
    texts: Sequence[str], indexes: Iterable[int], patterns: Sequence[tuple[int, Callable[[str, int, int], object]]]
) -> dict[int, list[int]]:
    """Which patterns match which lines; a line that was seen before is not tried again."""
    known: dict[str, list[int]] = {}
    matching: dict[int, list[int]] = {}
    for index in indexes:
        text = texts[index][:_LOOK]
        if text not in known:
            known[text] = [number for number, match in patterns if match(text, 0, _LOOK)]
        if known[text]:
            matching[index] = known[text]
    return matching


def _spoken(texts: Sequence[str]) -> list[int]:
    data = "\n".join(texts).encode("utf-8", "replace")
    found: list[int] = []
    line, position = 0, 0
    for at, _ in _word_scanner()(data):
        line += data.count(b"\n", position, at)
        position = at
        if not found or found[-1] != line:
            found.append(line)
    return found


def block_end(texts: Sequence[str], start: int, detector: Detector) -> int:
    """Index of the last line of a block that begins at ``start``."""
    blank = 0
    last = start
    for index in range(start + 1, min(len(texts), start + detector.most)):
        text = texts[index]
        if not text.strip():
            blank += 1
            if detector.blanks and blank >= detector.blanks and detector.follow is None:
                break
            if detector.follow is not None and (not detector.follow.search(text) or blank >= max(detector.blanks, 2)):
                break
            continue
        blank = 0
        if detector.until is not None and detector.until.search(text[:500]):
            break
        if detector.follow is not None and not detector.follow.search(text[:500]):
            break
        last = index
        if detector.last is not None and detector.last.search(text[:500]):
            break
    return last


def detected(
    texts: Sequence[str], starts: dict[int, list[int]], prior: Prior, rare: Rarity, green: GreenTemplates | None
) -> list[Region]:
    """Regions of all detectors; a start inside a block of the same detector does not begin another one."""
    regions: list[Region] = []
    detectors = all_detectors()
    open_until: dict[int, int] = {}
    seen: Counter[int] = Counter()
    repeats = spread((index, rare.key(index)) for index in sorted(starts))
    for index in sorted(starts)[-MAX_HITS:]:
        for number in starts[index]:
            if index <= open_until.get(number, -1) or seen[number] >= _MOST_BLOCKS:
                continue
            one = detectors[number]
            last = block_end(texts, index, one)
            if last - index + 1 < one.least:
                continue
            open_until[number] = last
            first = _first_line(texts, index, one.before)
            score = one.weight * max(prior.at(index), prior.at(last)) / (1 + 0.12 * seen[number])
            score /= repeats[rare.key(index)] ** _REPEATED
            score *= 0.75 + 0.15 * rare.share(index, last) + 0.2 * rare.unlike(index, last)
            if any(map(WRAPPER.search, texts[index : min(index + _HEAD, last + 1)])):
                score = min(score, _WRAPPED)
            seen[number] += 1
            if green is not None and texts[index] in green:
                score *= _GREEN
            regions.append(Region(first, last, score, one.name))
    return regions


def _first_line(texts: Sequence[str], index: int, before: int) -> int:
    first = index
    while first > 0 and index - first < before and texts[first - 1].strip():
        first -= 1
    return first


def clusters(
    texts: Sequence[str], spoken: Sequence[int], prior: Prior, rare: Rarity, green: GreenTemplates | None
) -> list[Region]:
    """Groups telling lines that stand close together."""
    lines = spoken[-MAX_HITS:]
    frequency = spread((index, rare.key(index)) for index in lines)
    scored: list[tuple[int, float]] = []
    for index in lines:
        points = line_score(texts[index])
        if points <= 0:
            continue
        points /= frequency[rare.key(index)] ** _REPEATED
        if green is not None and texts[index] in green:
            points *= _GREEN
        if points >= _FAINT:
            scored.append((index, points))
    regions = []
    for group in _grouped(scored):
        best = sorted((points for _, points in group), reverse=True)
        strength = min(best[0] + 0.25 * sum(best[1:6]), _MOST_POINTS)
        first, last = _widened(texts, group[0][0], group[-1][0], rare)
        # no more than a recognised report, however many error words stand together
        near = (group[0][0] - 1, group[-1][0] + 3)
        strength = min(strength * (0.5 + 0.4 * rare.share(*near) + 0.5 * rare.unlike(*near)), _MOST_POINTS)
        regions.append(Region(first, last, strength * prior.at(group[-1][0]), "error-words"))
    return regions


def _grouped(scored: Sequence[tuple[int, float]]) -> list[list[tuple[int, float]]]:
    """Puts telling lines together that stand close."""
    groups: list[list[tuple[int, float]]] = []
    for item in scored:
        if groups and item[0] - groups[-1][-1][0] <= _CLUSTER_GAP and item[0] - groups[-1][0][0] < _LONGEST_CLUSTER:
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _widened(texts: Sequence[str], first: int, last: int, rare: Rarity) -> tuple[int, int]:
    """Widens a range by the lines around it that are as unlike the rest of the log, and by one at its end."""
    start, end = rare.widened(first, last, _BEFORE, _AFTER)
    return start, max(end, min(last + 1, len(texts) - 1))


def step_end(texts: Sequence[str], prior: Prior, size: int) -> Region:
    """The last lines of the failed step, without those that only pass on that a command failed."""
    end = last = min(prior.main.end, len(texts)) - 1
    while end - last < _PASSED_ON and last > prior.main.start:
        text = texts[last][:_LOOK]
        if text.strip() and last not in prior.reports and not WRAPPER.search(text) and not _MARK.match(text):
            break
        last -= 1
    first = max(last - size + 1, prior.main.start, 0)
    return Region(first, max(last, first), 0.0, "end-of-failed-step")
