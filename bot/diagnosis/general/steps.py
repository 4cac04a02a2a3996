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
"""Which part of the log is the step that failed: CI systems say where a command began and how it ended."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from bot.diagnosis.templates import template

_ENDS = re.compile(
    r'The command "(?P<command>.*)" (?:failed and )?exited with (?P<code>\d{1,5})'
    r'|.{0,300}" (?:failed and )?exited with (?P<late>\d{1,5})(?: during .{0,40})?\.$'
    r"|(?:##\[error\]|Error: )(?:Process completed|The process .{1,200} failed"
    r"|.{0,40} exited) with (?:exit )?code '?(?P<action>\d{1,5})"
    r"|ERROR: Job failed"
    r"|Build step '.{1,200}' marked build as failure"
    r"|ERROR: script returned exit code (?P<script>\d{1,5})"
    r"|Execute project of \S{1,100} is failed"
    r"|(?:Command exited with code|Exited with code(?: exit status)?"
    r"|command terminated with exit code) (?P<other>\d{1,5})"
    r"|Done\. Your build exited with (?P<done>\d{1,5})"
    r"|No output has been received in the last|The job exceeded the maximum"
)
_AGAIN = re.compile(r'The command ".{1,2000}" failed\. Retrying, \d{1,3} of \d')
_FLAT = 80
"""Lines before the end of the failed step within which no place is more likely than another."""
_PASSED, _OTHER = 0.2, 0.4
_NEAR = 150.0
"""Lines in which the prior of a line falls to 1/e with its distance from the end of the failed step."""


_LEAVES = ("section_start:", "Running after", "Uploading artifacts")
_AFTERWARDS = re.compile(
    r"section_start:\d{1,12}:(?:after_script|upload_artifacts|archive_cache|cleanup)"
    r"|Running after[_ ]script|Uploading artifacts for failed"
)
"""Lines with which a runner leaves the failed script for what it does afterwards in the same step."""


@dataclass(frozen=True, slots=True)
class Step:
    """A stretch of lines with the outcome that the log gives for it.

    Attributes:
        start: Index of its first line.
        end: Index behind its last line.
        failed: Whether it failed.
        report: Index of the line that only reports the outcome; -1 when there is none, or when it says why.
    """

    start: int
    end: int
    failed: bool
    report: int = -1


def last_attempts(texts: Sequence[str]) -> list[str]:
    """The lines without what an attempt printed and a later one printed again: the last attempt is what counts.

    Left in, a failure that every attempt prints would look like the normal course of the log. What is not printed
    again stays, for the command that is tried again may be one of many in a script that failed before.
    """
    kept = list(texts)
    latest: dict[str, int] = {}
    begin = 0
    for index, text in enumerate(texts):
        if text.startswith("$ "):
            begin = index + 1
        elif text.startswith('The command "') and _AGAIN.match(text):
            latest = latest or {template(one): place for place, one in enumerate(texts)}
            for place in range(begin, index + 1):
                if latest[template(texts[place])] > index:
                    kept[place] = ""
            kept[index] = ""
            begin = index + 1
    return kept


def find_steps(texts: Sequence[str], spoken: Sequence[int]) -> list[Step]:
    """Finds the commands whose end the log reports; lines between are in no step.

    Args:
        texts: Cleaned lines.
        spoken: Indexes of the lines that hold a word of ``words.TRIGGER``; every reported end is one of them.

    Returns:
        Steps in order. When the log reports no end at all, one failed step over the whole log.
    """
    steps: list[Step] = []
    echoes = {text[2:].strip(): index for index, text in enumerate(texts) if text.startswith("$ ")}
    groups = [index for index, text in enumerate(texts) if text.startswith("##[group]Run ")]
    leaves = [index for index, text in enumerate(texts) if text.startswith(_LEAVES) and _AFTERWARDS.match(text)]
    begin = 0
    for index in spoken:
        match = _ENDS.match(texts[index])
        if match is None:
            continue
        codes = [value for key, value in match.groupdict().items() if key != "command" and value is not None]
        failed = not codes or int(codes[0]) != 0
        if match["done"] is not None and any(step.failed for step in steps):
            break
        start = max(begin, echoes.get((match["command"] or "").strip(), begin))
        place = bisect_left(groups, index)
        start = max(groups[place - 1], begin) if place else start
        says_why = match[0].startswith(("No output", "The job exceeded"))
        end = index + 1
        if match[0] == "ERROR: Job failed":
            end = next((leave for leave in leaves if begin < leave < index), end)
        steps.append(Step(min(start, end - 1), end, failed, -1 if says_why else index))
        begin = index + 1
    if not any(step.failed for step in steps):
        end = len(texts)
        while end > begin and not texts[end - 1].strip():
            end -= 1
        steps.append(Step(begin, end, True))
    return steps


class Prior:
    """How likely the telling lines stand at a place, before reading them."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = list(steps)
        self._ends = [step.end for step in self._steps]
        self.main = next(step for step in self._steps if step.failed)
        self._last_failure = max(step.end for step in self._steps if step.failed)
        self.reports = frozenset(step.report for step in self._steps)
        """Indexes of lines that only report how a step ended."""

    def at(self, index: int) -> float:
        """A factor between 0.2 and 1 for the line with this index."""
        place = bisect_right(self._ends, index)
        step = self._steps[place] if place < len(self._steps) else None
        if step is not None and step.start <= index:
            if not step.failed:
                return _OTHER if index >= self._last_failure else _PASSED
            near = 0.65 + 0.35 * math.exp(-max(step.end - 1 - index - _FLAT, 0) / _NEAR)
            return near * (1.0 if step is self.main else 0.85)
        # before any step, between steps, or behind the last one, where some projects print the logs of what failed
        return _OTHER
