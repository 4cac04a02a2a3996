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
"""markdownlint-cli and -cli2 (``file:line[:column] [error] MDnnn/name …``) and mdl (``file:line: MDnnn …``)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, stateless
from bot.gate.finding import Finding, Severity

_NODE = re.compile(
    r"(?P<file>[^:]{1,400}):(?P<line>\d{1,7})(?::(?P<column>\d{1,6}))? (?:(?:error|warning) )?"
    r"(?P<rule>MD\d{3})(?:/[\w/-]{1,120})? (?P<message>\S.*)"
)
_RUBY = re.compile(r"(?P<file>[^:]{1,400}):(?P<line>\d{1,7}): (?P<rule>MD\d{3}) (?P<message>\S.*)")


def _read(window: Window) -> Iterable[Finding]:
    text = window.line.text
    ruby = _RUBY.match(text)
    match = ruby or _NODE.match(text)
    if match:
        fields = match.groupdict()
        yield Finding(
            tool="mdl" if ruby else "markdownlint",
            rule=match["rule"],
            file=repo_path(match["file"]),
            line=int(match["line"]),
            column=int(fields.get("column") or 0),
            message=match["message"].strip(),
            severity=Severity.WARNING,
            **at(window.line),
        )


_STAGES = ("Check_Markdownlint",)
TOOLS = (
    Tool("markdownlint", (r"\d (?:error |warning )?MD\d{3}", r"\d: MD\d{3} "), stateless(_read), stages=_STAGES),
    # no triggers of its own: the reader above tells the two apart; this entry gives mdl its stage
    Tool("mdl", (), stateless(_read), stages=_STAGES),
)
