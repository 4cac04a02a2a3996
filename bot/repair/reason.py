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
"""A reason a person understands, kept as data so that it can be stored, compared and shown in either language."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from bot.texts import render
from bot.texts.repair import PHRASES, TEXTS


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something was not done.

    Attributes:
        text_id: Key of ``bot.texts.repair.TEXTS`` without its ``repair.``.
        values: Pairs that fill the sentence's fields.
    """

    text_id: str
    values: tuple[tuple[str, str], ...] = ()

    def text(self, language: str = "zh") -> str:
        """The sentence for a comment: values cannot break out of it, mention anyone or start a command.

        Raises:
            TextError: For an unknown ``text_id``, language or field: a bug of ours.
        """
        return render(f"repair.{self.text_id}", language, **self._fields(language))

    def plain(self, language: str = "zh") -> str:
        """The sentence for a terminal or a log, without Markdown's escapes."""
        return TEXTS[f"repair.{self.text_id}"][language.partition("-")[0]].format_map(self._fields(language))

    def _fields(self, language: str) -> dict[str, str]:
        if not language.startswith("zh"):
            return dict(self.values)
        return {name: in_chinese(value) for name, value in self.values}


@functools.cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    found = []
    for english, chinese in PHRASES.items():
        if "{0}" in english:
            pattern = re.sub(r"\\\{(\d)\\\}", r"(?P<a\1>.+?)", re.escape(english))
            found.append((re.compile(pattern, re.DOTALL), chinese))
    return tuple(found)


def in_chinese(value: str) -> str:
    """A part of a sentence in Chinese; names, paths and words of tools stay as they are."""
    if value in PHRASES:
        return PHRASES[value]
    for pattern, chinese in _patterns():
        match = pattern.fullmatch(value)
        if match is not None:
            return chinese.format(*(match[f"a{number}"] for number in range(len(match.groups()))))
    return value


def because(text_id: str, **values: str) -> Reason:
    """Build a ``Reason`` and prove at once that its sentence exists and can be filled."""
    reason = Reason(text_id, tuple(sorted(values.items())))
    reason.text("en")
    return reason
