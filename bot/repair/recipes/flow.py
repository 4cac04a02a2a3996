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
"""pylint R1705, R1720, R1723, R1724: no ``else`` after a branch that always leaves."""

from __future__ import annotations

from typing import Final

import libcst as cst

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.syntax import parse

_LEAVES: Final = (cst.Return, cst.Raise, cst.Continue, cst.Break)


def flatten(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Turn ``if … return / elif … / else …`` into statements that follow each other."""
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    found = [node for node in parsed.on_line(cst.If, finding.line) if node.orelse is not None]
    found = [node for node in found if not isinstance(parsed.parents[node], cst.If)]
    if len(found) != 1:
        return because("not-found-here", line=str(finding.line), what="if … else")
    node = found[0]
    if not _leaves(node.body):
        return because("unsafe", why="the branch does not always leave")
    flat = _flat(node)
    if flat is None:
        return because("unsafe", why="a branch is written on one line")
    holder = parsed.parents[node]
    if not isinstance(holder, cst.IndentedBlock | cst.Module):
        return because("unsafe", why="the statement is not in a block")
    body = [part for item in holder.body for part in (flat if item is node else [item])]
    changed = holder.with_changes(body=body)
    code = changed.code if isinstance(changed, cst.Module) else ""
    new = parsed.source.encode(code) if code else parsed.replace(holder, changed)
    return Edit(new, Nature.CODE, parsed.span(node))


def _leaves(body: cst.BaseSuite) -> bool:
    if not isinstance(body, cst.IndentedBlock) or not body.body:
        return False
    last = body.body[-1]
    if isinstance(last, cst.SimpleStatementLine):
        return isinstance(last.body[-1], _LEAVES)
    if isinstance(last, cst.If):
        return _leaves(last.body) and _else_leaves(last.orelse)
    return False


def _else_leaves(orelse: cst.If | cst.Else | None) -> bool:
    if isinstance(orelse, cst.If):
        return _leaves(orelse.body) and _else_leaves(orelse.orelse)
    return orelse is not None and _leaves(orelse.body)


def _flat(node: cst.If) -> list[cst.BaseStatement] | None:
    """The statements, or ``None`` when a branch has no block of its own."""
    rest = node.orelse
    if rest is None or not isinstance(node.body, cst.IndentedBlock):
        return [node]
    if not _leaves(node.body):
        return [node]
    head = node.with_changes(orelse=None)
    if isinstance(rest, cst.If):
        tail = _flat(rest)
        return None if tail is None else [head, *tail]
    if not isinstance(rest.body, cst.IndentedBlock):
        return None
    body = list(rest.body.body)
    lead = [*rest.leading_lines]
    comment = rest.body.header.comment
    if comment is not None:
        lead.append(cst.EmptyLine(comment=comment))
    first = body[0]
    if lead and isinstance(first, cst.SimpleStatementLine | cst.BaseCompoundStatement):
        body[0] = first.with_changes(leading_lines=[*lead, *getattr(first, "leading_lines", ())])
    footer = list(rest.body.footer)
    if footer:
        return None
    return [head, *body]


RECIPES: Final = (
    Recipe(
        name="no-else-after-leaving",
        tools=frozenset({"pylint"}),
        rules=frozenset({"R1705", "R1720", "R1723", "R1724"}),
        apply=flatten,
        check="Check_Pylint",
        natures=frozenset({Nature.CODE}),
    ),
)
