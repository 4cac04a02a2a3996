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
"""Slash commands in a comment: read from the Markdown tree, so that quoting a command never runs it.

A command stands at the start of a source line that the Markdown parser (CommonMark) sees as ordinary text. Lines inside
code (fenced, indented, inline), quotes, links, images, struck-out text, HTML blocks, HTML tags and HTML comments are
not commands. Only paragraphs that hold a candidate are parsed inline, and only as much text is read as the forge
stores, so hostile input costs time in proportion to its length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.intake.distance import edit_distance
from bot.intake.grammar import DEFAULT_GRAMMAR, FOREIGN_COMMANDS, FOREIGN_PREFIXES, MAX_WORD, Grammar, fold

MAX_COMMANDS = 10
MAX_NEAR_MISSES = 3
MAX_CHARS = 65_536  # the forge keeps comments of at most 65 535 characters
_MAX_ARGUMENTS = 200

_INVISIBLE = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
_CANDIDATE = re.compile(rf"^[\s{_INVISIBLE}]*[/／](?=\S|[^\S\n]+\S)")
_DROP_INVISIBLE = re.compile(f"[{_INVISIBLE}]")
_TRAILING_PUNCTUATION = ".,;:!?。，；：！？、~～"
_MARK_BASE = 0xF0000  # a private-use plane: one mark per candidate shows where the inline parser put it
_MARK_RANGE = re.compile("[\U000f0000-\U000fffff]")

_markdown = MarkdownIt("commonmark").enable("strikethrough").disable(["emphasis", "entity"])


@dataclass(frozen=True)
class Command:
    """One command: canonical ``name``, ``arguments`` (blanks folded), ``typed`` as the author wrote it."""

    name: str
    arguments: str
    typed: str


@dataclass(frozen=True)
class NearMiss:
    """A word that is no command but probably meant one."""

    typed: str
    meant: str


@dataclass(frozen=True)
class ParsedComment:
    """What a comment asks for, in the order typed; ``dropped`` counts commands beyond the cap."""

    commands: tuple[Command, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    dropped: int = 0


def parse_comment(text: str, grammar: Grammar = DEFAULT_GRAMMAR) -> ParsedComment:
    """Commands and near misses of one comment, in order.

    At most ``MAX_COMMANDS`` commands are taken; the number of those left out is told. A word that is neither a command
    nor close to one, or that belongs to another robot, is passed over in silence.
    """
    commands: list[Command] = []
    misses: dict[str, NearMiss] = {}
    dropped = 0
    for line in _command_lines(text[:MAX_CHARS]):
        found = _read_line(line, grammar)
        if isinstance(found, NearMiss):
            if len(misses) < MAX_NEAR_MISSES:
                misses.setdefault(found.typed, found)
        elif found is not None and len(commands) < MAX_COMMANDS:
            commands.append(found)
        elif found is not None:
            dropped += 1
    return ParsedComment(tuple(commands), tuple(misses.values()), dropped)


def _command_lines(text: str) -> Iterator[str]:
    """Source lines that start with a slash and are ordinary text, without their leading blanks and slash."""
    source = re.sub(r"\r\n?", "\n", text).replace("\x00", "\ufffd")
    lines = _MARK_RANGE.sub("\ufffd", source).split("\n")
    candidates = {number for number, line in enumerate(lines) if _CANDIDATE.match(line)}
    if not candidates:
        return
    tokens: list[Token] = []
    environment: dict[str, object] = {}
    _markdown.block.parse("\n".join(lines), _markdown, environment, tokens)
    commented = _CommentSpans(lines)
    quoted = 0
    for token in tokens:
        if token.type in ("blockquote_open", "blockquote_close"):
            quoted += token.nesting
        if token.type != "inline" or token.map is None:
            continue
        start, end = token.map
        commented.notice(start, end)
        if quoted or candidates.isdisjoint(range(start, end)):
            continue
        for number in _plain_lines(lines, start, end, candidates, environment):
            if not commented.covers(number):
                yield _CANDIDATE.sub("", lines[number], count=1)


def _plain_lines(
    lines: list[str], start: int, end: int, candidates: set[int], environment: dict[str, object]
) -> list[int]:
    """Which candidates of one paragraph the inline parser leaves as text outside links and struck-out text.

    The leading slash of each candidate is replaced by a mark of its own; where the marks turn up in the tree tells.
    """
    marked = [
        _CANDIDATE.sub(chr(_MARK_BASE + number), lines[number], count=1) if number in candidates else lines[number]
        for number in range(start, end)
    ]
    children: list[Token] = []
    _markdown.inline.parse("\n".join(marked), _markdown, environment, children)
    plain: list[int] = []
    depth = 0
    for child in children:
        if child.type in ("link_open", "link_close", "s_open", "s_close"):
            depth += child.nesting
        elif child.type == "text" and depth == 0:
            plain.extend(ord(mark) - _MARK_BASE for mark in _MARK_RANGE.findall(child.content))
    return plain


class _CommentSpans:
    """HTML comments that begin inside a paragraph and end after a blank line.

    CommonMark reads those as text, but browsers and people read them as a comment, so nothing in them is a command.
    """

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._until = -1
        self._searched_from = len(lines)

    def notice(self, start: int, end: int) -> None:
        """Look at the paragraph of lines ``start`` to ``end`` (exclusive) for a comment left open."""
        tail = "\n".join(self._lines[start:end]).rpartition("<!--")
        if not tail[1] or "-->" in tail[2] or start <= self._until or end >= self._searched_from:
            return
        closing = next((n for n in range(end, len(self._lines)) if "-->" in self._lines[n]), None)
        if closing is None:
            self._searched_from = end  # nothing closes below: no need to look again
        else:
            self._until = closing

    def covers(self, number: int) -> bool:
        """Whether a line lies in such a comment (lines are asked about in order)."""
        return number <= self._until


def _read_line(rest: str, grammar: Grammar) -> Command | NearMiss | None:
    """What the text after the slash says."""
    visible = _DROP_INVISIBLE.sub("", rest[: _MAX_ARGUMENTS + 10 * MAX_WORD])
    detached = visible[:1].isspace()
    word, *tail = visible.split(None, 1) or [""]
    if not word or len(word) > MAX_WORD:
        return None
    folded = fold(word)
    arguments = _arguments(tail[0] if tail else "")
    name = grammar.words.get(folded)
    if name and not detached:
        return Command(name=name, arguments=arguments, typed=f"/{word}")
    if name:
        return NearMiss(typed=f"/ {word}", meant=f"/{name}")
    meant = _nearest(folded, grammar)
    return NearMiss(typed=f"/{word}", meant=f"/{meant}") if meant else None


def _arguments(text: str) -> str:
    without_comments = re.sub(r"<!--[^>]*-->", " ", text)
    return " ".join(unicodedata.normalize("NFKC", without_comments).split())[:_MAX_ARGUMENTS]


def _nearest(word: str, grammar: Grammar) -> str:
    """The command that ``word`` probably means, or nothing.

    A near miss is a command with a full stop behind it, the beginning of exactly one command (four letters or more),
    or a word one slip away (two for words of six letters or more). Paths and other robots' words are never near.
    """
    bare = word.rstrip(_TRAILING_PUNCTUATION)
    if bare in grammar.words:
        return grammar.words[bare]
    if bare in FOREIGN_COMMANDS or bare.startswith(FOREIGN_PREFIXES) or re.search(r"[/.\\]", bare):
        return ""
    begun = {name for known, name in grammar.words.items() if len(bare) >= 4 and known.startswith(bare)}
    if len(begun) == 1:
        return begun.pop()
    best = min(((edit_distance(bare, known, 2), known) for known in grammar.words), default=(9, ""))
    allowed = 0 if len(best[1]) <= 2 else 1 if len(best[1]) <= 5 else 2
    return grammar.words[best[1]] if best[0] <= allowed else ""
