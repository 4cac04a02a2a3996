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
"""A stage per test: local GitCode, Jenkins and robot, and GateBot in this very process, all on one virtual clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.demo import files
from bot.demo.story import Stage
from bot.demo.world import AUTHOR, BOT, FORK, REPO, WorldOptions
from bot.gate.case import Case

QUICK = ("Check_Codespell",)


class Play:
    """One pull request on a stage, and the means to wait for what becomes of it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.forge = stage.world.forge
        self.number = 0

    async def open(
        self, *, body: str = files.COMPLETE_BODY, changed: dict[str, str] | None = None, title: str = "feat: add clamp"
    ) -> int:
        """The contributor pushes a branch to the fork and opens a pull request."""
        branch = f"topic-{len(self.forge.world.repo(REPO).pulls)}"
        await self.forge.push(FORK, branch, changed or files.GOOD_FILES, author=AUTHOR, message=title)
        pull = await self.forge.open_pull_request(
            REPO, author=AUTHOR, title=title, body=body, branch=branch, head_repo=FORK
        )
        self.number = pull.number
        return pull.number

    async def push(self, changed: dict[str, str], message: str = "fix: again") -> str:
        """The contributor pushes to the pull request's branch."""
        pull = self.forge.pull(REPO, self.number)
        return await self.forge.push(FORK, pull.source_branch, changed, author=AUTHOR, message=message)

    async def say(self, login: str, body: str) -> None:
        """Somebody comments."""
        await self.forge.comment_as(REPO, self.number, login, body)

    async def case(self) -> Case | None:
        """The stored case."""
        return await self.stage.case(self.number)

    async def until(self, holds: Callable[[Case], bool], what: str, *, seconds: float = 100.0) -> Case:
        """Wait until the stored case is as wanted and GateBot has nothing to do."""
        end = time.monotonic() + seconds
        case = None
        while time.monotonic() < end:
            case = await self.case()
            if case is not None and holds(case) and self.stage.server.service.idle():
                return case
            await asyncio.sleep(0.05)
        raise AssertionError(f"never came to: {what}; the case is {case!r}")

    async def until_ended(self) -> Case:
        """Wait for a terminal state."""
        return await self.until(lambda case: case.outcome is not None, "an end")

    def said(self, login: str = BOT) -> list[str]:
        """What somebody wrote, oldest first."""
        return [note.body for note in self.forge.notes_by(REPO, self.number, login)]

    def stop_hooks(self) -> None:
        """From now on GateBot is told nothing; the robot still is."""
        port = f":{self.stage.server.port}/"
        hooks = self.forge.world.repo(REPO).hooks
        for hook_id in [hook.id for hook in hooks.values() if port in hook.url]:
            del hooks[hook_id]

    def commands(self) -> list[str]:
        """The commands GateBot gave to the robot, in order."""
        return [body for body in self.said() if body.startswith("/")]

    @property
    def labels(self) -> frozenset[str]:
        """Labels on the pull request."""
        return self.forge.labels(REPO, self.number)


Opener = Callable[..., AbstractAsyncContextManager[Play]]


@pytest.fixture
def play(tmp_path: Path) -> Opener:
    """``async with play(gate={…}) as p:`` opens a stage with its clock running."""

    @asynccontextmanager
    async def opened(**options: Any) -> AsyncIterator[Play]:
        options.setdefault("stages", QUICK)
        own = {name: options.pop(name) for name in ("timers", "grace") if name in options}
        world = WorldOptions(state=tmp_path, **options)
        async with Stage(tmp_path, options=world, **own) as stage, stage.clock.running():
            yield Play(stage)

    return opened
