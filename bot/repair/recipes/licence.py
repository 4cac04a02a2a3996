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
"""Licence header and its years: the header the repository itself uses, never one of our own invention."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath
from typing import Final

from bot.gate.finding import Finding
from bot.repair.checks.licence import YEARS, complaint
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.text import decode, split_lines

_FAMILIES: Final = (
    frozenset({".py", ".sh", ".cmake", ".yaml"}),
    frozenset({".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".cu"}),
)
_LOOK_AT: Final = 200


def mend_header(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Put the repository's usual header on top, or stretch the years of the one that is there."""
    source = decode(content, scene.path)
    if isinstance(source, Reason):
        return source
    said = complaint(content, scene.year)
    if said is None:
        return because("not-found-here", line=str(finding.line), what="a header to mend")
    if said[0] == "year":
        text = YEARS.sub(rf"\g<1>\g<2>-{scene.year}", source.text, count=1)
        return Edit(source.encode(text), Nature.COMMENT)
    header = usual_header(scene)
    if header is None or not scene.year:
        return because("unsafe", why="no file of this repository shows which header to use")
    header = YEARS.sub(rf"\g<1>{scene.year}", header, count=1).replace("\n", source.newline)
    lines = split_lines(source.text)
    at = 0
    while at < min(2, len(lines)) and re.match(r"#!|#.*coding[:=]", lines[at]):
        at += 1
    return Edit(source.encode("".join(lines[:at]) + header + "".join(lines[at:])), Nature.COMMENT)


def usual_header(scene: Scene) -> str | None:
    """The most common header comment of files of the same family, years aside."""
    family = next((group for group in _FAMILIES if PurePosixPath(scene.path).suffix in group), None)
    if family is None:
        return None
    found: Counter[str] = Counter()
    for path in scene.tree.grep("Copyright")[:_LOOK_AT]:
        if path == scene.path or PurePosixPath(path).suffix not in family:
            continue
        header = _header((scene.tree.read(path) or b"").decode("utf-8", "replace"))
        if header is not None:
            found[YEARS.sub(r"\g<1>2000", header, count=1)] += 1
    return found.most_common(1)[0][0] if found else None


def _header(text: str) -> str | None:
    """The leading comment block that holds the copyright line, with its line ends as ``\\n``."""
    lines = text.replace("\r\n", "\n").split("\n")
    while lines and re.match(r"#!|#.*coding[:=]", lines[0]):
        lines.pop(0)
    kept = []
    if lines and lines[0].startswith("/*"):
        for line in lines:
            kept.append(line)
            if "*/" in line:
                break
        else:
            return None
    else:
        for line in lines:
            if not line.startswith(("#", "//")):
                break
            kept.append(line)
    block = "\n".join(kept)
    return f"{block}\n" if YEARS.search(block) and len(kept) >= 2 else None


RECIPES: Final = (
    Recipe(
        name="licence-header",
        tools=frozenset({"license", "licence"}),
        apply=mend_header,
        check="Check_License",
        natures=frozenset({Nature.COMMENT}),
        whole_file=True,
    ),
    Recipe(
        name="licence-header-cpp",
        tools=frozenset({"cpplint"}),
        rules=frozenset({"legal/copyright"}),
        apply=mend_header,
        check="Check_Cpplint",
        natures=frozenset({Nature.COMMENT}),
        whole_file=True,
    ),
)
