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
"""What a diagnosis is: findings, the causes behind them, and the lines of the log worth showing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bot.gate.finding import Finding


class Line(NamedTuple):
    """One line of a log, cleaned.

    Attributes:
        number: 1-based line number in the input.
        text: Text without time stamp, ANSI codes, console notes, rank and branch prefix.
        rank: Rank of the worker that printed it; -1 when the line does not say.
        branch: Name of the parallel branch in front of the line; empty when there is none.
    """

    number: int
    text: str
    rank: int = -1
    branch: str = ""


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason why the build is red, after repeated and secondary findings were folded into it.

    Attributes:
        finding: The finding that tells most about it.
        count: How many findings say the same.
        members: Indexes into ``Diagnosis.findings``; the first one is ``finding``.
        ranks: Ranks that reported it, ascending; empty when the log is not distributed.
        why: Short code of the rule that put it where it stands (``first-error``, ``compile``, ``timeout`` …).
        secondary: True when it is probably the consequence of an earlier cause.
    """

    finding: Finding
    count: int = 1
    members: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    why: str = ""
    secondary: bool = False


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A range of lines worth showing.

    Attributes:
        first_line: First 1-based line of the input.
        last_line: Last 1-based line of the input, inclusive.
        score: How telling it is; higher is better, only comparable inside one diagnosis.
        why: Name of the detector that chose it.
        text: The cleaned lines, for display.
    """

    first_line: int
    last_line: int
    score: float
    why: str
    text: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything read out of one console log.

    Attributes:
        findings: Parsed messages in the order of the log.
        causes: Reasons, most telling first.
        excerpt: Line ranges, most telling first, not overlapping.
        failed_stages: Names of failed gate stages in the order of the log.
        lines: Number of lines of the input.
        confidence: 1.0 when tool parsers explain the failure, lower when only the general extractor speaks.
        dropped: Findings beyond the limit that were counted and not kept.
        notes: Codes of general remarks, such as ``evidence-not-in-console``.
    """

    findings: tuple[Finding, ...] = ()
    causes: tuple[Cause, ...] = ()
    excerpt: tuple[Excerpt, ...] = ()
    failed_stages: tuple[str, ...] = ()
    lines: int = 0
    confidence: float = 0.0
    dropped: int = 0
    notes: tuple[str, ...] = ()
