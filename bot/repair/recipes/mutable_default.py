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
"""pylint W0102: ``None`` as the default and the fresh value made inside, unless the shared object is the point."""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.syntax import Parsed, parse

_SHARED: Final = re.compile(r"cache|memo|regist|seen|visited|store|pool|state|history", re.IGNORECASE)
_MUTATORS: Final = frozenset(
    {"append", "extend", "insert", "remove", "pop", "popitem", "clear", "sort", "reverse", "add", "discard", "update"}
    | {"setdefault", "difference_update", "intersection_update", "symmetric_difference_update", "appendleft"}
)


def none_default(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Replace every mutable literal default of the function on the finding's line."""
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    functions = [node for node in parsed.each(cst.FunctionDef) if _def_line(parsed, node) == finding.line]
    if len(functions) != 1:
        return because("not-found-here", line=str(finding.line), what="def")
    function = functions[0]
    params = [param for param in _all_params(function.params) if _is_mutable(param.default)]
    if not params:
        return because("unsafe", why="the default is not written as a literal")
    for param in params:
        refusal = _refusal(parsed, function, param)
        if refusal is not None:
            return refusal
    if not isinstance(function.body, cst.IndentedBlock) or _is_stub(function.body):
        return because("unsafe", why="the function has no body of its own")
    changed = _changed(parsed, function, params)
    if isinstance(changed, Reason):
        return changed
    first = _def_line(parsed, function)
    return Edit(parsed.replace(function, changed), Nature.CODE, (first, _last_header_line(parsed, function)))


def _def_line(parsed: Parsed, function: cst.FunctionDef) -> int:
    return parsed.places[function.name].start.line


def _last_header_line(parsed: Parsed, function: cst.FunctionDef) -> int:
    body = function.body
    assert isinstance(body, cst.IndentedBlock)
    first = body.body[0]
    start, end = parsed.span(first)
    return end if _is_docstring(first) else start


def _all_params(params: cst.Parameters) -> list[cst.Param]:
    return [*params.posonly_params, *params.params, *params.kwonly_params]


def _is_mutable(default: cst.BaseExpression | None) -> bool:
    if isinstance(default, cst.List | cst.Dict | cst.Set):
        return True
    return (
        isinstance(default, cst.Call)
        and isinstance(default.func, cst.Name)
        and default.func.value in {"list", "dict", "set"}
        and not default.args
    )


def _is_docstring(node: cst.CSTNode) -> bool:
    return (
        isinstance(node, cst.SimpleStatementLine)
        and isinstance(node.body[0], cst.Expr)
        and isinstance(node.body[0].value, cst.SimpleString | cst.ConcatenatedString)
    )


def _is_stub(body: cst.IndentedBlock) -> bool:
    rest = body.body[1:] if _is_docstring(body.body[0]) else body.body
    return all(
        isinstance(node, cst.SimpleStatementLine)
        and all(
            isinstance(part, cst.Pass) or (isinstance(part, cst.Expr) and isinstance(part.value, cst.Ellipsis))
            for part in node.body
        )
        for node in rest
    )


def _refusal(parsed: Parsed, function: cst.FunctionDef, param: cst.Param) -> Reason | None:
    name = param.name.value
    if _SHARED.search(name):
        return because("unsafe", why=f"{name} may be shared between calls on purpose")
    for node in parsed.each(cst.Name):
        if node.value != name or node is param.name or function.body not in parsed.ancestors(node):
            continue
        if _mutates(parsed, node):
            return because("unsafe", why=f"the function changes {name}, so calls may share it on purpose")
        if _against_none(parsed, node):
            return because("unsafe", why=f"the function already gives None a meaning for {name}")
        if any(isinstance(parent, cst.FunctionDef | cst.Lambda) for parent in _up_to(parsed, node, function)):
            return because("unsafe", why=f"an inner function keeps {name}")
    return None


def _up_to(parsed: Parsed, node: cst.CSTNode, stop: cst.CSTNode) -> list[cst.CSTNode]:
    found = []
    for parent in parsed.ancestors(node):
        if parent is stop:
            break
        found.append(parent)
    return found


def _mutates(parsed: Parsed, node: cst.Name) -> bool:
    parent = parsed.parents[node]
    if isinstance(parent, cst.Attribute):
        return parent.attr.value in _MUTATORS
    if isinstance(parent, cst.Subscript) and parent.value is node:
        holder = parsed.parents[parent]
        return isinstance(holder, cst.AssignTarget | cst.Del | cst.AugAssign | cst.Element)
    return isinstance(parent, cst.AugAssign) and parent.target is node


def _against_none(parsed: Parsed, node: cst.Name) -> bool:
    for parent in parsed.ancestors(node):
        if isinstance(parent, cst.Comparison):
            sides = [parent.left, *(item.comparator for item in parent.comparisons)]
            return any(isinstance(side, cst.Name) and side.value == "None" for side in sides)
        if not isinstance(parent, cst.ComparisonTarget):
            return False
    return False


def _annotation(parsed: Parsed, param: cst.Param) -> cst.Annotation | Reason | None:
    if param.annotation is None:
        return None
    text = parsed.code(param.annotation.annotation)
    if re.search(r"\bNone\b|\bOptional\b|\bAny\b", text):
        return param.annotation
    names = {
        alias.evaluated_name
        for node in parsed.each(cst.ImportFrom)
        if not isinstance(node.names, cst.ImportStar)
        for alias in node.names
    }
    if "Optional" in names:
        new = f"Optional[{text}]"
    elif "annotations" in names:
        new = f"{text} | None"
    else:
        return because("unsafe", why=f"the annotation of {param.name.value} does not allow None")
    return param.annotation.with_changes(annotation=cst.parse_expression(new))


def _changed(parsed: Parsed, function: cst.FunctionDef, params: list[cst.Param]) -> cst.FunctionDef | Reason:
    fresh: dict[cst.Param, cst.Param] = {}
    checks = []
    for param in params:
        assert param.default is not None
        annotation = _annotation(parsed, param)
        if isinstance(annotation, Reason):
            return annotation
        fresh[param] = param.with_changes(default=cst.Name("None"), annotation=annotation)
        name = param.name.value
        checks.append(
            cst.If(
                cst.Comparison(cst.Name(name), [cst.ComparisonTarget(cst.Is(), cst.Name("None"))]),
                cst.IndentedBlock(
                    [cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(cst.Name(name))], param.default)])]
                ),
            )
        )
    old = function.params
    header = old.with_changes(
        posonly_params=[fresh.get(param, param) for param in old.posonly_params],
        params=[fresh.get(param, param) for param in old.params],
        kwonly_params=[fresh.get(param, param) for param in old.kwonly_params],
    )
    body = function.body
    assert isinstance(body, cst.IndentedBlock)
    at = 1 if _is_docstring(body.body[0]) else 0
    return function.with_changes(
        params=header, body=body.with_changes(body=[*body.body[:at], *checks, *body.body[at:]])
    )


RECIPES: Final = (
    Recipe(
        name="mutable-default",
        tools=frozenset({"pylint"}),
        rules=frozenset({"W0102"}),
        apply=none_default,
        check="Check_Pylint",
        natures=frozenset({Nature.CODE}),
    ),
)
