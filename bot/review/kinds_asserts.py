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
"""Assertions that ask for less than before: softer or removed ones, wider exceptions, a value held to itself.

Each test's assertions are read as claims about an expression. Claims that both sides have are left aside; what remains
of the old ones is held against what remains of the new ones about the same expression.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from bot.review.scene import last_name

Test = ast.FunctionDef | ast.AsyncFunctionDef
# How much a claim pins down.
_EXACT, _NEAR, _PART, _LITTLE, _NOTHING = 4, 3, 2, 1, 0
_OPERATORS: Final[Mapping[type[ast.cmpop], int]] = {ast.Eq: _EXACT, ast.Is: _EXACT}
_CALLS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("equal", "array_equal", "assert_array_equal", "assertEqual", "assertIs"), _EXACT),
    **dict.fromkeys(("assertListEqual", "assertDictEqual", "assertTupleEqual", "assertSetEqual"), _EXACT),
    **dict.fromkeys(("isclose", "allclose", "assert_allclose", "assert_close", "assert_almost_equal"), _NEAR),
    "assertAlmostEqual": _NEAR,
    **dict.fromkeys(("assertIn", "assertNotIn", "assertNotEqual", "assertLess", "assertLessEqual"), _PART),
    **dict.fromkeys(("assertGreater", "assertGreaterEqual", "assertCountEqual", "issubset"), _PART),
    **dict.fromkeys(("isinstance", "hasattr", "assertIsInstance", "assertIsNotNone", "assertTrue"), _LITTLE),
}
_ANY_EXCEPTION: Final = frozenset({"Exception", "BaseException"})
_HELPERS: Final = ("assert", "check", "verify", "expect", "compare")
_FLIPPED: Final = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}


@dataclass(frozen=True, slots=True)
class _Claim:
    """What one assertion says: how much it pins down, of which expressions, and for ``==`` both sides."""

    strength: int
    subjects: frozenset[str]
    text: str
    line: int
    sides: tuple[ast.expr, ...] = ()
    bound: tuple[str, str, float] | None = None
    alternatives: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Raises:
    names: frozenset[str]
    match: bool
    line: int


def softened(old: Test, new: Test, elsewhere: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Lines of the new test that ask for less, each with what became of what.

    Args:
        old: The test before.
        new: The test now.
        elsewhere: Texts of assertions in other functions that were not there before: what moved there is not lost.
    """
    before, after = list(_claims(old)), list(_claims(new))
    kept = Counter(claim.text for claim in before) & Counter(claim.text for claim in after)
    lost, gained = _without(before, kept), _without(after, kept)
    values, left = _values(new), list(gained)
    missing = []
    for claim in lost:
        other = _counterpart(claim, left)
        if other is None:
            missing.append(claim)
            continue
        left.remove(other)
        if _is_softer(claim, other, values) and not _in_parts(claim, gained):
            yield other.line, f"{claim.text} → {other.text}"
    missing = [claim for claim in missing if claim.text not in elsewhere]
    if missing and len(after) < len(before) and not _done_otherwise(old, new, gained):
        yield new.lineno, f"{missing[0].text} → –"
    yield from _wider(old, new)


def gained_texts(before: Mapping[str, Test], after: Mapping[str, Test]) -> frozenset[str]:
    """Texts of assertions that some function has and had not before; functions by name."""
    found: Counter[str] = Counter()
    for name, function in after.items():
        old = Counter(claim.text for claim in _claims(before[name])) if name in before else Counter[str]()
        found += Counter(claim.text for claim in _claims(function)) - old
    return frozenset(found)


def _in_parts(claim: _Claim, gained: list[_Claim]) -> bool:
    """Whether several exact claims about parts of an expression took the place of one about the whole."""
    names = [re.compile(rf"(?<![\w.]){re.escape(subject)}(?!\w)") for subject in claim.subjects]
    return sum(one.strength == _EXACT and any(name.search(one.text) for name in names) for one in gained) >= 2


