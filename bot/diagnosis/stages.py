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
"""Which gate stage a line of the log belongs to, and which stages failed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from bot.diagnosis.model import Line
from bot.gate.finding import FailureClass, Finding

TRIGGERS = (
    "Execute project of ",
    r"\[Pipeline\] \{ \(",
    r"\[Pipeline\] // stage",
    r"\] [A-Za-z_0-9]{1,30} error number: ",
    r"is failed, the actual value is ",
    r"\[FAILURE\] comment issues found",
    r"Failed in branch ",
)
_FAILED = re.compile(r"Execute project of (?P<stage>[\w./-]{1,80}) is failed")
_FAILED_BRANCH = re.compile(r"Failed in branch (?P<stage>[\w./-]{1,80})\s*$")
_ENTER = re.compile(r"\[Pipeline\] \{ \((?:Branch: )?(?P<stage>[^)]{1,120})\)")
_LEAVE = re.compile(r"\[Pipeline\] // stage")
# [ERROR] Pylint error number: 3   /   [ERROR] Check DT design is failed, the actual value is 1.
_COUNT = re.compile(
    r"\[ERROR\] (?:(?P<tool>\w{1,30}) error number: (?P<number>\d{1,9})"
    r"|(?P<check>[\w ]{1,60}?) is failed, the actual value is (?P<value>\d{1,9}))"
)
# What the wrapper calls a tool, beside the plain name.
_ALIASES = {"filterpylint": "pylint", "checkdtdesign": "dtdesign", "dtdesign": "dtdesign"}


@dataclass(slots=True)
class StageTracker:
    """Collects stage events while a log streams by; answers once the log is read."""

    failed: dict[str, int] = field(default_factory=dict)
    counts: dict[str, Line] = field(default_factory=dict)
    _open: list[tuple[str, int]] = field(default_factory=list)
    _spans: list[tuple[int, int, str]] = field(default_factory=list)

    def see(self, line: Line) -> None:
        """Takes a line that holds one of ``TRIGGERS``."""
        text = line.text
        if match := (_FAILED.search(text) or _FAILED_BRANCH.search(text)):
            self.failed.setdefault(match["stage"], line.number)
        elif match := _ENTER.search(text):
            if len(self._open) < 200:
                self._open.append((match["stage"], line.number))
        elif _LEAVE.search(text):
            if self._open:
                stage, first = self._open.pop()
                self._spans.append((first, line.number, stage))
        elif (match := _COUNT.search(text)) and int(match["number"] or match["value"] or 0) > 0:
            name = (match["tool"] or match["check"]).lower().replace(" ", "").replace("_", "")
            self.counts.setdefault(_ALIASES.get(name, name), line)

    def finish(self, last_line: int) -> None:
        """Closes the stages that the log left open."""
        while self._open:
            stage, first = self._open.pop()
            self._spans.append((first, last_line, stage))
        self._spans.sort(key=lambda span: span[1] - span[0])

    def stage_of(self, finding: Finding, homes: tuple[str, ...], owned: Mapping[str, str]) -> str:
        """The stage of a finding.

        Args:
            finding: The finding; a stage that it names already is kept.
            homes: Stages that run its tool, the usual one first.
            owned: Every stage that belongs to one tool alone, by name, with that tool.

        Returns:
            The name, or an empty text when the log gives no hint.
        """
        if finding.stage:
            return finding.stage
        at = finding.last_line
        around = next((stage for first, last, stage in self._spans if first <= at <= last), "")
        if around and owned.get(around, finding.tool) == finding.tool:
            return around
        for home in homes:
            if home in self.failed:
                return home
        later = [
            (number, stage)
            for stage, number in self.failed.items()
            if number >= at and owned.get(stage, finding.tool) == finding.tool
        ]
        if later:
            return min(later)[1]
        # a tool that has a check stage of its own runs nowhere else
        return homes[0] if homes and homes[0].startswith("Check_") else ""


def unexplained(tracker: StageTracker, findings: Iterable[Finding], tool_of: Callable[[str], str]) -> list[Finding]:
    """One finding for each failed stage about which no tool said anything.

    Args:
        tracker: The finished tracker.
        findings: Findings with their stages.
        tool_of: Gives the tool of a stage, or an empty text.

    Returns:
        Findings of low confidence, so that a failed stage is never passed over in silence.
    """
    told = {finding.stage for finding in findings}
    silent = []
    for stage, number in tracker.failed.items():
        if stage in told:
            continue
        tool = tool_of(stage)
        count = tracker.counts.get(tool.replace("_", ""))
        process = stage == "Check_Scanoss"
        silent.append(
            Finding(
                tool=tool or "gate",
                rule="stage-failed",
                stage=stage,
                message=f"Execute project of {stage} is failed" + (f"; {count.text.strip()}" if count else ""),
                failure_class=FailureClass.PROCESS if process else FailureClass.UNKNOWN,
                first_line=count.number if count and count.number < number else number,
                last_line=number,
                confidence=0.3,
            )
        )
    return silent


def with_stage(finding: Finding, stage: str) -> Finding:
    """The finding with its stage set."""
    return finding if finding.stage == stage else replace(finding, stage=stage)
