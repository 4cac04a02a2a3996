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
"""A service whose disk is full says that it is not ready, refuses hooks so that they come again, and recovers alone."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import sys
import time
from pathlib import Path
from typing import Any

import aiohttp

from bot.intake.signature import sign

SECRET = "hook-secret"
BODY = json.dumps(
    {
        "object_kind": "note",
        "user": {"username": "dev-a"},
        "project": {"path_with_namespace": "mindspore/hyper-parallel"},
        "object_attributes": {
            "id": 1000,
            "note": "/check-pr " + "x" * 50_000,
            "noteable_type": "MergeRequest",
            "created_at": "2026-06-17T16:13:09+08:00",
        },
        "merge_request": {"iid": 647, "state": "opened", "author": {"username": "dev-a"}},
    }
).encode()


def settings_file(directory: Path, port: int) -> Path:
    path = directory / "gatebot.yaml"
    settings = {
        "server": {"port": port},
        # Nothing answers there: the service takes hooks in all the same.
        "gitcode": {"api_url": "http://127.0.0.1:9/api/v5"},
        "storage": {"url": f"sqlite:///{directory}/gatebot.sqlite"},
    }
    path.write_text(json.dumps(settings), encoding="utf-8")
    return path


async def readiness(session: aiohttp.ClientSession, url: str, wanted: int) -> dict[str, Any]:
    """Ask until the status is as wanted."""
    end = time.monotonic() + 60
    said: object = None
    while time.monotonic() < end:
        try:
            async with session.get(f"{url}/readyz") as answer:
                said = answer.status, await answer.json()
                if answer.status == wanted:
                    return dict(said[1])
        except aiohttp.ClientError as error:
            said = error
        await asyncio.sleep(0.1)
    raise AssertionError(f"never {wanted}: {said}")


async def deliver(session: aiohttp.ClientSession, url: str) -> int:
    headers = {
        "Content-Type": "application/json",
        "X-GitCode-Event": "Note Hook",
        "X-GitCode-Delivery": "one",
        "X-GitCode-Signature-256": sign(BODY, SECRET),
    }
    async with session.post(f"{url}/webhook", data=BODY, headers=headers) as answer:
        return answer.status


async def test_a_full_disk_makes_the_service_unready_and_loses_nothing(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    url = f"http://127.0.0.1:{port}"
    command = (sys.executable, "-m", "bot.cli", "--config", str(settings_file(tmp_path, port)), "serve")
    secrets = {"GATEBOT_GITCODE_TOKEN": "token", "GATEBOT_WEBHOOK_SECRETS": SECRET, "PATH": ""}
    process = await asyncio.create_subprocess_exec(*command, env=secrets, stderr=asyncio.subprocess.DEVNULL)
    try:
        async with aiohttp.ClientSession() as session:
            assert (await readiness(session, url, 200))["ready"] is True
            # From here on no file of the process may grow: to its store this is a disk without room.
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
            said = await readiness(session, url, 503)
            assert said["ready"] is False
            assert said["troubles"][0].startswith("store: The store did not answer: ")
            assert await deliver(session, url) == 503
            async with session.get(f"{url}/healthz") as answer:
                assert answer.status == 200  # a restart would not make room
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            assert (await readiness(session, url, 200))["ready"] is True
            assert await deliver(session, url) in {200, 202}
    finally:
        process.terminate()
        await process.wait()
