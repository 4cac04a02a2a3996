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
"""``kill -9`` of the service at every stored step in turn: nothing lost, nothing done twice, the same end."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.config import Settings
from bot.demo import files
from bot.demo.world import AUTHOR, BOT, FORK, REPO, World, WorldOptions
from bot.gate.case import Case, Outcome, Phase
from bot.runtime import cases, ledger
from bot.runtime.database import Database
from bot.sandbox.clock import SystemClock
from bot.sandbox.gitcode import gitrepo
from bot.sandbox.gitcode.options import Options

DAEMON = Path(__file__).with_name("daemon.py")
MISSPELT = {"numeric/clamp.py": files.GOOD_MODULE.replace("permitted", "permited")}
QUICK = {
    "poll_seconds": (1, 1, 1, 1),
    "settle_seconds": 1,
    "bypass_seconds": 0,
}
MOST_LIVES = 400
QUIET_SECONDS = 20.0
MOST_QUIET_WAIT = 300.0
INNER = (":sticky:write:", ":line:", ":resolve:", ":build-3903:summary", ":build-3904:summary")
KINDS = {"inbox", "loaded", "observed", "decided", "begun", "sent", "done", "created", "acted", "written", "rested"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Lives:
    """Starts the service again and again, each life dying at the first point no earlier one died at."""

    def __init__(self, directory: Path) -> None:
        self.settings = directory / "settings.json"
        self.seen = directory / "seen.txt"
        self.log = directory / "daemon.log"
        self.deaths = 0
        self.process: asyncio.subprocess.Process | None = None

    async def live_on(self) -> None:
        """Whenever the service is dead, start it."""
        while self.deaths < MOST_LIVES:
            with self.log.open("ab") as log:
                self.process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    str(DAEMON),
                    str(self.settings),
                    str(self.seen),
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=log,
                )
            code = await self.process.wait()
            assert code == -9, f"the service ended by itself with {code}: {self.log.read_text()[-2000:]}"
            self.deaths += 1

    async def end(self) -> None:
        """Stop the life that is on."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    def points(self) -> list[str]:
        """Where it died, in order."""
        return self.seen.read_text(encoding="utf-8").splitlines() if self.seen.exists() else []


@pytest.mark.timeout(3600)
async def test_killed_at_every_stored_step_the_loop_ends_the_same(tmp_path: Path) -> None:
    port = free_port()
    options = WorldOptions(
        state=tmp_path,
        port=port,
        real_time=True,
        stages=("Check_Codespell",),
        forge=Options(calls_per_minute=0, calls_per_hour=0),
        gate=QUICK,
        gitcode={"calls_per_minute": 10_000, "calls_per_hour": 1_000_000},
        runtime={"settle_seconds": 0.1, "sweep_on_start": True, "sweep_minutes": 0.1},
    )
    lives = Lives(tmp_path)
    async with World(options, SystemClock()) as world:
        settings = world.settings()
        lives.settings.write_text(_with_secrets(settings), encoding="utf-8")
        world.hook_to(port)
        database = Database(settings.storage.url)
        database.create()
        running = asyncio.create_task(lives.live_on())
        try:
            await _until_listening(port, running)
            number = await _contribute(world, database, running)
            await _until_ended(database, number, running)
            await _until_quiet(lives, database, number, running)
            case = await _until_ended(database, number, running)
        finally:
            running.cancel()
            await lives.end()
            await database.close()
        notes = [note.body for note in world.forge.notes_by(REPO, number, BOT)]
        commands = [body for body in notes if body.startswith("/")]
        assert case.outcome is Outcome.PASSED
        assert world.forge.labels(REPO, number) == {"pr-check-pass", "ci-pipeline-passed"}
        assert commands == ["/check-pr", "/retest", "/check-pr", "/retest"]
        markers = Counter(
            body.rpartition("<!-- gatebot:")[2].split(":")[0] for body in notes if "<!-- gatebot:" in body
        )
        assert markers == {"sticky-summary": 1, "line-build": 1}
        assert len(notes) == len(commands) + 2
        line_threads = [t for t in world.forge.threads(REPO, number) if "gatebot:line-build" in t.notes[0].body]
        assert [thread.resolved for thread in line_threads] == [True]
        history = await gitrepo.commits(world.forge.world.repo(FORK).git_dir, "topic", 10)
        assert [commit.author_name for commit in history[:2]] == [BOT, AUTHOR]
        assert [commit.sha for commit in history[:1]] == [case.commits[0].sha]
        assert len(case.commits) == 1
        assert len([run for run in world.runs() if not run.bypass]) == 2
    _check_the_walk(lives)


