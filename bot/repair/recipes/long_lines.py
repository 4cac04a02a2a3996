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
"""pylint C0301: wrap a line. Comments and docstrings by words, code by ruff's formatter on that statement alone."""

from __future__ import annotations

import ast
import io
import re
import tempfile
import tokenize
from pathlib import Path
from typing import Final

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.text import Source, decode_python, line_at, split_end, split_lines
from bot.repair.tools import CancelToken, ToolMissing, find_tool, run_tool

_LIMIT: Final = 120
_DIRECTIVE: Final = re.compile(
    r"#\s*(?:noqa|type:|pylint:|pragma|fmt:|isort:|mypy:|ruff:|!|-\*-|coding)|https?://\S{60,}", re.IGNORECASE
)
_FIXED_LAYOUT: Final = re.compile(r"^\s*(?:[-=+|]{3,}|\||>>>|\.\.\.\s|\.\. )|\S {3,}\S|\t")
_LIST_ITEM: Final = re.compile(r"^(\s*)((?:[-*+]|\d+[.)])\s+|(?:[\w.*`]+)(?:\s*\([^)]*\))?:\s+|:\w[\w ]*:\s+)?")


def limit_of(finding: Finding) -> int:
    """The gate's limit as its message tells it: ``Line too long (130/120)``; 120 when it does not."""
    said = re.search(r"\(\d+/(\d+)\)", finding.message)
    return int(said[1]) if said else _LIMIT


def wrap(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Bring one line below the limit without changing what the code means."""
    source = decode_python(content, scene.path)
    if isinstance(source, Reason):
        return source
    lines = source.lines()
    line = line_at(lines, finding.line, "the long line")
    if isinstance(line, Reason):
        return line
    limit = limit_of(finding)
    body, _ = split_end(line)
    if len(body) <= limit:
        return because("not-found-here", line=str(finding.line), what=f"more than {limit} characters")
    kind = _kind(source, finding.line)
    if kind is None:
        return because("unreadable", file=scene.path, why="it cannot be tokenised")
    name, column = kind
    if name == "comment":
        return _wrap_comment(source, lines, finding.line, limit)
    if name == "docstring":
        return _wrap_docstring(source, lines, finding.line, limit)
    if name == "trailing":
        lifted = _lift_comment(source, lines, finding.line, column, limit)
        if lifted is not None:
            return lifted
    if name == "string":
        return because("unsafe", why="the line is inside a string")
    return _reformat(source, finding.line, limit, scene.path)


def _kind(source: Source, number: int) -> tuple[str, int] | None:
    """What the line ends in (comment, trailing comment, docstring, string, code), and the column of that."""
    previous = tokenize.NEWLINE
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text, newline="").readline):
            if token.type == tokenize.COMMENT and token.start[0] == number:
                return ("trailing" if token.line[: token.start[1]].strip() else "comment", token.start[1])
            if token.type == tokenize.STRING and token.start[0] <= number <= token.end[0]:
                alone = previous in {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
                if alone and token.string[:1] in "\"'rRuU":
                    return ("docstring", 0)
                if token.start[0] != token.end[0]:
                    return ("string", 0)
            if token.type not in {tokenize.NL, tokenize.COMMENT, tokenize.ENCODING}:
                previous = token.type
    except (tokenize.TokenError, SyntaxError):
        return None
    return ("code", 0)


def _fill(words: list[str], first: str, rest: str, limit: int) -> list[str] | None:
    """Words in rows; ``None`` when one word alone is too long."""
    rows: list[str] = []
    row = first
    empty = True
    for word in words:
        if not empty and len(row) + 1 + len(word) > limit:
            rows.append(row)
            row, empty = rest, True
        row += word if empty else f" {word}"
        empty = False
        if len(row) > limit:
            return None
    return [*rows, row]


def _wrap_comment(source: Source, lines: list[str], number: int, limit: int) -> Edit | Reason:
    body, end = split_end(lines[number - 1])
    if _DIRECTIVE.search(body):
        return because("unsafe", why="the comment steers a tool or holds a long link")
    match = re.match(r"^(\s*#+:?\s*)(?:([-*]\s+))?", body)
    assert match is not None
    lead = match[1]
    if _FIXED_LAYOUT.search(body[len(lead) :]) or _is_code(body[len(lead) :]):
        return because("unsafe", why="the comment has a layout of its own")
    marker = match[2] or ""
    rows = _fill(body[len(lead) + len(marker) :].split(), lead + marker, lead + " " * len(marker), limit)
    if rows is None:
        return because("unsafe", why="one word is longer than a line")
    lines[number - 1] = (end or source.newline).join(rows) + end
    return Edit(source.encode("".join(lines)), Nature.COMMENT, (number, number))


def _is_code(text: str) -> bool:
    """Whether a comment is code that was commented out: it parses and is more than words."""
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError):
        return False
    return bool(tree.body) and not (isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Name))


def _wrap_docstring(source: Source, lines: list[str], number: int, limit: int) -> Edit | Reason:
    body, end = split_end(lines[number - 1])
    if "__doc__" in source.text:
        return because("unsafe", why="the program reads its own docstring")
    if _FIXED_LAYOUT.search(body.strip()) or re.search(r"https?://\S{60,}", body) or _in_block(lines, number):
        return because("unsafe", why="the docstring line has a layout of its own")
    if re.match(r"^\s*[rRuU]?(\"\"\"|''').*\1\s*$", body):
        return _wrap_one_line_docstring(source, lines, number, limit)
    if '"""' in body or "'''" in body:
        return because("unsafe", why="the summary line of a docstring has to be shortened by a person")
    match = _LIST_ITEM.match(body)
    assert match is not None
    pad, marker = match[1], match[2] or ""
    hang = pad + ("    " if marker.rstrip().endswith(":") else " " * len(marker))
    rows = _fill(body[len(pad) + len(marker) :].split(), pad + marker, hang, limit)
    if rows is None:
        return because("unsafe", why="one word is longer than a line")
    lines[number - 1] = (end or source.newline).join(rows) + end
    return Edit(source.encode("".join(lines)), Nature.DOCSTRING, (number, number))


def _in_block(lines: list[str], number: int) -> bool:
    """Whether the line belongs to a doctest or to a literal block (deeper than a line that ends in ``::``)."""
    depth = len(lines[number - 1]) - len(lines[number - 1].lstrip())
    for line in reversed(lines[: number - 1]):
        text = line.strip()
        if text.startswith((">>>", '"""', "'''")):
            return text.startswith(">>>")
        if text and len(line) - len(line.lstrip()) < depth:
            return text.endswith("::") or text.startswith(".. code")
    return False


def _wrap_one_line_docstring(source: Source, lines: list[str], number: int, limit: int) -> Edit | Reason:
    body, end = split_end(lines[number - 1])
    match = re.match(r"^(\s*)([rRuU]?)(\"\"\"|''')(.*)\3\s*$", body)
    if match is None or "\\" in match[4] or (number >= 2 and lines[number - 2].rstrip().endswith("\\")):
        return because("unsafe", why="the docstring's line cannot be split")
    pad, prefix, quotes, text = match.groups()
    rows = _fill(text.split(), f"{pad}{prefix}{quotes}", pad, limit)
    if rows is None:
        return because("unsafe", why="one word is longer than a line")
    newline = end or source.newline
    lines[number - 1] = newline.join([*rows, f"{pad}{quotes}"]) + end
    return Edit(source.encode("".join(lines)), Nature.DOCSTRING, (number, number))


def _lift_comment(source: Source, lines: list[str], number: int, column: int, limit: int) -> Edit | None:
    """Put a trailing comment on lines of its own above the statement, when the code alone is short enough."""
    body, end = split_end(lines[number - 1])
    code, comment = body[:column].rstrip(), body[column:]
    if len(code) > limit or _DIRECTIVE.search(comment) or not _starts_statement(source, number):
        return None
    pad = code[: len(code) - len(code.lstrip())]
    if re.match(r"(?:elif|else|except|finally|case)\b", code.strip()):
        return None
    rows = _fill(comment.lstrip("#").split(), f"{pad}# ", f"{pad}# ", limit)
    if rows is None:
        return None
    newline = end or source.newline
    lines[number - 1] = newline.join([*rows, code]) + end
    return Edit(source.encode("".join(lines)), Nature.COMMENT, (number, number))


def _starts_statement(source: Source, number: int) -> bool:
    """Whether a statement starts on the line, so that a comment above it is not inside an expression or a string."""
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, ast.stmt) and node.lineno == number for node in ast.walk(tree))


