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
"""clang-format: dry-run errors with their two lines of context, and the gate's one-line form."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, stateless
from bot.gate.finding import Finding, Severity

_NATIVE = re.compile(
    r"(?P<file>[^:]{1,400}):(?P<line>\d{1,7}):(?P<column>\d{1,6}): (?:error|warning): "
    r"(?P<message>code should be clang-formatted) \[-Wclang-format-violations\]"
)
_GATE = re.compile(r"(?P<file>[^:]{1,400}):(?P<line>\d{1,7}): (?P<message>code does not match clang-format)")


def _read(window: Window) -> Iterable[Finding]:
    line = window.line
    native = _NATIVE.match(line.text)
    match = native or _GATE.match(line.text)
    if match is None:
        return
    context = list(window.ahead(2)) if native else []
    if len(context) < 2 or not context[1].text.strip().startswith("^"):
        context = []
    yield Finding(
        tool="clang-format",
        rule="clang-format",
        file=repo_path(match["file"]),
        line=int(match["line"]),
        column=int(native["column"]) if native else 0,
        message=match["message"],
        severity=Severity.WARNING,
        **at(line, *context),
    )


TOOL = Tool(
    "clang-format",
    ("code should be clang-formatted", "code does not match clang-format"),
    stateless(_read),
    stages=("Check_ClangFormat",),
)
