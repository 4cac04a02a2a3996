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
"""Does a test reach changed code? A static import graph, followed from the test outward. Pure.

Followed are imports (also relative ones and those inside of functions), the ``__init__.py`` of every package passed,
the ``conftest.py`` files above the test, names of files in strings (a test that starts another file, a module that
loads a YAML), modules named in a YAML (operator registries), and modules that import by computed names, which count as
reaching their whole package. Doubt counts as "reaches".
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

_DATA = (".yaml", ".yml", ".json", ".toml")
_WORD = re.compile(r"[A-Za-z_]\w*")
_COMPUTED = frozenset({"import_module", "__import__", "iter_modules", "walk_packages", "entry_points"})
_MOST_FILES = 5000
_LONGEST = 2_000_000


@dataclass(frozen=True)
class Tree:
    """The files of a commit: all paths, and a function that reads one (``None`` for what cannot be read)."""

    paths: frozenset[str]
    read: Callable[[str], str | None]
    by_name: dict[str, list[str]] = field(init=False)
    by_module: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        by_name: dict[str, list[str]] = {}
        by_module: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            name = path.rpartition("/")[2]
            by_name.setdefault(name, []).append(path)
            if name.endswith((".py", ".pyi")):
                dotted = path.rpartition(".")[0].replace("/", ".").removesuffix(".__init__")
                parts = dotted.split(".")
                # A module may be imported from any directory that is on sys.path, so every suffix of its name counts.
                for start in range(len(parts)):
                    by_module.setdefault(".".join(parts[start:]), []).append(path)
        object.__setattr__(self, "by_name", by_name)
        object.__setattr__(self, "by_module", by_module)


def reach(test_file: str, changed: Collection[str], tree: Tree) -> tuple[str, ...] | None:
    """The shortest way from a test to a changed file.

    Args:
        test_file: Path of the test.
        changed: Paths the pull request changes; deleted ones too.
        tree: The head of the pull request.

    Returns:
        The files from the test to the changed one; empty when there is no way; ``None`` when the test is not in the
        tree or the graph is too large, so that nothing can be said.
    """
    if test_file not in tree.paths:
        return None
    compiled = next((path for path in sorted(changed) if _is_compiled(path)), "")
    if compiled:  # whatever is compiled may stand behind any import
        return (test_file, compiled)
    targets = set(changed)
    gone_modules = {path for path in targets if path not in tree.paths}
    before: dict[str, str] = {test_file: ""}
    queue = deque([test_file])
    while queue:
        path = queue.popleft()
        if path in targets and path != test_file:
            return _way(path, before)
        if len(before) > _MOST_FILES:
            return None
        for found in _next(path, tree, gone_modules):
            if found not in before:
                before[found] = path
                queue.append(found)
    return ()


def _way(path: str, before: dict[str, str]) -> tuple[str, ...]:
    way = [path]
    while before[way[-1]]:
        way.append(before[way[-1]])
    return tuple(reversed(way))


def _is_compiled(path: str) -> bool:
    return path.lower().endswith((".c", ".cc", ".cpp", ".cxx", ".cu", ".h", ".hpp", ".pyx", ".proto", ".so", ".s"))


def _next(path: str, tree: Tree, gone: set[str]) -> Iterator[str]:
    """The files that a file needs, and deleted ones that it still names."""
    yield from _around(path, tree)
    text = tree.read(path)
    if text is None or len(text) > _LONGEST:
        return
    if path.endswith(_DATA):
        for word in dict.fromkeys(_WORD.findall(text)):
            yield from tree.by_name.get(f"{word}.py", ())
        return
    if not path.endswith((".py", ".pyi")):
        return
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from _of_python(path, module, tree)
    yield from _deleted(path, module, gone)


def _around(path: str, tree: Tree) -> Iterator[str]:
    """Files that are loaded with a file: ``__init__.py`` and ``conftest.py`` of the directories above."""
    if not path.endswith((".py", ".pyi")):
        return
    directory = path.rpartition("/")[0]
    while True:
        prefix = f"{directory}/" if directory else ""
        for name in ("__init__.py", "conftest.py") if _is_test(path) else ("__init__.py",):
            if prefix + name in tree.paths:
                yield prefix + name
        if not directory:
            return
        directory = directory.rpartition("/")[0]


def _is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"


def _of_python(path: str, module: ast.Module, tree: Tree) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in _names(path, node):
                yield from tree.by_module.get(name, ())
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _named_in(path, node.value, tree)
        elif isinstance(node, ast.Call) and _callee(node) in _COMPUTED:
            yield from _below(path, tree, (".py",))


def _names(path: str, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Dotted names that an import may load: of ``from a.b import c`` both ``a.b`` and ``a.b.c``, and the parents."""
    if isinstance(node, ast.Import):
        full = [alias.name for alias in node.names]
    else:
        package = path.rpartition("/")[0].split("/") if "/" in path else []
        base = package[: len(package) - node.level + 1] if node.level else []
        module = ".".join([*base, *([node.module] if node.module else [])])
        full = [f"{module}.{alias.name}" if module else alias.name for alias in node.names] + (
            [module] if module else []
        )
    for name in full:
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            yield ".".join(parts[:end])


def _named_in(path: str, value: str, tree: Tree) -> Iterator[str]:
    """Files that a string names: ``run("test_worker.py")``, ``"ops/yaml/sort.yaml"``, ``glob("*.yaml")``."""
    if len(value) > 4000:
        return
    for word in re.findall(r"[\w.*-]+\.(?:py|ya?ml|json|toml)\b", value):
        yield from tree.by_name.get(word, ())
    if re.search(r"\*\.?(?:ya?ml|json|toml)|\.ya?ml$", value):
        yield from _below(path, tree, _DATA)


def _below(path: str, tree: Tree, suffixes: tuple[str, ...]) -> list[str]:
    directory = path.rpartition("/")[0]
    prefix = f"{directory}/" if directory else ""
    return sorted(found for found in tree.paths if found.startswith(prefix) and found.endswith(suffixes))


def _callee(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _deleted(path: str, module: ast.Module, gone: set[str]) -> Iterator[str]:
    """Deleted modules that are still imported."""
    if not gone:
        return
    wanted: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            wanted |= set(_names(path, node))
    for deleted in sorted(gone):
        dotted = deleted.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        if any(dotted == name or dotted.endswith(f".{name}") for name in wanted):
            yield deleted