def _reformat(source: Source, number: int, limit: int, path: str) -> Edit | Reason:
    """Let ruff lay out the one statement; quotes stay, and the guard proves that the tree is the same."""
    try:
        tree = ast.parse(source.text)
        ruff = find_tool("ruff")
    except (SyntaxError, ValueError) as error:
        return because("unreadable", file=path, why=str(error))
    except ToolMissing:
        return because("check-unavailable", check="ruff", why="ruff is not installed or does not run here")
    place = _statement(tree, number)
    if place is None:
        return because("not-found-here", line=str(number), what="a statement")
    first, last = place
    options = ["--isolated", "--line-length", str(limit), "--config", 'format.quote-style="preserve"']
    command = [ruff, "format", *options, "--range", f"{first}-{last + 1}", "--stdin-filename", "x.py", "-"]
    with tempfile.TemporaryDirectory(prefix="gatebot-format-") as directory:
        done = run_tool(command, tree=Path(directory), cancel=CancelToken(), stdin=source.text.encode("utf-8"))
    new = done.stdout.decode("utf-8", "replace")
    if done.code != 0 or new == source.text:
        return because("unsafe", why="the statement has no place to break")
    grown = len(split_lines(new)) - len(source.lines())
    if any(len(split_end(row)[0]) > limit for row in split_lines(new)[first - 1 : last + grown]):
        return because("unsafe", why="a string or a name in the statement is longer than a line")
    return Edit(source.encode(new), Nature.WHITESPACE, (first, last))


def _statement(tree: ast.Module, number: int) -> tuple[int, int] | None:
    """Lines of the simple statement, or of the header of the compound one, that holds the line."""
    best: tuple[int, int] | None = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or node.end_lineno is None:
            continue
        first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
        body = getattr(node, "body", None)
        last = min(child.lineno for child in body) - 1 if isinstance(body, list) and body else node.end_lineno
        last = max(last, first)
        if first <= number <= last and (best is None or last - first < best[1] - best[0]):
            best = (first, last)
    return best


RECIPES: Final = (
    Recipe(
        name="line-too-long",
        tools=frozenset({"pylint"}),
        rules=frozenset({"C0301"}),
        apply=wrap,
        check="Check_Pylint",
        natures=frozenset({Nature.WHITESPACE, Nature.COMMENT, Nature.DOCSTRING}),
    ),
)
