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
"""Which characters of a file are prose: comments, docstrings, running text. A spelling fix may touch nothing else."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import PurePosixPath
from typing import Final

from bot.repair.recipes.text import Source, split_lines

Spans = list[tuple[int, int]]  # half-open character columns of one line

_SLASH: Final = frozenset(
    {".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hxx", ".cu", ".java", ".js", ".ts", ".go", ".rs"}
)
_HASH: Final = frozenset(
    {".sh", ".bash", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".cmake", ".mk", ".rb", ".pl", ".r"}
)
_MARKDOWN: Final = frozenset({".md", ".markdown"})
_PLAIN: Final = frozenset({".txt"})
_HASH_NAMES: Final = frozenset({"CMakeLists.txt", "Makefile", "Dockerfile"})
# Inside prose these still are code: `inline code`, URLs, addresses, paths and dotted or snake_case names.
_CODE_IN_PROSE: Final = re.compile(
    r"``.+?``|`[^`\n]+`|\b[a-zA-Z][a-zA-Z0-9+.-]*://\S+|www\.\S+|\S+@\S+\.\S+|<[^<>\n]+>|\]\([^)\n]*\)|\[[^\]\n]+\]:\s*\S+"
    r"|\w+(?:[._/\\]\w+)+|\w+\(|:\w+:|--?\w[\w-]*|\$\w+|@\w+|%\w|#\w\S*"
)
_HIDDEN: Final = re.compile(
    r"pylint:|noqa|type:\s*ignore|nolint|pragma|fmt:|isort:|-\*-|coding[:=]|shellcheck|cspell|codespell", re.I
)


def prose_spans(source: Source, path: str) -> list[Spans] | None:
    """Prose of each line (0-based list), or ``None`` when the kind of file is not known or cannot be read."""
    pure = PurePosixPath(path)
    suffix = pure.suffix.lower()
    lines = split_lines(source.text)
    if suffix in {".py", ".pyi"}:
        spans = _python(source.text, len(lines))
    elif pure.name in _HASH_NAMES or suffix in _HASH:
        spans = _hash_comments(lines)
    elif suffix in _MARKDOWN:
        spans = _markdown(lines)
    elif suffix in _SLASH:
        spans = _slash_comments(lines)
    elif suffix in _PLAIN:
        spans = [[(0, len(line))] for line in lines]
    else:
        return None
    return None if spans is None else [_without_code(line, row) for line, row in zip(lines, spans, strict=True)]


def _without_code(line: str, spans: Spans) -> Spans:
    if _HIDDEN.search(line):
        return []
    holes = [match.span() for match in _CODE_IN_PROSE.finditer(line)]
    result = []
    for start, end in spans:
        at = start
        for low, high in holes:
            if high <= at or low >= end:
                continue
            if low > at:
                result.append((at, low))
            at = max(at, high)
        if at < end:
            result.append((at, end))
    return result


def _python(text: str, count: int) -> list[Spans] | None:
    spans: list[Spans] = [[] for _ in range(count)]
    previous = tokenize.NEWLINE
    lines = split_lines(text)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.COMMENT:
                spans[token.start[0] - 1].append((token.start[1] + 1, token.end[1]))
                continue
            alone = previous in {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
            if token.type == tokenize.STRING and alone and token.string[:1] in "\"'rRuU":
                _add_docstring(spans, lines, token)
            if token.type not in {tokenize.NL, tokenize.ENCODING}:
                previous = token.type
    except (tokenize.TokenError, SyntaxError):
        return None
    return spans


def _add_docstring(spans: list[Spans], lines: list[str], token: tokenize.TokenInfo) -> None:
    doctest = False
    for number in range(token.start[0], token.end[0] + 1):
        line = lines[number - 1]
        stripped = line.strip()
        doctest = stripped.startswith((">>>", "...")) or (doctest and bool(stripped))
        if not doctest:
            start = token.start[1] if number == token.start[0] else 0
            spans[number - 1].append((start, token.end[1] if number == token.end[0] else len(line)))


def _hash_comments(lines: list[str]) -> list[Spans]:
    """Whole-line ``#`` comments only: whether a later ``#`` opens one depends on each language's quoting."""
    return [[(len(line) - len(line.lstrip()) + 1, len(line))] if re.match(r"\s*#(?!!)", line) else [] for line in lines]


def _slash_comments(lines: list[str]) -> list[Spans]:
    spans: list[Spans] = []
    block = False
    for line in lines:
        row: Spans = []
        at = 0
        quote = ""
        while at < len(line):
            if block:
                end = line.find("*/", at)
                row.append((at, len(line) if end < 0 else end))
                block = end < 0
                at = len(line) if end < 0 else end + 2
            elif quote:
                quote = "" if line[at] == quote else quote
                at += 2 if line[at] == "\\" else 1
            elif line.startswith("//", at):
                row.append((at + 2, len(line)))
                at = len(line)
            elif line.startswith("/*", at):
                block, at = True, at + 2
            else:
                quote = line[at] if line[at] in "\"'`" else ""
                at += 1
        spans.append(row)
    return spans


def _markdown(lines: list[str]) -> list[Spans]:
    from markdown_it import MarkdownIt

    spans: list[Spans] = [[] for _ in lines]
    for token in MarkdownIt("commonmark").enable("table").parse("".join(lines)):
        if token.type == "inline" and token.map is not None:
            for number in range(token.map[0], min(token.map[1], len(lines))):
                spans[number] = [(0, len(lines[number]))]
    return spans
