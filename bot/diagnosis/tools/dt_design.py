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
"""The gate's check of test docstrings: ``[PYTHON] Function 'test_x' is missing: Description:, Expectation:``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, literal, stateless
from bot.gate.finding import Finding

# The known form names no file; a file in front of it or after "in" is taken when a later gate adds one.
_LINE = re.compile(
    r"(?:(?P<file>[^\s:\[\]]{1,400})(?::(?P<line>\d{1,7}))?: )?\[(?P<language>PYTHON|CPP|C\+\+|C)\] "
    r"(?:Function|Test) '(?P<function>[^']{1,300})' (?:in (?P<late>\S{1,400}) )?is missing: (?P<fields>.{1,300})$"
)


def _read(window: Window) -> Iterable[Finding]:
    match = _LINE.search(window.line.text[:1500])
    if match:
        fields = ", ".join(part.strip(" :") for part in match["fields"].split(","))
        yield Finding(
            tool="dt_design",
            rule="docstring-fields",
            file=repo_path(match["file"] or match["late"] or ""),
            line=int(match["line"] or 0),
            function=match["function"],
            message=f"missing in the description of the test: {fields}",
            evidence=(window.line.text[:400],),
            first_line=window.line.number,
            last_line=window.line.number,
        )


TOOL = Tool("dt_design", literal("' is missing: "), stateless(_read), stages=("Check_DT_Design",))
