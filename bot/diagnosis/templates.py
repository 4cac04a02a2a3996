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
"""Masks what varies in a line, so that lines that say the same can be counted and compared between builds."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.blocks import BlockReader
from bot.diagnosis.clean import clean_line

_VARYING = re.compile(
    r"0x[0-9a-fA-F]+|\b[0-9a-f]{7,64}\b|\b[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}\b"
    r"|(?<![\w/.-])(?:[A-Za-z]:)?(?:/[\w.@+~%-]+){2,}/?|\d+(?:[.,:]\d+)*"
)
MAX_TEMPLATE = 200


def template(text: str) -> str:
    """The line with numbers, hashes and absolute paths masked, cut to 200 characters."""
    return _VARYING.sub("#", text[:400]).strip()[:MAX_TEMPLATE]


class GreenTemplates:
    """Templates of lines that successful builds print too.

    Args:
        limit: Most templates to keep; further ones are ignored.
    """

    def __init__(self, limit: int = 500_000) -> None:
        self._seen: set[str] = set()
        self._limit = limit
        self._blocks = BlockReader()

    def feed(self, chunk: bytes) -> None:
        """Adds the next bytes of a green log, as they come; ``end`` follows the last ones."""
        for block in self._blocks.feed(chunk):
            self._learn_block(block)

    def end(self) -> None:
        """One green log is over; another may follow."""
        for block in self._blocks.close():
            self._learn_block(block)
        self._blocks = BlockReader()

    def _learn_block(self, block: bytes) -> None:
        self.learn(clean_line(raw, 0).text for raw in block.split(b"\n"))

    def learn(self, lines: Iterable[str]) -> None:
        """Adds the cleaned lines of a green log."""
        for line in lines:
            if len(self._seen) >= self._limit:
                return
            self._seen.add(template(line))

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and template(text) in self._seen

    def __len__(self) -> int:
        return len(self._seen)
