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
"""Compilers that print ``file:line:column: error: …``: gcc and clang, and javac, swiftc, mypy by suffix."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.model import Line
from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, stateless
from bot.gate.finding import FailureClass, Finding, Severity

_ERROR = re.compile(
    r"(?P<file>(?:[A-Za-z]:)?[^:\s(][^:(]{0,390}):(?P<line>\d{1,7}):(?:(?P<column>\d{1,6}):)? "
    r"(?P<severity>fatal error|error|internal compiler error): (?P<message>.*)"
)
_DRIVER = re.compile(
    r"(?P<file>cc1(?:plus)?|g(?:cc|\+\+)(?:-\d{1,3})?|c\+\+"
    r"|clang(?:\+\+)?(?:-\d{1,3})?): (?P<severity>fatal error|error): (?P<message>.*)"
)
_OPTION = re.compile(r"\[(?P<option>-[\w,=+-]{1,120})\]\s*$")
# cppcheck, shellcheck and others end in a bare id: not a compiler's line
_OTHER_TOOL = re.compile(r" \[[A-Za-z][\w-]{1,80}\]\s*$")
_BEFORE = re.compile(
    r"In file included from |\s{1,40}from |.{1,400}: (?:In |At global scope|At top level)"
    r"|.{1,400}:\d{1,7}:\d{1,6}:   (?:required|recursively required) from|.{1,400}: note: "
)
_REQUIRED = re.compile(r"(?P<file>[^:]{1,400}):(?P<line>\d{1,7}):(?P<column>\d{1,6}):\s{1,8}required from here")
_SOURCE = re.compile(r"\s{0,12}\d{0,7} {0,4}\| ?|\s{0,400}[~^][~^ ]{0,400}$")
_BY_SUFFIX = {"java": "javac", "swift": "swiftc", "py": "mypy", "pyi": "mypy", "scala": "scalac", "kt": "kotlinc"}
_SYSTEM = ("/usr/", "/opt/", "/Library/", "/Applications/")


def _read(window: Window) -> Iterable[Finding]:
    line = window.line
    text = line.text
    match = _ERROR.match(text)
    if match is None:
        match = _DRIVER.match(text)
        if match is None or "all warnings being treated as errors" in text:
            return
    suffix = match["file"].rpartition(".")[2].lower() if "." in match["file"] else ""
    tool = _BY_SUFFIX.get(suffix, "gcc")
    if (tool == "gcc" and _OTHER_TOOL.search(text[-120:])) or "code should be clang-formatted" in text:
        return
    before = _context_before(window)
    after = _context_after(window)
    fields = match.groupdict()
    file, number, column = match["file"], int(fields.get("line") or 0), int(fields.get("column") or 0)
    if file.startswith(_SYSTEM):
        # an error inside a library header is the fault of the line that instantiated it
        user = next((found for one in before if (found := _REQUIRED.match(one.text))), None)
        if user:
            file, number, column = user["file"], int(user["line"]), int(user["column"])
    option = _OPTION.search(text[-200:])
    killed = "Killed signal terminated program" in text
    yield Finding(
        tool="memory" if killed else tool,
        rule="killed" if killed else option["option"] if option else match["severity"].replace(" ", "-"),
        file="" if killed or not number else repo_path(file),
        line=0 if killed else number,
        column=column,
        message=match["message"].strip()[:1000],
        severity=Severity.FATAL if match["severity"] != "error" else Severity.ERROR,
        failure_class=FailureClass.INFRASTRUCTURE if killed else FailureClass.CODE,
        **at(line, *before, *after),
    )


def _context_before(window: Window) -> list[Line]:
    lines: list[Line] = []
    for line in window.back(8):
        if not _BEFORE.match(line.text) or ": note: " in line.text:
            break
        lines.append(line)
    return lines


def _context_after(window: Window) -> list[Line]:
    lines: list[Line] = []
    for index, line in enumerate(window.ahead(6)):
        if _SOURCE.match(line.text):
            lines.append(line)
        elif index == 0 and line.text.strip() and ": " not in line.text and not line.text.startswith("["):
            lines.append(line)  # clang and javac print the source line without a bar
        else:
            break
    if lines and not any(_SOURCE.match(line.text) for line in lines):
        return []
    return lines


TOOL = Tool("gcc", (r": (?:fatal |internal compiler )?error: ",), stateless(_read))
