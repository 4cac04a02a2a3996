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
"""What the sandbox answers about a repository: files, branches, issues, members, forks and hooks."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from bot.sandbox.gitcode import gitrepo
from bot.sandbox.gitcode.sandbox import Sandbox

REPO = "mindspore/hyper-parallel"
PR = f"/repos/{REPO}/pulls/64"

Api = Callable[..., Awaitable[tuple[int, Any, Any]]]


async def test_issues_have_numbers_of_their_own(api: Api, forge: Sandbox) -> None:
    issue = forge.add_issue(REPO, "dev-a", "a bug", "text")
    assert issue.number == "1"
    assert (await api("GET", f"/repos/{REPO}/issues/1"))[1]["number"] == "1"
    _, linked, _ = await api("POST", f"{PR}/issues", json=[1])
    assert linked == [{"id": issue.id, "number": "1", "title": "a bug"}]
    assert (await api("DELETE", f"{PR}/issues", json=[1]))[1] == []
    assert (await api("POST", f"{PR}/issues", json=[99]))[0] == 404
    status, error, _ = await api("POST", f"/repos/{REPO}/issues", json={"title": "x", "labels": "bug"})
    assert (status, error["error_message"][:11]) == (403, "CH.00000403")


async def test_permissions(api: Api) -> None:
    _, own, _ = await api("GET", f"/repos/{REPO}/collaborators/self-permission")
    assert own["role_info"]["access_level"] == 40
    assert own["resource_trees"][0]["actions"][0] == {
        "permission_id": 14,
        "action": "push",
        "name": "push",
        "selected": True,
    }
    assert (await api("GET", f"/repos/{REPO}/collaborators/gate-bot"))[0] == 204
    assert (await api("GET", f"/repos/{REPO}/collaborators/dev-a"))[0] == 404
    assert (await api("GET", f"/repos/{REPO}/collaborators/dev-a/permission"))[0] == 404


async def test_files_and_branches(api: Api) -> None:
    root = f"/repos/{REPO}"
    encoded = base64.b64encode("你好\n".encode()).decode()
    fields = {"content": encoded, "message": "docs: hello", "branch": "master"}
    assert (await api("POST", f"{root}/contents/docs/%E4%BD%A0%20%23%3F.md", json=fields))[0] == 201
    _, shown, _ = await api("GET", f"{root}/contents/docs/%E4%BD%A0%20%23%3F.md?ref=master")
    assert (shown["content"], shown["path"]) == (encoded, "docs/你 #?.md")
    status, error, _ = await api("POST", f"{root}/contents/README.md", json=fields)
    assert status == 400
    assert error["error_message"] == "The path cannot be created: README.md ,because README.md already exist."
    assert (await api("PUT", f"{root}/contents/docs/%E4%BD%A0%20%23%3F.md", json={**fields, "sha": "0"}))[0] == 400
    assert (await api("PUT", f"{root}/contents/docs/%E4%BD%A0%20%23%3F.md", json={**fields, "sha": shown["sha"]}))[
        0
    ] == 200
    _, listed, _ = await api("GET", f"{root}/contents?ref=master")
    assert {(entry["name"], entry["type"]) for entry in listed} == {
        ("README.md", "file"),
        ("docs", "dir"),
        ("pkg", "dir"),
    }
    assert (await api("GET", f"{root}/git/blobs/{shown['sha']}"))[1]["content"] == encoded
    assert (await api("GET", f"{root}/git/blobs/{'0' * 40}"))[0] == 404
    assert (await api("GET", f"{root}/contents/README.md?ref=--help"))[0] == 404
    assert (await api("POST", f"{root}/branches", json={"refs": "master", "branch_name": "release/1.0"}))[0] == 201
    assert (await api("POST", f"{root}/branches", json={"refs": "master", "branch_name": "bad..name"}))[0] == 400
    assert (await api("GET", f"{root}/branches/release/1.0"))[1]["name"] == "release/1.0"
    _, compared, _ = await api("GET", f"{root}/compare/release/1.0...master")
    assert compared["files"] == []
    assert (await api("DELETE", f"{root}/branches/release/1.0"))[0] == 204
    assert (await api("POST", f"{root}/branches", user="dev-a", json={"refs": "master", "branch_name": "x"}))[0] == 403


@pytest.mark.parametrize("path", ["a%0AM%20100644%20inline%20b", "a%00b", "a/%2E%2E/b", ".git/config", "a//b"])
async def test_bad_paths_are_refused(api: Api, forge: Sandbox, path: str) -> None:
    before = await gitrepo.refs(forge.world.repo(REPO).git_dir)
    fields = {"content": "", "message": "x", "branch": "master"}
    assert (await api("POST", f"/repos/{REPO}/contents/{path}", json=fields))[0] in (400, 404)
    assert await gitrepo.refs(forge.world.repo(REPO).git_dir) == before


async def test_forks_and_hooks(api: Api) -> None:
    status, fork, _ = await api("POST", f"/repos/{REPO}/forks", user="dev-b", json={})
    assert (status, fork["full_name"], fork["fork"]) == (201, "dev-b/hyper-parallel", True)
    assert (await api("POST", f"/repos/{REPO}/forks", user="dev-b", json={}))[0] == 400
    assert (await api("POST", f"/repos/{REPO}/forks", user="dev-b", json={"path": "../../x"}))[0] == 400
    fields = {"url": "http://127.0.0.1:9/hook", "password": "123445", "encryption_type": 1, "note_events": True}
    status, hook, _ = await api("POST", f"/repos/{REPO}/hooks", json=fields)
    assert (status, hook["password"], hook["note_events"], hook["push_events"]) == (201, "123445", True, False)
    assert (await api("PATCH", f"/repos/{REPO}/hooks/{hook['id']}", json={"note_events": False}))[0] == 400
    assert (await api("POST", f"/repos/{REPO}/hooks/{hook['id']}/tests", json={}))[0] == 204
    assert (await api("GET", f"/repos/{REPO}/hooks/{hook['id']}"))[1]["result"] == "ClientConnectorError"
    assert (await api("GET", f"/repos/{REPO}/hooks", user="dev-a"))[0] == 403


async def test_a_used_directory_is_refused(forge: Sandbox, tmp_path: Path) -> None:
    async with Sandbox(tmp_path / "forge") as other:
        with pytest.raises(FileExistsError, match="hyper-parallel"):
            await other.create_repo(REPO, files={"a": "b"})
