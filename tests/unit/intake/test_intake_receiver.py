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
"""The webhook path over real HTTP in front of a real SQLite inbox: each input has its own answer, nothing is lost."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from bot.intake.events import StoredEvent
from bot.intake.receiver import Receiver, ReceiverSettings
from bot.intake.signature import sign

PAYLOADS = Path(__file__).parents[2] / "fixtures" / "payloads"
SETTINGS = ReceiverSettings(secrets=("old", "new"), max_bytes=20_000, store_timeout=5.0)


class SqliteInbox:
    """The smallest durable inbox that keeps the promise of the protocol."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._open() as database:
            database.execute(
                "create table inbox (delivery text unique, uuid text unique, effect text unique, event text)"
            )

    async def put(self, event: StoredEvent) -> bool:
        return await asyncio.to_thread(self._insert, event)

    def _insert(self, event: StoredEvent) -> bool:
        keys = event.keys
        row = (keys.delivery_id or None, keys.body_uuid or None, keys.effect, event.model_dump_json())
        with self._open() as database:
            return database.execute("insert or ignore into inbox values (?, ?, ?, ?)", row).rowcount == 1

    def stored(self) -> list[StoredEvent]:
        with self._open() as database:
            return [StoredEvent.model_validate_json(row[0]) for row in database.execute("select event from inbox")]

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path)


class Webhook:
    """A running receiver, its inbox and its counters."""

    def __init__(self, inbox: SqliteInbox, settings: ReceiverSettings) -> None:
        self.inbox = inbox
        self.counted: Counter[tuple[str, str]] = Counter()
        receiver = Receiver(
            inbox,
            settings,
            now=lambda: datetime(2026, 6, 12, tzinfo=UTC),
            count=lambda outcome, event: self.counted.update([(outcome, event)]),
        )
        application = web.Application()
        application.add_routes(receiver.routes())
        self.client = TestClient(TestServer(application))

    async def post(self, payload: dict[str, Any] | bytes, *, secret: str = "new", **headers: str) -> ClientResponse:
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        sent = {"Content-Type": "application/json", "X-GitCode-Signature-256": sign(body, secret)}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post("/webhook", data=body, headers=sent)


@pytest.fixture
def settings() -> ReceiverSettings:
    return SETTINGS


@pytest.fixture
async def webhook(tmp_path: Path, settings: ReceiverSettings) -> AsyncIterator[Webhook]:
    running = Webhook(SqliteInbox(tmp_path / "inbox.sqlite"), settings)
    async with running.client:
        yield running


def load(name: str) -> dict[str, Any]:
    return json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


async def answer(response: ClientResponse) -> tuple[int, str]:
    return response.status, (await response.json())["status"]


async def test_an_event_is_durable_before_the_reply(webhook: Webhook) -> None:
    response = await webhook.post(load("merge_request_push"), X_GitCode_Delivery="d-1")
    assert await answer(response) == (202, "accepted")
    (stored,) = SqliteInbox.stored(webhook.inbox)
    assert stored.case_key == "mindspore/hyper-parallel#321"
    assert stored.keys.delivery_id == "d-1"
    assert stored.event.kind == "merge_request"
    assert webhook.counted == {("accepted", "merge_request"): 1}


@pytest.mark.parametrize("secret", ["old", "new"])
async def test_every_configured_secret_is_valid(webhook: Webhook, secret: str) -> None:
    assert await answer(await webhook.post(load("note_on_pull_request"), secret=secret)) == (202, "accepted")


async def test_a_plain_token_is_accepted(webhook: Webhook) -> None:
    body = json.dumps(load("note_on_pull_request")).encode()
    headers = {"Content-Type": "application/json; charset=utf-8", "X-AtomGit-Token": "old"}
    response = await webhook.client.post("/webhook", data=body, headers=headers)
    assert await answer(response) == (202, "accepted")


async def test_duplicates_by_delivery_by_uuid_and_by_effect(webhook: Webhook) -> None:
    first = load("note_on_pull_request")
    assert (await webhook.post(first, X_GitCode_Delivery="d-1")).status == 202
    assert await answer(await webhook.post(first, X_GitCode_Delivery="d-1")) == (200, "duplicate")
    assert await answer(await webhook.post(first, X_GitCode_Delivery="d-2")) == (200, "duplicate")
    second_hook = {**first, "uuid": "another"}
    assert await answer(await webhook.post(second_hook, X_GitCode_Delivery="d-3")) == (200, "duplicate")
    assert len(webhook.inbox.stored()) == 1


async def test_a_label_and_a_new_description_of_one_head_are_both_kept(webhook: Webhook) -> None:
    label = load("merge_request_label")
    edited = load("merge_request_label")
    edited["uuid"] = "another"
    edited["object_attributes"]["description"] = "now complete"
    assert (await webhook.post(label, X_GitCode_Delivery="d-1")).status == 202
    assert (await webhook.post(edited, X_GitCode_Delivery="d-2")).status == 202


