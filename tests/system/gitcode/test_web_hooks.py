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

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from bot.gitcode.client import GitCodeClient
from bot.sandbox.clock import VirtualClock
from bot.sandbox.faults import HookFault, HookTrouble
from bot.sandbox.gitcode.options import Options
from bot.sandbox.gitcode.sandbox import Sandbox

REPO = "mindspore/hyper-parallel"
FORK = "dev-a/hyper-parallel"
SECRET = "s3cret"
UNKNOWN_KEYS = {"target_url", "action_desc", "note_action", "sender"}


@dataclass
class Mailbox:
    """What a receiver of hooks got."""

    url: str = ""
    status: int = 200
    headers: list[dict[str, str]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(raw) for raw in self.raw]

    @property
    def events(self) -> list[str]:
        return [headers["X-GitCode-Event"] for headers in self.headers]

    @property
    def notes(self) -> list[str]:
        return [body["object_attributes"]["note"] for body in self.bodies if body["object_kind"] == "note"]


@pytest.fixture
async def mailbox() -> AsyncIterator[Mailbox]:
    box = Mailbox()

    async def receive(request: web.Request) -> web.Response:
        box.headers.append(dict(request.headers))
        box.raw.append(await request.read())
        return web.Response(status=box.status)

    app = web.Application()
    app.router.add_post("/hook", receive)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    box.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    yield box
    await runner.cleanup()


async def test_a_signed_hook(forge: Sandbox, mailbox: Mailbox) -> None:
    forge.add_hook(REPO, mailbox.url, secret=SECRET)
    note = await forge.comment_as(REPO, 64, "dev-a", "/check-pr\n/retest 中文")
    await forge.settle()
    (headers,), (raw,), (body,) = mailbox.headers, mailbox.raw, mailbox.bodies
    digest = hmac.new(SECRET.encode(), raw, hashlib.sha256).hexdigest()
    assert headers["X-GitCode-Signature-256"] == f"sha256={digest}"
    assert "X-GitCode-Token" not in headers
    assert headers["User-Agent"] == "git-gitcode-hook"
    assert headers["Content-Type"] == "application/json"
    assert headers["X-GitCode-Event"] == "Note Hook"
    attributes = body["object_attributes"]
    assert (attributes["id"], attributes["note"]) == (note.id, "/check-pr\n/retest 中文")
    assert attributes["noteable_type"] == "MergeRequest"
    assert body["merge_request"]["iid"] == 64
    assert body["merge_request"]["last_commit"]["id"] == forge.pull(REPO, 64).head_sha
    assert "labels" not in body
    assert "action" not in attributes
    assert body["user"]["username"] == "dev-a"
    assert isinstance(body["user"]["id"], int)
    assert body["project"]["path_with_namespace"] == REPO
    assert body["project"]["name"] == "HyperParallel"


async def test_a_hook_with_a_password(forge: Sandbox, mailbox: Mailbox) -> None:
    hook = forge.add_hook(REPO, mailbox.url, secret=SECRET, signed=False)
    await forge.comment_as(REPO, 64, "dev-a", "hello")
    await forge.settle()
    assert mailbox.headers[0]["X-GitCode-Token"] == SECRET
    assert "X-GitCode-Signature-256" not in mailbox.headers[0]
    assert (hook.result, hook.result_code) == ("ok", 200)


@pytest.mark.parametrize("options", [Options(hook_prefix="AtomGit")])
async def test_the_other_prefix(forge: Sandbox, mailbox: Mailbox) -> None:
    forge.add_hook(REPO, mailbox.url, secret=SECRET)
    await forge.comment_as(REPO, 64, "dev-a", "hello")
    await forge.settle()
    assert {"X-AtomGit-Event", "X-AtomGit-Delivery", "X-AtomGit-Signature-256"} <= set(mailbox.headers[0])


async def test_the_life_of_a_pull_request_in_hooks(forge: Sandbox, mailbox: Mailbox, client: GitCodeClient) -> None:
    forge.add_hook(REPO, mailbox.url, secret=SECRET)
    await forge.push(FORK, "topic", {"a.txt": "1"}, author="dev-a")
    pull = await forge.open_pull_request(
        REPO, author="dev-a", title="feat: t", body="text", branch="topic", head_repo=FORK
    )
    first = pull.head_sha
    second = await forge.push(FORK, "topic", {"a.txt": "2"}, author="dev-a")
    await client.add_labels(REPO, 65, ("pr-check-pass",))
    await forge.edit_description(REPO, 65, "more text")
    await forge.close_pull_request(REPO, 65, actor="dev-a")
    await forge.reopen_pull_request(REPO, 65, actor="dev-a")
    await forge.merge_pull_request(REPO, 65, actor="micro-compass")
    await forge.settle()
    assert set(mailbox.events) == {"Merge Request Hook"}
    seen = [(body["object_attributes"]["action"], body["object_attributes"]["state"]) for body in mailbox.bodies]
    assert seen == [
        ("open", "opened"),
        ("update", "opened"),
        ("update", "opened"),
        ("update", "opened"),
        ("close", "closed"),
        ("reopen", "opened"),
        ("merge", "merged"),
    ]
    opened, pushed, labelled = mailbox.bodies[:3]
    assert opened["object_attributes"]["iid"] == 65
    assert opened["object_attributes"]["id"] != 65
    assert opened["changes"]["title"] == {"current": "feat: t"}
    assert opened["object_attributes"]["oldrev"] == ""
    assert opened["git_commit_no"] == ""
    assert opened["uuid"].startswith("65_")
    assert opened["merge_request"] == opened["object_attributes"]
    assert pushed["object_attributes"]["oldrev"] == first
    assert pushed["object_attributes"]["last_commit"]["id"] == second
    assert pushed["object_attributes"]["last_commit"]["timestamp"].endswith("Z")
    assert [label["name"] for label in labelled["labels"]] == ["pr-check-pass"]
    assert labelled["user"]["username"] == "gate-bot"
    assert not UNKNOWN_KEYS & set(opened["object_attributes"])


