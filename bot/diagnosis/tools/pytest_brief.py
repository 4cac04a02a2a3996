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
"""pytest runs that print no report (``--no-summary``): what the progress lines and the closing line say of failures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bot.diagnosis.model import Line
from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, literal
from bot.gate.finding import Finding

_VERBOSE = re.compile(r"(?P<test>\S{1,400}\.py::\S.{0,400}?) (?P<status>FAILED|ERROR) +\[ *\d{1,3}%\]")
_WORKER = re.compile(r"\[gw\d{1,4}\] \[ *\d{1,3}%\] (?P<status>FAILED|ERROR) (?P<test>\S{1,400}\.py::\S.{0,400})")
_DOTS = re.compile(r"(?P<file>\S{1,400}\.py) (?P<marks>[.sxXpRFE]{1,500}) *\[ *\d{1,3}%\]")
_REPORT = re.compile(r"=+ (?:FAILURES|ERRORS|short test summary info) =+$|(?:FAILED|ERROR) \S{1,400}(?:\.py|::)")
_CLOSING = re.compile(r"(?:=+ )?(?P<counts>\d{1,7} (?:failed|errors?)\b.{0,200}) in \d[\d.]{0,12}s\b")
_MOST = 2_000
_SURE = 0.8
"""Confidence: which test failed is certain, why is not said."""


@dataclass(slots=True)
class _Run:
    """What one process has printed since its run began."""

    reported: bool = False
    failed: list[tuple[str, str, Line]] = field(default_factory=list)


class _Brief:
    """Keeps one run per rank, because the output of ranks is interleaved."""

    def __init__(self) -> None:
        self._runs: dict[int, _Run] = {}

    def hit(self, window: Window) -> Iterable[Finding]:
        line, text = window.line, window.line.text.rstrip()
        run = self._runs.setdefault(line.rank, _Run())
        if match := _VERBOSE.match(text) or _WORKER.match(text):
            run.failed.append((match["test"], match["status"], line))
        elif match := _DOTS.match(text):
            marks = Counter(match["marks"])
            words = [f"{marks[mark]} {what}" for mark, what in (("F", "failed"), ("E", "error")) if marks[mark]]
            if words:
                run.failed.append((match["file"], ", ".join(words), line))
        elif _REPORT.match(text):
            run.reported = True
        elif match := _CLOSING.match(text):
            yield from self._told(run, line, match["counts"])
            self._runs[line.rank] = _Run()
        del run.failed[_MOST:]

    def _told(self, run: _Run, closing: Line, counts: str) -> Iterator[Finding]:
        if run.reported:
            return
        for name, status, line in run.failed:
            path, double_colon, _ = name.partition("::")
            rule = "fixture" if status == "ERROR" else "failed"
            test = repo_path(name) if double_colon else ""
            yield _finding(rule, f"{status} (the log holds no report)", line, file=repo_path(path), function=test)
        if not run.failed:
            yield _finding("failed", f"{counts} (the log holds no report)", closing)

    def close(self) -> Iterable[Finding]:
        return ()


def _finding(rule: str, message: str, line: Line, *, file: str = "", function: str = "") -> Finding:
    return Finding(
        tool="pytest", rule=rule, file=file, function=function, message=message, confidence=_SURE, **at(line)
    )


TOOL = Tool(
    "pytest_brief",
    (
        r"(?:FAILED|ERROR) +\[ *\d+%\]",
        r"%\] (?:FAILED|ERROR) ",
        r"\.py [.sxXpR]*[FE][.sxXpRFE]* *\[",
        r"FAILED [^ ]+(?:::|\.py)",
        r"ERROR [^ ]+(?:::|\.py)",
        *literal("= FAILURES =", "= ERRORS =", "= short test summary info ="),
        r"\d (?:failed|error)[^\n]* in \d",
    ),
    _Brief,
    stages=("UT", "ut", "ST", "st", "Smoke_CPU", "Smoke_Ascend", "Smoke_GPU"),
)