def _check_the_walk(lives: Lives) -> None:
    points = lives.points()
    assert len(points) == len(set(points))
    assert lives.deaths <= len(points) <= lives.deaths + 1  # the last life may die while the test is ending it
    kinds = Counter(point.split(" ")[0] for point in points)
    assert set(kinds) == KINDS
    effects = {point.partition(" ")[2] for point in points if point.startswith("begun ")}
    for kind in ("check-pr", "retest", "repair", "sticky", "line", "review", "resolve"):
        assert any(f":{kind}:" in effect for effect in effects), kind
    for effect in effects:  # each effect was interrupted before it left, before it was entered, and after
        wanted = {f"sent {effect}"}
        if ":resolve:" not in effect:  # the list shows the next life that it is resolved
            wanted.add(f"done {effect}")
        if not any(part in effect for part in INNER):  # those are no steps of their own but parts of one
            wanted.add(f"acted {effect}")
        assert wanted <= set(points), effect


def _with_secrets(settings: Settings) -> str:
    """The settings as JSON, secrets in clear: the daemon reads them from a file of the test's own directory."""
    dumped = settings.model_dump(mode="json")
    dumped["gitcode"]["token"] = settings.gitcode.token.get_secret_value()
    dumped["jenkins"]["user"] = settings.jenkins.user.get_secret_value()
    dumped["jenkins"]["token"] = settings.jenkins.token.get_secret_value()
    dumped["webhook"]["secrets"] = [secret.get_secret_value() for secret in settings.webhook.secrets]
    return json.dumps(dumped)


async def _contribute(world: World, database: Database, running: asyncio.Task[None]) -> int:
    forge = world.forge
    await forge.push(FORK, "topic", MISSPELT, author=AUTHOR, message="feat: add clamp")
    pull = await forge.open_pull_request(
        REPO, author=AUTHOR, title="feat: add clamp", body=files.INCOMPLETE_BODY, branch="topic", head_repo=FORK
    )
    await _until(
        database, pull.number, running, lambda case: case.phase is Phase.DESCRIPTION and bool(case.sticky_digests)
    )
    await forge.edit_description(REPO, pull.number, files.COMPLETE_BODY)
    return pull.number


async def _until_ended(database: Database, number: int, running: asyncio.Task[None]) -> Case:
    return await _until(database, number, running, lambda case: case.outcome is not None)


async def _until_quiet(lives: Lives, database: Database, number: int, running: asyncio.Task[None]) -> None:
    """Hooks about the end still wake the case: wait until no life has died for a while and nothing is left begun."""
    deaths, since = -1, time.monotonic()
    end = since + MOST_QUIET_WAIT
    while time.monotonic() - since < QUIET_SECONDS and time.monotonic() < end:
        if running.done():
            running.result()
        effects = await database.run(lambda c: ledger.of_case(c, f"{REPO}#{number}"))
        open_effects = [effect for effect in effects if effect["state"] == "started"]
        if lives.deaths != deaths or open_effects:
            deaths, since = lives.deaths, time.monotonic()
        await asyncio.sleep(0.2)


async def _until(database: Database, number: int, running: asyncio.Task[None], holds: Callable[[Case], bool]) -> Case:
    end = time.monotonic() + 3300
    stored = None
    while time.monotonic() < end:
        if running.done():
            running.result()
            raise AssertionError("the service died too often")
        stored = await database.run(lambda c: cases.load(c, f"{REPO}#{number}"))
        if stored is not None and holds(stored.case):
            return stored.case
        await asyncio.sleep(0.1)
    raise AssertionError(f"never came to the state wanted; the case is {stored!r}")


async def _until_listening(port: int, running: asyncio.Task[None]) -> None:
    for _ in range(3000):
        if running.done():
            running.result()
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
            continue
        writer.close()
        return
    raise AssertionError("the service never listened")
