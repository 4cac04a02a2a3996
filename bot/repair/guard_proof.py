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
"""Proves on the bytes that an edit is no more than it claims to be."""

from __future__ import annotations

import ast
import difflib
import io
import re
import tokenize
from collections import Counter
from typing import Final

import yaml

from bot.repair.op_entry_edits import only_entries_changed
from bot.repair.reason import Reason
from bot.repair.recipes.base import Nature
from bot.repair.recipes.strings import without_comments
from bot.repair.recipes.text import decode, split_lines

_COOKIE: Final = re.compile(rb"\A((?:#[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*)[-\w.]+")
_PYTHON: Final = (".py", ".pyi")
_YAML: Final = (".yaml", ".yml")
# Here a blank at the start of a line means something, and no parser at hand tells what.
_DIFF_LIMIT: Final = 2000
_INDENTED: Final = (".mk", ".rst", ".md", ".markdown", ".toml", ".cfg", ".ini", ".txt", ".patch", ".diff")


def proves(nature: Nature, old: bytes, new: bytes, path: str) -> bool:
    """Whether ``old`` to ``new`` is an edit of this nature and nothing more. ``CODE`` and ``PROSE`` claim nothing."""
    if nature is Nature.CODE:
        return not path.endswith(_PYTHON) or _dump(new, path) is not None
    if nature is Nature.PROSE:
        return not path.endswith((*_PYTHON, *_YAML))
    if nature is Nature.OP_ENTRY:
        return path.endswith(_YAML) and _op_entries(old, new)
    if nature is Nature.ENCODING:
        return _same_in_another_encoding(old, new)
    if path.endswith(_PYTHON):
        return _python(nature, old, new, path)
    if nature is Nature.WHITESPACE:
        return _white_space(old, new, path)
    if nature is Nature.COMMENT:
        return _comments(old, new, path)
    return False


def holds_for_read_only(old: bytes, new: bytes, path: str) -> bool:
    """Whether a read-only file's edit is at most a docstring, comment, white space, import order or unused import."""
    natures = (Nature.WHITESPACE, Nature.COMMENT, Nature.DOCSTRING, Nature.IMPORT_ORDER, Nature.UNUSED_IMPORT)
    return any(proves(nature, old, new, path) for nature in natures)


def _python(nature: Nature, old: bytes, new: bytes, path: str) -> bool:
    before, after = _dump(old, path), _dump(new, path)
    if before is None or after is None:
        return False
    if nature is Nature.WHITESPACE:
        return ast.dump(before) == ast.dump(after) and _comment_texts(old, path) == _comment_texts(new, path)
    if nature is Nature.COMMENT:
        return ast.dump(before) == ast.dump(after)
    if nature is Nature.DOCSTRING:
        return ast.dump(_without_docstrings(before)) == ast.dump(_without_docstrings(after))
    imports_before, imports_after = _imports(before), _imports(after)
    same_rest = ast.dump(_without_imports(before)) == ast.dump(_without_imports(after))
    if nature is Nature.IMPORT_ORDER:
        return same_rest and imports_before == imports_after
    if nature is Nature.UNUSED_IMPORT:
        return same_rest and not imports_after - imports_before
    return False


def _dump(content: bytes, path: str) -> ast.Module | None:
    try:
        return ast.parse(content, type_comments=False)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _comment_texts(content: bytes, path: str) -> list[str] | None:
    source = decode(content, path)
    if isinstance(source, Reason):
        return None
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source.text, newline="").readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    return [token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT]


class _Docstrings(ast.NodeTransformer):
    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body
            if (
                body
                and isinstance(body[0], ast.Expr)
                and isinstance(body[0].value, ast.Constant)
                and isinstance(body[0].value.value, str)
            ):
                node.body = body[1:] or [ast.Pass()]
        return node


class _Imports(ast.NodeTransformer):
    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None


def _without_docstrings(tree: ast.Module) -> ast.AST:
    result: ast.AST = _Docstrings().visit(tree)
    return result


