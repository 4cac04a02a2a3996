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
"""pylint W0611: remove one unused name from its import, when nothing else can need it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

import libcst as cst

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.import_facts import doubts
from bot.repair.recipes.syntax import Parsed, parse

_FORMS: Final = (
    re.compile(r"^Unused (?P<name>\S+) imported from (?P<module>\S+) as (?P<bound>\S+)$"),
    re.compile(r"^Unused (?P<name>\S+) imported from (?P<module>\S+)$"),
    re.compile(r"^Unused (?P<module>\S+) imported as (?P<bound>\S+)$"),
    re.compile(r"^Unused import (?P<module>\S+)$"),
)
_KEEP: Final = re.compile(
    r"noqa|pylint|side.?effect|regist|keep|needed|required|type:|isort|nosec|副作用|注册|保留", re.I
)

Statement = cst.Import | cst.ImportFrom


@dataclass(frozen=True, slots=True)
class Unused:
    """What pylint says is unused. ``name`` is empty for ``import module``; ``bound`` is the name in this file."""

    module: str
    name: str
    bound: str


def read_message(message: str) -> Unused | None:
    """pylint's four sentences; anything else (such as a wildcard import) is ``None``."""
    words = message.partition(" (unused-import)")[0].strip().removesuffix(".")
    for form in _FORMS:
        match = form.match(words)
        if match is not None:
            parts = match.groupdict()
            name = parts.get("name") or ""
            return Unused(parts["module"], name, parts.get("bound") or name or parts["module"])
    return None


def remove(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Take the name out of its import statement, or the whole statement when it was the only one."""
    unused = read_message(finding.message)
    if unused is None:
        return because("not-found-here", line=str(finding.line), what=finding.message[:60])
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    found = _find(parsed, unused, finding.line)
    if found is None:
        return because("not-found-here", line=str(finding.line), what=f"import {unused.bound}")
    statement, alias = found
    refusal = _context_refusal(parsed, statement, scene.path) or doubts(parsed, statement, alias, scene)
    if refusal is not None:
        return refusal
    aliases = statement.names
    assert not isinstance(aliases, cst.ImportStar)
    if len(aliases) > 1:
        smaller = statement.with_changes(names=_without(list(aliases), alias))
        return Edit(parsed.replace(statement, smaller), Nature.UNUSED_IMPORT, parsed.span(statement))
    return _drop_statement(parsed, statement)


def _find(parsed: Parsed, unused: Unused, line: int) -> tuple[Statement, cst.ImportAlias] | None:
    statements: list[Statement] = [*parsed.each(cst.Import), *parsed.each(cst.ImportFrom)]
    for statement in statements:
        first, last = parsed.span(statement)
        if not first <= line <= last or isinstance(statement.names, cst.ImportStar):
            continue
        for alias in statement.names:
            name = parsed.code(alias.name)
            bound = parsed.code(alias.asname.name) if alias.asname else name
            wanted = unused.name if isinstance(statement, cst.ImportFrom) else unused.module
            # "import a.b" binds "a" and pylint names either the whole path or, with an alias, the module.
            if name == wanted and bound == unused.bound and bool(unused.name) == isinstance(statement, cst.ImportFrom):
                return statement, alias
    return None


def _context_refusal(parsed: Parsed, statement: Statement, path: str) -> Reason | None:
    if PurePosixPath(path).name == "__init__.py":
        return because("import-in-init")
    for ancestor in parsed.ancestors(statement):
        if isinstance(ancestor, cst.Try | cst.TryStar | cst.ExceptHandler | cst.Finally):
            return because("import-conditional")
        if isinstance(ancestor, cst.If) and "TYPE_CHECKING" not in parsed.code(ancestor.test):
            return because("import-conditional")
        if isinstance(ancestor, cst.With):
            return because("import-conditional")
    first, last = parsed.span(statement)
    lines = parsed.source.lines()
    comments = [line.partition("#")[2] for line in lines[first - 1 : last] if "#" in line]
    above = lines[first - 2].strip() if first >= 2 else ""
    if any(_KEEP.search(comment) for comment in comments) or (above.startswith("#") and _KEEP.search(above)):
        return because("import-comment")
    return None


def _without(aliases: list[cst.ImportAlias], alias: cst.ImportAlias) -> list[cst.ImportAlias]:
    index = aliases.index(alias)
    left = aliases[:index] + aliases[index + 1 :]
    if index == len(aliases) - 1:
        left[-1] = left[-1].with_changes(comma=alias.comma)
    return left


def _drop_statement(parsed: Parsed, statement: Statement) -> Edit | Reason:
    line = parsed.parents[statement]
    block = parsed.parents[line]
    first, last = parsed.span(statement)
    if not isinstance(line, cst.SimpleStatementLine) or not isinstance(block, cst.Module | cst.IndentedBlock):
        return because("unsafe", why="the import shares its line with a compound statement")
    if len(line.body) > 1:
        rest = [part for part in line.body if part is not statement]
        rest[-1] = rest[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
        return Edit(parsed.replace(line, line.with_changes(body=rest)), Nature.UNUSED_IMPORT, (first, last))
    if isinstance(block, cst.IndentedBlock) and len(block.body) == 1:
        return because("unsafe", why="the import is the only statement of its block")
    lines = parsed.source.lines()
    before, after = lines[: first - 1], lines[last:]
    reach = last
    # Do not leave a wider gap than there was: one of two blank neighbours goes with the line.
    if after and not after[0].strip() and (not before or not before[-1].strip()):
        after, reach = after[1:], last + 1
    return Edit(parsed.source.encode("".join(before + after)), Nature.UNUSED_IMPORT, (first, reach))


RECIPES: Final = (
    Recipe(
        name="unused-import",
        tools=frozenset({"pylint"}),
        rules=frozenset({"W0611"}),
        apply=remove,
        check="Check_Pylint",
        natures=frozenset({Nature.UNUSED_IMPORT}),
    ),
)
