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

import hypothesis.strategies as st
from hypothesis import given

from bot.gitcode.comment_text import TAMED_LENGTH, fit, open_fence, split_marker, tamed

NOTICE = "**cut**"
MARKER = "<!-- gatebot:report:647 -->"


def test_a_text_that_fits_is_left_alone() -> None:
    text = "a\n```\nb"
    assert fit(text, len(text), NOTICE) is text


def test_a_cut_text_says_so_and_keeps_its_marker() -> None:
    text = "x" * 5_000 + "\n\n" + MARKER
    cut = fit(text, 1_000, NOTICE)
    assert len(cut) <= 1_000
    assert cut.endswith(f"{NOTICE}\n\n{MARKER}")


def test_an_open_code_block_is_closed() -> None:
    text = "log:\n````text\n" + "line ``` of a log\n" * 400
    cut = fit(text, 1_000, NOTICE)
    assert open_fence(cut) == ""
    assert f"\n````\n\n{NOTICE}" in cut


@given(st.text(alphabet="ab`~\n <!->", max_size=3_000), st.booleans())
def test_cut_never_exceeds_the_limit_nor_loses_the_marker(text: str, marked: bool) -> None:
    text = text.replace("-->", "") + (f"\n{MARKER}" if marked else "")
    cut = fit(text, 1_000, NOTICE)
    assert len(cut) <= 1_000
    assert cut.endswith(MARKER) or not marked
    if len(text) > 1_000:
        assert NOTICE in cut


def test_tamed_text_is_short_and_has_no_tags() -> None:
    text = "<script>alert(1)</script> ../../etc/passwd\n" * 500 + MARKER
    short = tamed(text)
    visible, marker = split_marker(short)
    assert marker == MARKER
    assert "<" not in visible
    assert "../" not in visible
    assert len(visible) < TAMED_LENGTH * 4


def test_a_marker_is_only_what_ends_the_text() -> None:
    assert split_marker(f"a\n{MARKER}\n") == ("a", MARKER)
    assert split_marker(f"{MARKER}\na") == (f"{MARKER}\na", "")
    assert split_marker("a -->") == ("a -->", "")
