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

from collections.abc import Callable
from datetime import timedelta

import pytest

from bot.errors import NotFound, Refused, TellOperator
from bot.forge import Role
from bot.gitcode.client import GitCodeClient
from bot.sandbox.clock import VirtualClock
from bot.sandbox.gitcode.options import Options
from bot.sandbox.gitcode.sandbox import Sandbox
from bot.sandbox.gitcode.state import DEVELOPER

REPO = "mindspore/hyper-parallel"
FORK = "dev-a/hyper-parallel"
Make = Callable[..., GitCodeClient]


async def test_a_pull_request_is_read(client: GitCodeClient, forge: Sandbox) -> None:
    assert await client.login() == "gate-bot"
    pull = await client.pull_request(REPO, 64)
    assert (pull.repo, pull.number, pull.state, pull.author, pull.title) == (REPO, 64, "open", "dev-a", "feat: change")
    assert pull.head_sha == forge.pull(REPO, 64).head_sha
    assert (pull.head_repo, pull.head_ref, pull.base_ref) == (FORK, "feature", "master")
    assert pull.head_url == forge.clone_url(FORK)
    assert pull.base_url == forge.clone_url(REPO)
    assert pull.created_at == forge.pull(REPO, 64).created_at.replace(microsecond=0)


async def test_login_is_asked_once(client: GitCodeClient, forge: Sandbox) -> None:
    await client.login()
    await client.login()
    assert len(forge.calls("gate-bot")) == 1


async def test_what_is_not_there_is_not_found(client: GitCodeClient) -> None:
    with pytest.raises(NotFound):
        await client.pull_request(REPO, 65)
    with pytest.raises(NotFound):
        await client.comment(REPO, 1)
    assert await client.file_text(REPO, "no/such.py", "master") is None
    assert await client.file_text(REPO, "README.md", "no-such-branch") is None


async def test_files_are_read(client: GitCodeClient, forge: Sandbox) -> None:
    assert await client.file_text(REPO, "README.md", "master") == "# 你好\n"
    assert await client.file_text(REPO, "/pkg/core.py", forge.pull(REPO, 64).base_sha)
    assert await client.file_text(REPO, "pkg", "master") is None


async def test_directories_are_listed(client: GitCodeClient, forge: Sandbox) -> None:
    root = {entry.path: entry.is_directory for entry in await client.directory(REPO, "", "master")}
    assert root["README.md"] is False
    assert root["pkg"] is True
    assert "pkg/core.py" in {entry.path for entry in await client.directory(REPO, "pkg", "master")}
    assert await client.directory(REPO, "README.md", "master") == []
    assert await client.directory(REPO, "nowhere", "master") == []
    assert len(forge.calls("gate-bot")) == 4


async def test_changed_files(client: GitCodeClient) -> None:
    files = {file.path: file for file in await client.changed_files(REPO, 64)}
    assert set(files) == {"pkg/core.py", "pkg/new.py"}
    assert files["pkg/new.py"].status == "added"
    core = files["pkg/core.py"]
    assert (core.status, core.additions, core.deletions) == ("modified", 2, 2)
    assert core.patch.startswith("@@ -2,8 +2,8 @@")


async def test_open_pull_requests_by_update(client: GitCodeClient, forge: Sandbox, clock: VirtualClock) -> None:
    for number in range(3):
        await forge.push(FORK, f"topic-{number}", {"a.txt": str(number)}, author="dev-a")
        await clock.sleep(60)
        await forge.open_pull_request(
            REPO, author="dev-a", title=f"t{number}", body="", branch=f"topic-{number}", head_repo=FORK
        )
    await clock.sleep(60)
    await forge.close_pull_request(REPO, 66, actor="dev-a")
    await forge.edit_description(REPO, 65, "new text")
    assert [pull.number for pull in await client.open_pull_requests(REPO)] == [65, 67, 64]
    recent = await client.open_pull_requests(REPO, updated_after=clock.now() - timedelta(seconds=90))
    assert [pull.number for pull in recent] == [65, 67]
    assert recent[0].body == "new text"


