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
"""Linklint: ``file:line: dead link: url``; whether it is code or network only a second try can tell."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, literal, stateless
from bot.gate.finding import FailureClass, Finding, Severity

_LINE = re.compile(r"(?P<file>[^:]{1,400}):(?P<line>\d{1,7}): (?P<message>dead link: ?\S.*)")


def _read(window: Window) -> Iterable[Finding]:
    match = _LINE.match(window.line.text)
    if match:
        yield Finding(
            tool="linklint",
            rule="dead-link",
            file=repo_path(match["file"]),
            line=int(match["line"]),
            message=match["message"].strip()[:1000],
            severity=Severity.WARNING,
            failure_class=FailureClass.UNKNOWN,
            **at(window.line),
        )


TOOL = Tool("linklint", literal(": dead link:"), stateless(_read), stages=("Check_Linklint",))
