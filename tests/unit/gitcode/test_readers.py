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

import contextlib
from datetime import UTC, datetime

import hypothesis.strategies as st
import pytest
from hypothesis import given

from bot.errors import GateBotError
from bot.gitcode import models

# Shapes of published captures; people, ids and hashes are invented.
PULL = {
    "id": 8800321,
    "number": 321,
    "state": "open",
    "title": "feat: add sort layout rule",
    "body": "### 相关的Issue\n\nFixes #12\n",
    "html_url": "https://gitcode.com/mindspore/hyper-parallel/merge_requests/321",
    "labels": [{"id": 4169, "color": "#20c22e", "name": "pr-check-pass"}],
    "created_at": "2026-06-12T09:02:35+08:00",
    "updated_at": "2026-06-15T15:15:06+08:00",
    "closed_at": "",
    "merged_at": "",
    "merged": None,
    "draft": False,
    "user": {"id": "66aa0000000000000000000a", "login": "dev-a", "name": "Dev A"},
    "head": {
        "ref": "sort-layout",
        "sha": "db336d3386067d09cb4cb115caa5e93e4a69cf5b",
        "repo": {
            "path": "hyper-parallel",
            "name": "HyperParallel",
            "full_name": "dev-a/hyper-parallel",
            "html_url": "https://gitcode.com/dev-a/hyper-parallel.git",
        },
    },
    "base": {
        "ref": "master",
        "sha": "60a832502a2c571bec4ceaa636c6a213c2854f5a",
        "repo": {
            "full_name": "mindspore/hyper-parallel",
            "html_url": "https://gitcode.com/mindspore/hyper-parallel.git",
        },
    },
}
LINE_COMMENT = {
    "id": 176153829,
    "discussion_id": "a2ea82db6ecd47d155a1a4f1e777dc944e5b6979",
    "body": "needs a bound check",
    "created_at": "2026-06-17T19:12:01+08:00",
    "updated_at": "2026-06-17T19:58:41+08:00",
    "user": {"id": "66aa0000000000000000000b", "object_id": "66aa0000000000000000000b", "login": "dev-b"},
    "comment_type": "diff_comment",
    "resolved": True,
    "diff_position": {"start_new_line": 74, "end_new_line": 74, "position_type": "text"},
    "reply": [
        {"id": 1, "body": "changed this line on [db336d33](https://gitcode.com/x)", "user": {"login": "dev-a"}},
        {"id": 2, "body": "done", "user": {"login": "dev-c"}},
    ],
}
NOTE_DETAIL = {
    "id": 176157991,
    "discussion_id": "a2ea82db6ecd47d155a1a4f1e777dc944e5b6979",
    "body": "needs a bound check",
    "comment_type": "DiffNote",
    "user": {"id": "910002", "login": "dev-b", "type": "User"},
    "created_at": "2026-06-17T19:48:56+08:00",
    "updated_at": "",
    "is_outdated": False,
    "position": {"new_path": "hyper_parallel/core/utils.py", "position_type": "text", "new_line": 74},
}


def test_a_pull_request_of_the_detail() -> None:
    pull = models.read_pull(PULL, repo="mindspore/hyper-parallel")
    assert (pull.number, pull.state, pull.author) == (321, "open", "dev-a")
    assert pull.head_repo == "dev-a/hyper-parallel"
    assert pull.head_url == "https://gitcode.com/dev-a/hyper-parallel.git"
    assert pull.labels == frozenset({"pr-check-pass"})
    assert pull.created_at == datetime(2026, 6, 12, 1, 2, 35, tzinfo=UTC)


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({"state": "opened"}, "open"),
        ({"state": "closed", "closed_at": "2026-06-12T09:02:35+08:00"}, "closed"),
        ({"state": "closed", "merged_at": "2026-06-12T09:02:35+08:00"}, "merged"),
        ({"state": "merged"}, "merged"),
        ({"merged": True}, "merged"),
        ({"state": "locked"}, "closed"),
    ],
)
def test_states_are_folded(change: dict[str, object], state: str) -> None:
    assert models.read_pull({**PULL, **change}, repo="o/r").state == state


def test_a_pull_request_of_the_gitlab_like_answer() -> None:
    raw = {
        "iid": 321,
        "state": "opened",
        "description": "text",
        "source_branch": "sort-layout",
        "target_branch": "master",
        "author": {"id": 910001, "username": "dev-a"},
        "work_in_progress": True,
        "sha": "db336d3386067d09cb4cb115caa5e93e4a69cf5b",
        "labels": [{"title": "a/b"}, "bare"],
    }
    pull = models.read_pull(raw, repo="o/r")
    assert (pull.number, pull.body, pull.author, pull.draft) == (321, "text", "dev-a", True)
    assert pull.labels == frozenset({"a/b", "bare"})


@pytest.mark.parametrize("raw", [None, [], "text", {}, {**PULL, "head": None}, {**PULL, "state": "odd"}])
def test_a_pull_request_without_identity_is_unreadable(raw: object) -> None:
    with pytest.raises(models.Unreadable):
        models.read_pull(raw, repo="o/r")


def test_a_line_comment_of_the_list_and_of_the_detail() -> None:
    listed = models.read_comment(LINE_COMMENT)
    assert (listed.on_line, listed.path, listed.line, listed.resolved, listed.outdated) == (True, "", 74, True, True)
    assert listed.reply_authors == ("dev-c",)
    detail = models.read_comment(NOTE_DETAIL)
    assert (detail.path, detail.line, detail.outdated) == ("hyper_parallel/core/utils.py", 74, False)
    assert detail.updated_at == detail.created_at


