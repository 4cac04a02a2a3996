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
"""pylint W0612: drop a binding nobody reads; keep the call behind it; rename to ``_name`` where a name must stand."""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.syntax import Parsed, parse

_MESSAGE: Final = re.compile(r"Unused variable '(?P<name>\w+)'")
_READERS: Final = frozenset({"locals", "vars", "eval", "exec", "dir", "globals"})


def drop_binding(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Remove or rename one unused local name, bound exactly once in its function."""
    match = _MESSAGE.search(finding.message)
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    if match is None:
        return because("not-found-here", line=str(finding.line), what=finding.message[:60])
    name = match["name"]
    bindings = [node for node in parsed.each(cst.Name) if node.value == name and _binds(parsed, node)]
    here = [node for node in bindings if _near(parsed, node, finding.line)]
    if len(here) != 1:
        return because("not-found-here", line=str(finding.line), what=name)
    function = _function(parsed, here[0])
    if function is None:
        return because("unsafe", why=f"{name} is not a local name")
    refusal = _other_uses(parsed, function, here[0])
    return refusal or _edit(parsed, here[0], function)


def _near(parsed: Parsed, node: cst.Name, line: int) -> bool:
    """pylint names the line of the name, and of ``except`` for its ``as`` name."""
    return parsed.places[node].start.line == line


def _binds(parsed: Parsed, node: cst.Name) -> bool:
    parent = parsed.parents.get(node)
    if isinstance(parent, cst.AsName | cst.Element | cst.StarredElement):
        return not isinstance(parent, cst.Element | cst.StarredElement) or _in_target(parsed, parent)
    if isinstance(parent, cst.AssignTarget | cst.AnnAssign | cst.For | cst.NamedExpr | cst.CompFor):
        return parent.target is node
    return False


def _in_target(parsed: Parsed, node: cst.CSTNode) -> bool:
    child = node
    for parent in parsed.ancestors(node):
        if isinstance(parent, cst.AssignTarget | cst.For | cst.AsName | cst.CompFor):
            return not isinstance(parent, cst.For | cst.CompFor) or parent.target is child
        if not isinstance(parent, cst.Tuple | cst.List | cst.Element | cst.StarredElement):
            return False
        child = parent
    return False


def _function(parsed: Parsed, node: cst.CSTNode) -> cst.FunctionDef | None:
    for parent in parsed.ancestors(node):
        if isinstance(parent, cst.FunctionDef):
            return parent
        if isinstance(parent, cst.ClassDef | cst.Lambda | cst.CompFor):
            return None
    return None


def _other_uses(parsed: Parsed, function: cst.FunctionDef, node: cst.Name) -> Reason | None:
    inside = [item for item in parsed.each(cst.Name) if function in parsed.ancestors(item)]
    if any(item.value == node.value and item is not node and _is_variable(parsed, item) for item in inside):
        return because("unsafe", why=f"{node.value} is used or bound more than once")
    if any(item.value in _READERS and isinstance(parsed.parents.get(item), cst.Call) for item in inside):
        return because("unsafe", why="the function reads its variables by locals() or eval()")
    return None


def _is_variable(parsed: Parsed, node: cst.Name) -> bool:
    """Not an attribute's name nor a keyword of a call."""
    parent = parsed.parents.get(node)
    if isinstance(parent, cst.Attribute):
        return parent.value is node
    return not (isinstance(parent, cst.Arg) and parent.keyword is node)


def _edit(parsed: Parsed, node: cst.Name, function: cst.FunctionDef) -> Edit | Reason:
    parent = parsed.parents[node]
    if isinstance(parent, cst.AsName):
        return _drop_as(parsed, parent)
    if isinstance(parent, cst.AssignTarget):
        return _drop_target(parsed, parent, node, function)
    if isinstance(parent, cst.AnnAssign):
        statement = parsed.parents[parent]
        if parent.value is None or not isinstance(statement, cst.SimpleStatementLine):
            return because("unsafe", why="only a declaration")
        return _keep_value(parsed, parent, parent.value, node, function)
    if isinstance(parent, cst.For | cst.Element | cst.StarredElement):
        return _rename(parsed, node, function)
    return because("unsafe", why="the name is part of an expression")


def _drop_as(parsed: Parsed, as_name: cst.AsName) -> Edit | Reason:
    holder = parsed.parents[as_name]
    if isinstance(holder, cst.WithItem):
        return Edit(parsed.replace(holder, holder.with_changes(asname=None)), Nature.CODE, parsed.span(holder))
    if isinstance(holder, cst.ExceptHandler):
        changed = holder.with_changes(name=None, whitespace_before_colon=cst.SimpleWhitespace(""))
        line = parsed.places[holder].start.line
        return Edit(parsed.replace(holder, changed), Nature.CODE, (line, line))
    return because("unsafe", why="the name is part of a pattern")


def _drop_target(parsed: Parsed, target: cst.AssignTarget, node: cst.Name, function: cst.FunctionDef) -> Edit | Reason:
    assign = parsed.parents[target]
    assert isinstance(assign, cst.Assign)
    if len(assign.targets) > 1:
        rest = [item for item in assign.targets if item is not target]
        return Edit(parsed.replace(assign, assign.with_changes(targets=rest)), Nature.CODE, parsed.span(assign))
    return _keep_value(parsed, assign, assign.value, node, function)


def _keep_value(
    parsed: Parsed,
    statement: cst.BaseSmallStatement,
    value: cst.BaseExpression,
    node: cst.Name,
    function: cst.FunctionDef,
) -> Edit | Reason:
    span = parsed.span(statement)
    if isinstance(value, cst.Call | cst.Await):
        return Edit(parsed.replace(statement, cst.Expr(value)), Nature.CODE, span)
    if not _is_constant(value):
        return _rename(parsed, node, function)
    line = parsed.parents[statement]
    block = parsed.parents[line]
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1 or not isinstance(block, cst.IndentedBlock):
        return _rename(parsed, node, function)
    if len(block.body) == 1:
        return _rename(parsed, node, function)
    lines = parsed.source.lines()
    rest = "".join(lines[: span[0] - 1] + lines[span[1] :])
    if line.trailing_whitespace.comment is not None:
        return _rename(parsed, node, function)
    return Edit(parsed.source.encode(rest), Nature.CODE, span)


def _is_constant(value: cst.BaseExpression) -> bool:
    """Literals and plain containers of them: dropping one cannot be noticed."""
    if isinstance(value, cst.SimpleString | cst.Integer | cst.Float | cst.ConcatenatedString):
        return not isinstance(value, cst.ConcatenatedString) or not isinstance(value.right, cst.FormattedString)
    if isinstance(value, cst.Name):
        return value.value in {"None", "True", "False"}
    if isinstance(value, cst.UnaryOperation):
        return _is_constant(value.expression)
    if isinstance(value, cst.List | cst.Tuple):
        return all(isinstance(item, cst.Element) and _is_constant(item.value) for item in value.elements)
    return isinstance(value, cst.Dict) and not value.elements


def _rename(parsed: Parsed, node: cst.Name, function: cst.FunctionDef) -> Edit | Reason:
    taken = {item.value for item in parsed.each(cst.Name) if function in parsed.ancestors(item)}
    loop = isinstance(parsed.parents[node], cst.For)
    for name in ("_" if loop else f"_{node.value}", f"_{node.value}", f"_unused_{node.value}"):
        if name not in taken or (name == "_" and not _calls_underscore(parsed)):
            line = parsed.places[node].start.line
            return Edit(parsed.replace(node, node.with_changes(value=name)), Nature.CODE, (line, line))
    return because("unsafe", why=f"no free name for {node.value} in {function.name.value}")


def _calls_underscore(parsed: Parsed) -> bool:
    """Whether ``_`` means something here, such as gettext's function."""
    return any(
        item.value == "_" and not _binds(parsed, item) and _is_variable(parsed, item) for item in parsed.each(cst.Name)
    )


RECIPES: Final = (
    Recipe(
        name="unused-variable",
        tools=frozenset({"pylint"}),
        rules=frozenset({"W0612"}),
        apply=drop_binding,
        check="Check_Pylint",
        natures=frozenset({Nature.CODE}),
    ),
)
