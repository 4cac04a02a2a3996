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
"""Starts the sandboxes with a repository, people and the gate's robot; says how GateBot reaches them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot.clock import Clock
from bot.config import Settings
from bot.demo.files import BASE_FILES
from bot.sandbox.gitcode.options import Options
from bot.sandbox.gitcode.sandbox import Sandbox
from bot.sandbox.gitcode.state import DEVELOPER, MAINTAINER
from bot.sandbox.jenkins import Account, GateOptions, JobSettings, Run, SandboxJenkins
from bot.sandbox.robot import Robot, RobotSettings

REPO = "mindspore/hyper-parallel"
FORK = "dev-a/hyper-parallel"
BOT, ROBOT, AUTHOR, MAINTAINER_LOGIN = "gate-bot", "micro-compass", "dev-a", "keeper"
JOB = "Hyper-Parallel_Atomgit_Gate"
SECRET, ROBOT_SECRET = "demo-hook-secret", "demo-robot-secret"


@dataclass(frozen=True, kw_only=True)
class WorldOptions:
    """How the world is set up.

    Attributes:
        state: Directory for repositories, database and work trees.
        robot: Whether the gate's robot lives here; without it GateBot owns the gate.
        first_pull: Number of the first pull request.
        first_build: Number of the first build.
        reported_seconds: Duration that builds pretend.
        forge: Switches of the local GitCode.
        gate: Overrides of the policy.
        runtime: Overrides of the runtime settings.
        port: GateBot's port.
        gitcode: Overrides of the forge client's settings.
        server: Overrides of the server's settings.
        storage: Overrides of the storage settings.
        stages: Stages of the gate; all of them when empty.
        hooks: Whether GateBot's web hook is registered.
        real_time: Builds take the time they take, and nothing waits longer than it must: for a clock that cannot jump.
    """

    state: Path
    robot: bool = True
    first_pull: int = 647
    first_build: int = 3903
    reported_seconds: float = 600.0
    forge: Options = field(default_factory=Options)
    gate: Mapping[str, Any] = field(default_factory=dict)
    runtime: Mapping[str, Any] = field(default_factory=dict)
    port: int = 0
    gitcode: Mapping[str, Any] = field(default_factory=dict)
    server: Mapping[str, Any] = field(default_factory=dict)
    storage: Mapping[str, Any] = field(default_factory=dict)
    stages: tuple[str, ...] = ()
    hooks: bool = True
    real_time: bool = False


class World:
    """A local GitCode and Jenkins, with the robot if wanted. ``async with World(options, clock) as world:``."""

    def __init__(self, options: WorldOptions, clock: Clock) -> None:
        self.options = options
        self.clock = clock
        self.forge = Sandbox(options.state / "gitcode", clock=clock, options=options.forge)
        self.jenkins: SandboxJenkins
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> World:
        await self._stack.__aenter__()
        await self._stack.enter_async_context(self.forge)
        for login in (BOT, ROBOT, AUTHOR, MAINTAINER_LOGIN):
            self.forge.add_user(login)
        await self.forge.create_repo(
            REPO,
            files=BASE_FILES,
            members={BOT: DEVELOPER, ROBOT: MAINTAINER, AUTHOR: DEVELOPER, MAINTAINER_LOGIN: MAINTAINER},
            first_pull=self.options.first_pull,
        )
        fork = await self.forge.fork(REPO, AUTHOR)
        fork.members[BOT] = DEVELOPER  # contributors who want fix commits let GateBot into their fork
        self.forge.add_issue(REPO, AUTHOR, "布局计算需要 clamp")
        job = self._job()
        self.jenkins = SandboxJenkins([job], clock=self.clock, accounts=[Account(BOT, "", f"jenkins-{BOT}")])
        await self._stack.enter_async_context(self.jenkins)
        if self.options.robot:
            settings = RobotSettings(
                api_url=self.forge.api_url,
                token=f"token-{ROBOT}",
                login=ROBOT,
                job=JOB,
                secret=ROBOT_SECRET,
                label_delay=0.2 if self.options.real_time else 5.0,
            )
            robot = await self._stack.enter_async_context(Robot(settings, self.jenkins, clock=self.clock))
            self.forge.add_hook(REPO, robot.hook_url, secret=ROBOT_SECRET)
        return self

    async def __aexit__(self, *details: object) -> None:
        await self._stack.__aexit__(None, None, None)

    def _job(self) -> JobSettings:
        options = self.options
        job = JobSettings(
            name=JOB,
            repository_url=self.forge.clone_url(REPO),
            reported_seconds=options.reported_seconds,
            first_number=options.first_build,
            gate=GateOptions(stages=options.stages) if options.stages else GateOptions(),
        )
        if not options.real_time:
            return job
        return replace(job, reported_seconds=None, quiet_seconds=0.1, result_lead=0.1, post_production=0.1)

    def runs(self) -> list[Run]:
        """Every build so far, oldest first."""
        found: list[Run] = []
        while True:
            try:
                found.append(self.jenkins.run(JOB, self.options.first_build + len(found)))
            except KeyError:
                return found

    def settings(self, *, port: int | None = None) -> Settings:
        """Settings with which GateBot works in this world."""
        server = {"shutdown_seconds": 5.0, **self.options.server}
        store = f"sqlite:///{self.options.state}/gatebot.sqlite"
        storage = {"url": store, "work_dir": str(self.options.state / "work"), **self.options.storage}
        return Settings.model_validate(
            {
                "repositories": [REPO],
                "log_level": "warning",
                "server": {"port": self.options.port if port is None else port, **server},
                "webhook": {"secrets": [SECRET]},
                "gitcode": {"api_url": self.forge.api_url, "token": f"token-{BOT}", **self.options.gitcode},
                "jenkins": {"url": self.jenkins.url, "job": JOB, "user": BOT, "token": f"jenkins-{BOT}"},
                "storage": storage,
                "runtime": {"sweep_on_start": False, **self.options.runtime},
                "gate": {"owner": "robot" if self.options.robot else "self", **self.options.gate},
            }
        )

    def hook_to(self, port: int) -> None:
        """Register GateBot's web hook, where it is wanted."""
        if not self.options.hooks:
            return
        self.forge.add_hook(REPO, f"http://127.0.0.1:{port}/webhook", secret=SECRET)