def test_a_hex_id_is_no_note_id() -> None:
    ref = models.read_comment_ref({"id": "39dd57760b213b0806dd0755d7c4b040348a4c60", "body": "x", "note_id": 177884521})
    assert (ref.note_id, ref.discussion_id[:4]) == (177884521, "39dd")
    assert models.read_comment_ref({"id": "39dd57760b213b0806dd0755d7c4b040348a4c60"}).note_id == 0
    with pytest.raises(models.Unreadable):
        models.read_comment({"id": "39dd57760b213b0806dd0755d7c4b040348a4c60", "body": ""})


def test_a_persons_words_are_no_platform_reply() -> None:
    assert models.is_platform_reply("changed this line on [db336d33](https://gitcode.com/x)")
    assert not models.is_platform_reply("I changed this line on [purpose](x)")
    assert not models.is_platform_reply("changed this line on purpose")


def test_changed_files() -> None:
    patch = {"diff": "@@ -1 +1 @@\n-a\n+b\n", "old_path": "a.py", "new_path": "a.py", "added_lines": 1}
    modified = models.read_changed_file({"filename": "a.py", "additions": 1, "deletions": "1", "patch": patch})
    assert (modified.status, modified.additions, modified.deletions) == ("modified", 1, 1)
    added = models.read_changed_file({"filename": "b.py", "status": "added", "patch": {"new_file": True}})
    assert (added.status, added.path, added.patch) == ("added", "b.py", "")
    moved = models.read_changed_file({"patch": {"old_path": "a", "new_path": "b", "renamed_file": True}})
    assert (moved.status, moved.old_path, moved.path) == ("renamed", "a", "b")
    gone = models.read_changed_file({"filename": "c", "patch": {"deleted_file": True, "too_large": True}})
    assert (gone.status, gone.too_large) == ("deleted", True)


def test_files_json_becomes_a_patch() -> None:
    rows = [
        {"line_content": "@@ -73,3 +73,3 @@ def sort(x):", "old_line": "...", "new_line": "...", "type": "match"},
        {"line_content": "     y = x", "old_line": {"line_num": 73}, "new_line": {"line_num": 73}},
        {"line_content": "    return y", "old_line": {"line_num": 74}, "new_line": {"line_num": ""}, "type": "old"},
        {"line_content": "    return z", "old_line": {"line_num": ""}, "new_line": {"line_num": 74}, "type": "new"},
    ]
    raw = {"diffs": [{"statistic": {"new_path": "u.py"}, "content": {"text": rows}}, {"statistic": None}]}
    expected = "@@ -73,3 +73,3 @@ def sort(x):\n     y = x\n-    return y\n+    return z\n"
    assert models.read_patches(raw) == {"u.py": expected}


@pytest.mark.parametrize(
    ("raw", "level"),
    [
        ({"permission": "admin", "role_name": "Owner", "access_level": 50}, 50),
        ({"permission": "admin"}, 50),
        ({"permission": "custom", "role_name": "Developer"}, 30),
        ({"role_info": {"access_level": 40}}, 40),
        ({"permission": "none"}, 0),
    ],
)
def test_access_levels(raw: object, level: int) -> None:
    assert models.read_access_level(raw) == level


def test_an_unknown_permission_is_not_a_no() -> None:
    with pytest.raises(models.Unreadable):
        models.read_access_level({"permission": "something-new"})


def test_times() -> None:
    assert models.read_time("") is None
    assert models.read_time(None) is None
    assert models.read_time("yesterday") is None
    assert models.read_time("2026-06-12T01:02:05Z") == datetime(2026, 6, 12, 1, 2, 5, tzinfo=UTC)
    naive = models.read_time("2026-06-12T01:02:05")
    assert naive is not None
    assert naive.tzinfo is UTC


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [*PULL, *LINE_COMMENT, *NOTE_DETAIL, "patch", "content", "access_level", "resource_trees", "diffs"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_no_json_breaks_a_reader(raw: object) -> None:
    readers = [
        lambda: models.read_pull(raw, repo="o/r"),
        lambda: models.read_comment(raw),
        lambda: models.read_comment_ref(raw),
        lambda: models.read_changed_file(raw),
        lambda: models.read_patches(raw),
        lambda: models.read_file(raw),
        lambda: models.read_access_level(raw),
        lambda: models.read_may_push(raw),
        lambda: models.read_labels(raw),
    ]
    for reader in readers:
        with contextlib.suppress(GateBotError):  # the one kind of error that a caller sorts
            reader()


def test_a_directory_is_an_array_and_anything_else_holds_nothing() -> None:
    raw = [
        {"type": "dir", "name": "docs", "path": ".gitcode/docs"},
        {"type": "file", "name": "a.md"},
        {"type": "submodule", "path": "/.gitcode/sub"},
        {"type": "tree", "name": "t"},
        {"type": "file", "name": 7},
        "rubbish",
    ]
    read = [(entry.path, entry.is_directory) for entry in models.read_directory(raw, "/.gitcode/")]
    expected = [(".gitcode/docs", True), (".gitcode/a.md", False), (".gitcode/sub", False), (".gitcode/t", True)]
    assert read == expected
    assert [entry.path for entry in models.read_directory([{"name": "README.md"}], "")] == ["README.md"]
    assert models.read_directory({"type": "file", "content": ""}, "a.md") == []
    assert models.read_directory(None, "") == []