@pytest.mark.parametrize("options", [Options(merge_as_update=True, labels_fire_hooks=False, edits_fire_hooks=True)])
async def test_hooks_that_are_switched(forge: Sandbox, mailbox: Mailbox, client: GitCodeClient) -> None:
    forge.add_hook(REPO, mailbox.url, secret=SECRET)
    await client.add_labels(REPO, 64, ("a",))
    note = await forge.comment_as(REPO, 64, "dev-a", "one")
    await forge.edit_comment_as(REPO, note.id, "dev-a", "two")
    await forge.merge_pull_request(REPO, 64, actor="micro-compass")
    await forge.settle()
    assert mailbox.notes == ["one", "two"]
    ids = {body["object_attributes"]["id"] for body in mailbox.bodies[:2]}
    assert ids == {note.id}  # an edit looks like the comment
    merged = mailbox.bodies[2]["object_attributes"]
    assert (merged["action"], merged["state"]) == ("update", "merged")


async def test_push_hooks(forge: Sandbox, mailbox: Mailbox) -> None:
    forge.add_hook(FORK, mailbox.url, secret=SECRET, events=("push_events",))
    before = forge.pull(REPO, 64).head_sha
    sha = await forge.push(FORK, "feature", {"a.txt": "1"}, author="dev-a", message="feat: a")
    await forge.settle()
    (body,) = mailbox.bodies
    assert (body["object_kind"], body["ref"]) == ("push", "refs/heads/feature")
    assert (body["before"], body["after"], body["user_id"]) == (before, sha, -9999)
    assert [commit["message"] for commit in body["commits"]] == ["feat: a"]


async def test_a_hook_registered_twice_has_different_ids(forge: Sandbox, mailbox: Mailbox) -> None:
    for _ in range(2):
        forge.add_hook(REPO, mailbox.url, secret=SECRET)
    await forge.comment_as(REPO, 64, "dev-a", "hello")
    await forge.settle()
    one, other = mailbox.bodies
    assert one["uuid"] != other["uuid"]
    assert len({headers["X-GitCode-Delivery"] for headers in mailbox.headers}) == 2
    assert one["object_attributes"] == other["object_attributes"]


async def test_hooks_in_trouble(forge: Sandbox, mailbox: Mailbox, clock: VirtualClock) -> None:
    forge.add_hook(REPO, mailbox.url, secret=SECRET)
    forge.faults.add(
        HookFault(trouble=HookTrouble.REORDER, event="Note", nth=1),
        HookFault(trouble=HookTrouble.LATE, event="Note", nth=3, delay=600),
        HookFault(trouble=HookTrouble.DUPLICATE, event="Note", nth=4),
        HookFault(trouble=HookTrouble.LOSE, event="Note", nth=5),
    )
    started = clock.monotonic()
    for number in range(1, 6):
        await forge.comment_as(REPO, 64, "dev-a", f"note {number}")
    await forge.settle()
    assert mailbox.notes == ["note 2", "note 1", "note 4", "note 4", "note 3"]
    assert clock.monotonic() - started >= 600
    fours = [index for index, note in enumerate(mailbox.notes) if note == "note 4"]
    assert len({mailbox.headers[index]["X-GitCode-Delivery"] for index in fours}) == 2
    assert len({mailbox.bodies[index]["uuid"] for index in fours}) == 1
    assert [delivery.note for delivery in forge.deliveries].count("lost") == 1


async def test_a_failed_delivery_is_recorded_and_not_repeated(forge: Sandbox, mailbox: Mailbox) -> None:
    hook = forge.add_hook(REPO, mailbox.url, secret=SECRET)
    dead = forge.add_hook(REPO, "http://127.0.0.1:9/hook", secret=SECRET)
    mailbox.status = 503
    await forge.comment_as(REPO, 64, "dev-a", "hello")
    await forge.settle()
    assert len(mailbox.raw) == 1
    assert (hook.result, hook.result_code) == ("Service Unavailable", 503)
    assert dead.result_code == 0
    assert sorted(delivery.status for delivery in forge.deliveries) == [0, 503]


async def test_platform_replies_send_no_hook(forge: Sandbox, mailbox: Mailbox) -> None:
    await forge.comment_as(REPO, 64, "dev-b", "on a line", path="pkg/core.py", line=5)
    forge.add_hook(REPO, mailbox.url, secret=SECRET)
    await forge.push(FORK, "feature", {"pkg/core.py": "x = 1\n"}, author="dev-a")
    await forge.settle()
    assert len(forge.threads(REPO, 64)[0].notes) == 2
    assert mailbox.events == ["Merge Request Hook"]
