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
"""pylint C0303 trailing white space and C0304 missing final newline."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Sequence
from typing import Final

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.text import Source, decode, place_at, split_end

_BLANKS: Final = "\t\v "


def strip_line(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Take the blanks off the end of one line, unless they are part of a string's value."""
    place = place_at(content, scene.path, finding.line, "trailing white space")
    if isinstance(place, Reason):
        return place
    body, end = split_end(place.line)
    if body == body.rstrip(_BLANKS):
        return because("not-found-here", line=str(finding.line), what="trailing white space")
    nature = Nature.WHITESPACE
    if scene.path.endswith(".py"):
        held = string_over_line_end(place.source, finding.line)
        if held == "string" or (held == "docstring" and _in_doctest(place.lines, finding.line)):
            return because("string-content")
        nature = Nature.DOCSTRING if held == "docstring" else Nature.WHITESPACE
    return Edit(place.replaced(body.rstrip(_BLANKS) + end), nature, (finding.line, finding.line))


def _in_doctest(lines: Sequence[str], number: int) -> bool:
    """Whether the line belongs to a doctest: from ``>>>`` down to the next blank line."""
    for line in reversed(lines[:number]):
        if line.lstrip().startswith((">>>", "...")):
            return True
        if not line.strip():
            return False
    return False


def string_over_line_end(source: Source, number: int) -> str:
    """``string`` or ``docstring`` when the end of line ``number`` lies inside a string literal, else empty.

    A file that cannot be tokenised counts as ``string``: nothing is known, so nothing is touched.
    """
    previous = tokenize.NEWLINE
    opened = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text, newline="").readline):
            name = tokenize.tok_name[token.type]
            if name == "FSTRING_START":
                opened = opened or token.start[0]
            elif name == "FSTRING_END":
                if opened <= number < token.end[0]:
                    return "string"
                opened = 0
            elif token.type == tokenize.STRING and token.start[0] <= number < token.end[0]:
                alone = previous in {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
                plain = token.string[:1] in "\"'rRuU" and token.string[:2].lower() not in {"rb", "br"}
                return "docstring" if alone and plain else "string"
            if token.type not in {tokenize.NL, tokenize.COMMENT, tokenize.ENCODING}:
                previous = token.type
    except (tokenize.TokenError, SyntaxError):
        return "string"
    return ""


def end_file(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Put the missing newline at the end, in the file's own style."""
    source = decode(content, scene.path)
    if isinstance(source, Reason):
        return source
    if not source.text or source.text.endswith(("\n", "\r")):
        return because("not-found-here", line=str(finding.line), what="a missing final newline")
    last = len(source.lines())
    return Edit(source.encode(source.text + source.newline), Nature.WHITESPACE, (last, last))


RECIPES: Final = (
    Recipe(
        name="trailing-whitespace",
        tools=frozenset({"pylint"}),
        rules=frozenset({"C0303"}),
        apply=strip_line,
        check="Check_Pylint",
        natures=frozenset({Nature.WHITESPACE, Nature.DOCSTRING}),
    ),
    Recipe(
        name="final-newline",
        tools=frozenset({"pylint"}),
        rules=frozenset({"C0304"}),
        apply=end_file,
        check="Check_Pylint",
        natures=frozenset({Nature.WHITESPACE}),
        whole_file=True,
    ),
)