def _without(claims: list[_Claim], kept: Counter[str]) -> list[_Claim]:
    left = Counter(kept)
    result = []
    for claim in claims:
        if left[claim.text]:
            left[claim.text] -= 1
        else:
            result.append(claim)
    return result


def _counterpart(claim: _Claim, candidates: list[_Claim]) -> _Claim | None:
    """The new claim about the same expression, the strongest first; else one that says nothing at all."""
    about = [one for one in candidates if one.subjects & claim.subjects or claim.text in one.alternatives]
    if about:
        return max(about, key=lambda one: one.strength)
    return next((one for one in candidates if one.strength == _NOTHING), None)


def _is_softer(old: _Claim, new: _Claim, values: Mapping[str, ast.expr]) -> bool:
    if old.text in new.alternatives or new.strength < old.strength:
        return True
    if old.strength == new.strength == _EXACT:
        return any(map(_is_literal, old.sides)) and _says_itself(new, values)
    if old.bound and new.bound and old.bound[:2] == new.bound[:2]:
        return new.bound[2] > old.bound[2] if "<" in old.bound[0] else new.bound[2] < old.bound[2]
    return False


def _says_itself(claim: _Claim, values: Mapping[str, ast.expr]) -> bool:
    """Whether what is expected comes from the very call that is tested."""
    if len(claim.sides) != 2:
        return False
    sides = [values.get(side.id, side) if isinstance(side, ast.Name) else side for side in claim.sides]
    if ast.dump(sides[0]) == ast.dump(sides[1]):
        return True
    names = [last_name(side.func) for side in sides if isinstance(side, ast.Call)]
    return len(names) == 2 and names[0] == names[1] != ""


