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
"""pylint: parseable and bracketed (what the gate prints), default text, and JSON (json2) output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, evidence, stateless
from bot.gate.finding import FailureClass, Finding, Severity

_ID = r"[CRWEFI]\d{4}"
# file:line[:column]: [W1510(symbol), object] message
_BRACKETED = re.compile(
    rf"(?P<file>[^:\[\]]{{1,400}}):(?P<line>\d{{1,7}}):(?:(?P<column>\d{{1,6}}):)? \[(?P<rule>{_ID})"
    r"(?:\((?P<symbol>[\w-]{1,80})\))?(?:, ?(?P<object>[^\]]{0,200}))?\] (?P<message>.*)"
)
# file:line:column: W1510: message (symbol)
_TEXT = re.compile(
    rf"(?P<file>[^:]{{1,400}}):(?P<line>\d{{1,7}}):(?P<column>\d{{1,6}}): (?P<rule>{_ID}): "
    r"(?P<message>.*?)(?: \((?P<symbol>[a-z0-9-]{1,80})\))?$"
)
_SEVERITY = {
    "F": Severity.FATAL,
    "E": Severity.ERROR,
    "W": Severity.WARNING,
    "R": Severity.INFO,
    "C": Severity.INFO,
    "I": Severity.INFO,
}
# A file that pylint could not open or import says more about the machine than about the code.
_ENVIRONMENT = {"F0001", "F0010", "F0011"}


def _finding(window: Window, fields: dict[str, Any], first: int, last: int, proof: tuple[str, ...]) -> Finding:
    rule = fields["rule"]
    return Finding(
        tool="pylint",
        rule=rule,
        file=repo_path(fields["file"]),
        line=int(fields["line"]),
        # pylint counts columns from 0
        column=int(fields["column"]) + 1 if fields.get("column") is not None else 0,
        function=(fields.get("object") or "").strip(),
        message=(fields["message"] or "").strip(),
        severity=_SEVERITY[rule[0]],
        failure_class=FailureClass.INFRASTRUCTURE if rule in _ENVIRONMENT else FailureClass.CODE,
        evidence=proof,
        first_line=first,
        last_line=last,
        rank=window.line.rank,
    )


def _read(window: Window) -> Iterable[Finding]:
    line = window.line
    if line.text.lstrip().startswith(('"messageId"', '"message-id"')):
        yield from _read_json(window)
        return
    match = _BRACKETED.match(line.text) or _TEXT.match(line.text)
    if match:
        yield _finding(window, match.groupdict(), line.number, line.number, (line.text[:400],))


def _read_json(window: Window) -> Iterable[Finding]:
    """Reads the object of ``--output-format=json2`` (and ``json``) that the trigger stands in."""
    lines = [window.line]
    for line in window.back(10):
        lines.insert(0, line)
        if line.text.lstrip().startswith("{"):
            break
    for line in window.ahead(12):
        lines.append(line)
        if line.text.lstrip().startswith("}"):
            break
    text = "\n".join(line.text for line in lines).strip().rstrip(",")
    try:
        item = json.loads(text)
        rule = str(item.get("messageId") or item.get("message-id"))
        fields = {
            "rule": rule,
            "file": str(item["path"]),
            "line": int(item["line"]),
            "column": item.get("column"),
            "object": item.get("obj"),
            "message": str(item["message"]),
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return
    if re.fullmatch(_ID, rule):
        window.skip_to = lines[-1].number
        yield _finding(window, fields, lines[0].number, lines[-1].number, evidence(lines))


TOOL = Tool(
    name="pylint",
    triggers=(rf": \[{_ID}", rf": {_ID}: ", r'"message-?[Ii]d": "'),
    reader=stateless(_read),
    stages=("Check_Pylint",),
)
