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
"""Reasons to leave an "unused" import alone: uses that a linter cannot see."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import PurePosixPath
from typing import Final

import libcst as cst

from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Scene
from bot.repair.recipes.syntax import Parsed

# Importing these changes the process: that is what people import them for.
ACTING: Final = frozenset(
    {
        "readline",
        "rlcompleter",
        "this",
        "antigravity",
        "faulthandler",
        "site",
        "sitecustomize",
        "torch_npu",
        "torch_xla",
    }
    | {
        "apex",
        "intel_extension_for_pytorch",
        "gevent",
        "eventlet",
        "__future__",
        "encodings",
        "sklearnex",
        "mpl_toolkits",
    }
    | {"colorama", "dotenv", "setuptools", "pkg_resources"}
)
# Large third-party modules whose import is only paid for by what is then used.
_QUIET: Final = frozenset(
    {
        "numpy",
        "np",
        "torch",
        "mindspore",
        "pytest",
        "yaml",
        "scipy",
        "pandas",
        "requests",
        "typing_extensions",
        "attr",
        "attrs",
    }
    | {
        "packaging",
        "psutil",
        "safetensors",
        "transformers",
        "einops",
        "tqdm",
        "pydantic",
        "aiohttp",
        "click",
        "rich",
        "hypothesis",
    }
)
_TEST_FILE: Final = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")


def doubts(
    parsed: Parsed, statement: cst.Import | cst.ImportFrom, alias: cst.ImportAlias, scene: Scene
) -> Reason | None:
    """The first reason not to remove ``alias``, or ``None``."""
    name = parsed.code(alias.name)
    bound = parsed.code(alias.asname.name) if alias.asname else name.partition(".")[0]
    module = module_of(parsed, statement) if isinstance(statement, cst.ImportFrom) else name
    return (
        _mentioned(parsed, bound)
        or _exported(bound, scene)
        or (_fixture(module, name, bound, scene) if isinstance(statement, cst.ImportFrom) else None)
        or _acts(module, isinstance(statement, cst.Import), scene, elsewhere(parsed, statement, module))
    )


def module_of(parsed: Parsed, statement: cst.ImportFrom) -> str:
    """Dotted module with its leading dots."""
    dots = "." * len(statement.relative)
    return dots + (parsed.code(statement.module) if statement.module is not None else "")


def elsewhere(parsed: Parsed, statement: cst.Import | cst.ImportFrom, module: str) -> bool:
    """Whether the same module stays imported by another name, so that its import still happens."""
    if (
        isinstance(statement, cst.ImportFrom)
        and not isinstance(statement.names, cst.ImportStar)
        and len(statement.names) > 1
    ):
        return True
    others = [
        node for node in parsed.each(cst.ImportFrom) if node is not statement and module_of(parsed, node) == module
    ]
    return bool(others) or any(
        parsed.code(other.name) == module
        for node in parsed.each(cst.Import)
        if node is not statement
        for other in node.names
    )


def _mentioned(parsed: Parsed, bound: str) -> Reason | None:
    """Names in strings, ``__all__``, type comments, ``global`` statements, doctests and parameters of the same file."""
    word = re.compile(rf"(?<![\w.]){re.escape(bound)}(?!\w)")
    for node in parsed.each(cst.SimpleString):
        docstring = isinstance(parsed.parents[node], cst.Expr)
        if not docstring and word.search(node.value) and _names_in_string(node, bound):
            return because("import-used", name=bound, where="a string")
        if docstring and any(">>>" in row and word.search(row) for row in node.value.splitlines()):
            return because("import-used", name=bound, where="a doctest")
    for comment in parsed.each(cst.Comment):
        if re.match(r"#\s*type:", comment.value) and word.search(comment.value):
            return because("import-used", name=bound, where="a type comment")
    for param in parsed.each(cst.Param):
        if param.name.value == bound:
            return because("import-fixture", name=bound)
    code = parsed.module.code
    if re.search(r"\b(?:globals|locals|vars|eval|exec)\(", code):
        return because("import-used", name=bound, where="globals()/eval()")
    return None


def _names_in_string(node: cst.SimpleString, bound: str) -> bool:
    """Whether a string speaks of the name as code: in an expression, or before a dot or a bracket."""
    value = node.evaluated_value
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if re.search(rf"(?<![\w.]){re.escape(bound)}\s*[.(\[]\s*\w", text):
        return True
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(isinstance(item, ast.Name) and item.id == bound for item in ast.walk(tree))


def _exported(bound: str, scene: Scene) -> Reason | None:
    """Whether another file takes the name from this module: ``from x import name``, ``x.name``, ``patch("x.name")``."""
    stem = PurePosixPath(scene.path).stem
    by_import = re.compile(rf"from\s+[\w.]*\b{re.escape(stem)}\s+import\s+(?:\([^)]*|[^\n#]*)\b{re.escape(bound)}\b")
    by_name = re.compile(rf"\b{re.escape(stem)}\.{re.escape(bound)}\b")
    by_star = re.compile(rf"from\s+[\w.]*\b{re.escape(stem)}\s+import\s+\*")
    others = set(scene.tree.grep(stem)) - {scene.path}
    for path in sorted(others):
        if not path.endswith((".py", ".pyi", ".md", ".rst", ".cfg", ".toml", ".yaml", ".yml")):
            continue
        text = (scene.tree.read(path) or b"").decode("utf-8", "replace")
        if by_star.search(text) and re.search(rf"\b{re.escape(bound)}\b", text):
            return because("import-exported", name=bound, where=path)
        if by_import.search(text) or by_name.search(text):
            return because("import-exported", name=bound, where=path)
    return None


def _acts(module: str, whole: bool, scene: Scene, stays: bool) -> Reason | None:
    """Whether running the module's top level may matter."""
    top = module.lstrip(".").partition(".")[0]
    if top in ACTING:
        return because("import-side-effect", name=module, why="known for it")
    if stays:
        return None
    paths = resolve(module, scene)
    for path in paths:
        why = top_level_act(scene.tree.read(path) or b"")
        if why:
            return because("import-side-effect", name=module, why=f"{path}: {why}")
    if paths or top in sys.stdlib_module_names or top in _QUIET or not whole:
        return None
    return because("import-side-effect", name=module, why="its source is not in this repository")


