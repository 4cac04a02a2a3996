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
"""Check_DT_Design for Python: complete a test's docstring, keeping every word that is already there."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Final

from bot.gate.finding import Finding
from bot.repair.checks.dt_design import FIELDS, cpp_tests, function_name, missing_fields, python_tests
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.describe import describe
from bot.repair.recipes.docstrings import words_of
from bot.repair.recipes.text import Source, decode_python, decode_text, split_end, split_lines

Test = ast.FunctionDef | ast.AsyncFunctionDef
# A field that is there but not in the form the gate wants: other case, blank before the colon, full-width colon.
_NEARLY: Final = {field: re.compile(rf"^([ \t]*){field}[ \t]*[:：]", re.IGNORECASE | re.MULTILINE) for field in FIELDS}


@dataclass(frozen=True, slots=True)
class _Literal:
    """The docstring's literal in the text: offsets, prefix with quotes, closing quotes, body as written."""

    start: int
    end: int
    opening: str
    body: str
    closing: str


def complete(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Give the test the docstring lines it lacks; several tests of that name are all completed."""
    name = function_name(finding)
    if not scene.path.endswith(".py"):
        return _complete_cpp(content, name, scene.path)
    source = decode_python(content, scene.path)
    if isinstance(source, Reason):
        return source
    try:
        tests = [node for node in python_tests(content) if node.name == name]
    except (SyntaxError, ValueError) as error:
        return because("unreadable", file=scene.path, why=str(error))
    tests = [node for node in tests if missing_fields(ast.get_docstring(node, clean=False) or "")]
    if not tests:
        return because("no-file", name=name)
    text, span = source.text, (10**9, 0)
    for node in sorted(tests, key=lambda test: test.lineno, reverse=True):
        changed = _complete_one(text, source, node)
        if isinstance(changed, Reason):
            return changed
        text = changed
        last = node.body[0].end_lineno or node.lineno
        span = (min(span[0], node.lineno), max(span[1], last))
    return Edit(source.encode(text), Nature.DOCSTRING, span)


def _complete_one(text: str, source: Source, node: Test) -> str | Reason:
    first = node.body[0]
    if first.lineno == node.lineno or _header_end(text, node) == first.lineno:
        return because("docstring-form", name=node.name)
    holds = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    pad = split_lines(text)[first.lineno - 1][: first.col_offset]
    if not holds:
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant | ast.JoinedStr):
            return because("docstring-form", name=node.name)
        return _insert(text, source, node, pad)
    literal = _literal(text, first)
    if literal is None:
        return because("docstring-form", name=node.name)
    body = _completed_body(literal, pad, source.newline, describe(node))
    return text[: literal.start] + literal.opening + body + literal.closing + text[literal.end :]


def _header_end(text: str, node: Test) -> int:
    """Line of the colon that ends the ``def`` header: a body on the same line cannot take a docstring."""
    lines = split_lines(text)
    number = node.body[0].lineno
    before = lines[number - 1][: node.body[0].col_offset]
    return number if before.strip() else 0


def _insert(text: str, source: Source, node: Test, pad: str) -> str:
    lines = split_lines(text)
    newline = source.newline
    first = node.body[0]
    decorators = getattr(first, "decorator_list", [])
    at = min([first.lineno, *(item.lineno for item in decorators)]) - 1
    # Comments between the header and the first statement stay below the docstring.
    while (at > 0 and lines[at - 1].strip().startswith("#")) or (at > 0 and not lines[at - 1].strip()):
        at -= 1
    fields = describe(node)
    rows = [f'{pad}"""', *(f"{pad}{field}: {fields[field]}" for field in FIELDS), f'{pad}"""']
    return "".join(lines[:at]) + newline.join(rows) + newline + "".join(lines[at:])


def _literal(text: str, node: ast.stmt) -> _Literal | None:
    lines = split_lines(text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(row: int, column: int) -> int:
        return starts[row - 1] + len(lines[row - 1].encode("utf-8")[:column].decode("utf-8"))

    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    start, end = offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)
    match = re.fullmatch(r"([rRuU]?(\"\"\"|'''|\"|'))(.*)\2", text[start:end], re.DOTALL)
    if match is None or (len(match[2]) == 1 and "\n" in match[3]) or (len(match[2]) == 1 and match[2] in match[3]):
        return None
    quotes = match[2] * (3 // len(match[2]))
    prefix = match[1][: -len(match[2])]
    return _Literal(start, end, prefix + quotes, match[3], quotes)


def _completed_body(literal: _Literal, pad: str, newline: str, fields: dict[str, str]) -> str:
    body = literal.body
    for field, nearly in _NEARLY.items():
        body = (
            nearly.sub(rf"\g<1>{field}:", body, count=1)
            if not re.search(rf"^[ \t]*{field}:", body, re.MULTILINE)
            else body
        )
    for field in missing_fields(body):  # the word and its colon are there, but nothing behind them
        text = fields[field].replace("\\", "\\\\")
        body = re.sub(rf"^([ \t]*{field}:)[ \t]*$", rf"\g<1> {text}", body, flags=re.MULTILINE)
    rows = [split_end(line)[0] for line in split_lines(body)] or [""]
    while len(rows) > 1 and not rows[-1].strip():
        rows.pop()
    if len(rows) == 1 or rows[0].strip():
        rows[0] = rows[0].strip()
    rows[-1] = rows[-1].rstrip()
    # A field on the opening line is fine for the check, since the line holds only the quotes before it.
    for field in FIELDS:
        if not re.search(rf"^[ \t]*{field}:", "\n".join(rows), re.MULTILINE):
            rows.insert(_place(rows, field), f"{pad}{field}: {fields[field]}")
    if rows[0].strip() and rows[0].lstrip().startswith(tuple(f"{field}:" for field in FIELDS)):
        rows[0] = pad + rows[0].lstrip()
        rows.insert(0, "")
    return newline.join([*rows, pad])


def _place(rows: list[str], field: str) -> int:
    """Before the next field in order when that is there, else at the end."""
    later = FIELDS[FIELDS.index(field) + 1 :]
    for number, row in enumerate(rows):
        if any(re.match(rf"[ \t]*{name}:", row) for name in later):
            return number
    return len(rows)


def _complete_cpp(content: bytes, name: str, path: str) -> Edit | Reason:
    """The ``///`` lines above a gtest case; those that are there stay."""
    source = decode_text(content, path)
    if isinstance(source, Reason):
        return source
    lines = source.lines()
    cases = [case for case in cpp_tests(source.text) if name in {case[1], case[1].rpartition(".")[2]}]
    cases = [case for case in cases if missing_fields(case[2])]
    if not cases:
        return because("no-file", name=name)
    for line, case, block in reversed(cases):
        suite, _, test = case.partition(".")
        topic = " ".join(words_of(test))
        of = " ".join(word for word in words_of(suite) if word not in {"test", "tests"})
        fields = {
            "Feature": f"Test {topic} of {of}." if of else f"Test {topic}.",
            "Description": f"Run {case}.",
            "Expectation": "All expectations hold.",
        }
        rows = [f"/// {field}: {fields[field]}{source.newline}" for field in missing_fields(block)]
        lines[line:line] = rows
    first, last = cases[0][0] + 1, cases[-1][0] + 1
    return Edit(source.encode("".join(lines)), Nature.COMMENT, (first, last))


RECIPES: Final = (
    Recipe(
        name="test-docstring",
        tools=frozenset({"dt_design"}),
        apply=complete,
        check="Check_DT_Design",
        natures=frozenset({Nature.DOCSTRING, Nature.COMMENT}),
    ),
)
