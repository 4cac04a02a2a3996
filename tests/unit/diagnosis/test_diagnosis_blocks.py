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
from __future__ import annotations

import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.diagnosis.blocks import BLOCK_BYTES, KEEP_BYTES, BlockReader
from bot.diagnosis.engine import Diagnoser


def read(chunks: Iterable[bytes]) -> bytes:
    reader = BlockReader()
    out = b"".join(block for chunk in chunks for block in reader.feed(chunk))
    return out + b"".join(reader.close())


@given(st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\r", b"").replace(b"\x1b", b"")), max_size=30))
def test_blocks_are_the_input_with_a_last_newline(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    assert read(chunks) == (whole if whole.endswith(b"\n") or not whole else whole + b"\n")


def test_every_block_ends_at_a_line_end() -> None:
    reader = BlockReader()
    line = b"x" * 99 + b"\n"
    blocks = [block for _ in range(40) for block in reader.feed(line * 1000)]
    assert len(blocks) >= 2
    assert all(block.endswith(b"\n") for block in blocks)


def test_a_line_without_end_keeps_head_and_tail() -> None:
    out = read([b"HEAD", *[b"x" * BLOCK_BYTES] * 20, b"TAIL\nnext\n"])
    first, second = out.splitlines()
    assert first.startswith(b"HEAD")
    assert first.endswith(b"TAIL")
    assert len(first) <= 2 * KEEP_BYTES + BLOCK_BYTES + 100
    assert second == b"next"


@pytest.mark.parametrize(
    "chunk",
    [
        b"x" * 65536,
        b"progress\r" * 7000,
        b"a line of a log with an Error: in it\n" * 1800,
        b"\n" * 65536,
        b"\x1b" * 65536,
    ],
    ids=["no newline", "progress bar", "errors", "empty lines", "escapes"],
)
def test_memory_stays_bounded(chunk: bytes) -> None:
    Diagnoser().close()  # what is loaded once does not count
    tracemalloc.start()
    diagnoser = Diagnoser()
    for _ in range(400):
        diagnoser.feed(chunk)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32 << 20
