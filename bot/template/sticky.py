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
"""The one comment in which the template check speaks; it is edited in place."""

from __future__ import annotations

from bot.template.model import Verdict
from bot.texts import Markup, code, inline
from bot.texts.template import TEXTS

_LONGEST = 160
_MOST_ITEMS = 40


def render_comment(verdict: Verdict, *, path: str = "", language: str = "zh") -> str:
    """The comment's Markdown: what is missing and how to fix it, or one line that all is well.

    Args:
        verdict: The check's result.
        path: Where the template lies, named in the comment when given.
        language: ``zh`` or ``en``.
    """
    if verdict.passed:
        lines = [_text("template.passed", language)]
        if verdict.note:
            lines += ["", _text(verdict.note, language)]
        return "\n".join(lines)
    count = len(verdict.missing)
    lines = [f"**{_text('template.failed.head', language).format(count=count)}**", ""]
    for item in summaries(verdict, language)[:_MOST_ITEMS]:
        lines.append(f"- {item}")
    if count > _MOST_ITEMS:
        lines.append(f"- … +{count - _MOST_ITEMS}")
    lines += ["", _text("template.failed.foot", language)]
    if path:
        lines += ["", _text("template.failed.source", language).format(path=code(path))]
    return "\n".join(lines)


def summaries(verdict: Verdict, language: str = "zh") -> tuple[Markup, ...]:
    """One line per missing item: what is missing, then how to fix it. Safe to put into a comment."""
    stop = "。" if language == "zh" else ". "
    return tuple(
        Markup(f"**{inline(item.message(language), limit=_LONGEST)}**{stop}{inline(item.fix(language))}")
        for item in verdict.missing
    )


def _text(text_id: str, language: str) -> str:
    return TEXTS[text_id][language]
