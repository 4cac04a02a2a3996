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
"""lizard: ``-w`` and ``--warning-msvs`` lines, the warnings table of the full report, and the gate's own form."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, literal
from bot.gate.finding import Finding, Severity

_WARNING = re.compile(
    r"(?P<file>[^:(]{1,400})(?::(?P<line>\d{1,7}):|\((?P<msvs>\d{1,7})\):) warning: (?P<function>\S.{0,300}?) has "
    r"(?P<nloc>\d{1,7}) NLOC, (?P<ccn>\d{1,7}) CCN, \d{1,7} token, (?P<param>\d{1,5}) PARAM"
)
_GATE = re.compile(
    r"(?P<file>[^:]{1,400}):(?P<line>\d{1,7}): (?P<function>\S.{0,300}?): (?:cyclomatic complexity ="
    r" (?P<ccn>\d{1,7})|(?:NLOC|nloc) = (?P<nloc>\d{1,7}))"
    r"(?: \(threshold (?P<limit>\d{1,7})\))?"
)
_ROW = re.compile(
    r"\s{1,40}(?P<nloc>\d{1,7})\s{1,20}(?P<ccn>\d{1,7})\s{1,20}\d{1,7}\s{1,20}(?P<param>\d{1,5})\s{1,20}\d{1,7} "
    r"(?P<function>[^@]{1,300})@(?P<line>\d{1,7})-\d{1,7}@(?P<file>.{1,400})$"
)
_LIMITS = re.compile(r"cyclomatic_complexity > (?P<ccn>\d{1,7}).*?nloc > (?P<nloc>\d{1,9})")


class _Lizard:
    """Remembers whether the table that is being read is the table of warnings."""

    def __init__(self) -> None:
        self._in_warnings = False
        self._limits: dict[str, int] = {}

    def hit(self, window: Window) -> Iterable[Finding]:
        text = window.line.text
        if text.startswith("!!!! Warnings ("):
            limits = _LIMITS.search(text[:400])
            self._limits = {key: int(value) for key, value in limits.groupdict().items()} if limits else {}
            self._in_warnings = True
        elif text.startswith(("Total nloc", "NLOC    Avg.NLOC")):
            self._in_warnings = False
        elif (match := (_WARNING.match(text) or _GATE.match(text))) or (
            self._in_warnings and (match := _ROW.match(text))
        ):
            yield self._finding(window, match.groupdict())

    def _finding(self, window: Window, fields: dict[str, str | None]) -> Finding:
        ccn, nloc, limit = int(fields.get("ccn") or 0), int(fields.get("nloc") or 0), fields.get("limit")
        # Which limit broke: the report says it only in its full form; long and simple means length.
        long = nloc > self._limits.get("nloc", 100) and ccn <= self._limits.get("ccn", 15)
        rule = "NLOC" if (long and limit is None) or fields.get("ccn") is None else "CCN"
        value = f"nloc = {nloc}" if rule == "NLOC" else f"cyclomatic complexity = {ccn}"
        known = limit or self._limits.get(rule.lower())
        return Finding(
            tool="lizard",
            rule=rule,
            file=repo_path(fields["file"] or ""),
            line=int(fields.get("line") or fields.get("msvs") or 0),
            function=(fields["function"] or "").strip(),
            message=value + (f" (threshold {known})" if known else ""),
            severity=Severity.WARNING,
            evidence=(window.line.text[:400],),
            first_line=window.line.number,
            last_line=window.line.number,
            rank=window.line.rank,
        )

    def close(self) -> Iterable[Finding]:
        return ()


TOOL = Tool(
    "lizard",
    (
        *literal(
            " NLOC, ",
            "cyclomatic complexity = ",
            ": NLOC = ",
            ": nloc = ",
            "!!!! Warnings (",
            "Total nloc   Avg",
            "NLOC    Avg.NLOC",
        ),
        r"@\d{1,7}-\d{1,7}@",
    ),
    _Lizard,
    stages=("Check_Lizard",),
)
