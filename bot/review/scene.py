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
"""What a review rule may look at: the changed files, and both sides' texts. I/O sits behind two functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bot.review.diffmap import FileLines

_LONGEST = 2_000_000  # characters of a file that is still parsed


@dataclass(frozen=True, slots=True)
class Hit:
    """A place a rule objects to; ``values`` fill the fields of its message."""

    path: str
    line: int
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scene:
    """A pull request as the rules see it.

    Attributes:
        files: New path to lines of every changed file that still exists.
        old_paths: New path to the path on the target branch.
        head: Text of a file at the head; ``None`` where there is none.
        base: Text of a file where the branch began; ``None`` where there is none.
        paths: All paths at the head.
    """

    files: Mapping[str, FileLines]
    head: Callable[[str], str | None]
    base: Callable[[str], str | None]
    paths: frozenset[str] = frozenset()
    old_paths: Mapping[str, str] = field(default_factory=dict)

    def head_tree(self, path: str) -> ast.Module | None:
        """Syntax tree at the head; ``None`` for what is not Python that can be parsed."""
        return parse(self.head(path))

    def base_tree(self, path: str) -> ast.Module | None:
        """Syntax tree where the branch began."""
        return parse(self.base(self.old_paths.get(path, path)))

    def added(self, path: str) -> Mapping[int, str]:
        """Added lines of a file by number."""
        lines = self.files.get(path)
        return lines.added if lines else {}


def parse(text: str | None) -> ast.Module | None:
    """A syntax tree, or ``None``: what others write need not be Python."""
    if text is None or len(text) > _LONGEST:
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def dotted(node: ast.expr) -> str:
    """``dist.all_reduce`` of a name or attribute; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return parts[0] if parts else ""
    return ".".join([node.id, *reversed(parts)])


def last_name(node: ast.expr) -> str:
    """``all_reduce`` of ``dist.all_reduce``."""
    return dotted(node).rpartition(".")[2]
