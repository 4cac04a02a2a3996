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
"""Payloads of 2024 and 2025, the forge's quirks, and keys that tell a duplicate from a new event."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.intake.events import Ignored, MergeRequestEvent, NoteEvent
from bot.intake.payloads import delivery_keys, read_event

PAYLOADS = Path(__file__).parents[2] / "fixtures" / "payloads"
OLD_HEAD, NEW_HEAD = "d7cd4396a3237c07b04e54ae65855bfc52f32576", "db336d3386067d09cb4cb115caa5e93e4a69cf5b"


def load(name: str) -> dict[str, Any]:
    return json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def merge_request(payload: dict[str, Any]) -> MergeRequestEvent:
    event = read_event("Merge Request Hook", payload)
    assert isinstance(event, MergeRequestEvent)
    return event


def note(payload: dict[str, Any]) -> NoteEvent:
    event = read_event("Note Hook", payload)
    assert isinstance(event, NoteEvent)
    return event


@pytest.mark.parametrize("name", ["merge_request_open_2024", "merge_request_open_2025"])
def test_an_opened_pull_request_is_read_alike_in_both_forms(name: str) -> None:
    assert merge_request(load(name)) == MergeRequestEvent(
        repo="mindspore/hyper-parallel",
        number=321,
        action="open",
        state="open",
        title="feat: add sort layout rule",
        description="text",
        author="dev-a",
        actor="dev-a",
        head_sha=OLD_HEAD,
        head_ref="sort-layout",
        head_repo="dev-a/hyper-parallel",
        head_url="https://gitcode.com/dev-a/hyper-parallel.git",
        base_ref="master",
        base_sha="60a832502a2c571bec4ceaa636c6a213c2854f5a",
        labels=frozenset(),
        draft=False,
        old_sha="",
        updated_at="2026-06-12T09:02:36+08:00",
        html_url="https://gitcode.com/mindspore/hyper-parallel/merge_requests/321",
    )


def test_push_label_merge_and_close() -> None:
    push = merge_request(load("merge_request_push"))
    assert (push.action, push.head_sha, push.old_sha) == ("update", NEW_HEAD, OLD_HEAD)
    assert merge_request(load("merge_request_label")).labels == {"pr-check-pass"}
    merged = merge_request(load("merge_request_merged_as_update"))
    assert (merged.action, merged.state) == ("merge", "merged")
    closed = merge_request(load("merge_request_close"))
    assert (closed.action, closed.state) == ("close", "closed")


def test_a_comment_on_a_pull_request() -> None:
    body = "/check-pr\n/retest"
    assert note(load("note_on_pull_request")) == NoteEvent(
        repo="mindspore/hyper-parallel",
        number=321,
        note_id=176109963,
        discussion_id="39dd57760b213b0806dd0755d7c4b040348a4c60",
        body=body,
        digest=hashlib.sha256(body.encode()).hexdigest(),
        author="dev-a",
        pr_author="dev-a",
        pr_state="open",
        head_sha=NEW_HEAD,
        on_line=False,
        created_at="2026-06-17T16:13:09+08:00",
    )


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("object_attributes", "system"), True, "system-note"),
        (("object_attributes", "note"), "changed this line on [db336d33](https://gitcode.com/x)", "platform-reply"),
        (("user", "username"), "Gate-Bot", "own-note"),
        (("object_attributes", "noteable_type"), "Commit", "not-a-pull-request"),
        (("merge_request", "iid"), None, "no-number"),
        (("project", "path_with_namespace"), "", "no-repository"),
        (("project", "path_with_namespace"), "other/repo", "other-repository"),
    ],
)
def test_comments_that_are_not_for_us(path: tuple[str, str], value: object, reason: str) -> None:
    payload = load("note_on_pull_request")
    payload[path[0]][path[1]] = value
    if reason == "no-repository":
        del payload["merge_request"]["target"]
    event = read_event(
        "Note Hook", payload, own_logins=frozenset({"gate-bot"}), repos=frozenset({"MindSpore/hyper-parallel"})
    )
    assert event == Ignored(event="note", reason=reason)


def test_letter_case_tells_neither_repositories_nor_logins_apart() -> None:
    payload = load("note_on_pull_request")
    assert read_event("", payload, repos=frozenset({"MindSpore/Hyper-Parallel"})).kind == "note"
    assert read_event("", payload, own_logins=frozenset({"DEV-A"})) == Ignored(event="note", reason="own-note")


def test_issue_notes_pushes_and_strangers_are_ignored() -> None:
    assert read_event("Note Hook", load("note_on_issue")) == Ignored(event="note", reason="not-a-pull-request")
    assert read_event("Push Hook", load("push")) == Ignored(event="push", reason="unknown-event")
    assert read_event("X\n<script>", {}) == Ignored(event="x_script", reason="unknown-event")


def test_the_body_decides_the_kind_and_the_header_only_fills_in() -> None:
    payload = load("merge_request_open_2025")
    assert read_event("Note Hook", payload).kind == "merge_request"
    del payload["object_kind"], payload["event_type"]
    assert read_event("Merge Request Hook", payload).kind == "merge_request"


def test_the_global_id_is_never_taken_for_the_number() -> None:
    payload = load("merge_request_open_2024")
    del payload["object_attributes"]["iid"]
    assert read_event("", payload) == Ignored(event="merge_request", reason="no-number")


def test_missing_description_and_labels_differ_from_empty_ones() -> None:
    payload = load("merge_request_open_2024")
    payload["object_attributes"]["description"] = ""
    assert merge_request(payload).description == ""
    payload["object_attributes"]["description"] = None
    payload["labels"] = None
    event = merge_request(payload)
    assert (event.description, event.labels) == (None, None)


def test_text_no_store_would_take_is_cleaned() -> None:
    payload = load("note_on_pull_request")
    payload["object_attributes"]["note"] = "/retest\x00 \ud83d"
    payload["object_attributes"]["id"] = 10**30
    event = note(payload)
    assert (event.body, event.note_id) == ("/retest ?", 0)


def keys(payload: dict[str, Any], delivery: str = "d-1") -> Any:
    event = read_event("", payload)
    assert not isinstance(event, Ignored)
    return delivery_keys(event, payload, delivery)


def test_a_doubled_hook_has_the_same_effect_under_other_ids() -> None:
    for name in ("merge_request_push", "note_on_pull_request"):
        payload = load(name)
        first = keys(payload)
        payload["uuid"], payload["produce_random_id"] = "other", "other"
        second = keys(payload, "d-2")
        assert first.effect == second.effect
        assert (first.delivery_id, second.delivery_id) == ("d-1", "d-2")
        assert (first.body_uuid, second.body_uuid) == (load(name)["uuid"], "other")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("description", "new text"),
        ("title", "fix: other"),
        ("work_in_progress", True),
        ("updated_at", "2026-06-12T11:11:11+08:00"),
        ("last_commit", {"id": NEW_HEAD[::-1]}),
        ("state", "closed"),
    ],
)
def test_two_updates_of_one_pull_request_are_two_effects(field: str, value: object) -> None:
    payload = load("merge_request_label")
    first = keys(payload)
    payload["object_attributes"][field] = value
    assert keys(payload).effect != first.effect


def test_labels_tell_two_updates_of_one_moment_apart() -> None:
    payload = load("merge_request_label")
    first = keys(payload)
    payload["labels"] = [*payload["labels"], {"title": "ci-pipeline-passed"}]
    assert keys(payload).effect != first.effect


def test_without_a_time_of_its_own_an_update_is_told_apart_by_its_uuid() -> None:
    payload = load("merge_request_label")
    payload["object_attributes"]["updated_at"] = None
    first = keys(payload)
    assert keys(copy.deepcopy(payload), "d-2").effect == first.effect
    payload["uuid"] = "other"
    assert keys(payload).effect != first.effect


def test_an_edited_comment_keeps_its_subject_and_changes_its_effect() -> None:
    payload = load("note_on_pull_request")
    first = keys(payload)
    payload["object_attributes"]["note"] = "/stop"
    second = keys(payload)
    assert first.subject == second.subject == "note:mindspore/hyper-parallel#321:176109963"
    assert first.effect != second.effect


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_any_value_in_any_field_is_borne(data: st.DataObject) -> None:
    payload = load(data.draw(st.sampled_from(["merge_request_open_2025", "note_on_pull_request"])))
    for _ in range(data.draw(st.integers(1, 4))):
        block = data.draw(st.sampled_from([payload, *[v for v in payload.values() if isinstance(v, dict)]]))
        if block:
            block[data.draw(st.sampled_from(sorted(block)))] = data.draw(JSON)
    event = read_event("", payload)
    if not isinstance(event, Ignored):
        assert event.number > 0
        assert "/" in event.repo
        json.dumps(delivery_keys(event, payload, "d").model_dump()).encode("utf-8")
