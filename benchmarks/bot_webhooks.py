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
"""Signed web hooks at a steady rate, each durable before its reply: latency and loss.

The load is open: a hook leaves at its time whether or not earlier ones were answered, and its latency counts from the
moment it should have left. At the end the service is killed with SIGKILL and the store is read by somebody else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import tempfile
import time
import uuid
from pathlib import Path

import aiohttp

from benchmarks.bot_common import SECRET, Daemon, percentile, report
from bot.intake.signature import sign
from bot.sandbox.gitcode.sandbox import Sandbox

REPO = "mindspore/hyper-parallel"


def payload(number: int, sequence: int) -> bytes:
    """A merge-request update as the forge sends it, different each time."""
    attributes = {
        "id": 8_800_000 + number,
        "iid": number,
        "title": f"feat: change {sequence}",
        "description": "text " * 200,
        "state": "opened",
        "action": "update",
        "oldrev": "",
        "source_branch": "topic",
        "target_branch": "master",
        "last_commit": {"id": f"{sequence:040x}"},
        "author": {"username": "dev-a"},
        "updated_at": f"2026-06-12T09:02:35.{sequence:06d}+08:00",
    }
    body = {
        "object_kind": "merge_request",
        "event_type": "merge_request",
        "uuid": str(uuid.uuid4()),
        "user": {"username": "dev-a"},
        "project": {"path_with_namespace": REPO},
        "labels": [],
        "object_attributes": attributes,
    }
    return json.dumps(body).encode()


async def fire(session: aiohttp.ClientSession, url: str, body: bytes, due: float) -> tuple[int, float]:
    headers = {
        "Content-Type": "application/json",
        "X-GitCode-Event": "Merge Request Hook",
        "X-GitCode-Delivery": str(uuid.uuid4()),
        "X-GitCode-Signature-256": sign(body, SECRET),
    }
    try:
        async with session.post(url, data=body, headers=headers) as answer:
            await answer.read()
            return answer.status, time.monotonic() - due
    except (aiohttp.ClientError, TimeoutError):
        return 0, time.monotonic() - due


async def run(rate: int, seconds: int, pulls: int) -> None:
    with tempfile.TemporaryDirectory(prefix="bench-hooks-") as directory:
        root = Path(directory)
        async with Sandbox(root / "forge") as forge:
            for login in ("dev-a", "gate-bot"):
                forge.add_user(login)
            await forge.create_repo(REPO, files={"a.py": "x = 1\n"}, members={"gate-bot": 30})
            daemon = Daemon(root, forge_url=forge.api_url, repo=REPO)
            await daemon.start()
            count = rate * seconds
            bodies = [payload(1 + n % pulls, n) for n in range(count)]
            connector = aiohttp.TCPConnector(limit=200)
            async with aiohttp.ClientSession(connector=connector) as session:
                await fire(session, f"{daemon.url}/webhook", payload(1, count), time.monotonic())
                cpu, began = daemon.cpu_seconds(), time.monotonic()
                tasks = []
                for n, body in enumerate(bodies):
                    due = began + n / rate
                    await asyncio.sleep(max(0.0, due - time.monotonic()))
                    tasks.append(asyncio.create_task(fire(session, f"{daemon.url}/webhook", body, due)))
                answers = await asyncio.gather(*tasks)
                cpu = daemon.cpu_seconds() - cpu
            await daemon.stop(kill=True)
        with sqlite3.connect(daemon.database) as store:
            kept = store.execute("SELECT count(*) FROM gatebot_inbox").fetchone()[0] - 1
        store.close()
    taken = sum(status == 202 for status, _ in answers)
    waits = [wait * 1000 for _, wait in answers]
    result = {
        "sent": count,
        "rate_per_s": rate,
        "acknowledged": taken,
        "kept_after_kill": kept,
        "lost": taken - kept,
        "not_acknowledged": count - taken,
        "p50_ms": round(percentile(waits, 0.5), 2),
        "p99_ms": round(percentile(waits, 0.99), 2),
        "max_ms": round(max(waits), 2),
        "cpu_s": round(cpu, 2),
    }
    report("bot_webhooks", ("figure", "value"), list(result.items()), result)
    assert result["lost"] == 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--pulls", type=int, default=50)
    options = parser.parse_args()
    asyncio.run(run(options.rate, options.seconds, options.pulls))
