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
"""What the description lacks, item by item, as the section of the sticky comment shows it."""

from __future__ import annotations

from bot.template.model import Verdict
from bot.texts import Markup, inline

_LONGEST = 160


def summaries(verdict: Verdict, language: str = "zh") -> tuple[Markup, ...]:
    """One line per missing item: what is missing, then how to fix it. Safe to put into a comment."""
    stop = "。" if language == "zh" else ". "
    return tuple(
        Markup(f"**{inline(item.message(language), limit=_LONGEST)}**{stop}{inline(item.fix(language))}")
        for item in verdict.missing
    )
