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
"""codespell: ``file:line: wrong ==> right``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, literal, stateless
from bot.gate.finding import Finding, Severity

_LINE = re.compile(r"(?P<file>[^:]{1,400}):(?P<line>\d{1,7}): (?P<wrong>\S{1,80}) ==> (?P<right>\S.{0,300})$")


def _read(window: Window) -> Iterable[Finding]:
    match = _LINE.match(window.line.text)
    if match:
        yield Finding(
            tool="codespell",
            rule="typo",
            file=repo_path(match["file"]),
            line=int(match["line"]),
            message=f"{match['wrong']} ==> {match['right'].strip()}",
            severity=Severity.WARNING,
            evidence=(window.line.text[:400],),
            first_line=window.line.number,
            last_line=window.line.number,
            rank=window.line.rank,
        )


TOOL = Tool("codespell", literal(" ==> "), stateless(_read), stages=("Check_Codespell",))