def resolve(module: str, scene: Scene) -> tuple[str, ...]:
    """Files of the tree that an import of ``module`` runs, as far as they are in the tree."""
    dots = len(module) - len(module.lstrip("."))
    here = PurePosixPath(scene.path).parent
    parts = [part for part in module.lstrip(".").split(".") if part]
    if dots:
        for _ in range(dots - 1):
            here = here.parent
        roots = [here]
    else:
        roots = [PurePosixPath("."), here, PurePosixPath("src"), PurePosixPath("tests"), PurePosixPath("python")]
    for root in roots:
        base = root.joinpath(*parts)
        for path in (f"{base}.py", f"{base}/__init__.py"):
            if scene.tree.read(path) is not None:
                return (path,)
    return ()


def top_level_act(source: bytes) -> str:
    """What a module does when it is imported besides defining things; empty when nothing."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return "cannot be parsed"
    for node in body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return f"line {node.lineno} calls a function"
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            registering = [item for item in node.decorator_list if _registers(item)]
            if registering or (isinstance(node, ast.ClassDef) and node.keywords):
                return f"line {node.lineno} registers {node.name}"
        if isinstance(node, ast.For | ast.While | ast.With | ast.Delete | ast.AugAssign):
            return f"line {node.lineno} runs a statement"
        if isinstance(node, ast.Assign) and any(not isinstance(target, ast.Name) for target in node.targets):
            return f"line {node.lineno} changes another object"
    return ""


def _registers(decorator: ast.expr) -> bool:
    text = ast.unparse(decorator)
    quiet = (
        "dataclass",
        "functools.",
        "cache",
        "lru_cache",
        "property",
        "contextmanager",
        "staticmethod",
        "classmethod",
        "total_ordering",
    )
    return not text.removeprefix("dataclasses.").removeprefix("contextlib.").startswith(quiet)


def _fixture(module: str, name: str, bound: str, scene: Scene) -> Reason | None:
    """A test file may import fixtures and hooks that no code names."""
    if not _TEST_FILE.search(scene.path):
        return None
    if bound.startswith("pytest_"):
        return because("import-fixture", name=bound)
    top = module.lstrip(".").partition(".")[0]
    if not module.startswith(".") and (top in sys.stdlib_module_names or top in _QUIET):
        return None
    for path in resolve(module, scene):
        definition = _definition(scene.tree.read(path) or b"", name)
        if isinstance(definition, ast.ClassDef):
            return None
        if isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef):
            if not any("fixture" in ast.unparse(item) for item in definition.decorator_list):
                return None
            return because("import-fixture", name=bound)
    return (
        None
        if scene.tree.read(f"{module.replace('.', '/')}/{name}.py") is not None
        else because("import-fixture", name=bound)
    )


def _definition(source: bytes, name: str) -> ast.stmt | None:
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return None
    return next((node for node in body if getattr(node, "name", None) == name), None)
