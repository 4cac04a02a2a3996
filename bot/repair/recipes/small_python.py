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
"""C0305 blank lines at the end, W1309 needless f prefix, W0107 needless pass, W0301 needless semicolon."""

from __future__ import annotations

from typing import Final

import libcst as cst

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Apply, Edit, Nature, Recipe, Scene
from bot.repair.recipes.syntax import nearest, parse
from bot.repair.recipes.text import decode


def end_once(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Leave one line end at the end of the file."""
    source = decode(content, scene.path)
    if isinstance(source, Reason):
        return source
    lines = source.lines()
    kept = len(lines)
    while kept > 1 and not lines[kept - 1].strip():
        kept -= 1
    if kept == len(lines):
        return because("not-found-here", line=str(finding.line), what="blank lines at the end")
    return Edit(source.encode("".join(lines[:kept])), Nature.WHITESPACE, (kept + 1, len(lines) + 1))


def plain_string(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Take the ``f`` off a string without placeholders; doubled braces become single ones."""
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    found = [
        node
        for node in parsed.on_line(cst.FormattedString, finding.line)
        if all(isinstance(part, cst.FormattedStringText) for part in node.parts)
    ]
    if not found:
        return because("not-found-here", line=str(finding.line), what="an f-string without placeholders")
    node = nearest(parsed, found, finding.column)[0]
    if isinstance(parsed.parents[node], cst.ConcatenatedString):
        return because("unsafe", why="the string is part of a joined one")
    text = "".join(part.value for part in node.parts if isinstance(part, cst.FormattedStringText))
    prefix = node.start.rstrip("\"'").lower().replace("f", "")
    quotes = node.start.lstrip("rRfF")
    value = f"{prefix}{quotes}{text.replace('{{', '{').replace('}}', '}')}{node.end}"
    return Edit(parsed.replace(node, cst.SimpleString(value, node.lpar, node.rpar)), Nature.CODE, parsed.span(node))


def drop_pass(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Remove a ``pass`` beside other statements."""
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    for node in parsed.on_line(cst.Pass, finding.line):
        line = parsed.parents[node]
        block = parsed.parents[line]
        alone = isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
        if not alone or not isinstance(block, cst.IndentedBlock) or len(block.body) < 2:
            return because("unsafe", why="the pass shares its line or is the whole block")
        assert isinstance(line, cst.SimpleStatementLine)
        if line.trailing_whitespace.comment is not None:
            return because("unsafe", why="a comment stands behind the pass")
        lines = parsed.source.lines()
        del lines[finding.line - 1]
        return Edit(parsed.source.encode("".join(lines)), Nature.CODE, (finding.line, finding.line))
    return because("not-found-here", line=str(finding.line), what="pass")


def drop_semicolon(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Remove the semicolon at the end of a statement."""
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    for line in parsed.each(cst.SimpleStatementLine):
        last = line.body[-1]
        first, end = parsed.span(last)
        if first <= finding.line <= end and isinstance(last.semicolon, cst.Semicolon):
            changed = line.with_changes(body=[*line.body[:-1], last.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
            return Edit(parsed.replace(line, changed), Nature.WHITESPACE, (first, end))
    return because("not-found-here", line=str(finding.line), what=";")


def _recipe(name: str, rule: str, apply: Apply, nature: Nature, *, whole: bool = False) -> Recipe:
    return Recipe(
        name=name,
        tools=frozenset({"pylint"}),
        rules=frozenset({rule}),
        apply=apply,
        check="Check_Pylint",
        natures=frozenset({nature}),
        whole_file=whole,
    )


RECIPES: Final = (
    _recipe("blank-lines-at-end", "C0305", end_once, Nature.WHITESPACE, whole=True),
    _recipe("needless-f-prefix", "W1309", plain_string, Nature.CODE),
    _recipe("needless-pass", "W0107", drop_pass, Nature.CODE),
    _recipe("needless-semicolon", "W0301", drop_semicolon, Nature.WHITESPACE),
)
