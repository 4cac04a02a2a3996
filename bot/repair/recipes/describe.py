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
"""What a test is about, read off its name and body: nothing is claimed that the code does not say."""

from __future__ import annotations

import ast
from typing import Final

_WIDTH: Final = 88
_UNREMARKABLE: Final = frozenset(
    {"print", "len", "range", "isinstance", "str", "int", "list", "dict", "tuple", "set", "float"}
)


def describe(node: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, str]:
    """Texts for Feature, Description and Expectation, each one line of at most 88 characters."""
    topic = " ".join(part for part in node.name.removeprefix("test_").split("_") if part) or node.name
    return {
        "Feature": _fit(f"Test {topic}", ""),
        "Description": _description(node),
        "Expectation": _expectation(node),
    }


def _fit(text: str, rest: str) -> str:
    whole = f"{text}{rest}."
    if len(whole) <= _WIDTH:
        return whole
    words = text.split(" ")
    while len(words) > 1 and len(" ".join(words)) + 1 > _WIDTH:
        words.pop()
    return " ".join(words)[: _WIDTH - 1] + "."


def _name(node: ast.expr) -> str:
    """Dotted name of a callee, empty for anything more involved."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = _name(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


def _own(node: ast.AST) -> list[ast.AST]:
    """Nodes of a function in source order, decorators left out."""
    found: list[ast.AST] = []

    def visit(item: ast.AST) -> None:
        found.append(item)
        for child in ast.iter_child_nodes(item):
            visit(child)

    for statement in getattr(node, "body", []):
        visit(statement)
    return found


def _description(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    calls: list[str] = []
    for item in _own(node):
        if isinstance(item, ast.Call):
            name = _name(item.func)
            plain = name and name not in _UNREMARKABLE and not name.startswith(("pytest.", "self.assert"))
            if plain and name not in calls:
                calls.append(name)
    data = _parameters(node)
    kept = calls[:4]
    while kept:
        text = f"Call {_join(kept)}{data}."
        if len(text) <= _WIDTH:
            return text
        kept.pop()
    name = node.name
    return _fit(f"Run {name}{data}", "")


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and _name(decorator.func).endswith("parametrize") and decorator.args:
            first = decorator.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                return f" for each {first.value.replace(',', ', ').replace('  ', ' ')}"
    return ""


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _expectation(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    claims: list[str] = []
    for item in _own(node):
        if isinstance(item, ast.Assert):
            claims.append(f"{' '.join(ast.unparse(item.test).split())} holds")
        elif isinstance(item, ast.Call):
            name = _name(item.func)
            if name.endswith("pytest.raises") or name == "raises" or name.endswith("assertRaises"):
                kind = ast.unparse(item.args[0]) if item.args else "an exception"
                claims.append(f"{kind} is raised")
            elif name.startswith("self.assert") or name.split(".")[-1].startswith("assert_"):
                claims.append(f"{name.split('.')[-1]} passes")
    usable = [
        claim for claim in dict.fromkeys(claims) if '"""' not in claim and "\\" not in claim and len(claim) < _WIDTH
    ]
    if usable:
        text = f"{usable[0]}, and the other assertions too." if len(set(claims)) > 1 else f"{usable[0]}."
        if len(text) <= _WIDTH:
            return text
        return f"{usable[0]}."
    return "All assertions pass." if claims else "It runs without an error."
