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
"""Which lines of a file a pull request adds, read from the hunks the forge shows. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class FileLines:
    """The lines of one file's diff.

    Attributes:
        added: Number in the new file to text, of every added line.
        shown: The same for every line a hunk shows, added ones included.
        removed: Number in the old file to text, of every removed line.
    """

    added: Mapping[int, str] = field(default_factory=dict)
    shown: Mapping[int, str] = field(default_factory=dict)
    removed: Mapping[int, str] = field(default_factory=dict)


def read_hunks(patch: str) -> FileLines:
    """The lines of a unified diff of one file; text outside of hunks (headers, nonsense) is passed over."""
    added: dict[int, str] = {}
    shown: dict[int, str] = {}
    removed: dict[int, str] = {}
    old = new = old_left = new_left = 0
    for line in patch.split("\n"):
        if old_left <= 0 and new_left <= 0:
            if match := _HUNK.match(line):
                old, new = int(match[1]), int(match[3])
                old_left, new_left = int(match[2] or 1), int(match[4] or 1)
            continue
        mark, text = line[:1], line[1:].removesuffix("\r")
        if mark == "\\":
            continue
        if mark == "+":
            added[new] = shown[new] = text
        elif mark == "-":
            removed[old] = text
        else:  # context; some tools drop the blank of an empty line
            shown[new] = text
        if mark != "+":
            old, old_left = old + 1, old_left - 1
        if mark != "-":
            new, new_left = new + 1, new_left - 1
    return FileLines(added, shown, removed)
