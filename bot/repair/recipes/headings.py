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
"""Markdownlint's MD025: one title, and the chapters below it instead of beside it.

Only where the first heading stands alone above the next one, as a title does: of two parts that each have chapters of
their own nobody but the author can say which is the title.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from markdown_it import MarkdownIt

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.text import decode

_DEEPEST: Final = 6


@dataclass(frozen=True, slots=True)
class _Heading:
    """``first`` and ``last`` line from 0; ``mark`` is ``#``…, ``=`` or ``-``."""

    first: int
    last: int
    level: int
    mark: str


def below_the_title(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Put every heading behind the first one level deeper."""
    source = decode(content, scene.path)
    if isinstance(source, Reason):
        return source
    if source.text.startswith("---"):
        return because("unsafe", why="the title stands in the front matter")
    headings = _headings(source.text)
    if not any(one.first + 1 == finding.line and one.level == 1 for one in headings[1:]):
        return because("not-found-here", line=str(finding.line), what="a second title")
    title, second = headings[:2]
    if title.level != 1 or second.level != 1:
        return because("unsafe", why="the first heading has chapters of its own and may be no title")
    lines = source.lines()
    for heading in headings[1:]:
        if heading.mark == "-" or heading.level == _DEEPEST:
            return because("unsafe", why="a heading cannot be put one level deeper")
        at = heading.last if heading.mark == "=" else heading.first
        lines[at] = lines[at].replace("=", "-") if heading.mark == "=" else lines[at].replace("#", "##", 1)
    return Edit(source.encode("".join(lines)), Nature.PROSE)


def _headings(text: str) -> list[_Heading]:
    """Headings of the page itself, not those in quotes and lists."""
    return [
        _Heading(token.map[0], token.map[1] - 1, int(token.tag[1:]), token.markup)
        for token in MarkdownIt("commonmark").parse(text)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


RECIPES: Final = (
    Recipe(
        name="markdown-one-title",
        tools=frozenset({"markdownlint", "mdl"}),
        rules=frozenset({"MD025"}),
        apply=below_the_title,
        check="Check_Markdownlint",
        natures=frozenset({Nature.PROSE}),
        whole_file=True,
    ),
)
