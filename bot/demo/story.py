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
from bot.demo.watch import Happening, Watcher, place
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
class LineComment:
    """A comment of GateBot on a line or a file: ``file:line``, its text, and whether its thread is resolved."""

    place: str
    body: str
    resolved: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """How the story ended."""

    case: Case
    labels: frozenset[str]
    report: str
    lines: tuple[LineComment, ...]
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


class Onlooker:
    """Follows one pull request: tells what happens to it until its case is as wanted.

    Args:
        stage: Where it happens.
        number: The pull request.
        tell: Told of everything that happens, as it happens.
        seconds: Real seconds from now after which the story is given up.
    """

    def __init__(self, stage: Stage, number: int, tell: Callable[[Happening], None], *, seconds: float) -> None:
        self._stage = stage
        self._number = number
        self._tell = tell
        self._watcher = Watcher(stage.world, number)
        self._end = time.monotonic() + seconds

    async def until(self, holds: Callable[[Case], bool]) -> Case:
        """Wait for the stored case to be as wanted and for GateBot to have nothing to do.

        Raises:
            TimeoutError: It did not come to that in time; the message says where it stands.
        """
        while True:
            await self._look()
            case = await self._stage.case(self._number)
            if case is not None and holds(case) and self._stage.server.service.idle():
                await self._stage.world.forge.settle()
                await self._look()
                return case
            if time.monotonic() > self._end:
                raise TimeoutError(case.phase.value if case else "-")
            await asyncio.sleep(_LOOK_EVERY)

    async def _look(self) -> None:
        for happening in await self._watcher.look():
            self._tell(happening)


async def play(
    stage: Stage, tell: Callable[[Happening], None], *, seconds: float = 240.0, branch: str = BRANCH
) -> Ending:
    """Play the story to its end.

    Args:
        stage: A stage, fresh for this branch.
        tell: Told of everything that happens, as it happens.
        seconds: Real seconds after which the story is given up.
        branch: The contributor's branch.

    Raises:
        TimeoutError: It did not end in time; the message says where it stands.
    """
    began, world = time.monotonic(), stage.world
    async with stage.clock.running():
        await world.forge.push(FORK, branch, files.FAULTY_FILES, author=AUTHOR, message=TITLE)
        pull = await world.forge.open_pull_request(
            REPO, author=AUTHOR, title=TITLE, body=files.INCOMPLETE_BODY, branch=branch, head_repo=FORK
        )
        tell(Happening(stage.clock.now(), AUTHOR, "demo.opens", {"number": str(pull.number)}))
        onlooker = Onlooker(stage, pull.number, tell, seconds=seconds)
        await onlooker.until(lambda case: case.phase is Phase.DESCRIPTION and bool(sticky_of(stage, pull.number)))
        tell(Happening(stage.clock.now(), AUTHOR, "demo.completes"))
        await world.forge.edit_description(REPO, pull.number, files.COMPLETE_BODY)
        await onlooker.until(lambda case: case.phase is Phase.ENDED)
    return await _ending(stage, pull.number, time.monotonic() - began)


async def _ending(stage: Stage, number: int, wall: float) -> Ending:
    world = stage.world
    case = await stage.case(number)
    assert case is not None, "the story ended with its case"
    notes = world.forge.notes_by(REPO, number, BOT)
    fix = ""
    if case.commits:
        source = world.forge.world.repo(FORK).git_dir
        fix = await gitrepo.diff(source, f"{case.commits[-1].sha}^", case.commits[-1].sha, 1)
    return Ending(
        case=case,
        labels=world.forge.labels(REPO, number),
        report=sticky_of(stage, number),
        lines=line_comments(stage, number),
        fix=fix,
        calls=len(world.forge.calls(BOT)),
        comments=len(notes),
        builds=len(world.runs()),
        virtual=timedelta(seconds=stage.clock.monotonic()),
        wall=wall,
    )


def sticky_of(stage: Stage, number: int) -> str:
    """The one comment that GateBot edits in place; empty where there is none."""
    notes = stage.world.forge.notes_by(REPO, number, BOT)
    return next((note.body for note in notes if "<!-- gatebot:sticky-" in note.body), "")


def line_comments(stage: Stage, number: int) -> tuple[LineComment, ...]:
    """GateBot's comments on lines and files, oldest first, as the forge has them now."""
    threads = [thread for thread in stage.world.forge.threads(REPO, number) if thread.notes[0].author == BOT]
    return tuple(
        LineComment(place(thread.position), thread.notes[0].body, thread.resolved)
        for thread in threads
        if thread.position is not None
    )


def labels_are_on(labels: frozenset[str]) -> bool:
    """Whether both labels of the gate are on."""
    return labels >= LABELS