def _without_imports(tree: ast.Module) -> ast.AST:
    result: ast.AST = _Imports().visit(tree)
    return result


def _imports(tree: ast.Module) -> Counter[tuple[object, ...]]:
    found: Counter[tuple[object, ...]] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(("import", 0, "", alias.name, alias.asname) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update(("from", node.level, node.module, alias.name, alias.asname) for alias in node.names)
    return found


def _same_in_another_encoding(old: bytes, new: bytes) -> bool:
    old, new = (_COOKIE.sub(rb"\1utf-8", content, count=1) for content in (old, new))
    try:
        text = new.decode("utf-8")
    except UnicodeDecodeError:
        return False
    for encoding in ("utf-8", "gb18030", "utf-16"):
        try:
            if old.decode(encoding) == text:
                return True
        except UnicodeDecodeError:
            continue
    return False


def _op_entries(old: bytes, new: bytes) -> bool:
    try:
        return only_entries_changed(old.decode("utf-8"), new.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _white_space(old: bytes, new: bytes, path: str) -> bool:
    before, after = old.decode("utf-8", "surrogateescape"), new.decode("utf-8", "surrogateescape")
    if path.endswith(_YAML):
        try:
            return _events(before) == _events(after)
        except (yaml.YAMLError, RecursionError):
            return False
    if path.lower().endswith((".md", ".markdown")):
        return _rendered(before) == _rendered(after)
    name = path.rpartition("/")[2]
    if (path.endswith(_INDENTED) and name != "CMakeLists.txt") or name in {"Makefile", "Dockerfile"}:
        return _ends_stripped(before) == _ends_stripped(after)
    return re.sub(r"\s+", "", before) == re.sub(r"\s+", "", after)


def _events(text: str) -> list[tuple[object, ...]]:
    """What a YAML text says, place and style aside. Its values are not built: a few aliases can mean billions."""
    names = ("anchor", "tag", "implicit", "value", "explicit", "version", "tags")
    return [(type(event), *(getattr(event, name, None) for name in names)) for event in yaml.parse(text)]


def _rendered(text: str) -> str:
    from markdown_it import MarkdownIt

    return str(MarkdownIt("commonmark").enable("table").render(text))


def _ends_stripped(text: str) -> list[str]:
    return [line.rstrip() for line in split_lines(text) if line.strip()]


def _comments(old: bytes, new: bytes, path: str) -> bool:
    """For other languages: what remains without comments is the same, white space aside."""
    if path.endswith(_YAML):
        return _white_space(old, new, path)
    before, after = (_without_comments(text.decode("utf-8", "surrogateescape"), path) for text in (old, new))
    return before is not None and before == after


def _without_comments(text: str, path: str) -> str | None:
    bare = without_comments(text, path)
    return None if bare is None else "".join(bare.split())


def changed_lines(old: bytes, new: bytes) -> tuple[int, int, int]:
    """``(count of removed and added lines, first changed old line, last changed old line)``; lines are 1-based."""
    before, after = old.split(b"\n"), new.split(b"\n")
    lead = 0
    while lead < min(len(before), len(after)) and before[lead] == after[lead]:
        lead += 1
    tail = 0
    while tail < min(len(before), len(after)) - lead and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    middle_before, middle_after = before[lead : len(before) - tail], after[lead : len(after) - tail]
    first, last = lead + 1, len(before) - tail
    if (
        max(len(middle_before), len(middle_after)) > _DIFF_LIMIT
    ):  # difflib is quadratic; so large an edit is refused anyway
        return len(middle_before) + len(middle_after), first, last
    total = 0
    for tag, low, high, start, end in difflib.SequenceMatcher(None, middle_before, middle_after, False).get_opcodes():
        if tag != "equal":
            total += (high - low) + (end - start)
    return total, first, last


def within(span: tuple[int, int], old: bytes, new: bytes) -> bool:
    """Whether an edit stays inside the lines a recipe named; pure insertions may lie right before or behind them."""
    if span == (0, 0) or old == new:
        return True
    _, first, last = changed_lines(old, new)
    return first >= span[0] and last <= span[1] + 1
