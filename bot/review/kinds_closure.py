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
"""Checks on syntax trees of operator code: values of one rank frozen in a hot closure, handles nobody waits for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.review.scene import Hit, Scene, last_name

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def rank_in_closure(path: str, scene: Scene, settled: Mapping[str, Any]) -> Iterable[Hit]:
    """A call such as ``get_rank()`` in the function that ``get_expand_impl`` returns: it runs at every operator call.

    Parameters: ``factories`` (names of the functions that return a closure), ``calls`` (names that tell the rank).
    """
    tree = scene.head_tree(path)
    added = scene.added(path)
    if tree is None:
        return
    seen: set[tuple[int, int]] = set()
    for factory in _functions(tree):
        if factory.name not in settled["factories"]:
            continue
        for closure in _returned(factory):
            for node in ast.walk(closure):
                if not isinstance(node, ast.Call) or last_name(node.func) not in settled["calls"]:
                    continue
                place = (node.lineno, node.col_offset)
                if node.lineno in added and place not in seen:
                    seen.add(place)
                    yield Hit(path, node.lineno, {"name": factory.name, "call": last_name(node.func)})


def unawaited_collective(path: str, scene: Scene, settled: Mapping[str, Any]) -> Iterable[Hit]:
    """An asynchronous collective whose handle is thrown away or never looked at again.

    Parameters: ``flag`` (the keyword that makes a call asynchronous), ``always`` (calls that always are).
    """
    tree = scene.head_tree(path)
    added = scene.added(path)
    if tree is None:
        return
    for scope in (tree, *_functions(tree)):
        used = {node.id for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        for statement in _own_statements(scope):
            call = _dropped(statement, used, settled)
            if call is None:
                continue
            # A call may span lines; it is this change's if any line of the statement is.
            lines = [n for n in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1) if n in added]
            if lines:
                yield Hit(path, lines[0], {"name": last_name(call.func)})


def _functions(tree: ast.AST) -> Iterator[_Function]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _returned(factory: _Function) -> Iterator[ast.AST]:
    """The inner functions that a factory returns, by name, as a lambda, or wrapped in a call."""
    inner = {node.name: node for node in _functions(factory) if node is not factory}
    for statement in _own_statements(factory):
        if not isinstance(statement, ast.Return) or statement.value is None:
            continue
        for node in ast.walk(statement.value):
            if isinstance(node, ast.Lambda):
                yield node
            elif isinstance(node, ast.Name) and node.id in inner:
                yield inner[node.id]


def _own_statements(scope: ast.AST) -> Iterator[ast.stmt]:
    """Statements of a scope at any depth, but not those of functions within it."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, ast.stmt):
            yield child
        if not isinstance(child, _SCOPES):
            yield from _own_statements(child)


def _dropped(statement: ast.stmt, used: set[str], settled: Mapping[str, Any]) -> ast.Call | None:
    """The asynchronous call of this statement if nobody can wait for it."""
    match statement:
        case ast.Expr(value=ast.Call() as call) if _is_async(call, settled):
            return call
        case ast.Assign(targets=[target], value=ast.Call() as call) if _is_async(call, settled):
            handle = target.elts[-1] if isinstance(target, ast.Tuple | ast.List) and target.elts else target
            return call if isinstance(handle, ast.Name) and handle.id not in used else None
        case _:
            return None


def _is_async(call: ast.Call, settled: Mapping[str, Any]) -> bool:
    if last_name(call.func) in settled["always"]:
        return True
    return any(
        keyword.arg == settled["flag"] and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for keyword in call.keywords
    )