async def test_comment_life(client: GitCodeClient, forge: Sandbox) -> None:
    ref = await client.create_comment(REPO, 64, "第一版\n\n<!-- gatebot:report -->")
    assert forge.threads(REPO, 64)[0].id == ref.discussion_id
    await client.edit_comment(REPO, ref.note_id, "第二版")
    assert [note.body for note in forge.notes_by(REPO, 64, "gate-bot")] == ["第二版"]
    answer = await client.reply(REPO, 64, ref.discussion_id, "回复")
    assert answer.discussion_id == ref.discussion_id
    listed = await client.comments(REPO, 64)
    assert [(one.note_id, one.body, one.author, one.reply_authors) for one in listed] == [
        (ref.note_id, "第二版", "gate-bot", ("gate-bot",))
    ]
    await client.delete_comment(REPO, ref.note_id)
    await client.delete_comment(REPO, ref.note_id)
    assert await client.comments(REPO, 64) == []


async def test_an_edit_is_read_back(client: GitCodeClient, forge: Sandbox) -> None:
    ref = await client.create_comment(REPO, 64, "one")
    await client.edit_comment(REPO, ref.note_id, "two")
    assert [call.method for call in forge.calls("gate-bot")] == ["POST", "PATCH", "GET"]


async def test_other_peoples_comments_are_left_alone(client: GitCodeClient, forge: Sandbox) -> None:
    note = await forge.comment_as(REPO, 64, "dev-b", "mine")
    with pytest.raises(Refused):
        await client.edit_comment(REPO, note.id, "yours")
    with pytest.raises(Refused):
        await client.delete_comment(REPO, note.id)
    assert (await client.comments(REPO, 64))[0].body == "mine"


async def test_line_comments(client: GitCodeClient, forge: Sandbox) -> None:
    added = await client.create_comment(REPO, 64, "added", path="pkg/core.py", line=5)
    outside = await client.create_comment(REPO, 64, "outside", path="pkg/core.py", line=39)
    whole = await client.create_comment(REPO, 64, "file", path="pkg/new.py", file_level=True)
    anchored = await client.comment(REPO, added.note_id)
    assert (anchored.on_line, anchored.path, anchored.line, anchored.outdated) == (True, "pkg/core.py", 5, False)
    assert (await client.comment(REPO, outside.note_id)).line == 0  # accepted, but detached
    assert (await client.comment(REPO, whole.note_id)).path == "pkg/new.py"
    for path, line in (("README.md", 1), ("pkg/core.py", 4000)):
        with pytest.raises(Refused, match="invalid params under position"):
            await client.create_comment(REPO, 64, "bad", path=path, line=line)
    with pytest.raises(ValueError, match="line"):
        await client.create_comment(REPO, 64, "bad", path="pkg/core.py")
    await client.resolve(REPO, 64, added.discussion_id)
    states = {one.body: (one.on_line, one.resolved) for one in await client.comments(REPO, 64)}
    assert states == {"added": (True, True), "outside": (True, False), "file": (True, False)}
    assert len(forge.threads(REPO, 64)) == 3


@pytest.mark.parametrize("options", [Options(refuse_context_lines=True)])
async def test_context_lines_may_be_refused(client: GitCodeClient) -> None:
    await client.create_comment(REPO, 64, "added", path="pkg/core.py", line=5)
    with pytest.raises(Refused):
        await client.create_comment(REPO, 64, "context", path="pkg/core.py", line=4)


async def test_long_comments_are_cut(client: GitCodeClient, forge: Sandbox) -> None:
    await client.create_comment(REPO, 64, "字" * 70_000 + "\n<!-- gatebot:x -->")
    body = forge.notes_by(REPO, 64, "gate-bot")[0].body
    assert len(body) <= 65_535
    assert body.endswith("(Cut: the text is too long.)\n\n<!-- gatebot:x -->")


async def test_labels(client: GitCodeClient, forge: Sandbox) -> None:
    await client.add_labels(REPO, 64, ("pr-check-pass", "kind/bug"))
    await client.add_labels(REPO, 64, ("pr-check-pass",))
    await client.add_labels(REPO, 64, ())
    assert forge.labels(REPO, 64) == {"pr-check-pass", "kind/bug"}
    await client.remove_label(REPO, 64, "kind/bug")
    await client.remove_label(REPO, 64, "kind/bug")
    assert (await client.pull_request(REPO, 64)).labels == {"pr-check-pass"}
    with pytest.raises(NotFound):
        await client.remove_label(REPO, 999, "kind/bug")


