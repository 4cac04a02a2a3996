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
"""Hooks keep coming while the service is killed again and again: what was acknowledged is kept, and kept once."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import sqlite3
import sys
import uuid
from contextlib import closing
from pathlib import Path

import aiohttp
import pytest

from bot.intake.signature import sign

SECRET = "chaos-secret"
HOOKS, KILLS = 300, 6


def payload(sequence: int) -> bytes:
    body = {
        "object_kind": "note",
        "uuid": str(uuid.uuid4()),
        "user": {"username": "dev-a"},
        "project": {"path_with_namespace": "mindspore/hyper-parallel"},
        "object_attributes": {
            "id": 1000 + sequence, "note": f"text {sequence}", "noteable_type": "MergeRequest", "discussion_id": "d",
            "created_at": "2026-06-17T16:13:09+08:00",
        },
        "merge_request": {
            "iid": sequence % 10 + 1, "state": "opened", "author": {"username": "dev-a"},
            "last_commit": {"id": "a" * 40},
        },
    }  # fmt: skip
    return json.dumps(body).encode()


class Service:
    def __init__(self, directory: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.database = directory / "gatebot.sqlite"
        self._settings = directory / "settings.json"
        self._settings.write_text(
            json.dumps(
                {
                    "server": {"port": self.port},
                    "webhook": {"secrets": [SECRET]},
                    # Nothing answers there: the service is never ready, and takes hooks in all the same.
                    "gitcode": {"api_url": "http://127.0.0.1:9/api/v5", "token": "token"},
                    "storage": {"url": f"sqlite:///{self.database}"},
                }
            ),
            encoding="utf-8",
        )
        self._seen = directory / "seen.txt"
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        daemon = Path(__file__).with_name("plain_daemon.py")
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, str(daemon), str(self._settings), stderr=asyncio.subprocess.DEVNULL
        )

    async def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        await self.process.wait()


async def deliver(session: aiohttp.ClientSession, port: int, sequence: int) -> set[str]:
    """Send a hook until it is acknowledged, as a sender that tries again; the delivery ids that were acknowledged."""
    body = payload(sequence)
    delivery = str(uuid.uuid4())
    headers = {
        "Content-Type": "application/json", "X-GitCode-Event": "Note Hook", "X-GitCode-Delivery": delivery,
        "X-GitCode-Signature-256": sign(body, SECRET),
    }  # fmt: skip
    for _ in range(3000):
        try:
            async with session.post(f"http://127.0.0.1:{port}/webhook", data=body, headers=headers) as answer:
                if answer.status in (200, 202):
                    return {delivery}
        except aiohttp.ClientError:
            pass
        await asyncio.sleep(0.02)
    return set()


@pytest.mark.timeout(600)
async def test_every_acknowledged_hook_is_in_the_store_once(tmp_path: Path) -> None:
    chance = random.Random(7)
    service = Service(tmp_path)
    await service.start()
    acknowledged: set[str] = set()
    more = asyncio.Condition()

    async def send_all(session: aiohttp.ClientSession) -> None:
        gate = asyncio.Semaphore(8)

        async def one(sequence: int) -> None:
            async with gate:
                delivered = await deliver(session, service.port, sequence)
            async with more:
                acknowledged.update(delivered)
                more.notify_all()

        await asyncio.gather(*(one(sequence) for sequence in range(HOOKS)))

    async with aiohttp.ClientSession() as session:
        sending = asyncio.create_task(send_all(session))
        for _ in range(KILLS):
            goal = len(acknowledged) + chance.randint(5, 40)
            async with more:
                await more.wait_for(lambda goal=goal: len(acknowledged) >= goal)  # type: ignore[misc]
            assert not sending.done()
            await service.kill()
            await service.start()
        await sending
    await service.kill()
    assert len(acknowledged) == HOOKS
    with closing(sqlite3.connect(service.database)) as store:
        rows = store.execute("SELECT delivery_id, effect_key FROM gatebot_inbox").fetchall()
    assert {delivery for delivery, _ in rows} == acknowledged
    assert len(rows) == len({effect for _, effect in rows}) == HOOKS