@pytest.mark.parametrize(
    ("body", "headers", "expected"),
    [
        (b"{}", {"X_GitCode_Signature_256": "sha256=00"}, (401, "bad-signature")),
        (b"x" * 20_001, {"X_GitCode_Signature_256": "sha256=00"}, (413, "too-large")),
        (b"{}", {"Content_Type": "text/plain"}, (415, "wrong-type")),
        (b"{", {}, (400, "bad-json")),
        (b"[1]", {}, (400, "bad-json")),
        (b"", {}, (400, "bad-json")),
        (b"\xff\xfe{", {}, (400, "bad-json")),
        (b"[" * 19_000, {}, (400, "bad-json")),
        (b'{"a": ' + b"9" * 5_000 + b"}", {}, (400, "bad-json")),
        (b'{"object_kind": "pipeline"}', {}, (202, "ignored")),
    ],
)
async def test_bad_and_unwanted_input(
    webhook: Webhook, body: bytes, headers: dict[str, str], expected: tuple[int, str]
) -> None:
    assert await answer(await webhook.post(body, **headers)) == expected
    assert webhook.inbox.stored() == []


async def test_a_signature_is_checked_before_type_and_syntax(webhook: Webhook) -> None:
    response = await webhook.post(b"{", secret="wrong", Content_Type="text/plain")
    assert await answer(response) == (401, "bad-signature")


async def test_a_delivery_without_any_signature_is_refused(webhook: Webhook) -> None:
    body = json.dumps(load("note_on_pull_request")).encode()
    response = await webhook.client.post("/webhook", data=body, headers={"Content-Type": "application/json"})
    assert await answer(response) == (401, "bad-signature")
    assert webhook.inbox.stored() == []


@pytest.mark.parametrize(("size", "expected"), [(20_000, (400, "bad-json")), (20_001, (413, "too-large"))])
@pytest.mark.parametrize("chunked", [False, True])
async def test_the_limit_itself_is_still_read(
    webhook: Webhook, size: int, expected: tuple[int, str], chunked: bool
) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"x" * size

    headers = {"X-GitCode-Token": "old", "Content-Type": "application/json"}
    response = await webhook.client.post("/webhook", data=chunks() if chunked else b"x" * size, headers=headers)
    assert await answer(response) == expected


async def test_a_body_sent_in_chunks_is_cut_off_at_the_limit(webhook: Webhook) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b"x" * 1000

    response = await webhook.client.post("/webhook", data=chunks(), headers={"X-GitCode-Token": "old"})
    assert await answer(response) == (413, "too-large")


async def test_a_compressed_body_cannot_grow_past_the_limit(webhook: Webhook) -> None:
    bomb = gzip.compress(b"0" * 5_000_000)
    response = await webhook.post(bomb, Content_Encoding="gzip")
    assert response.status == 413


async def test_unknown_events_are_counted(webhook: Webhook) -> None:
    response = await webhook.post(load("push"), X_GitCode_Event="Push Hook")
    assert await answer(response) == (202, "ignored")
    assert webhook.counted == {("ignored", "push/unknown-event"): 1}


async def test_the_probe_is_answered(webhook: Webhook) -> None:
    assert await answer(await webhook.client.get("/webhook")) == (200, "ready")
    assert (await webhook.client.head("/webhook")).status == 200


async def test_a_store_that_fails_is_a_503_and_the_second_try_succeeds(webhook: Webhook) -> None:
    hidden = webhook.inbox.path.with_suffix(".away")
    webhook.inbox.path.rename(hidden)
    webhook.inbox.path.mkdir()
    payload = load("note_on_pull_request")
    assert await answer(await webhook.post(payload)) == (503, "store-down")
    webhook.inbox.path.rmdir()
    hidden.rename(webhook.inbox.path)
    assert await answer(await webhook.post(payload)) == (202, "accepted")


class TestASlowStore:
    @pytest.fixture
    def settings(self) -> ReceiverSettings:
        return replace(SETTINGS, store_timeout=0.01)

    async def test_a_locked_store_is_a_503(self, webhook: Webhook, caplog: pytest.LogCaptureFixture) -> None:
        lock = sqlite3.connect(webhook.inbox.path, isolation_level=None)
        lock.execute("begin exclusive")
        response = await webhook.post(load("note_on_pull_request"))
        lock.rollback()
        lock.close()
        assert await answer(response) == (503, "store-down")
        (told,) = [record for record in caplog.records if record.name == "bot.intake.receiver"]
        assert told.getMessage().endswith("answered 503: too late")
        assert told.exc_info is None  # a full disk must not be filled with tracebacks


class TestWithoutASecret:
    @pytest.fixture
    def settings(self) -> ReceiverSettings:
        return replace(SETTINGS, secrets=("", " "))

    async def test_everything_is_refused_and_logged(self, webhook: Webhook, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.ERROR):
            response = await webhook.post(load("note_on_pull_request"), secret="")
        assert await answer(response) == (503, "no-secret")
        assert "no secret is configured" in caplog.text


async def test_secrets_are_not_shown() -> None:
    assert "old" not in repr(SETTINGS)
