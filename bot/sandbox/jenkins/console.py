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
"""The console log of a build: how a Pipeline writes it, and the two ways in which Jenkins gives it out.

Every line has a moment from which it can be seen, so that a build that really took seconds may be watched growing over
the ten minutes it pretends to take, without anything having to run meanwhile.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.sandbox.jenkins.report import StageReport

PROGRESSIVE_LINES = 10_000  # since Jenkins 2.509 one answer holds no more lines than this, whatever it skips
_NOTE = re.compile(rb"\x1b\[8mha:[A-Za-z0-9+/=]*\x1b\[0m")
_NOTE_TEXT = b"\x1b[8mha:////4" + base64.b64encode(b"\x1f\x8b\x08sandbox console note " * 4) + b"\x1b[0m"
_HEADER_SHARE = 0.02  # of the duration, before the first stage begins
_LEAST_SHARE = 0.05  # seconds that even the quickest stage counts for


@dataclass(frozen=True, slots=True)
class Progressive:
    """An answer of ``progressiveText``: body, ``X-Text-Size``, and whether ``X-More-Data`` is sent."""

    body: bytes
    size: int
    more: bool


class ConsoleLog:
    """The raw log with its console notes, and from when on each line is there."""

    def __init__(self) -> None:
        self._raw = bytearray()
        self._moments: list[float] = []
        self._ends: list[int] = []

    def append(self, text: str, moment: float = 0.0, *, note: bool = False) -> None:
        """Add a line.

        Args:
            text: The line without its end.
            moment: Seconds of the sandbox's clock from which on it is visible; never before the line before it.
            note: Put a console note before it, as Pipeline does to its step lines.
        """
        self._raw += (_NOTE_TEXT if note else b"") + text.encode("utf-8", "replace") + b"\n"
        self._moments.append(max(moment, self._moments[-1] if self._moments else moment))
        self._ends.append(len(self._raw))

    def truncate(self, now: float) -> None:
        """Forget the lines that are not visible yet."""
        seen = bisect_right(self._moments, now)
        del self._raw[self._ends[seen - 1] if seen else 0 :]
        del self._moments[seen:]
        del self._ends[seen:]

    def raw(self, now: float = float("inf")) -> bytes:
        """The log file as it is at a moment."""
        seen = bisect_right(self._moments, now)
        return bytes(self._raw[: self._ends[seen - 1]]) if seen else b""

    def clean(self, now: float = float("inf")) -> bytes:
        """``consoleText``: the notes stripped."""
        return _NOTE.sub(b"", self.raw(now))

    def progressive(self, start: int, now: float, *, finished: bool, cut_lines: bool = False) -> Progressive:
        """``progressiveText``: notes left in.

        Args:
            start: Offset into the raw log; one beyond its end begins anew at 0.
            now: The moment.
            finished: Whether the build is.
            cut_lines: Behave like older servers, whose answer may end in mid-line; newer ones send whole lines, at
                most 10,000, and still report the full length as the next start: what lies between is lost.
        """
        raw = self.raw(now)
        if not raw and not finished:
            return Progressive(b"", 0, True)
        rest = raw[start if 0 <= start <= len(raw) else 0 :]
        if cut_lines and not finished:
            rest = rest[: max(1, len(rest) - 7)] if len(rest) > 7 else rest
            offset = (start if 0 <= start <= len(raw) else 0) + len(rest)
            return Progressive(rest, offset, True)
        if not finished:
            rows = rest.split(b"\n")
            if len(rows) - 1 > PROGRESSIVE_LINES:
                rest = b"\n".join(rows[:PROGRESSIVE_LINES]) + b"\n"
        return Progressive(rest, len(raw), not finished)


@dataclass(frozen=True, slots=True)
class Span:
    """When a stage began and ended, in seconds since the build's start."""

    name: str
    begin: float
    end: float


def schedule(stages: Sequence[StageReport], seconds: float) -> list[Span]:
    """Spread stages over a duration, one after the other, in proportion to the time each really took."""
    weights = [max(stage.seconds, _LEAST_SHARE) for stage in stages]
    total = sum(weights) or 1.0
    begin = seconds * _HEADER_SHARE
    room = seconds * (1 - 2 * _HEADER_SHARE)
    spans = []
    for stage, weight in zip(stages, weights, strict=True):
        end = begin + room * weight / total
        spans.append(Span(stage.name, begin, end))
        begin = end
    return spans


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes a Pipeline's log: its own step lines bare and with notes, a step's output behind a time stamp.

    Attributes:
        log: Where to.
        started: Time of day of the build's start.
        moment: The same start in seconds of the sandbox's clock.
        timestamps: Whether the timestamper prefixes the output of steps.
    """

    log: ConsoleLog
    started: datetime
    moment: float = 0.0
    timestamps: bool = True

    def header(self, cause: str, agent: str) -> None:
        """The lines before the first stage."""
        self.log.append(cause, self.moment, note=True)
        self._steps(0.0, "Start of Pipeline", "node")
        self.log.append(f"Running on agent-1 in {agent}", self.moment, note=True)
        self._steps(0.0, "{")

    def stage(self, stage: StageReport, begin: float, end: float) -> None:
        """A stage with its output spread evenly over its time (seconds since the build's start)."""
        self._steps(begin, "stage", f"{{ ({stage.name})", "checkout" if stage.name == "Checkout" else "sh")
        count = max(1, len(stage.lines))
        for index, line in enumerate(stage.lines):
            self.output(line, begin + (end - begin) * (index + 1) / (count + 1))
        self._steps(end, "}", "// stage")

    def output(self, line: str, offset: float) -> None:
        """One line that a step printed."""
        moment = self.started + timedelta(seconds=offset)
        stamp = f"[{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z] " if self.timestamps else ""
        self.log.append(stamp + line, self.moment + offset)

    def footer(self, result: str, offset: float) -> None:
        """The lines after the last stage; the very last one is written while the build is already not ``building``."""
        if result == "FAILURE":
            self.output("currentBuild.result = FAILURE", offset)
        self._steps(offset, "}", "// node", "End of Pipeline")

    def finished(self, result: str, offset: float) -> None:
        """The last line of every build."""
        self.log.append(f"Finished: {result}", self.moment + offset)

    def aborted(self, by: str, offset: float) -> None:
        """The end of a build that was stopped."""
        self.output(f"Aborted by {by}", offset)
        self.output("Sending interrupt signal to process", offset)
        self._steps(offset, "}", "// node", "End of Pipeline")
        self.finished("ABORTED", offset)

    def _steps(self, offset: float, *steps: str) -> None:
        for step in steps:
            self.log.append(f"[Pipeline] {step}", self.moment + offset, note=True)


def render(writer: Writer, stages: Sequence[StageReport], *, seconds: float, cause: str, agent: str) -> None:
    """Write the whole log of a build whose stages are all known."""
    writer.header(cause, agent)
    for stage, span in zip(stages, schedule(stages, seconds), strict=True):
        writer.stage(stage, span.begin, span.end)
    result = "FAILURE" if any(stage.failed for stage in stages) else "SUCCESS"
    writer.footer(result, seconds)
    writer.finished(result, seconds)
