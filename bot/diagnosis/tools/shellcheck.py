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
"""shellcheck: the terminal form, ``-f gcc``, and the gate's form (``In file line N:`` + ``SCnnnn: …``)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.model import Line
from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, stateless
from bot.gate.finding import Finding, Severity

_GCC = re.compile(
    r"(?P<file>[^:]{1,400}):(?P<line>\d{1,7}):(?P<column>\d{1,6}): (?P<severity>error|warning|note): "
    r"(?P<message>.*) \[(?P<rule>SC\d{4})\]\s*$"
)
_HEAD = re.compile(r"In (?P<file>\S.{0,390}?) line (?P<line>\d{1,7}):\s*$")
_MARK = re.compile(
    r"(?P<indent>\s{0,400})(?:\^-{0,400}\^? )?(?P<rule>SC\d{4})(?: \((?P<severity>\w{1,20})\))?: (?P<message>.*)"
)
_SEVERITY = {
    "error": Severity.ERROR,
    "warning": Severity.WARNING,
    "note": Severity.INFO,
    "info": Severity.INFO,
    "style": Severity.INFO,
}


def _read(window: Window) -> Iterable[Finding]:
    text = window.line.text
    if match := _HEAD.match(text):
        yield from _read_block(window, match["file"], int(match["line"]))
    elif match := _GCC.match(text):
        yield _finding(match, match["file"], int(match["line"]), int(match["column"]), window.line)


def _read_block(window: Window, file: str, number: int) -> Iterable[Finding]:
    source: list[Line] = []
    last = window.line.number
    for line in window.ahead(40):
        if not line.text.strip() or _HEAD.match(line.text):
            break
        last = line.number
        if match := _MARK.match(line.text):
            # the caret stands below the column; the gate's form has no caret
            column = len(match["indent"]) + 1 if line.text.lstrip().startswith("^") else 0
            yield _finding(match, file, number, column, line, window.line, *source)
        elif not source:
            source.append(line)
    window.skip_to = last


def _finding(match: re.Match[str], file: str, number: int, column: int, line: Line, *more: Line) -> Finding:
    return Finding(
        tool="shellcheck",
        rule=match["rule"],
        file=repo_path(file),
        line=number,
        column=column,
        message=match["message"].strip(),
        severity=_SEVERITY.get(match["severity"] or "", Severity.WARNING),
        **at(line, *more),
    )


TOOL = Tool("shellcheck", (r"\[SC\d{4}\]", r"In [^\n]+ line \d+:"), stateless(_read), stages=("Check_ShellCheck",))
