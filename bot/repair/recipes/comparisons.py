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
"""pylint C0121 ``== None`` and R1714 ``a == 1 or a == 2``: the same question asked plainly."""

from __future__ import annotations

from typing import Final

import libcst as cst

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.syntax import Parsed, nearest, parse

_ASKING: Final = (cst.If, cst.While, cst.Assert, cst.IfExp, cst.BooleanOperation, cst.UnaryOperation, cst.Return)


def is_none(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """``x == None`` to ``x is None`` where only a truth value is asked for; elsewhere arrays may be meant."""
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    found = [node for node in parsed.on_line(cst.Comparison, finding.line) if _with_none(node)]
    found = [node for node in found if f"'{parsed.code(node)}'" in finding.message] or found
    if not found:
        singleton = "'== True' / '== False'"
        return because("unsafe", why=f"{singleton}: 1 == True, but 1 is not True; only a person knows which is meant")
    node = nearest(parsed, found, finding.column)[0]
    if not isinstance(parsed.parents[node], _ASKING):
        return because("unsafe", why="the comparison's value is passed on and may be element-wise")
    target = node.comparisons[0]
    operator = target.operator
    whitespace = {"whitespace_before": cst.SimpleWhitespace(" "), "whitespace_after": cst.SimpleWhitespace(" ")}
    new_operator = cst.Is(**whitespace) if isinstance(operator, cst.Equal) else cst.IsNot(**whitespace)
    subject = target.comparator if _is_none(node.left) else node.left
    changed = node.with_changes(left=subject, comparisons=[cst.ComparisonTarget(new_operator, cst.Name("None"))])
    return Edit(parsed.replace(node, changed), Nature.CODE, parsed.span(node))


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _with_none(node: cst.Comparison) -> bool:
    if len(node.comparisons) != 1 or not isinstance(node.comparisons[0].operator, cst.Equal | cst.NotEqual):
        return False
    return _is_none(node.left) != _is_none(node.comparisons[0].comparator)


def use_in(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """``a == 1 or a == 2`` to ``a in (1, 2)`` for a plain name and literal values."""
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    whole = [
        node
        for node in parsed.on_line(cst.BooleanOperation, finding.line)
        if not isinstance(parsed.parents[node], cst.BooleanOperation)
    ]
    for node in nearest(parsed, whole, finding.column):
        changed = _membership(parsed, node)
        if changed is not None:
            return Edit(parsed.replace(node, changed), Nature.CODE, parsed.span(node))
    return because("unsafe", why="the comparisons are not all of one plain name with literal values")


def _operands(node: cst.BaseExpression, kind: type[cst.BaseBooleanOp]) -> list[cst.BaseExpression]:
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, kind) and not node.lpar:
        return [*_operands(node.left, kind), *_operands(node.right, kind)]
    return [node]


def _membership(parsed: Parsed, node: cst.BooleanOperation) -> cst.Comparison | None:
    every = isinstance(node.operator, cst.And)
    wanted = cst.NotEqual if every else cst.Equal
    subjects, values = [], []
    for operand in _operands(node.with_changes(lpar=[], rpar=[]), type(node.operator)):
        if not isinstance(operand, cst.Comparison) or len(operand.comparisons) != 1:
            return None
        target = operand.comparisons[0]
        sides = (operand.left, target.comparator)
        literal = [_is_literal(side) for side in sides]
        if not isinstance(target.operator, wanted) or literal.count(True) != 1:
            return None
        subjects.append(sides[literal.index(False)])
        values.append(sides[literal.index(True)])
    subject = subjects[0]
    if not _is_plain(subject) or any(not subject.deep_equals(other) for other in subjects):
        return None
    elements = [
        cst.Element(
            value,
            comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            if number < len(values) - 1
            else cst.MaybeSentinel.DEFAULT,
        )
        for number, value in enumerate(values)
    ]
    operator = cst.NotIn() if every else cst.In()
    return cst.Comparison(
        subject, [cst.ComparisonTarget(operator, cst.Tuple(elements))], lpar=node.lpar, rpar=node.rpar
    )


def _is_literal(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.expression, cst.Integer | cst.Float)
    return isinstance(node, cst.SimpleString | cst.Integer) and not node.lpar


def _is_plain(node: cst.BaseExpression) -> bool:
    """A name or a chain of attributes: asking it once instead of twice cannot be noticed by plain objects."""
    if isinstance(node, cst.Attribute):
        return _is_plain(node.value) and not node.lpar
    return isinstance(node, cst.Name) and not node.lpar


RECIPES: Final = tuple(
    Recipe(
        name=name,
        tools=frozenset({"pylint"}),
        rules=frozenset({rule}),
        apply=apply,
        check="Check_Pylint",
        natures=frozenset({Nature.CODE}),
    )
    for name, rule, apply in (("none-comparison", "C0121", is_none), ("consider-in", "R1714", use_in))
)
