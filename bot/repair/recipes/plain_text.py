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
"""Check_Tab and Check_Utf8: tabs to blanks where they only lay out, GBK to UTF-8 where the bytes are plainly GBK."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import PurePosixPath
from typing import Final

from bot.gate.finding import Finding
from bot.repair.checks.native import CLANG_FORMAT_STYLE, wants_cxx
from bot.repair.checks.plain_text import first_bad_byte, may_lose_tabs
from bot.repair.guard_proof import proves
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Apply, Edit, Nature, Recipe, Scene
from bot.repair.recipes.strings import string_spans
from bot.repair.recipes.text import Source, decode, split_end, split_lines

_COOKIE: Final = re.compile(rb"^([ \t\f]*#.*?coding[:=][ \t]*)([-\w.]+)", re.MULTILINE)
_WIDTH: Final = 4


def expand_tabs(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Blanks for the tabs of the reported lines; ``\\t`` in strings of Python, nothing in other strings."""
    path = scene.path
    if not may_lose_tabs(path):
        return because("unsafe", why="tabs are part of this kind of file")
    source = decode(content, path)
    if isinstance(source, Reason):
        return source
    lines = source.lines()
    rows = _rows(lines, scene.findings or (finding,))
    if not rows:
        return because("not-found-here", line=str(finding.line), what="a tab")
    text = _python(source, lines, rows) if path.endswith((".py", ".pyi")) else _other(source, lines, rows, scene)
    if isinstance(text, Reason):
        return text
    new = source.encode(text)
    for nature in (Nature.WHITESPACE, Nature.COMMENT):
        if proves(nature, content, new, path):
            return Edit(new, nature)
    return because("unproven", nature=Nature.WHITESPACE.value)


def _rows(lines: list[str], findings: tuple[Finding, ...]) -> list[int]:
    """1-based lines to edit: the reported ones, or all with a tab when earlier edits moved them but the count fits."""
    tabbed = [number for number, line in enumerate(lines, 1) if "\t" in line]
    reported = {finding.line for finding in findings}
    if reported <= set(tabbed):
        return sorted(reported)
    return tabbed if len(reported) == len(tabbed) else []


def _python(source: Source, lines: list[str], rows: list[int]) -> str | Reason:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source.text, newline="").readline))
    except (tokenize.TokenError, SyntaxError) as error:
        return because("unreadable", file="", why=str(error))
    held: dict[int, list[tuple[int, int]]] = {}
    for token in tokens:
        if token.type == tokenize.STRING and "\t" in token.string:
            raw = "r" in token.string[: token.string.index(token.string[-1])].lower()
            if token.start[0] != token.end[0] or raw:
                if any(row in range(token.start[0], token.end[0] + 1) for row in rows):
                    return because("string-content")
                continue
            held.setdefault(token.start[0], []).append((token.start[1], token.end[1]))
    before = ast.dump(ast.parse(source.text))
    for width in (_WIDTH, 8):
        changed = list(lines)
        for row in rows:
            changed[row - 1] = _python_line(lines[row - 1], held.get(row, []), width)
        text = "".join(changed)
        try:
            if ast.dump(ast.parse(text)) == before:
                return text
        except SyntaxError:
            continue
    return because("unsafe", why="tabs and blanks are mixed in a way that decides the structure")


def _python_line(line: str, strings: list[tuple[int, int]], width: int) -> str:
    for start, end in reversed(strings):
        line = line[:start] + line[start:end].replace("\t", "\\t") + line[end:]
    body = line.lstrip("\t ")
    lead = line[: len(line) - len(body)]
    return lead.replace("\t", " " * width) + body.replace("\t", " ")


def _other(source: Source, lines: list[str], rows: list[int], scene: Scene) -> str | Reason:
    pure = PurePosixPath(scene.path)
    spans = string_spans(source.text, scene.path)
    if spans is None and pure.suffix.lower() not in {".md", ".markdown", ".txt", ".yaml", ".yml", ".rst"}:
        return because("unsafe", why="it is not known where strings are in this kind of file")
    width = _WIDTH
    style = scene.rules.get(CLANG_FORMAT_STYLE)
    if wants_cxx(scene.path):
        said = re.search(rb"^IndentWidth:\s*(\d+)", style or b"", re.MULTILINE)
        width = int(said[1]) if said else (2 if style and b"Google" in style else _WIDTH)
    changed = list(lines)
    for row in rows:
        line = lines[row - 1]
        if spans is not None and any("\t" in line[start:end] for start, end in spans[row - 1]):
            return because("string-content")
        body, end = split_end(line)
        changed[row - 1] = body.expandtabs(width).rstrip() + end if body.strip() else end
    return "".join(changed)


def to_utf8(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Re-encode a GBK or UTF-16 file. Only text that is wholly common Chinese is believed to be GBK."""
    if first_bad_byte(content) < 0:
        return because("not-found-here", line="0", what="a byte that is not UTF-8")
    text = _decoded(content)
    if text is None:
        return because("unsafe", why="the bytes are not plainly GBK; the encoding is not known")
    new = text.encode("utf-8")
    if scene.path.endswith(".py"):
        head = b"\n".join(new.split(b"\n")[:2])
        new = _COOKIE.sub(rb"\g<1>utf-8", head, count=1) + new[len(head) :]
    return Edit(new, Nature.ENCODING)


def _decoded(content: bytes) -> str | None:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError:
            return None
    try:
        text = content.decode("gb18030")
    except UnicodeDecodeError:
        return None
    foreign = [char for char in text if ord(char) > 0x7F]
    common = [char for char in foreign if _in_gb2312(char)]
    chinese = [char for char in foreign if "\u4e00" <= char <= "\u9fff"]
    mixed = any(
        len(run) >= 2 for run in re.findall(rb"(?:[\xe4-\xe9][\x80-\xbf]{2})+", content) if _is_utf8_chinese(run)
    )
    return text if foreign and len(common) == len(foreign) and chinese and not mixed else None


def _in_gb2312(char: str) -> bool:
    try:
        char.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


def _is_utf8_chinese(run: bytes) -> bool:
    """Whether a run of bytes reads as common Chinese in UTF-8 too: then the file mixes encodings, or may."""
    try:
        text = run.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return len(text) >= 2 and all(_in_gb2312(char) for char in text)


def end_file(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """One newline at the end, for checks other than pylint's."""
    source = decode(content, scene.path)
    if isinstance(source, Reason):
        return source
    if not source.text or source.text.endswith(("\n", "\r")):
        return because("not-found-here", line=str(finding.line), what="a missing final newline")
    last = len(split_lines(source.text))
    return Edit(source.encode(source.text + source.newline), Nature.WHITESPACE, (last, last))


def _recipe(name: str, tool: str, apply: Apply, check: str, natures: set[Nature]) -> Recipe:
    return Recipe(name, frozenset({tool}), apply, check, frozenset(natures), whole_file=True)


RECIPES: Final = (
    _recipe("tabs", "tab", expand_tabs, "Check_Tab", {Nature.WHITESPACE, Nature.COMMENT}),
    _recipe("utf-8", "utf8", to_utf8, "Check_Utf8", {Nature.ENCODING}),
)
