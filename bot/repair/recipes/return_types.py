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
"""Missing return annotations that the body leaves no doubt about."""

from __future__ import annotations

from typing import Final

import libcst as cst

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.syntax import Parsed, parse


def annotate_return(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """``-> None`` where nothing is returned, ``-> bool`` or ``-> str`` where only literals of that type are."""
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    found = [node for node in parsed.each(cst.FunctionDef) if parsed.places[node.name].start.line == finding.line]
    if len(found) != 1 or found[0].returns is not None:
        return because("not-found-here", line=str(finding.line), what="a def without return annotation")
    node = found[0]
    kind = _returned(parsed, node)
    if kind is None:
        return because("unsafe", why="what it returns cannot be told from its body alone")
    gap = cst.SimpleWhitespace(" ")
    arrow = cst.Annotation(cst.Name(kind), whitespace_before_indicator=gap, whitespace_after_indicator=gap)
    line = parsed.places[node.name].start.line
    body_line = parsed.places[node.body].start.line if isinstance(node.body, cst.IndentedBlock) else line
    return Edit(parsed.replace(node, node.with_changes(returns=arrow)), Nature.CODE, (line, max(line, body_line)))


def _returned(parsed: Parsed, node: cst.FunctionDef) -> str | None:
    decorators = [parsed.code(item.decorator) for item in node.decorators]
    if any(word in text for text in decorators for word in ("abstract", "overload", "contextmanager")):
        return None
    inside = [item for item in parsed.places if _owner(parsed, item) is node]
    if any(isinstance(item, cst.Yield) for item in inside):
        return None
    values = [item.value for item in inside if isinstance(item, cst.Return)]
    if any(value is not None for value in values):
        kinds = {None if value is None else _literal_kind(value) for value in values}
        # Whether the end can be reached without a return is not looked into: only a last statement that returns counts.
        return kinds.pop() if len(kinds) == 1 and _ends_in_return(node.body) else None
    return None if _only_raises(node.body) or _is_stub(node.body) else "None"


def _owner(parsed: Parsed, node: cst.CSTNode) -> cst.CSTNode | None:
    return next((item for item in parsed.ancestors(node) if isinstance(item, cst.FunctionDef | cst.Lambda)), None)


def _literal_kind(value: cst.BaseExpression) -> str | None:
    if isinstance(value, cst.Name) and value.value in {"True", "False"}:
        return "bool"
    if isinstance(value, cst.UnaryOperation) and isinstance(value.operator, cst.Not):
        return "bool"
    if isinstance(value, cst.SimpleString | cst.FormattedString):
        text = value.start if isinstance(value, cst.FormattedString) else value.prefix
        return None if "b" in text.lower() else "str"
    return None


def _ends_in_return(body: cst.BaseSuite) -> bool:
    last = body.body[-1]
    if isinstance(last, cst.SimpleStatementLine):
        return isinstance(last.body[-1], cst.Return)
    return isinstance(last, cst.Return)


def _statements(body: cst.BaseSuite) -> list[cst.CSTNode]:
    found: list[cst.CSTNode] = []
    for item in body.body:
        found += item.body if isinstance(item, cst.SimpleStatementLine) else [item]
    docstring = found and isinstance(found[0], cst.Expr) and isinstance(found[0].value, cst.SimpleString)
    return found[1:] if docstring else found


def _only_raises(body: cst.BaseSuite) -> bool:
    return all(isinstance(item, cst.Raise) for item in _statements(body))


def _is_stub(body: cst.BaseSuite) -> bool:
    return all(
        isinstance(item, cst.Pass) or (isinstance(item, cst.Expr) and isinstance(item.value, cst.Ellipsis))
        for item in _statements(body)
    )


RECIPES: Final = (
    Recipe(
        name="return-annotation",
        tools=frozenset({"ruff", "mypy"}),
        rules=frozenset({"ANN201", "ANN202", "ANN204", "ANN205", "ANN206", "no-untyped-def"}),
        apply=annotate_return,
        check="Check_Annotations",
        natures=frozenset({Nature.CODE}),
    ),
)
