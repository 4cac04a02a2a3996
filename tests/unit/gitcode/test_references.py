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
import pytest
from hypothesis import given

from bot.errors import TellUser
from bot.gitcode.references import PullReference, parse_reference

REPO = "mindspore/hyper-parallel"


@pytest.mark.parametrize("text", ["647", "#647", "!647", " 647 ", "<#647>"])
def test_bare_numbers_take_the_default_repository(text: str) -> None:
    assert parse_reference(text, default_repo=REPO) == PullReference(REPO, 647)
    assert parse_reference(text) == PullReference("", 647)


@pytest.mark.parametrize(
    "text",
    [
        "mindspore/hyper-parallel#647",
        "mindspore/hyper-parallel!647",
        "mindspore/hyper-parallel.git#647",
        "https://gitcode.com/mindspore/hyper-parallel/merge_requests/647",
        "https://gitcode.com/mindspore/hyper-parallel/pull/647",
        "https://gitcode.com/mindspore/hyper-parallel/pulls/647",
        "https://gitcode.com/mindspore/hyper-parallel.git/pulls/647",
        "https://gitcode.com/mindspore/hyper-parallel/-/merge_requests/647",
        "https://gitcode.com/mindspore/hyper-parallel/merge_requests/647/diffs?ref=x&a=b#note_39dd",
        "https://gitcode.com/mindspore/hyper-parallel/pull/647/#note_1",
        "HTTPS://GITCODE.COM/mindspore/hyper-parallel/merge_requests/647",
        "http://gitcode.com/mindspore/hyper-parallel/pull/647/",
        "gitcode.com/mindspore/hyper-parallel/pull/647",
        "https://atomgit.com/mindspore/hyper-parallel/pull/647",
        "https://api.gitcode.com/api/v5/repos/mindspore/hyper-parallel/pulls/647",
        "https://api.gitcode.com/api/v5/repos/mindspore/hyper-parallel/pulls/647/comments?page=1",
        "http://127.0.0.1:8700/mindspore/hyper-parallel/merge_requests/647",
        "<https://gitcode.com/mindspore/hyper-parallel/pull/647>",
    ],
)
def test_every_form_names_the_same_pull_request(text: str) -> None:
    assert parse_reference(text, default_repo="other/repo") == PullReference(REPO, 647)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "0",
        "#0",
        "-1",
        "64７",  # full-width digit
        "647 648",
        "a/b/c#1",
        "../..#5",
        "owner/.git#5",
        "https://gitcode.com/mindspore/hyper-parallel",
        "https://gitcode.com/mindspore/hyper-parallel/issues/647",
        "https://gitcode.com/mindspore/pull/647",
        "https://gitcode.com/a/b/c/pull/647",
        "https://gitcode.com/mindspore/hyper-parallel/pull/abc",
        "ftp://gitcode.com/mindspore/hyper-parallel/pull/647",
        "https://gitcode.com/mind%2Fspore/hyper-parallel/pull/647",
        "https://[bad/mindspore/hyper-parallel/pull/647",
        "9" * 30,
    ],
)
def test_anything_else_is_told_to_the_user(text: str) -> None:
    with pytest.raises(TellUser, match="owner/repo#647"):
        parse_reference(text, default_repo=REPO)


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        reference = parse_reference(text, default_repo=REPO)
    except TellUser:
        return
    assert reference.number > 0
    assert reference.repo.count("/") == 1


NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,12}/[A-Za-z0-9_.-]{0,8}[A-Za-z0-9_-]", fullmatch=True).filter(
    lambda name: not name.endswith(".git")
)


@given(NAMES, st.integers(1, 999_999_999))
def test_what_is_printed_can_be_read(repo: str, number: int) -> None:
    reference = PullReference(repo, number)
    assert parse_reference(str(reference)) == reference
