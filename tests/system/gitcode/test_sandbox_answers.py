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
"""The sandbox answers as published captures of GitCode do, odd places included."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from bot.sandbox.clock import VirtualClock
from bot.sandbox.gitcode.options import Options
from bot.sandbox.gitcode.sandbox import Sandbox

REPO = "mindspore/hyper-parallel"
FORK = "dev-a/hyper-parallel"
PR = f"/repos/{REPO}/pulls/64"
HEX24, HEX40 = re.compile(r"[0-9a-f]{24}\Z"), re.compile(r"[0-9a-f]{40}\Z")
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00\Z")

Api = Callable[..., Awaitable[tuple[int, Any, Any]]]


async def test_tokens(api: Api, forge: Sandbox) -> None:
    missing = {"error_message": "Invalid header parameter: private-token, required"}
    assert (await api("GET", PR, user=""))[:2] == (400, missing)
    assert (await api("POST", f"{PR}/comments?access_token=token-dev-a", user="", json={"body": "x"}))[:2] == (
        400,
        missing,
    )
    body = {"body": "x", "access_token": "token-dev-a"}
    assert (await api("POST", f"{PR}/comments", user="", json=body))[:2] == (400, missing)
    assert (await api("GET", PR, user="nobody"))[:2] == (401, {"message": "401 Unauthorized"})
    assert (await api("GET", PR, user="", headers={"Authorization": "Bearer token-dev-a"}))[0] == 200
    forge.add_user("narrow", scopes=frozenset())
    assert (await api("GET", "/user", user="narrow"))[:2] == (403, {"error_message": "no scopes:read_user"})
    status, error, _ = await api("POST", f"{PR}/comments", user="narrow", json={"body": "x"})
    assert (status, error["error_message"]) == (403, "CH.00000403 apig token has not permission to request url")


async def test_a_pull_request_in_detail_and_in_the_list(api: Api) -> None:
    _, detail, _ = await api("GET", PR)
    assert detail["state"] == "open"
    assert (detail["closed_at"], detail["merged_at"], detail["merged"]) == ("", "", None)
    assert DATE.match(detail["created_at"])
    assert HEX24.match(detail["user"]["id"])
    assert "iid" not in detail
    assert detail["number"] == 64 != detail["id"]
    assert detail["base"]["repo"]["name"] == "HyperParallel"
    assert detail["base"]["repo"]["full_name"] == REPO
    assert detail["head"]["repo"]["html_url"].endswith(f"/{FORK}.git")
    assert detail["close_related_issue"] is False
    assert detail["mergeable"] is True
    assert detail["mergeable_state"]["reason"] == {}
    _, outsider, _ = await api("GET", PR, user="dev-b")
    assert "do not have PUSH permission" in outsider["mergeable_state"]["reason"]["merged_by_user_passed"]
    _, (item,), headers = await api("GET", f"/repos/{REPO}/pulls?per_page=5")
    assert (item["iid"], item["close_related_issue"]) == (64, 0)
    assert (item["added_lines"], item["removed_lines"]) == (3, 2)
    assert isinstance(item["user"]["user_id"], int)
    assert set(item["diff_refs"]) == {"base_sha", "head_sha", "start_sha"}
    assert (headers["total_page"], headers["total_count"]) == ("1", "1")
    assert "Link" not in headers


async def test_commits_have_an_object_for_parents(api: Api, forge: Sandbox) -> None:
    _, (commit,), _ = await api("GET", f"{PR}/commits")
    base = forge.pull(REPO, 64).base_sha
    assert commit["parents"] == {"sha": base, "shas": [base]}
    assert commit["author"]["login"] == "dev-a"


async def test_files_and_their_line_codes(api: Api, forge: Sandbox) -> None:
    _, files, _ = await api("GET", f"{PR}/files")
    head = forge.pull(REPO, 64).head_sha
    assert {item["sha"] for item in files} == {head}
    assert {item["filename"]: item.get("status") for item in files} == {"pkg/core.py": None, "pkg/new.py": "added"}
    _, body, _ = await api("GET", f"{PR}/files.json")
    assert (body["code"], body["added_lines"], body["remove_lines"], body["count"]) == (0, 3, 2, 2)
    rows = body["diffs"][0]["content"]["text"]
    digest = hashlib.sha1(b"pkg/core.py").hexdigest()
    assert rows[1]["old_line"] == {"line_code": f"{digest}_2_2", "line_num": 2}
    removed = next(row for row in rows if row.get("type") == "old")
    assert (removed["line_content"], removed["new_line"]["line_num"]) == ("line_5 = 5", "")
    status, text, _ = await api("GET", f"{PR}/diff")
    assert status == 200
    assert text.startswith("diff --git a/pkg/core.py b/pkg/core.py\n")


async def test_comments_have_two_ids_and_three_kinds_of_users(api: Api) -> None:
    body = {"body": "needs a check", "path": "pkg/core.py", "position": 5}
    status, made, _ = await api("POST", f"{PR}/comments", json=body)
    assert status == 201
    assert set(made) == {"id", "body", "note_id"}
    assert HEX40.match(made["id"])
    assert isinstance(made["note_id"], int)
    _, (item,), _ = await api("GET", f"{PR}/comments")
    assert (item["id"], item["discussion_id"]) == (made["note_id"], made["id"])
    assert item["comment_type"] == "diff_comment"
    assert item["diff_position"] == {"start_new_line": 5, "end_new_line": 5, "position_type": "text"}
    assert not {"path", "position", "sha"} & set(item)
    assert HEX24.match(item["user"]["object_id"])
    _, detail, _ = await api("GET", f"/repos/{REPO}/pulls/comments/{made['note_id']}")
    assert detail["comment_type"] == "DiffNote"
    assert detail["user"]["id"].isdigit()
    assert detail["user"]["object_id"] == item["user"]["object_id"]
    assert detail["position"]["new_line"] == 5
    status, error, _ = await api("GET", f"/repos/{REPO}/pulls/comments/{made['id']}")
    assert (status, error) == (
        400,
        {"error_message": "Orchestration error: Invalid path parameter: note_id, number required"},
    )
    status, answer, _ = await api("POST", f"{PR}/discussions/{made['id']}/comments", json={"body": "done"})
    assert (status, answer["id"], answer["body"]) == (200, made["id"], "done")
    assert (await api("PUT", f"{PR}/comments/{made['id']}", json={"resolved": True}))[:2] == (200, {})
    _, (item,), _ = await api("GET", f"{PR}/comments?comment_type=diff_comment")
    assert (item["resolved"], item["reply"][0]["body"]) == (True, "done")
    assert (await api("GET", f"{PR}/comments?comment_type=pr_comment"))[1] == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"body": "  "},
        {"body": 5},
        {"body": "x" * 65_536},
        {"body": "x", "path": "pkg/core.py"},
        {"body": "x", "path": "pkg/core.py", "position": 0},
        {"body": "x", "path": "pkg/core.py", "position": True},
        {"body": "x", "path": "pkg/core.py", "position": "five"},
        {"body": "x", "path": "../core.py", "position": 5},
        ["x"],
    ],
)
async def test_bad_comments_are_refused(api: Api, forge: Sandbox, body: object) -> None:
    status, error, _ = await api("POST", f"{PR}/comments", json=body)
    assert status == 400
    assert error["error_message"]
    assert forge.threads(REPO, 64) == []


@pytest.mark.parametrize("body", [b"{", b'{"body":"\\ud800"}', b"\xff\xfe\x00"])
async def test_broken_json_is_refused(api: Api, body: bytes) -> None:
    status, _, _ = await api("POST", f"{PR}/comments", data=body, headers={"Content-Type": "application/json"})
    assert status == 400


async def test_labels(api: Api) -> None:
    status, labels, _ = await api("POST", f"{PR}/labels", json=["ci-pipeline-running", "ascend-cla/yes"])
    assert status == 201
    assert [label["name"] for label in labels] == ["ci-pipeline-running", "ascend-cla/yes"]
    assert set(labels[0]) == {"id", "color", "name", "repository_id", "created_at", "updated_at", "text_color"}
    assert (await api("DELETE", f"{PR}/labels/ascend-cla%2Fyes"))[0] == 204
    status, error, _ = await api("DELETE", f"{PR}/labels/ascend-cla%2Fyes")
    assert (status, error["error_message"], error["error_code_name"]) == (404, "Label Not Found", "NOT_PATH")
    assert (await api("POST", f"{PR}/labels", json={"labels": ["x"]}))[0] == 400
    assert (await api("PATCH", PR, json={"title": "t", "labels": ""}))[0] == 400
    assert (await api("PATCH", PR, json={"title": "t", "labels": "a,b"}))[0] == 200
    assert [label["name"] for label in (await api("GET", f"{PR}/labels"))[1]] == ["a", "b"]
    await api("PATCH", PR, json={"title": "t", "labels": ","})
    assert (await api("GET", f"{PR}/labels"))[1] == []
    status, made, _ = await api("POST", f"/repos/{REPO}/labels", data={"name": "form", "color": "#123456"})
    assert (status, made["color"]) == (201, "#123456")
    assert (await api("POST", f"{PR}/labels", user="dev-b", json=["a"]))[0] == 403


async def test_a_patch_answers_thinly(api: Api) -> None:
    status, answer, _ = await api("PATCH", PR, user="dev-a", json={"title": "new", "body": "text"})
    assert status == 200
    assert set(answer) == {"title", "body", "state", "created_at", "updated_at"}
    assert answer["state"] == "opened"
    assert (await api("PATCH", PR, user="dev-b", json={"title": "x"}))[0] == 403
    assert (await api("GET", f"{PR}/modify_history"))[1] == [{"content": "描述\n"}]


@pytest.mark.parametrize("options", [Options(close_answers_200=True)])
async def test_a_close_may_answer_what_it_cannot_write(api: Api) -> None:
    status, answer, _ = await api("PATCH", PR, json={"title": "t", "state": "closed"})
    assert (status, answer["error_code"]) == (200, 200)
    assert (await api("GET", PR))[1]["state"] == "closed"


async def test_approval_and_merge(api: Api, forge: Sandbox) -> None:
    status, error, _ = await api("POST", f"{PR}/review", user="dev-a", json={"force": False})
    assert (status, error) == (
        400,
        {"error_code": 400, "error_message": "Merge request author cannot operate their own merge request"},
    )
    assert (await api("POST", f"{PR}/review", json={}))[0] == 200
    assert (await api("GET", f"{PR}/merge"))[0] == 404
    assert (await api("PUT", f"{PR}/merge", user="dev-b", json={}))[0] == 403
    note = await forge.comment_as(REPO, 64, "dev-b", "line", path="pkg/core.py", line=5)
    assert (await api("PUT", f"{PR}/merge", json={"merge_method": "merge"}))[0] == 405
    thread = forge.threads(REPO, 64)[0]
    assert thread.notes == [note]
    await api("PUT", f"{PR}/comments/{thread.id}", json={"resolved": True})
    status, merged, _ = await api("PUT", f"{PR}/merge", json={"merge_method": "merge"})
    assert (status, merged["merged"], merged["message"]) == (200, True, "Pull Request 已成功合并")
    assert (await api("GET", f"{PR}/merge"))[1] == {"message": "Pull Request has been merged"}
    _, pull, _ = await api("GET", PR)
    assert pull["state"] == "merged"
    assert DATE.match(pull["merged_at"])
    _, content, _ = await api("GET", f"/repos/{REPO}/raw/pkg/new.py?ref=master")
    assert content == "x = 1\n"


async def test_a_conflict_is_seen(api: Api, forge: Sandbox) -> None:
    await forge.push(REPO, "master", {"pkg/core.py": "all = 'different'\n"}, author="gate-bot")
    assert (await api("GET", PR))[1]["mergeable"] is False
    assert (await api("PUT", f"{PR}/merge", json={}))[0] == 405


async def test_people(api: Api) -> None:
    status, shown, _ = await api("POST", f"{PR}/reviewers", json={"reviewers": "dev-b,micro-compass", "add": True})
    assert status == 201
    assert [person["login"] for person in shown] == ["dev-b", "micro-compass"]
    assert isinstance(shown[0]["id"], int)
    _, left, _ = await api("DELETE", f"{PR}/reviewers", json={"reviewers": "dev-b"})
    assert [person["login"] for person in left] == ["micro-compass"]
    _, replaced, _ = await api("POST", f"{PR}/reviewers", json={"reviewers": "dev-b"})
    assert [person["login"] for person in replaced] == ["dev-b"]
    assert (await api("POST", f"{PR}/assignees", json={"assignees": "dev-b"}))[1] == {"assignees_number": 1}
    assert (await api("DELETE", f"{PR}/assignees?assignees=dev-b"))[1] == {"assignees_number": 0}
    assert (await api("POST", f"{PR}/testers", json={"testers": "nobody"}))[0] == 404


async def test_reactions_are_read_only(api: Api, forge: Sandbox) -> None:
    note = await forge.comment_as(REPO, 64, "dev-a", "x")
    assert (await api("GET", f"{PR}/user_reactions"))[1] == []
    assert (await api("GET", f"/repos/{REPO}/pulls/comment/{note.id}/user_reactions"))[1] == []
    assert (await api("POST", f"{PR}/user_reactions", json={}))[0] in (404, 405)


async def test_what_v5_does_not_have(api: Api, forge: Sandbox) -> None:
    sha = forge.pull(REPO, 64).head_sha
    assert (await api("POST", f"/repos/{REPO}/statuses/{sha}", json={}))[0] == 404
    assert (await api("POST", f"/repos/{REPO}/check-runs", json={}))[0] == 404
    assert (await api("PUT", f"{PR}/files", json={}))[0] == 405
    assert (await api("GET", f"/repos/{REPO}/pulls/999"))[0] == 404
    assert [(call.method, call.path.rpartition("/")[2]) for call in forge.unknown_calls()] == [
        ("POST", sha),
        ("POST", "check-runs"),
        ("PUT", "files"),
    ]


@pytest.mark.parametrize("options", [Options(total_headers=False, short_pages=True)])
async def test_pages_without_headers_may_be_short(api: Api, forge: Sandbox) -> None:
    for number in range(7):
        await forge.comment_as(REPO, 64, "dev-a", str(number))
    sizes = []
    for page in range(1, 5):
        _, items, headers = await api("GET", f"{PR}/comments?page={page}&per_page=4")
        sizes.append(len(items))
        assert "total_page" not in headers
    assert sizes == [3, 3, 1, 0]
    assert (await api("GET", f"{PR}/comments?page=0"))[0] == 400
    assert (await api("GET", f"{PR}/comments?per_page=abc"))[0] == 400


@pytest.mark.parametrize("options", [Options(calls_per_minute=3, calls_per_hour=5, retry_after=True)])
async def test_limits_count_per_token(api: Api, clock: VirtualClock) -> None:
    statuses = [(await api("GET", "/user"))[0] for _ in range(4)]
    assert statuses == [200, 200, 200, 429]
    _, body, headers = await api("GET", "/user")
    assert body == {"message": "429 Too Many Requests"}
    assert headers["Retry-After"] in ("60", "61")
    assert (await api("GET", "/user", user="dev-a"))[0] == 200
    await clock.sleep(61)
    assert [(await api("GET", "/user"))[0] for _ in range(3)] == [200, 200, 429]
    await clock.sleep(3600)
    assert (await api("GET", "/user"))[0] == 200


async def test_pages_to_look_at_escape_what_people_write(forge: Sandbox) -> None:
    await forge.comment_as(REPO, 64, "dev-a", "<script>alert(1)</script>")
    async with aiohttp.ClientSession() as session:
        for path in ("/", f"/{REPO}", f"/{REPO}/merge_requests/64", f"/{REPO}/pulls/64"):
            async with session.get(forge.origin + path) as answer:
                assert answer.status == 200
                assert "<script>" not in await answer.text()
        async with session.get(f"{forge.origin}/{REPO}/merge_requests/99") as answer:
            assert answer.status == 404
