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
"""Scanoss, the licence scan: its result always goes to a human (fact sheet, section 8)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.tool import Tool, Window, at, stateless
from bot.gate.finding import FailureClass, Finding

_LINE = re.compile(r"\[(?:ERROR|FAILURE)\] (?P<message>(?:[\w ]{0,40} )?[Ss]canoss\b.{0,300})")


def _read(window: Window) -> Iterable[Finding]:
    match = _LINE.search(window.line.text[:600])
    if match:
        yield Finding(
            tool="scanoss",
            rule="licence",
            message=match["message"].strip(),
            failure_class=FailureClass.PROCESS,
            **at(window.line),
        )


TOOL = Tool("scanoss", (r"\] [\w ]*[Ss]canoss",), stateless(_read), stages=("Check_Scanoss",))
