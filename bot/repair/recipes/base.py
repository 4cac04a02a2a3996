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
"""The shape of a recipe: what it applies to, what kind of edit it makes, and how its result is proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from bot.gate.finding import Finding
from bot.repair.reason import Reason


class Nature(StrEnum):
    """What an edit changes at most. The guard proves it on the bytes; a recipe's claim alone counts for nothing."""

    DOCSTRING = "docstring"
    WHITESPACE = "whitespace"
    COMMENT = "comment"
    IMPORT_ORDER = "import-order"
    UNUSED_IMPORT = "unused-import"
    ENCODING = "encoding"
    PROSE = "prose"
    OP_ENTRY = "op-entry"
    CODE = "code"


class Tree(Protocol):
    """The tracked files of the head, as a recipe may see them."""

    def read(self, path: str) -> bytes | None:
        """Bytes of a plain tracked file, else ``None``."""
        ...

    def grep(self, word: str) -> tuple[str, ...]:
        """Tracked files that hold ``word`` as a whole word."""
        ...

    def read_base(self, path: str) -> bytes | None:
        """Bytes of a file on the target branch, ``None`` when it is not there."""
        ...


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a recipe works.

    Attributes:
        path: Repository path of the file.
        tree: The other files.
        rules: Rule files of the target branch by path.
        root: The work tree on disk, for tools that need a real path; ``None`` for recipes tried on text alone.
        findings: All findings of this step; more than one only for whole-file recipes.
        year: Year of the head commit, for licence headers; 0 when unknown.
    """

    path: str
    tree: Tree
    rules: dict[str, bytes] = field(default_factory=dict)
    root: Path | None = None
    findings: tuple[Finding, ...] = ()
    year: int = 0


@dataclass(frozen=True, slots=True)
class Edit:
    """New bytes of the file.

    Attributes:
        content: The whole file after the edit.
        nature: What the edit claims to change at most.
        span: First and last 1-based line of the old file that it may touch; ``(0, 0)`` for the whole file.
    """

    content: bytes
    nature: Nature
    span: tuple[int, int] = (0, 0)


Apply = Callable[[bytes, Finding, Scene], Edit | Reason]
Find = Callable[[Finding, tuple[str, ...], Tree], Finding | Reason]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A deterministic fix.

    Attributes:
        name: Short name for tables and evidence.
        tools: Finding tools (parser names) it answers.
        rules: Rule ids it answers; empty for all of these tools.
        apply: The pure function.
        check: Stage name of the check that proves it.
        natures: What its edits may be; decides whether it may touch tests.
        whole_file: One application mends all its findings in a file, after the line-addressed recipes.
        find: From the finding and the pull request's paths to the file that has to change, where that may be another
            than the finding names.
    """

    name: str
    tools: frozenset[str]
    apply: Apply
    check: str
    natures: frozenset[Nature]
    rules: frozenset[str] = frozenset()
    whole_file: bool = False
    find: Find | None = None

    def applies(self, finding: Finding) -> bool:
        """Whether this recipe is for the finding."""
        return finding.tool in self.tools and (not self.rules or finding.rule in self.rules)
