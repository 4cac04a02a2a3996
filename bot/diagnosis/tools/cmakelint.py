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
"""cmakelint: ``file:line: message [category/check]``, and the gate's form with the category in front."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, stateless
from bot.gate.finding import Finding, Severity

_FILE = r"(?P<file>(?:[^:]{0,390}/)?(?:CMakeLists\.txt|[^:/]{1,200}\.cmake(?:\.in)?)):(?P<line>\d{1,7}): "
_RULE = r"\[(?P<rule>(?:convention|linelength|package|readability|syntax|whitespace|build)(?:/[\w-]{1,60})?)\]"
_NATIVE = re.compile(_FILE + r"(?P<message>[^\[\s].*?) " + _RULE + r"\s*$")
_GATE = re.compile(_FILE + _RULE + r" (?P<message>\S.*)$")


def _read(window: Window) -> Iterable[Finding]:
    match = _NATIVE.match(window.line.text) or _GATE.match(window.line.text)
    if match:
        yield Finding(
            tool="cmakelint",
            rule=match["rule"],
            file=repo_path(match["file"]),
            line=int(match["line"]),
            message=match["message"].strip(),
            severity=Severity.WARNING,
            **at(window.line),
        )


TOOL = Tool(
    "cmakelint",
    (r"CMakeLists\.txt:\d+: ", r"\.cmake(?:\.in)?:\d+: "),
    stateless(_read),
    stages=("Check_Cmakelint",),
)
