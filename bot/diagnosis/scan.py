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
"""Finds trigger patterns in large blocks with one pass of one engine.

Hyperscan is used where it can be imported (more than 1 GB/s); otherwise one compiled alternation of ``re``.
Both report the same lines: a pattern counts as hit on the line where a match of it ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

Scanner = Callable[[bytes], list[tuple[int, int]]]
"""Takes a block, returns ``(offset of the last byte of a match, pattern index)`` in ascending order of offset."""


def build_scanner(patterns: Sequence[str], *, engine: str = "auto") -> Scanner:
    """Compiles patterns into one scanner.

    Args:
        patterns: Regular expressions in the subset that both engines know: no look-around, no back references,
            no anchors; each must match at least one byte.
        engine: ``auto``, ``hyperscan`` or ``re``.

    Returns:
        The scan function.

    Raises:
        ImportError: ``hyperscan`` was asked for by name and is not installed.
    """
    if engine != "re":
        try:
            return _hyperscan_scanner(patterns)
        except ImportError:
            if engine == "hyperscan":
                raise
    return _re_scanner(patterns)


def _hyperscan_scanner(patterns: Sequence[str]) -> Scanner:
    import hyperscan

    database = hyperscan.Database()
    database.compile(
        expressions=[pattern.encode() for pattern in patterns],
        ids=list(range(len(patterns))),
        elements=len(patterns),
        flags=[0] * len(patterns),
    )

    def scan(block: bytes) -> list[tuple[int, int]]:
        hits: list[tuple[int, int]] = []
        append = hits.append

        def on_match(pattern: int, _start: int, end: int, _flags: int, _context: Any) -> None:
            append((end - 1, pattern))

        database.scan(block, match_event_handler=on_match)
        return hits

    return scan


def _re_scanner(patterns: Sequence[str]) -> Scanner:
    """One alternation finds the candidate lines; each candidate line is then asked which patterns it holds."""
    joined = re.compile("|".join(f"(?:{pattern})" for pattern in patterns).encode())
    single = [re.compile(pattern.encode()) for pattern in patterns]

    def scan(block: bytes) -> list[tuple[int, int]]:
        hits: list[tuple[int, int]] = []
        position = 0
        while (match := joined.search(block, position)) is not None:
            start = block.rfind(b"\n", 0, match.start() + 1) + 1
            end = block.find(b"\n", match.end() - 1)
            end = len(block) if end < 0 else end
            line = block[start:end]
            found = [(last.end() - 1 + start, index) for index, one in enumerate(single) if (last := one.search(line))]
            hits.extend(sorted(found))
            position = end + 1
        return hits

    return scan
