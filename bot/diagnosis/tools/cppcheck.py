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
"""cppcheck: ``file:line:column: severity: message [id]`` with two lines of context."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, stateless
from bot.gate.finding import Finding, Severity

_LINE = re.compile(
    r"(?P<file>[^:]{1,400}):(?P<line>\d{1,7}):(?P<column>\d{1,6}): "
    r"(?P<severity>error|warning|style|performance"
    r"|portability): (?P<message>\S.*[^ ]) \[(?P<rule>[a-z][A-Za-z0-9_]{2,80})\]\s*$"
)


def _read(window: Window) -> Iterable[Finding]:
    match = _LINE.match(window.line.text)
    # "nofile:0:0:" speaks of the run, not of the code
    if match is None or match["file"] == "nofile":
        return
    context = list(window.ahead(2))
    if len(context) < 2 or context[1].text.strip(" ~") != "^":
        context = []
    yield Finding(
        tool="cppcheck",
        rule=match["rule"],
        file=repo_path(match["file"]),
        line=int(match["line"]),
        column=int(match["column"]),
        message=match["message"],
        severity=Severity.ERROR if match["severity"] == "error" else Severity.WARNING,
        **at(window.line, *context),
    )


TOOL = Tool(
    "cppcheck",
    (r": (?:error|warning|style|performance|portability): [^\n]+ \[[a-z][A-Za-z0-9_]+\]",),
    stateless(_read),
    stages=("Check_Cppcheck",),
)
