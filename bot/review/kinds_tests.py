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
"""Tests that ask for less than before: skipped, loosened, with fewer cases or softer assertions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.review.kinds_asserts import Test, gained_texts, softened
from bot.review.scene import Hit, Scene, dotted, last_name

_SKIPS = frozenset({"skip", "skipif", "skipIf", "skipUnless", "xfail", "importorskip", "expectedFailure"})
_Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def test_weakened(path: str, scene: Scene, settled: Mapping[str, Any]) -> Iterable[Hit]:
    """A test that existed before and now is skipped, allows more, or runs on fewer parameters, or claims less.

    Parameter: ``tolerances`` (keywords whose number must not grow).
    """
    head, base = scene.head_tree(path), scene.base_tree(path)
    if head is None or base is None:
        return
    before, after = dict(_tests(base)), dict(_tests(head))
    moved = gained_texts(_functions(before), _functions(after))
    for name, node in after.items():
        old = before.get(name)
        if old is None:
            continue
        for hit_node, what in _weaker(old, node, settled["tolerances"], moved):
            yield Hit(path, hit_node, {"name": name, "what": what})


def _tests(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, _Node]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield prefix + node.name, node
            yield from _tests(node, f"{prefix}{node.name}.")


def _functions(nodes: Mapping[str, _Node]) -> dict[str, Test]:
    return {name: node for name, node in nodes.items() if not isinstance(node, ast.ClassDef)}


def _weaker(old: _Node, new: _Node, tolerances: list[str], moved: frozenset[str]) -> Iterator[tuple[int, str]]:
    skips_before, skips = _skips(old), _skips(new)
    if len(skips) > len(skips_before):
        yield skips[0][0], skips[0][1]
    if isinstance(new, ast.ClassDef) or isinstance(old, ast.ClassDef):
        return  # its methods are compared one by one
    loose_before, loose = _tolerances(old, tolerances), _tolerances(new, tolerances)
    for keyword, (value, line) in loose.items():
        if keyword in loose_before and value > loose_before[keyword][0]:
            yield line, f"{keyword} {loose_before[keyword][0]:g} → {value:g}"
    cases_before, cases = _cases(old), _cases(new)
    for argument, (count, line) in cases.items():
        if count < cases_before.get(argument, (0, 0))[0]:
            yield line, f"parametrize({argument}) {cases_before[argument][0]} → {count}"
    yield from softened(old, new, moved)


def _skips(node: _Node) -> list[tuple[int, str]]:
    """Skip marks on the test, and calls that skip from within (a class counts only its marks)."""
    found = []
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if last_name(target) in _SKIPS:
            found.append((decorator.lineno, last_name(target)))
    if not isinstance(node, ast.ClassDef):
        for inner in ast.walk(ast.Module(body=node.body, type_ignores=[])):
            if isinstance(inner, ast.Call) and dotted(inner.func) in {"pytest.skip", "pytest.xfail", "self.skipTest"}:
                found.append((inner.lineno, dotted(inner.func)))
    return found


def _tolerances(node: ast.AST, names: list[str]) -> dict[str, tuple[float, int]]:
    """The largest number per keyword, and its line."""
    found: dict[str, tuple[float, int]] = {}
    for inner in ast.walk(node):
        if not isinstance(inner, ast.keyword) or inner.arg not in names or not isinstance(inner.value, ast.Constant):
            continue
        value = inner.value.value
        if isinstance(value, int | float) and (inner.arg not in found or value > found[inner.arg][0]):
            found[inner.arg] = (float(value), inner.value.lineno)
    return found


def _cases(node: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, tuple[int, int]]:
    """Number of cases per ``parametrize``, by its arguments' names; only lists that are written out can be counted."""
    found = {}
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call) or last_name(decorator.func) != "parametrize":
            continue
        if len(decorator.args) < 2 or not isinstance(decorator.args[1], ast.List | ast.Tuple):
            continue
        items = decorator.args[1].elts
        if not any(isinstance(item, ast.Starred) for item in items):
            found[ast.unparse(decorator.args[0]).strip("'\"")] = (len(items), decorator.lineno)
    return found