@pytest.mark.parametrize("options", [Options(post_creates_labels=False)])
async def test_missing_labels_are_created(client: GitCodeClient, forge: Sandbox) -> None:
    await client.add_labels(REPO, 64, ("ascend-cla/yes", "kind/bug"))
    assert forge.labels(REPO, 64) == {"ascend-cla/yes", "kind/bug"}
    with pytest.raises(NotFound):
        await client.add_labels(REPO, 999, ("kind/bug",))


async def test_roles(client: GitCodeClient, forge: Sandbox) -> None:
    forge.add_member(REPO, "dev-b", DEVELOPER)
    forge.add_user("stranger")
    roles = {
        login: await client.role(REPO, 64, login) for login in ("micro-compass", "dev-b", "dev-a", "stranger", "gone")
    }
    assert roles == {
        "micro-compass": Role.MAINTAINER,
        "dev-b": Role.COLLABORATOR,
        "dev-a": Role.AUTHOR,
        "stranger": Role.ANYONE,
        "gone": Role.ANYONE,
    }


async def test_may_push(client: GitCodeClient) -> None:
    assert await client.may_push(REPO)
    assert not await client.may_push(FORK)
    assert not await client.may_push("no/such")


async def test_a_bad_token_is_for_the_operator(client_for: Make, forge: Sandbox) -> None:
    forge.add_user("narrow", scopes=frozenset({"read_repository"}))
    with pytest.raises(TellOperator, match=r"gitcode\.token"):
        await client_for("nobody").login()
    with pytest.raises(TellOperator, match="scopes"):
        await client_for("narrow").login()
    with pytest.raises(TellOperator, match="scopes"):
        await client_for("narrow").create_comment(REPO, 64, "x")


async def test_the_other_auth_header(client_for: Make) -> None:
    assert await client_for(auth_header="private-token").login() == "gate-bot"


@pytest.mark.parametrize(
    "options", [Options(total_headers=False), Options(short_pages=True), Options(total_headers=False, short_pages=True)]
)
async def test_every_page_is_read(client: GitCodeClient, forge: Sandbox) -> None:
    for number in range(205):
        await forge.comment_as(REPO, 64, "dev-b", f"comment {number}")
    assert [comment.body for comment in await client.comments(REPO, 64)] == [f"comment {n}" for n in range(205)]


async def test_headers_save_a_call(client: GitCodeClient, forge: Sandbox) -> None:
    await forge.comment_as(REPO, 64, "dev-b", "one")
    await client.comments(REPO, 64)
    assert len(forge.calls("gate-bot")) == 1


async def test_a_pull_request_is_opened_from_a_fork(client_for: Make, forge: Sandbox) -> None:
    await forge.push(FORK, "fix", {"a.txt": "a"}, author="dev-a")
    client = client_for("dev-a")
    fields = {"title": "fix: a", "body": "text", "head_repo": FORK, "head_ref": "fix", "base_ref": "master"}
    pull = await client.create_pull_request(REPO, **fields)
    assert (pull.number, pull.head_repo, pull.body, pull.state) == (65, FORK, "text", "open")
    with pytest.raises(Refused, match="!65"):
        await client.create_pull_request(REPO, **fields)


@pytest.mark.parametrize("options", [Options(close_answers_200=True)])
async def test_an_unreadable_answer_to_a_close_is_read_again(client: GitCodeClient) -> None:
    pull = await client.edit_pull_request(REPO, 64, title="feat: change", body="new", state="closed")
    assert pull is not None
    assert (pull.state, pull.body) == ("closed", "new")


async def test_dry_run_shows_writes_and_sends_reads(client_for: Make, forge: Sandbox, capsys: object) -> None:
    client = client_for(dry_run=True)
    ref = await client.create_comment(REPO, 64, "你好")
    await client.edit_comment(REPO, 5, "x")
    await client.add_labels(REPO, 64, ("a",))
    await client.reply(REPO, 64, "abc", "y")
    assert await client.edit_pull_request(REPO, 64, title="t") is None
    assert ref.note_id == 0
    assert (await client.pull_request(REPO, 64)).labels == frozenset()
    assert [call.method for call in forge.calls("gate-bot")] == ["GET"]
    lines = capsys.readouterr().out.splitlines()  # type: ignore[attr-defined]
    assert lines[0] == f'[dry-run] POST {forge.api_url}/repos/{REPO}/pulls/64/comments {{"body": "你好"}}'
    assert len(lines) == 5
