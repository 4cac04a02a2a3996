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
"""Reading the live log and the beginning of the clean one."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from bot.jenkins.console import MAX_CARRY, Progress, clean_line, head_sha_in, read_progress

NOTE = b"\x1b[8mha:////4AAAA+/b64==\x1b[0m"
SHA = "db336d3386067d09cb4cb115caa5e93e4a69cf5b"
OTHER = "60a832502a2c571bec4ceaa636c6a213c2854f5a"


def test_notes_go_before_other_escapes() -> None:
    assert clean_line(NOTE + b"[Pipeline] sh\x1b[K\x1b[1;31mred\x1b[0m\r") == "[Pipeline] shred"
    assert clean_line(b"GBK: " + "编".encode("gbk")) == "GBK: ��"


def test_next_start_is_the_servers_and_not_a_sum_of_bytes() -> None:
    look = read_progress(Progress(), {"X-Text-Size": "5000", "X-More-Data": "true"}, b"a\nb\n")
    assert (look.lines, look.start, look.more) == (("a", "b"), 5000, True)


def test_no_log_file_yet() -> None:
    look = read_progress(Progress(), {"X-Text-Size": "0", "X-More-Data": "true"}, b"")
    assert (look.lines, look.start, look.more) == ((), 0, True)


def test_restart_at_zero_is_told_and_drops_the_carry() -> None:
    before = Progress(start=900, carry=b"half")
    look = read_progress(before, {"X-Text-Size": "10", "X-More-Data": "true"}, b"fresh\n")
    assert look.restarted
    assert look.lines == ("fresh",)


def test_last_line_without_an_end_comes_out_at_the_end() -> None:
    look = read_progress(Progress(start=3, carry=b"Fin"), {"X-Text-Size": "11"}, b"ished: X")
    assert (look.lines, look.carry, look.more) == (("Finished: X",), b"", False)


def test_endless_line_is_not_kept_for_ever() -> None:
    look = read_progress(Progress(), {"X-Text-Size": "9", "X-More-Data": "true"}, b"x" * (MAX_CARRY + 1))
    assert look.carry == b""
    assert len(look.lines) == 1


LOG = b"".join(NOTE + f"[Pipeline] step {i}\n测试 {i}\n".encode() for i in range(20))
LINES = tuple(text for i in range(20) for text in (f"[Pipeline] step {i}", f"测试 {i}"))


@given(cuts=st.lists(st.integers(0, len(LOG)), max_size=12))
def test_lines_are_the_same_wherever_the_chunks_are_cut(cuts: list[int]) -> None:
    borders = [0, *sorted(cuts), len(LOG)]
    look, seen = Progress(), ()
    for begin, end in itertools.pairwise(borders):
        headers = {"X-Text-Size": str(end)} | ({"X-More-Data": "true"} if end < len(LOG) else {})
        look = read_progress(look, headers, LOG[begin:end])
        seen += look.lines
    assert seen == LINES


def test_head_sha_counts_only_beside_the_pull_requests_own_ref() -> None:
    library = f"Checking out Revision {OTHER} (refs/remotes/origin/master)"
    other = f"Checking out Revision {OTHER} (refs/merge-requests/647/head)"
    own = f"[2026-05-16T02:18:23.087Z] Checking out Revision {SHA} (refs/merge-requests/64/head)"
    assert head_sha_in([library, other, own], 64) == SHA
    assert head_sha_in([library, other], 64) == ""
    assert head_sha_in([f"giteePullRequestLastCommit={SHA}"], 64) == SHA
    assert head_sha_in([f"流水线 [ commitID：{SHA} ] 已完成"], 64) == SHA