def _values(function: Test) -> dict[str, ast.expr]:
    """Names that are bound exactly once in a function, with what they are bound to."""
    found: dict[str, ast.expr] = {}
    times: Counter[str] = Counter(
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    return {name: value for name, value in found.items() if times[name] == 1}


def _done_otherwise(old: Test, new: Test, gained: list[_Claim]) -> bool:
    """Whether fewer assertions need not mean less: a helper, a loop or parameters took them over."""
    return bool(
        _helper_calls(new) - _helper_calls(old)
        or _repeats(new) > _repeats(old)
        or (len(new.decorator_list) > len(old.decorator_list) and gained)
    )


def _helper_calls(function: Test) -> Counter[str]:
    names = (last_name(node.func) for node in ast.walk(function) if isinstance(node, ast.Call))
    return Counter(name for name in names if name.lstrip("_").startswith(_HELPERS) and name not in _CALLS)


def _repeats(function: Test) -> int:
    """Assertions that stand in a loop or in a comprehension."""
    loops = (node for node in ast.walk(function) if isinstance(node, ast.For | ast.While | ast.AsyncFor))
    inside = sum(isinstance(inner, ast.Assert) for loop in loops for inner in ast.walk(loop))
    return inside + sum(
        isinstance(inner, ast.comprehension)
        for node in ast.walk(function)
        if isinstance(node, ast.Assert)
        for inner in ast.walk(node)
    )


def _claims(function: Test) -> Iterator[_Claim]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            yield from _parts(node.test, node.lineno)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name = last_name(node.value.func)
            if name.startswith("assert") and name in _CALLS:
                yield _of_call(node.value, node.lineno)


def _parts(test: ast.expr, line: int) -> Iterator[_Claim]:
    """The claims of one condition; ``and`` and tuples of the same length are several."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            for value in values:
                yield from _parts(value, line)
        case ast.Compare(left=ast.Tuple(elts=lefts), ops=[ast.Eq()], comparators=[ast.Tuple(elts=rights)]) if len(
            lefts
        ) == len(rights):
            for left, right in zip(lefts, rights, strict=True):
                yield from _parts(ast.Compare(left, [ast.Eq()], [right]), line)
        case _:
            yield _claim(test, line)


def _claim(test: ast.expr, line: int) -> _Claim:
    text = ast.unparse(test)
    match test:
        case ast.Constant(value=value) if value:
            return _Claim(_NOTHING, frozenset(), text, line)
        case ast.BoolOp(op=ast.Or(), values=values):
            subjects = frozenset(name for value in values for name in _claim(value, line).subjects)
            always = any(isinstance(value, ast.Constant) and value.value for value in values)
            parts = frozenset(map(ast.unparse, values))
            return _Claim(_NOTHING if always else _PART, subjects, text, line, alternatives=parts)
        case ast.Compare(left=left, ops=ops, comparators=rights):
            return _of_compare(left, ops, rights, text, line)
        case ast.Call() if last_name(test.func) in _CALLS:
            return _of_call(test, line)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _Claim(_LITTLE, _subjects((operand,)), text, line)
        case _:
            return _Claim(_LITTLE, _subjects((test,)), text, line)


def _of_compare(left: ast.expr, ops: list[ast.cmpop], rights: list[ast.expr], text: str, line: int) -> _Claim:
    sides = (left, *rights)
    strength = min(_OPERATORS.get(type(op), _PART) for op in ops)
    if isinstance(ops[0], ast.IsNot):
        strength = _LITTLE
    bare = tuple(map(_without_approx, sides))
    if bare != sides:
        strength = min(strength, _NEAR)
    return _Claim(strength, _subjects(bare), text, line, sides, _bound(left, ops, rights))


def _of_call(call: ast.Call, line: int) -> _Claim:
    name = last_name(call.func)
    receiver = (call.func.value,) if isinstance(call.func, ast.Attribute) and name == "issubset" else ()
    arguments = (*receiver, *call.args[: 1 if _CALLS[name] == _LITTLE else 2])
    return _Claim(_CALLS[name], _subjects(arguments), ast.unparse(call), line, tuple(call.args[:2]))


def _without_approx(node: ast.expr) -> ast.expr:
    return node.args[0] if isinstance(node, ast.Call) and last_name(node.func) == "approx" and node.args else node


def _bound(left: ast.expr, ops: list[ast.cmpop], rights: list[ast.expr]) -> tuple[str, str, float] | None:
    """``x < 3`` as ``("<", "x", 3.0)``, whichever side the number is on."""
    if len(ops) != 1 or type(ops[0]) not in _FLIPPED:
        return None
    kind: type[ast.cmpop] = type(ops[0])
    number, other = _number(rights[0]), left
    if number is None:
        number, other, kind = _number(left), rights[0], _FLIPPED[kind]
    sign = "<" if kind in {ast.Lt, ast.LtE} else ">"
    return None if number is None else (sign, ast.unparse(other), number)


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _subjects(nodes: Iterable[ast.expr]) -> frozenset[str]:
    return frozenset(ast.unparse(node) for node in nodes if not _is_literal(node))


def _wider(old: Test, new: Test) -> Iterator[tuple[int, str]]:
    """Expected exceptions that became wider, pair by pair in the order of the test."""
    before, after = list(_raises(old)), list(_raises(new))
    if len(before) != len(after):
        return
    for one, other in zip(before, after, strict=True):
        said = f"raises({', '.join(sorted(one.names))}) → raises({', '.join(sorted(other.names))})"
        if (other.names & _ANY_EXCEPTION and not one.names & _ANY_EXCEPTION) or one.names < other.names:
            yield other.line, said
        elif one.match and not other.match:
            yield other.line, f"raises({', '.join(sorted(one.names))}): match → –"


def _raises(function: Test) -> Iterator[_Raises]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and last_name(node.func) in {"raises", "assertRaises", "assertRaisesRegex"}:
            first = node.args[0] if node.args else None
            kinds = first.elts if isinstance(first, ast.Tuple) else [first] if first is not None else []
            regex = last_name(node.func) == "assertRaisesRegex"
            match = regex or any(keyword.arg == "match" for keyword in node.keywords)
            yield _Raises(frozenset(map(ast.unparse, kinds)), match, node.lineno)
