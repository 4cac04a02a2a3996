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
"""Markdown source as lines, with code marked and HTML comments taken out but remembered as hints."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST_LINE = 4_000  # what stands further right says nothing about a form, and the time to read stays bounded

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_FENCE = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})(.*)$")
_QUOTE = re.compile(r"^\s{0,3}(?:>\s?)+")
_FRONT_MATTER = re.compile(r"\A---\n(?:\w[\w-]*:[^\n]*\n|[ \t-][^\n]*\n|\n)+?---\n")
_CODE_SPAN = re.compile(r"`+[^`\n]*`+")


@dataclass(frozen=True)
class Line:
    """One line without its comments and quote marks.

    Attributes:
        text: The visible text; leading blanks are kept.
        code: Inside a fence.
        quoted: Stands behind ``>``.
        hints: Texts of HTML comments that begin on this line.
    """

    text: str
    code: bool = False
    quoted: bool = False
    hints: tuple[str, ...] = ()

    @property
    def indent(self) -> int:
        """Leading blanks; a tab counts four."""
        expanded = self.text.expandtabs(4)
        return len(expanded) - len(expanded.lstrip(" \u3000"))


def read_lines(source: str) -> list[Line]:
    """Split Markdown into lines, whatever their ends; zero-width characters and front matter are dropped."""
    text = _INVISIBLE.sub("", source.replace("\r\n", "\n").replace("\r", "\n"))
    text = _FRONT_MATTER.sub("", text, count=1)
    lines: list[Line] = []
    fence = ""
    rest = [line[:LONGEST_LINE] for line in text.split("\n")]
    last_close = max((n for n, line in enumerate(rest) if "-->" in line), default=-1)
    number = 0
    while number < len(rest):
        raw = rest[number]
        number += 1
        unquoted = _QUOTE.sub("", raw)
        opened = _FENCE.match(unquoted)
        if fence:
            closes = opened and opened[1].startswith(fence) and not opened[2].strip()
            lines.append(Line("" if closes else unquoted, code=True))
            fence = "" if closes else fence
        elif opened and not ("`" in opened[1] and "`" in opened[2]):
            fence = opened[1]
            lines.append(Line("", code=True))
        else:
            visible, hints, number = _without_comments(rest, number - 1, last_close)
            unquoted = _QUOTE.sub("", visible)
            lines.append(Line(unquoted, quoted=unquoted != visible, hints=hints))
    return lines


def _without_comments(lines: list[str], number: int, last_close: int) -> tuple[str, tuple[str, ...], int]:
    """Visible text of line ``number``, the comments that begin on it, and the number of the next line to read.

    A comment that is never closed hides everything below it when it begins a line, as a browser shows it; elsewhere it
    is plain text.
    """
    visible, hints = "", []
    text = lines[number]
    number += 1
    while (start := _comment_start(text)) >= 0:
        inside = text[start + 4 :]
        taken = number
        if text[:start].strip() and "-->" not in inside and last_close < number:
            break
        closing = inside.find("-->")
        parts = [] if closing >= 0 else [inside]
        while closing < 0 and taken < len(lines):
            inside = lines[taken]
            taken += 1
            closing = inside.find("-->")
            parts += [] if closing >= 0 else [inside]
        before, number = text[:start], taken
        parts.append(inside[:closing] if closing >= 0 else "")
        hints.append("\n".join(parts).strip())
        visible += before
        text = inside[closing + 3 :] if closing >= 0 else ""
    return visible + text, tuple(hints), number


def _comment_start(text: str) -> int:
    """Where a comment begins, not counting code spans."""
    blanked = _CODE_SPAN.sub(lambda match: " " * len(match[0]), text)
    return blanked.find("<!--")


def without_code_spans(text: str) -> str:
    """The text without inline code: an example in code is neither a link nor a label."""
    return _CODE_SPAN.sub(" ", text)
