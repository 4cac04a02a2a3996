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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from bot.diagnosis.general.detector import Detector, all_detectors
from bot.diagnosis.general.steps import Prior
from bot.diagnosis.general.words import TRIGGER, line_score
from bot.diagnosis.templates import GreenTemplates, template

MAX_HITS = 20_000
_CLUSTER_GAP = 3
_BEFORE, _AFTER = 4, 6
_APART = 12
_MOST_POINTS = 6.5


@dataclass(frozen=True, slots=True)
class Region:
    """Lines ``first`` to ``last`` (indexes, inclusive) with their score."""

    first: int
    last: int
    score: float
    why: str


@lru_cache(maxsize=1)
def _line_scanner() -> object:
    """A Hyperscan database of all start patterns and the error words, or None where Hyperscan is missing."""
    try:
        import hyperscan
    except ImportError:
        return None
    patterns = [_for_scan(detector.start.pattern) for detector in all_detectors()] + [TRIGGER]
    database = hyperscan.Database()
    flags = hyperscan.HS_FLAG_MULTILINE | hyperscan.HS_FLAG_UTF8 | hyperscan.HS_FLAG_ALLOWEMPTY
    database.compile(
        expressions=[pattern.encode() for pattern in patterns],
        ids=list(range(len(patterns))),
        elements=len(patterns),
        flags=[flags] * len(patterns),
    )
    return database


def _for_scan(pattern: str) -> str:
    """A wider pattern that Hyperscan compiles fast: no look-ahead, no counted repeats of wide classes."""
    pattern = re.sub(r"\(\?![^()]*(?:\([^()]*\)[^()]*)*\)", "", pattern)
    pattern = re.sub(r"\{0,\d{1,3}\}", "*", pattern)
    return re.sub(r"\{1,\d{2,3}\}", "+", pattern).replace(r"\s", r"[ \t]")


def find_hits(texts: Sequence[str]) -> tuple[dict[int, list[int]], list[int]]:
    """Looks for detector starts and for lines with error words.

    Args:
        texts: Cleaned lines.

    Returns:
        Indexes of detectors by line index, and the line indexes that hold an error word, ascending.
    """
    database = _line_scanner()
    detectors = all_detectors()
    if database is None:
        starts = {
            index: found
            for index, text in enumerate(texts)
            if (found := [number for number, one in enumerate(all_detectors()) if one.start.search(text[:1000])])
        }
        words = re.compile(TRIGGER)
        return starts, [index for index, text in enumerate(texts) if words.search(text)]
    data = "\n".join(text.replace("\n", " ") for text in texts).encode("utf-8", "replace")
    ends: list[tuple[int, int]] = []

    def on_match(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
        ends.append((end, number))

    database.scan(data, match_event_handler=on_match)  # type: ignore[attr-defined]
    ends.sort()
    found_starts: dict[int, set[int]] = {}
    spoken: set[int] = set()
    line, position = 0, 0
    for end, number in ends:
        target = max(end - 1, 0)
        if target > position:
            line += data.count(b"\n", position, target)
            position = target
        if number == len(all_detectors()):
            spoken.add(line)
        elif line < len(texts):
            found_starts.setdefault(line, set()).add(number)
    verified = {
        index: kept
        for index, numbers in found_starts.items()
        if (kept := sorted(number for number in numbers if detectors[number].start.search(texts[index][:1000])))
    }
    return verified, sorted(spoken)


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
    texts: Sequence[str], starts: dict[int, list[int]], prior: Prior, green: GreenTemplates | None
) -> list[Region]:
    """Regions of all detectors; a start inside a block of the same detector does not begin another one."""
    regions: list[Region] = []
    detectors = all_detectors()
    open_until: dict[int, int] = {}
    seen: Counter[int] = Counter()
    repeats = spread([(index, texts[index]) for index in sorted(starts)])
    for index in sorted(starts)[-MAX_HITS:]:
        for number in starts[index]:
            if index <= open_until.get(number, -1):
                continue
            one = detectors[number]
            last = block_end(texts, index, one)
            open_until[number] = last
            first = _first_line(texts, index, one.before)
            score = one.weight * max(prior.at(index), prior.at(last)) / (1 + 0.12 * seen[number])
            score /= repeats[template(texts[index])] ** 0.5
            seen[number] += 1
            if green is not None and texts[index] in green:
                score *= 0.1
            regions.append(Region(first, last, score, one.name))
    return regions


def spread(lines: Sequence[tuple[int, str]]) -> Counter[str]:
    """How many separate places of the log each template is seen at; neighbours count as one place.

    What is printed again and again through a log is part of its normal course.
    """
    places: Counter[str] = Counter()
    latest: dict[str, int] = {}
    for index, text in lines:
        key = template(text)
        if index - latest.get(key, -100) > _APART:
            places[key] += 1
        latest[key] = index
    return places


def _first_line(texts: Sequence[str], index: int, before: int) -> int:
    first = index
    while first > 0 and index - first < before and texts[first - 1].strip():
        first -= 1
    return first


def clusters(texts: Sequence[str], spoken: Sequence[int], prior: Prior, green: GreenTemplates | None) -> list[Region]:
    """Groups telling lines that stand close together."""
    lines = spoken[-MAX_HITS:]
    frequency = spread([(index, texts[index]) for index in lines])
    scored: list[tuple[int, float]] = []
    for index in lines:
        points = line_score(texts[index])
        if points <= 0:
            continue
        points /= 1 + 0.5 * (frequency[template(texts[index])] - 1) ** 0.5
        if green is not None and texts[index] in green:
            points *= 0.1
        scored.append((index, points))
    groups: list[list[tuple[int, float]]] = []
    for item in scored:
        if groups and item[0] - groups[-1][-1][0] <= _CLUSTER_GAP and item[0] - groups[-1][0][0] < 20:
            groups[-1].append(item)
        else:
            groups.append([item])
    regions = []
    for group in groups:
        best = sorted((points for _, points in group), reverse=True)
        strength = min(best[0] + 0.25 * sum(best[1:6]), _MOST_POINTS)
        first = max(group[0][0] - _BEFORE, 0)
        last = min(group[-1][0] + _AFTER, len(texts) - 1)
        regions.append(Region(first, last, strength * prior.at(group[-1][0]), "error-words"))
    return regions


def step_end(texts: Sequence[str], prior: Prior, size: int) -> Region:
    """The last lines of the failed step."""
    last = min(prior.main.end, len(texts)) - 1
    first = max(last - size + 1, prior.main.start, 0)
    return Region(first, max(last, first), 0.0, "end-of-failed-step")
