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
"""Check_Codespell: put in the one suggested word, in prose only."""

from __future__ import annotations

import io
import re
import tokenize
from typing import Final

from bot.gate.finding import Finding
from bot.repair.checks.codespell import parse_message
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.prose import prose_spans
from bot.repair.recipes.text import Source, decode, place_at

_ONE_WORD: Final = r"[rRuUbB]*([\"'])[\w-]+\1"
_LOOK_AT: Final = 50
_WORD: Final = re.compile(r"[\w\-'’]+")  # codespell's own notion of a word


def correct(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Replace every prose occurrence of the word on the finding's line.

    Refuses several candidates, words outside comments, docstrings and running text, and words that also name
    something in
    the code of the same file.
    """
    said = parse_message(finding.message)
    if said is None:
        return because("not-found-here", line=str(finding.line), what=finding.message[:60])
    word, candidates = said
    if len(candidates) != 1:
        return because("ambiguous-word", word=word, candidates=", ".join(candidates))
    place = place_at(content, scene.path, finding.line, word)
    if isinstance(place, Reason):
        return place
    places = [match.span() for match in _WORD.finditer(place.line) if match[0].lower() == word.lower()]
    if not places:
        return because("not-found-here", line=str(finding.line), what=word)
    prose = prose_spans(place.source, scene.path)
    if prose is None:
        return because("unknown-prose", file=scene.path)
    spans = prose[finding.line - 1]
    if not all(any(low <= start and end <= high for low, high in spans) for start, end in places):
        return because("word-in-code", word=word)
    if _is_name(word.lower(), place.source, scene):
        return because("word-is-a-name", word=word)
    line = place.line
    for start, end in reversed(places):
        line = line[:start] + _like(line[start:end], candidates[0]) + line[end:]
    nature = _nature(scene.path, place.source, finding.line)
    return Edit(place.replaced(line), nature, (finding.line, finding.line))


def _like(found: str, correction: str) -> str:
    """The correction in the case of what it replaces."""
    if found.isupper() and len(found) > 1:
        return correction.upper()
    return correction[:1].upper() + correction[1:] if found[:1].isupper() else correction


def _is_name(word: str, source: Source, scene: Scene) -> bool:
    """Whether the word names something in code, here or in another file: then prose has to say it as it is."""
    if scene.path.endswith(".py") and word in _names(source):
        return True
    for path in scene.tree.grep(word)[:_LOOK_AT]:
        if path == scene.path or not path.endswith(".py"):
            continue
        other = decode(scene.tree.read(path) or b"", path)
        if isinstance(other, Source) and word in _names(other):
            return True
    return False


def _names(source: Source) -> set[str]:
    """Names of the code, their snake_case parts, and strings that are one word (keys, option names), in lower case."""
    try:
        names = {
            token.string.lower()
            for token in tokenize.generate_tokens(io.StringIO(source.text, newline="").readline)
            if token.type == tokenize.NAME or (token.type == tokenize.STRING and re.fullmatch(_ONE_WORD, token.string))
        }
    except (tokenize.TokenError, SyntaxError):
        return set()
    return names | {part for name in names for part in re.split(r"\W|_", name)}


def _nature(path: str, source: Source, number: int) -> Nature:
    if not path.endswith(".py"):
        return Nature.PROSE if path.lower().endswith((".md", ".markdown", ".txt")) else Nature.COMMENT
    for token in tokenize.generate_tokens(io.StringIO(source.text, newline="").readline):
        if token.type == tokenize.STRING and token.start[0] <= number <= token.end[0]:
            return Nature.DOCSTRING
    return Nature.COMMENT


RECIPES: Final = (
    Recipe(
        name="codespell",
        tools=frozenset({"codespell"}),
        apply=correct,
        check="Check_Codespell",
        natures=frozenset({Nature.COMMENT, Nature.DOCSTRING, Nature.PROSE}),
    ),
)
