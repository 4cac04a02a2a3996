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
"""Where string literals are in C++, CMake and shell files, so that white space in them is left alone."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from bot.repair.recipes.text import split_lines

Spans = list[tuple[int, int]]  # half-open character columns of one line
_SLASH: Final = frozenset({".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".hxx", ".cu", ".cuh"})
# Each alternative is one lexical unit; group "s" marks those whose white space is content.
_CXX: Final = re.compile(
    r"(?P<c>//[^\n]*|/\*.*?(?:\*/|\Z))|(?P<s>R\"(?P<d>[^\s()\\]{0,16})\(.*?(?:\)(?P=d)\"|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?)",
    re.DOTALL,
)
_CMAKE: Final = re.compile(
    r"(?P<c>#\[(?P<e>=*)\[.*?(?:\](?P=e)\]|\Z)|#[^\n]*)|(?P<s>\"(?:\\.|[^\"\\])*(?:\"|\Z)|\[(?P<b>=*)\[.*?(?:\](?P=b)\]|\Z))",
    re.DOTALL,
)
_SHELL: Final = re.compile(
    r"(?P<c>(?:^|(?<=\s))#[^\n]*)|(?P<s><<-?\s*[\"']?(?P<h>\w+)[\"']?.*?(?:^\t*(?P=h)$|\Z)|\"(?:\\.|[^\"\\])*(?:\"|\Z)|'[^']*(?:'|\Z)|\\.)",
    re.DOTALL | re.MULTILINE,
)


def _pattern(path: str) -> re.Pattern[str] | None:
    pure = PurePosixPath(path)
    suffix = pure.suffix.lower()
    if suffix in _SLASH:
        return _CXX
    if pure.name == "CMakeLists.txt" or suffix == ".cmake":
        return _CMAKE
    return _SHELL if suffix in {".sh", ".bash"} else None


def without_comments(text: str, path: str) -> str | None:
    """The text with each comment taken out; ``None`` for kinds of files whose comments are not known."""
    pattern = _pattern(path)
    return None if pattern is None else pattern.sub(lambda match: match[0] if match["c"] is None else " ", text)


def string_spans(text: str, path: str) -> list[Spans] | None:
    """Strings of each line (0-based list); ``None`` for kinds of files whose strings are not known."""
    pattern = _pattern(path)
    if pattern is None:
        return None
    lines = split_lines(text)
    spans: list[Spans] = [[] for _ in lines]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    row = 0
    for match in pattern.finditer(text):
        if match["s"] is None:
            continue
        while starts[row + 1] <= match.start() and row + 1 < len(lines):
            row += 1
        at = row
        while at < len(lines) and starts[at] < match.end():
            low, high = max(match.start(), starts[at]), min(match.end(), starts[at + 1])
            spans[at].append((low - starts[at], high - starts[at]))
            at += 1
    return spans
