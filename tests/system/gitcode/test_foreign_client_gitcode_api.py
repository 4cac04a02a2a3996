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
"""A client that others wrote (``gitcode-api`` from PyPI) finds in the sandbox what it expects of GitCode."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from gitcode_api import AsyncGitCode
from gitcode_api.exceptions import GitCodeHTTPStatusError, GitCodeUnauthorizedError

from bot.sandbox.gitcode.sandbox import Sandbox

REPO = "mindspore/hyper-parallel"
FORK = "dev-a/hyper-parallel"


def connect(forge: Sandbox, token: str) -> AsyncGitCode:
    plain = httpx.AsyncClient(trust_env=False)  # by itself the library makes one that warns where a CA bundle is set
    return AsyncGitCode(
        api_key=token, owner="mindspore", repo="hyper-parallel", base_url=forge.api_url, http_client=plain
    )


@pytest.fixture
async def foreign(forge: Sandbox) -> AsyncIterator[AsyncGitCode]:
    async with connect(forge, "token-gate-bot") as client:
        yield client


async def test_reading(foreign: AsyncGitCode, forge: Sandbox) -> None:
    me = await foreign.users.me()
    assert me.login == "gate-bot"
    pull = await foreign.pulls.get(number=64)
    assert (pull.number, pull.state, pull.title, pull.user.login) == (64, "open", "feat: change", "dev-a")
    assert pull.head.sha == forge.pull(REPO, 64).head_sha
    listed = await foreign.pulls.list(state="open", per_page=5)
    assert [(item.number, item.iid) for item in listed] == [(64, 64)]
    assert await foreign.pulls.list(state="closed") == []
    counts = await foreign.pulls.list(only_count=True)
    assert (counts.all, counts.opened, counts.merged) == (1, 1, 0)
    commits = await foreign.pulls.list_commits(number=64)
    assert [commit.commit.message for commit in commits] == ["feat: change two lines"]
    assert commits[0].parents.sha == forge.pull(REPO, 64).base_sha
    files = await foreign.pulls.list_files(number=64)
    assert {file.filename for file in files} == {"pkg/core.py", "pkg/new.py"}


async def test_comments(foreign: AsyncGitCode, forge: Sandbox) -> None:
    plain = await foreign.pulls.create_comment(number=64, body="plain")
    line = await foreign.pulls.create_comment(number=64, body="line", path="pkg/core.py", position=5)
    assert len(plain.id) == 40
    detail = await foreign.pulls.get_comment(comment_id=line.note_id)
    assert (detail.body, detail.comment_type, detail.position.new_line) == ("line", "DiffNote", 5)
    await foreign.pulls.update_comment(comment_id=plain.note_id, body="changed")
    bodies = {comment.id: comment.body for comment in await foreign.pulls.list_comments(number=64)}
    assert bodies == {plain.note_id: "changed", line.note_id: "line"}
    await foreign.pulls.delete_comment(comment_id=plain.note_id)
    assert [note.body for note in forge.notes_by(REPO, 64, "gate-bot")] == ["line"]
    with pytest.raises(GitCodeHTTPStatusError) as caught:
        await foreign.pulls.get_comment(comment_id=plain.id)
    assert caught.value.status_code == 400
    assert "note_id, number required" in str(caught.value.payload)


async def test_labels_and_history(foreign: AsyncGitCode) -> None:
    await foreign.labels.create(name="ascend-cla/yes", color="#00ff00")
    await foreign.pulls.add_labels(number=64, labels=["ascend-cla/yes", "pr-check-pass"])
    assert {label.name for label in await foreign.pulls.list_labels(number=64)} == {"ascend-cla/yes", "pr-check-pass"}
    await foreign.pulls.remove_label(number=64, label="ascend-cla/yes")
    with pytest.raises(GitCodeHTTPStatusError) as caught:
        await foreign.pulls.remove_label(number=64, label="ascend-cla/yes")
    assert caught.value.status_code == 404
    await foreign.pulls.replace_labels(number=64, labels=["kind/bug"])
    logs = await foreign.pulls.list_operation_logs(number=64)
    assert [log.content for log in logs[:4]] == [
        "delete label pr-check-pass",
        "add label kind/bug",
        "delete label ascend-cla/yes",
        "add label pr-check-pass",
    ]
    assert {log.user.login for log in logs if log.action == "label"} == {"gate-bot"}


async def test_opening_and_closing(forge: Sandbox) -> None:
    await forge.push(FORK, "topic", {"b.txt": "b"}, author="dev-a")
    async with connect(forge, "token-dev-a") as author:
        made = await author.pulls.create(title="feat: b", head=f"{FORK}:topic", base="master", body="b", draft=True)
        assert (made.number, made.state, made.title) == (65, "opened", "[WIP]feat: b")
        with pytest.raises(GitCodeHTTPStatusError) as caught:
            await author.pulls.create(title="feat: b", head="dev-a:topic", base="master")
        assert caught.value.status_code == 409
        changed = await author.pulls.update(number=65, title="feat: b", body="new", state="closed")
        assert (changed.state, changed.body) == ("closed", "new")
        assert (await author.pulls.get(number=65)).state == "closed"


async def test_files_branches_members_hooks(foreign: AsyncGitCode) -> None:
    content = await foreign.contents.get(path="README.md")
    assert content.encoding == "base64"
    branches = await foreign.branches.list()
    assert [branch.name for branch in branches] == ["master"]
    assert (await foreign.members.get_permission(username="micro-compass")).permission == "maintainer"
    hook = await foreign.webhooks.create(url="http://127.0.0.1:9/hook", password="p", note_events=True)
    assert (await foreign.webhooks.get(hook_id=hook.id)).password == "p"
    await foreign.webhooks.delete(hook_id=hook.id)
    assert await foreign.webhooks.list() == []


async def test_a_bad_token(forge: Sandbox) -> None:
    async with connect(forge, "wrong") as stranger:
        with pytest.raises(GitCodeUnauthorizedError, match="401 Unauthorized"):
            await stranger.pulls.get(number=64)
