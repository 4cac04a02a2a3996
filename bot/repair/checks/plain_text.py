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
"""Check_Tab and Check_Utf8: what the gate's two small checks say, line for line."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from bot.repair.checks.base import Check, CheckContext, Observation, same_place

# Here a tab is syntax or data.
TABS_MEAN_SOMETHING: Final = frozenset({".mk", ".go", ".tsv", ".patch", ".diff"})


def may_lose_tabs(path: str) -> bool:
    """Whether tabs may become blanks in this kind of file at all."""
    pure = PurePosixPath(path)
    return pure.suffix.lower() not in TABS_MEAN_SOMETHING and pure.name not in {
        "Makefile",
        "GNUmakefile",
        ".gitmodules",
    }


def _tabs(files: tuple[str, ...], context: CheckContext) -> tuple[Observation, ...]:
    return tuple(
        Observation("Check_Tab", "tab", name, number, "", "tab character found")
        for name in files
        for number, line in enumerate((context.root / name).read_bytes().split(b"\n"), 1)
        if b"\t" in line
    )


def first_bad_byte(content: bytes) -> int:
    """Offset of the first byte that is not UTF-8, -1 when there is none."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return -1


def _utf8(files: tuple[str, ...], context: CheckContext) -> tuple[Observation, ...]:
    found = []
    for name in files:
        offset = first_bad_byte((context.root / name).read_bytes())
        if offset >= 0:
            found.append(Observation("Check_Utf8", "utf8", name, 0, "", f"non-UTF-8 byte at offset {offset}"))
    return tuple(found)


TAB: Final = Check("Check_Tab", may_lose_tabs, _tabs, same_place, "grep -nP '\\t'")
UTF8: Final = Check(
    "Check_Utf8", lambda path: True, _utf8, lambda finding, seen: finding.file == seen.file, "iconv -f utf-8 -t utf-8"
)
