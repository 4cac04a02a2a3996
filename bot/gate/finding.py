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
"""One fact that a tool reported in a build log, in the vocabulary every room shares."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FailureClass(StrEnum):
    """Whose failure it is by its form alone; triage refines it with evidence."""

    CODE = "code"
    INFRASTRUCTURE = "infrastructure"
    FLAKE = "flake"
    PROCESS = "process"
    UNKNOWN = "unknown"


class Severity(StrEnum):
    """How the tool itself ranked the message."""

    FATAL = "fatal"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """A parsed message of one tool.

    Attributes:
        stage: Gate stage such as ``Check_Pylint``; empty when the log does not say.
        tool: Parser name such as ``pylint`` or ``pytest``.
        rule: Rule id such as ``W0611``, ``CCN``, ``typo``; empty when the tool has none.
        file: Repository-relative path with forward slashes; empty when the tool names none.
        line: 1-based line in ``file``; 0 when unknown.
        column: 1-based column; 0 when unknown.
        function: Function, test id or symbol; empty when unknown.
        message: The tool's words, one line.
        evidence: The raw log lines (clean of time stamps and ANSI) that prove it.
        first_line: First 1-based line of the log that belongs to the finding; 0 when not from a log.
        last_line: Last 1-based line of the log that belongs to the finding.
        rank: Rank of the worker that printed it; -1 when not a distributed log.
        confidence: 1.0 for a tool parser, lower for the general extractor.
        count: How many times the same message was seen.
        time: Moment as the tool itself printed it, sortable as text; empty when it prints none.
    """

    tool: str
    message: str
    stage: str = ""
    rule: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    function: str = ""
    severity: Severity = Severity.ERROR
    failure_class: FailureClass = FailureClass.CODE
    evidence: tuple[str, ...] = ()
    first_line: int = 0
    last_line: int = 0
    rank: int = -1
    confidence: float = 1.0
    count: int = 1
    time: str = ""
