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
"""cpplint: ``file:line:  message  [category/check] [confidence]``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, stateless
from bot.gate.finding import Finding, Severity

_LINE = re.compile(
    r"(?P<file>[^:]{1,400}):(?P<line>\d{1,7}): {1,2}(?P<message>\S.*?) "
    r" ?\[(?P<rule>[a-z0-9_+-]{1,40}/[\w+-]{1,60})\] \[[1-5]\]\s*$"
)


def _read(window: Window) -> Iterable[Finding]:
    match = _LINE.match(window.line.text)
    if match:
        yield Finding(
            tool="cpplint",
            rule=match["rule"],
            file=repo_path(match["file"]),
            line=int(match["line"]),
            message=match["message"].strip(),
            severity=Severity.WARNING,
            **at(window.line),
        )


TOOL = Tool("cpplint", (r"/[\w+-]+\] \[[1-5]\]",), stateless(_read), stages=("Check_Cpplint",))
