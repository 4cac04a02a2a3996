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
"""Chunks of any size in, blocks of whole lines out, with bounded memory whatever the log looks like."""

from __future__ import annotations

from collections.abc import Iterator

from bot.diagnosis.clean import clean_block

BLOCK_BYTES = 1 << 20
"""Aim for the size of a block: large enough that per-block work in Python does not count."""
KEEP_BYTES = 1 << 16
"""Bytes kept of the head and of the tail of a line that does not end."""


class BlockReader:
    """Cuts a stream of chunks into cleaned blocks that end at a line end.

    A line longer than four blocks loses its middle: its first and last 64 KiB stay, and it remains one line.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._head: bytes | None = None

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Takes the next chunk.

        Args:
            chunk: Bytes as they come from the network or a file.

        Yields:
            Cleaned blocks; each ends with a newline.
        """
        for start in range(0, len(chunk), BLOCK_BYTES):
            self._parts.append(chunk[start : start + BLOCK_BYTES])
            self._size += len(self._parts[-1])
            if self._size >= BLOCK_BYTES:
                yield from self._flush()

    def _flush(self) -> Iterator[bytes]:
        data = b"".join(self._parts)
        end = data.rfind(b"\n") + 1
        if not end:
            self._keep(self._shorten(data))
            return
        self._keep(data[end:])
        yield self._cleaned(data[:end])

    def _keep(self, rest: bytes) -> None:
        self._parts = [rest] if rest else []
        self._size = len(rest)

    def _shorten(self, data: bytes) -> bytes:
        """Called while a line has not ended for a whole block: puts its head aside and keeps only a tail."""
        if len(data) < 4 * BLOCK_BYTES and self._head is None:
            return data
        if self._head is None:
            self._head = data[:KEEP_BYTES]
        return data[-KEEP_BYTES:]

    def _cleaned(self, data: bytes) -> bytes:
        if self._head is not None:
            data = self._head + b" ... " + data
            self._head = None
        return clean_block(data)

    def close(self) -> Iterator[bytes]:
        """Yields what is left; the last line gets the newline it lacked."""
        data = b"".join(self._parts)
        self._parts, self._size = [], 0
        if data or self._head is not None:
            yield self._cleaned(data if data.endswith(b"\n") else data + b"\n")
