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
"""Which lines are unlike the rest of the log: a failure differs from the normal course that surrounds it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from bot.diagnosis.templates import template

APART = 12
"""Lines that two places of the same form must be apart to count as two."""
_LINES = 10_000
_WORDS = re.compile(r"[\w ]+")
_DIGITS = re.compile(r"\d+")
_PLACES = 4
_DEEPEST = 12
_BLANKS = 2


def spread(lines: Iterable[tuple[int, str]]) -> Counter[str]:
    """How many separate places of the log each key is seen at; neighbours count as one place.

    What is printed again and again through a log is part of its normal course.
    """
    places: Counter[str] = Counter()
    latest: dict[str, int] = {}
    for index, key in lines:
        if index - latest.get(key, -100) > APART:
            places[key] += 1
        latest[key] = index
    return places


def forms(text: str) -> tuple[str, str]:
    """Two coarse forms of a line: its first word, and its punctuation with all words masked, both with the indent."""
    body = text.strip()
    indent = min(len(text) - len(text.lstrip()), _DEEPEST)
    first = body.split(None, 1)[0][:40] if body else ""
    return f"{indent} {_DIGITS.sub('0', first)}", f"{indent}|{_WORDS.sub('a', body[:120])[:40]}"


class Rarity:
    """Counts templates and forms of the last lines of a log.

    Args:
        texts: Cleaned lines; the last 10,000 are looked at.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._start = max(len(texts) - _LINES, 0)
        self._texts = texts
        recent = texts[self._start :]
        self._keys = [template(text) for text in recent]
        self._count = Counter(self._keys)
        both = [forms(text) for text in recent]
        first = spread((index, one) for index, (one, _) in enumerate(both))
        shape = spread((index, one) for index, (_, one) in enumerate(both))
        self._alien = [
            bool(key) and first[one] < _PLACES and shape[other] < _PLACES
            for key, (one, other) in zip(self._keys, both, strict=True)
        ]
        self.quiet = 1 - sum(self._alien) / max(sum(map(bool, self._keys)), 1)
        """Part of the lines that are not alien: where all lines are alien, being so says nothing."""

    def key(self, index: int) -> str:
        """The template of the line at an index."""
        place = index - self._start
        return self._keys[place] if place >= 0 else template(self._texts[index])

    def share(self, first: int, last: int) -> float:
        """Part of the non-empty lines from ``first`` to ``last`` (indexes) whose template occurs once or twice."""
        keys = [key for key in self._keys[max(first - self._start, 0) : max(last + 1 - self._start, 0)] if key]
        return sum(self._count[key] <= 2 for key in keys) / len(keys) if keys else 0.5

    def unlike(self, first: int, last: int) -> float:
        """Part of the non-empty lines from ``first`` to ``last`` that are alien, times how few lines of the log are."""
        places = range(max(first - self._start, 0), min(last + 1 - self._start, len(self._keys)))
        lines = [place for place in places if self._keys[place]]
        return sum(self._alien[place] for place in lines) / len(lines) * self.quiet if lines else 0.0

    def alien(self, index: int) -> bool:
        """Whether the line at an index has a form that hardly any other place of the log has."""
        place = index - self._start
        return 0 <= place < len(self._alien) and self._alien[place]

    def widened(self, first: int, last: int, before: int, after: int) -> tuple[int, int]:
        """Widens a range by at most so many lines over what belongs to it: alien lines, and blank ones between them."""
        return self._reach(first, -1, before), self._reach(last, 1, after)

    def _reach(self, edge: int, step: int, most: int) -> int:
        reached = index = edge
        while abs(index - edge) < most and 0 <= index + step < len(self._texts):
            index += step
            if self.alien(index):
                reached = index
            elif self._texts[index].strip() or abs(index - reached) > _BLANKS:
                break
        return reached
