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
"""GoogleTest: failures of a test joined with its verdict line; the second listing is not counted again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.model import Line
from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, literal
from bot.gate.finding import Finding, Severity

_VERDICT = re.compile(
    r"\[  FAILED  \] (?P<name>[\w./]{3,600})(?P<where>, where .{0,300}?)?(?P<time> \(\d{1,12} ms\))?\s*$"
)
_PLACE = re.compile(
    r"(?:(?P<file>[^:(]{1,400})(?::(?P<line>\d{1,7}):|\((?P<msvc>\d{1,7})\):) (?:Failure"
    r"|error:? ?(?P<rest>.*))|unknown file: Failure)\s*$"
)
_RUN = re.compile(r"\[ RUN      \] (?P<name>\S{1,400})")
_DIED = re.compile(
    r"(?:.{0,200}: line \d{1,7}:\s{0,20}\d{0,10} |.{0,200}\s)?(?:Segmentation fault|Aborted|Bus error"
    r"|Floating point exception)\b"
    r"|terminate called |\*\*\* SIG\w{1,10} |.*Assertion [`'].{1,400} failed\.|==\d{1,9}==ERROR: AddressSanitizer"
)


class _Gtest:
    def __init__(self) -> None:
        self._parts: list[tuple[re.Match[str], list[Line]]] = []
        self._seen: set[str] = set()
        self._looked = 0

    def hit(self, window: Window) -> Iterable[Finding]:
        text = window.line.text
        if (match := _VERDICT.match(text)) and "." in match["name"]:
            parts, self._parts = self._parts, []
            if match["name"] not in self._seen:
                self._seen.add(match["name"])
                yield self._failed(match, parts, window.line)
        elif match := _PLACE.match(text):
            if len(self._parts) < 100:
                self._parts.append((match, _message_lines(window)))
        elif _DIED.match(text):
            yield from self._died(window)

    def _failed(self, match: re.Match[str], parts: list[tuple[re.Match[str], list[Line]]], verdict: Line) -> Finding:
        lines = [line for _, part in parts for line in part]
        place = parts[0][0] if parts else None
        words = [line.text.strip() for line in parts[0][1][1:]] if parts else []
        if place is not None and place["rest"]:
            words.insert(0, place["rest"].strip())
        message = " ".join(word for word in words if word) or f"{match['name']} failed"
        return Finding(
            tool="gtest",
            rule="exception" if "C++ exception" in message or "exception thrown" in message else "failure",
            file=repo_path(place["file"] or "") if place else "",
            line=int(place["line"] or place["msvc"] or 0) if place else 0,
            function=match["name"],
            message=message[:1000] + (match["where"] or ""),
            **at(verdict, *lines),
        )

    def _died(self, window: Window) -> Iterable[Finding]:
        """A crash belongs to the test whose ``RUN`` line is the last one without a verdict."""
        between: list[Line] = []
        looked, self._looked = self._looked, window.line.number
        for line in window.back(200):
            if line.number <= looked:
                return  # an earlier sign of a crash has searched from there on
            between.append(line)
            if line.text.startswith(("[       OK ]", "[  FAILED  ]", "[  PASSED  ]", "[  SKIPPED ]")):
                return
            if run := _RUN.match(line.text):
                name = run["name"]
                break
        else:
            return
        if name in self._seen:
            return
        self._seen.add(name)
        yield Finding(
            tool="gtest",
            rule="crash",
            function=name,
            message=window.line.text.strip()[:1000],
            severity=Severity.FATAL,
            **at(window.line, *between),
        )

    def close(self) -> Iterable[Finding]:
        return ()


def _message_lines(window: Window) -> list[Line]:
    lines = [window.line]
    for line in window.ahead(30):
        if line.text.startswith("[") or _PLACE.match(line.text):
            break
        lines.append(line)
    while len(lines) > 1 and not lines[-1].text.strip():
        lines.pop()
    return lines


TOOL = Tool(
    "gtest",
    (
        *literal("[  FAILED  ] ", ": Failure", "Segmentation fault", "terminate called ", "Aborted (core", "Bus error"),
        *literal("Floating point exception", "*** SIG", "ERROR: AddressSanitizer"),
        r"Assertion [`'][^\n]+ failed\.",
        r"\(\d+\): error",
    ),
    _Gtest,
)
