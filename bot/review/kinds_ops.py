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
"""Checks of pairs: an operator's class and its YAML, a torch file and its MindSpore twin."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bot.review.globs import matches
from bot.review.scene import Hit, Scene, last_name

_CLASS = re.compile(r"class (?P<name>\w+)")


def class_in_yaml(path: str, scene: Scene, settled: Mapping[str, Any]) -> Iterable[Hit]:
    """A new or renamed class that no YAML names, and a removed one that a YAML still names.

    A change inside of a class needs no YAML and says nothing. Parameters: ``yaml`` (globs), ``suffix`` of the classes'
    names.
    """
    tree = scene.head_tree(path)
    lines = scene.files[path]
    if tree is None:
        return
    defined = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    parents = {last_name(base) for node in defined.values() for base in node.bases}
    named = _words(scene, settled["yaml"])
    before = scene.base_tree(path)
    known = {node.name for node in before.body if isinstance(node, ast.ClassDef)} if before else set()
    for name in sorted(defined.keys() - known - parents - named):
        if _is_op(name, settled) and defined[name].lineno in lines.added:
            yield Hit(path, defined[name].lineno, {"name": name})
    gone = {found["name"] for text in lines.removed.values() if (found := _CLASS.match(text))}
    for name in sorted((gone & named) - defined.keys()):
        if _is_op(name, settled):
            yield Hit(path, 0, {"name": name})


def yaml_names_class(path: str, scene: Scene, settled: Mapping[str, Any]) -> Iterable[Hit]:
    """An added YAML line that names a class which no Python file defines.

    Parameters: ``keys`` whose value is a class, ``python`` (globs of the files that may define it).
    """
    keys = "|".join(re.escape(key) for key in settled["keys"])
    wanted = re.compile(rf"(?:^|[\s{{,\"'])(?:{keys})[\"']?\s*:\s*[\"']?(?P<name>[A-Za-z_]\w*)")
    named = {number: found["name"] for number, text in scene.added(path).items() if (found := wanted.search(text))}
    if not named:
        return
    defined = set(_defined(scene, settled["python"]))
    for number, name in sorted(named.items()):
        if name not in defined:
            yield Hit(path, number, {"name": name})


def twin(path: str, scene: Scene, settled: Mapping[str, Any]) -> Iterable[Hit]:
    """A function changed in one framework's file while the twin file, which has it too, stays as it was.

    Parameters: ``path`` and ``twin``, each with one ``{name}`` that stands for the common part.
    """
    common = _common(path, settled["path"])
    if common is None:
        return
    other = settled["twin"].replace("{name}", common)
    if other == path or other in scene.files or other not in scene.paths:
        return
    tree, twin_tree = scene.head_tree(path), scene.head_tree(other)
    if tree is None or twin_tree is None:
        return
    there = {name for name, _ in _named_functions(twin_tree)}
    added = scene.added(path)
    for name, node in _named_functions(tree):
        span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        changed = [number for number in span if added.get(number, "").partition("#")[0].strip()]
        if changed and name in there and not _only_docstring(node, changed):
            yield Hit(path, changed[0], {"name": name, "twin": other})


def _only_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef, changed: list[int]) -> bool:
    if ast.get_docstring(node, clean=False) is None:
        return False
    first = node.body[0]
    return all(first.lineno <= number <= (first.end_lineno or first.lineno) for number in changed)


def _named_functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions of the module and methods of its classes; a nested function belongs to the one around it."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"{node.name}.{item.name}", item


def _common(path: str, template: str) -> str | None:
    before, _, after = template.partition("{name}")
    fits = path.startswith(before) and path.endswith(after) and len(path) > len(before) + len(after)
    return path[len(before) : len(path) - len(after)] if fits else None


def _is_op(name: str, settled: Mapping[str, Any]) -> bool:
    return name.endswith(settled["suffix"]) and not name.startswith("_")


def _words(scene: Scene, globs: list[str]) -> set[str]:
    texts = (scene.head(path) or "" for path in _fitting(scene, globs))
    return {word for text in texts for word in re.findall(r"\w+", text)}


def _defined(scene: Scene, globs: list[str]) -> Iterator[str]:
    for path in _fitting(scene, globs):
        text = scene.head(path) or ""
        yield from re.findall(r"(?m)^\s*class (\w+)", text)


def _fitting(scene: Scene, globs: list[str]) -> list[str]:
    return sorted(path for path in scene.paths if any(matches(path, glob) for glob in globs))
