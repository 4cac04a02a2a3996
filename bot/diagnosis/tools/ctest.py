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
"""ctest: one line for each test that did not pass, and the list at the end when those lines are missing."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.tool import Tool, Window, at, literal
from bot.gate.finding import FailureClass, Finding

_LINE = re.compile(
    r"\s{0,10}\d{1,7}/\d{1,7} Test\s{1,8}#\d{1,7}: (?P<name>\S+) \.*\s{0,200}\*\*\*(?P<what>Failed|Exception"
    r"|Timeout|Not Run|Skipped)"
    r"(?:: (?P<detail>\w{1,60}))?"
)
_LISTED = re.compile(r"\t? {0,8}\d{1,7} - (?P<name>\S{1,300}) \((?P<what>[A-Za-z][\w ]{1,40})\)")
_RULES = {"failed": "failed", "timeout": "timeout", "not run": "not-run", "not_run": "not-run"}


class _Ctest:
    """Knows which tests were reported, because ctest lists them again at the end."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def hit(self, window: Window) -> Iterable[Finding]:
        text = window.line.text
        if match := _LINE.match(text):
            if match["what"] == "Skipped":
                return
            self._seen.add(match["name"])
            what = match["what"] + (f": {match['detail']}" if match["detail"] else "")
            yield self._finding(match["name"], what, window.line)
        elif text.startswith("The following tests FAILED:"):
            for line in window.ahead(2000):
                listed = _LISTED.match(line.text)
                if listed is None:
                    break
                if listed["name"] not in self._seen:
                    self._seen.add(listed["name"])
                    yield self._finding(listed["name"], listed["what"], line)

    def _finding(self, name: str, what: str, line: object) -> Finding:
        rule = _RULES.get(what.lower(), "crash")
        return Finding(
            tool="ctest",
            rule=rule,
            function=name,
            message=f"{name}: {what}",
            failure_class=FailureClass.FLAKE if rule == "timeout" else FailureClass.CODE,
            **at(line),  # type: ignore[arg-type]
        )

    def close(self) -> Iterable[Finding]:
        return ()


TOOL = Tool(
    "ctest", literal("***Failed", "***Exception", "***Timeout", "***Not Run", "The following tests FAILED:"), _Ctest
)
