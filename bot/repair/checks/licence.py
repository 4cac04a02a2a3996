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
"""Licence headers: every source file says whose it is, and until which year."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from bot.repair.checks.base import Check, CheckContext, Observation

_SOURCES: Final = frozenset({".py", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".cu", ".sh", ".cmake"})
YEARS: Final = re.compile(r"(Copyright(?: \([Cc]\)|©)? )(\d{4})(?:(\s?-\s?)(\d{4}))?(?=[ ,])")
_HEAD: Final = 1500


def wants(path: str) -> bool:
    """Source files that carry a header."""
    return PurePosixPath(path).suffix.lower() in _SOURCES


def complaint(content: bytes, year: int) -> tuple[str, str] | None:
    """``("header", …)`` without a copyright line, ``("year", …)`` when its years end before ``year``; else ``None``."""
    head = content[:_HEAD].decode("utf-8", "replace")
    if not head.strip():
        return None
    if "Copyright" not in head:
        return "header", "no licence header"
    years = YEARS.search(head)
    if years is not None and year and int(years[4] or years[2]) < year:
        return "year", f"the licence header ends in {years[4] or years[2]}, not {year}"
    return None


def _run(files: tuple[str, ...], context: CheckContext) -> tuple[Observation, ...]:
    found = []
    for name in files:
        said = complaint((context.root / name).read_bytes(), context.year)
        if said is not None:
            found.append(Observation("Check_License", said[0], name, 1, "", said[1]))
    return tuple(found)


CHECK: Final = Check(
    "Check_License",
    wants,
    _run,
    lambda finding, seen: finding.file == seen.file and finding.rule in {seen.rule, "legal/copyright"},
    "licence header and its years",
)
