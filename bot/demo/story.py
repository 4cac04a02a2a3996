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
"""The story of the demo: what the contributor does, and when it has ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bot.app import Server
from bot.demo import files
from bot.demo.watch import Happening, Watcher
from bot.demo.world import AUTHOR, BOT, FORK, REPO, World, WorldOptions
from bot.gate.case import Case, Outcome, Phase
from bot.runtime import cases
from bot.runtime.service import Service
from bot.sandbox.clock import VirtualClock
from bot.sandbox.gitcode import gitrepo

BRANCH, TITLE = "feat-clamp", "feat: add clamp"
_LOOK_EVERY = 0.05
# Real seconds without activity after which the virtual clock moves on: longer than any step of a wake-up.
_GRACE = 0.25
LABELS = frozenset({"pr-check-pass", "ci-pipeline-passed"})


@dataclass(frozen=True, slots=True)
class Ending:
    """How the story ended."""

    case: Case
    labels: frozenset[str]
    report: str
    fix: str
    calls: int
    comments: int
    builds: int
    virtual: timedelta
    wall: float

    @property
    def passed(self) -> bool:
        """Whether the gate is green and the report is on the pull request."""
        reported = Outcome.PASSED.value in self.report
        return self.case.outcome is Outcome.PASSED and labels_are_on(self.labels) and reported


class Stage:
    """The world with GateBot in it. ``async with Stage(path) as stage:``.

    Args:
        state: Directory for everything; made by the caller.
        options: How the world is set up; by default the demo's.
        port: GateBot's port; 0 takes a free one.
        timers: Whether GateBot sweeps and says that it lives, on the machine's own clock.
        grace: Real seconds of quiet after which the virtual clock moves on; more of them leave time to act in between.
    """

    def __init__(
        self,
        state: Path,
        *,
        options: WorldOptions | None = None,
        port: int = 0,
        timers: bool = False,
        grace: float = _GRACE,
    ) -> None:
        self.clock = VirtualClock(grace=grace)
        self.world = World(options or WorldOptions(state=state), self.clock)
        self._port = port
        self._timers = timers
        self.server: Server

    async def __aenter__(self) -> Stage:
        await self.world.__aenter__()
        await self._start(self._port)
        self.world.hook_to(self.server.port)
        return self

    async def restart(self) -> None:
        """GateBot stops and a new one starts on the same store."""
        port = self.server.port
        await self.server.stop()
        await self._start(port)

    async def _start(self, port: int) -> None:
        service = Service(
            self.world.settings(port=port),
            clock=self.clock,
            busy=self.clock.hold,
            poll_seconds=None,
            timers=self._timers,
        )
        self.server = Server(service)
        await self.server.start(wait_ready=30.0)

    async def __aexit__(self, *details: object) -> None:
        await self.server.stop()
        await self.world.__aexit__(*details)

    async def case(self, number: int) -> Case | None:
        """The case as stored."""
        stored = await self.server.service.database.run(lambda c: cases.load(c, f"{REPO}#{number}"))
        return stored.case if stored else None


async def play(stage: Stage, tell: Callable[[Happening], None], *, seconds: float = 240.0) -> Ending:
    """Play the story to its end.

    Args:
        stage: A fresh stage.
        tell: Told of everything that happens, as it happens.
        seconds: Real seconds after which the story is given up.

    Raises:
        TimeoutError: It did not end in time; the message says where it stands.
    """
    began, world = time.monotonic(), stage.world
    async with stage.clock.running():
        await world.forge.push(FORK, BRANCH, files.FAULTY_FILES, author=AUTHOR, message=TITLE)
        pull = await world.forge.open_pull_request(
            REPO, author=AUTHOR, title=TITLE, body=files.INCOMPLETE_BODY, branch=BRANCH, head_repo=FORK
        )
        tell(Happening(stage.clock.now(), AUTHOR, "demo.opens", {"number": str(pull.number)}))
        watcher = Watcher(world, pull.number)
        completed = False
        while True:
            for happening in await watcher.look():
                tell(happening)
            case = await stage.case(pull.number)
            if (
                case is not None
                and case.phase is Phase.DESCRIPTION
                and not completed
                and _commented(stage, pull.number)
            ):
                completed = True
                tell(Happening(stage.clock.now(), AUTHOR, "demo.completes"))
                await world.forge.edit_description(REPO, pull.number, files.COMPLETE_BODY)
            if case is not None and case.phase is Phase.ENDED and stage.server.service.idle():
                break
            if time.monotonic() - began > seconds:
                raise TimeoutError(case.phase.value if case else "-")
            await asyncio.sleep(_LOOK_EVERY)
        await world.forge.settle()
        for happening in await watcher.look():
            tell(happening)
    return await _ending(stage, pull.number, time.monotonic() - began)


def _commented(stage: Stage, number: int) -> bool:
    return bool(stage.world.forge.notes_by(REPO, number, BOT))


async def _ending(stage: Stage, number: int, wall: float) -> Ending:
    world = stage.world
    case = await stage.case(number)
    assert case is not None, "the story ended with its case"
    notes = world.forge.notes_by(REPO, number, BOT)
    reports = [note.body for note in notes if "gatebot:sticky-summary" in note.body]
    fix = ""
    if case.commits:
        source = world.forge.world.repo(FORK).git_dir
        fix = await gitrepo.diff(source, f"{case.commits[-1].sha}^", case.commits[-1].sha, 1)
    return Ending(
        case=case,
        labels=world.forge.labels(REPO, number),
        report=reports[-1] if reports else "",
        fix=fix,
        calls=len(world.forge.calls(BOT)),
        comments=len(notes),
        builds=len(world.runs()),
        virtual=timedelta(seconds=stage.clock.monotonic()),
        wall=wall,
    )


def labels_are_on(labels: frozenset[str]) -> bool:
    """Whether both labels of the gate are on."""
    return labels >= LABELS
