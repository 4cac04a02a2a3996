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

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.diagnosis.clean import MAX_LINE, clean_block, clean_line, cut_long, strip_bare_colour, strip_prefixes

NOTE = b"\x1b[8mha:////4AAAAEYfiwgAAAAAAAD+abc=\x1b[0m"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"\x1b[31mred\x1b[0m text\n", b"red text\n"),
        (b"a\x1b[Kb\x1b[2Jc\x1b[1;31;40md\x1b[?25l\n", b"abcd\n"),
        (b"\x1b]0;title\x07after\n", b"after\n"),
        (b"\x1b(Bplain\n", b"plain\n"),
        (NOTE + b"[Pipeline] sh\n", b"[Pipeline] sh\n"),
        (b"\x1b[8mha:////4AAAAEYfiwg\n", b"\n"),
        (b"one\r\ntwo\r\n", b"one\ntwo\n"),
        (b"10%\r50%\r100%\n", b"100%\n"),
        (b"10%\r50%\r\n", b"50%\n"),
        (b"travis_fold:end:x\r\x1b[0K$ npm test\n", b"$ npm test\n"),
        (b"a\n1\r2\nb\n3\r4\n", b"a\n2\nb\n4\n"),
        (b"bar\r   \n", b"bar\n"),
    ],
)
def test_blocks_show_what_a_terminal_would(raw: bytes, shown: bytes) -> None:
    assert clean_block(raw) == shown


@given(st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\x1b", b"[", b"31m", b"\x1b[8mha:", b"\xff", b"=", b"\x1b[0m"])))
def test_cleaning_never_changes_the_number_of_lines(parts: list[bytes]) -> None:
    raw = b"".join(parts)
    assert clean_block(raw).count(b"\n") == raw.count(b"\n")


@pytest.mark.parametrize(
    ("text", "rest", "rank", "branch"),
    [
        ("[2026-05-16T02:18:23.087Z] x.py:1: boom", "x.py:1: boom", -1, ""),
        ("2020-11-02T10:00:00.1234567Z ##[error]no", "##[error]no", -1, ""),
        ("2026-05-16 02:18:23,087 INFO go", "INFO go", -1, ""),
        ("2024-05-05T10:00:00.000000Z 00O make", "make", -1, ""),
        ("2024-05-05T10:00:00.000000Z 01E+rest", "rest", -1, ""),
        ("02:18:23  ok", "ok", -1, ""),
        ("[02:18:23] ok", "ok", -1, ""),
        ("[Check_Pylint] a.py:1: x", "a.py:1: x", -1, "Check_Pylint"),
        ("[2026-05-16T02:18:23.087Z] [UT] E   boom", "E   boom", -1, "UT"),
        ("web_1  | started", "started", -1, ""),
        ("[rank3]: ValueError: x", "ValueError: x", 3, ""),
        ("[rank3]:[W101] x", "[W101] x", 3, ""),
        ("[default2]:    at", "   at", 2, ""),
        ("(Worker_TP11 pid=15618) ERROR x", "ERROR x", 11, ""),
        ("[1,4]<stderr>:boom", "boom", 4, ""),
        ("./logs/x/case/worker_3.log:123:E   AssertionError: boom", "E   AssertionError: boom", 3, ""),
        ("./logs/x/case/worker_3.log-124-context", "context", 3, ""),
        ("./logs/scheduler.log:9:x", "x", -1, ""),
        ("[ERROR] plain", "[ERROR] plain", -1, ""),
        ("    5 | int x;", "    5 | int x;", -1, ""),
        ("", "", -1, ""),
    ],
)
def test_prefixes(text: str, rest: str, rank: int, branch: str) -> None:
    line = strip_prefixes(text, 7)
    assert (line.text, line.rank, line.branch, line.number) == (rest, rank, branch, 7)


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    assert clean_line("标题".encode("gbk"), 1).text.count("\ufffd") > 0


def test_long_lines_keep_head_and_tail() -> None:
    cut = cut_long(b"H" + b"x" * 10_000_000 + b"T")
    assert len(cut) <= MAX_LINE + 5
    assert cut[:1] == b"H"
    assert cut[-1:] == b"T"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("[31mError[0m: x", "Error: x"),
        ("[1;31mFAIL[0m", "FAIL"),
        ("a[0] = m[1]", "a[0] = m[1]"),
        ("[100%] Built", "[100%] Built"),
        ("x [m] y", "x [m] y"),
    ],
)
def test_colour_codes_without_escape_byte(text: str, plain: str) -> None:
    assert strip_bare_colour(text) == plain
