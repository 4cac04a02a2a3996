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
"""The gate robot between the sandbox forge and the sandbox Jenkins, as a contributor meets it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import aiohttp
import pytest

from bot.sandbox.clock import VirtualClock
from bot.sandbox.faults import Fault, HookFault, HookTrouble, Trouble
from bot.sandbox.gitcode.sandbox import Sandbox
from bot.sandbox.jenkins import JobSettings, SandboxJenkins
from bot.sandbox.robot import Robot, RobotSettings

REPO = "mindspore/hyper-parallel"
FORK = "dev-a/hyper-parallel"
ROBOT = "micro-compass"
TEMPLATE = "**做了什么**\n<!-- 说明 -->\n\n**自检清单**\n- [ ] 已自检\n"
BODY = "**做了什么**\n新增 add\n\n**自检清单**\n- [x] 已自检\n\nFixes #1\n"
GREEN = {
    "pkg/calc.py": '"""Arithmetic."""\n\n\ndef add(left, right):\n    """Return the sum."""\n    return left + right\n'
}
RED = {"pkg/calc.py": '"""Arithmetic."""\nimport os\n'}


@dataclass
class World:
    forge: Sandbox
    jenkins: SandboxJenkins
    robot: Robot
    clock: VirtualClock

    async def open(self, files: dict[str, str], body: str = BODY, branch: str = "topic") -> int:
        await self.forge.push(FORK, branch, files, author="dev-a")
        pull = await self.forge.open_pull_request(
            REPO, author="dev-a", title="feat: add", body=body, branch=branch, head_repo=FORK
        )
        await self.settle()
        return pull.number

    async def push(self, files: dict[str, str]) -> None:
        with self.clock.hold():  # git takes real time, in which none should pass here
            await self.forge.push(FORK, "topic", files, author="dev-a")
            await self.forge.settle()
        await self.clock.sleep(1)

    async def say(self, number: int, text: str, *, wait: float = 1.0) -> None:
        await self.forge.comment_as(REPO, number, "dev-a", text)
        await self.settle(wait)

    async def settle(self, wait: float = 1.0) -> None:
        await self.forge.settle()
        await self.clock.sleep(wait)

    def said(self, number: int) -> list[str]:
        return [note.body for note in self.forge.notes_by(REPO, number, ROBOT)]

    def labels(self, number: int) -> set[str]:
        return set(self.forge.labels(REPO, number))


@pytest.fixture
async def world(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[World]:
    async with Sandbox(tmp_path / "forge", clock=clock) as forge:
        for login in ("dev-a", ROBOT):
            forge.add_user(login)
        files = {"pkg/__init__.py": '"""Package."""\n', ".gitcode/PULL_REQUEST_TEMPLATE.zh-CN.md": TEMPLATE}
        await forge.create_repo(REPO, files=files, members={ROBOT: 40}, first_pull=64)
        await forge.fork(REPO, "dev-a")
        async with SandboxJenkins([JobSettings(name="Gate", first_number=3903)], clock=clock) as jenkins:
            settings = RobotSettings(api_url=forge.api_url, token=f"token-{ROBOT}")
            async with Robot(settings, jenkins, clock=clock) as robot:
                forge.add_hook(REPO, robot.hook_url, secret=settings.secret)
                yield World(forge, jenkins, robot, clock)


async def test_incomplete_description_fails_and_the_completed_one_passes(world: World) -> None:
    number = await world.open(GREEN, body="**做了什么**\n\n**自检清单**\n- [ ] 已自检\n")
    await world.say(number, "/check-pr")
    assert world.labels(number) == {"pr-check-fail"}
    [answer] = world.said(number)
    assert answer.splitlines() == [
        "当前/check-pr未通过，原因如下:",
        "",
        "以下Pull Request描述检查项未通过:",
        "- 模板中'做了什么' 信息为空，请补充。",
        "- 选项未通过检查： **自检清单**：已自检",
        "",
        "以下issue检查项未通过:",
        "- Pull Request未关联issue，请在描述中补充 Fixes #<编号>。",
    ]
    await world.forge.edit_description(REPO, number, BODY)
    await world.say(number, "/check-pr")
    assert world.labels(number) == {"pr-check-pass"}
    assert len(world.said(number)) == 1


async def test_retest_without_the_label_is_refused_and_starts_a_bypass_build(world: World) -> None:
    number = await world.open(GREEN)
    await world.say(number, "/retest", wait=60)
    [answer] = world.said(number)
    assert answer.startswith("@dev-a 门禁触发失败")
    assert world.labels(number) == set()
    run = world.jenkins.run("Gate", 3903)
    assert (run.final, run.finished_at - run.moment) == ("SUCCESS", 20)


async def test_green_gate_from_check_to_label(world: World) -> None:
    number = await world.open(GREEN)
    await world.say(number, "/check-pr\n/retest", wait=30)
    assert world.labels(number) == {"pr-check-pass", "ci-pipeline-running"}
    assert world.said(number) == ["The pipeline #3903 is running..."]
    await world.clock.sleep(800)
    assert world.labels(number) == {"pr-check-pass", "ci-pipeline-passed"}
    table = world.said(number)[1]
    assert "| hyper-parallel |  | :white_check_mark: **SUCCESS** |" in table
    assert f"|  | Check_Pylint | **SUCCESS** | [3903]({world.jenkins.url}job/Gate/3903/console) |" in table


async def test_red_gate_names_the_failed_stage_and_a_push_voids_everything(world: World) -> None:
    number = await world.open(RED)
    await world.say(number, "/check-pr")
    await world.say(number, "/retest", wait=800)
    assert world.labels(number) == {"pr-check-pass", "ci-pipeline-failed"}
    assert "|  | Check_Pylint | **FAILURE** |" in world.said(number)[1]
    assert "|  | Check_Codespell | **SUCCESS** |" in world.said(number)[1]
    await world.push(GREEN)
    assert world.labels(number) == set()
    await world.say(number, "/retest", wait=60)
    assert "门禁触发失败" in world.said(number)[2]


async def test_push_during_a_build_aborts_it_and_no_verdict_lands_on_the_new_head(world: World) -> None:
    number = await world.open(RED)
    await world.say(number, "/check-pr\n/retest", wait=100)
    await world.push(GREEN)
    await world.clock.sleep(800)
    assert world.jenkins.run("Gate", 3903).final == "ABORTED"
    assert world.labels(number) == set()
    assert world.said(number) == ["The pipeline #3903 is running..."]


async def test_second_retest_aborts_the_first_build(world: World) -> None:
    number = await world.open(GREEN)
    await world.say(number, "/check-pr\n/retest", wait=100)
    await world.say(number, "/retest", wait=900)
    finals = [world.jenkins.run("Gate", build).final for build in (3903, 3904)]
    assert finals == ["ABORTED", "SUCCESS"]
    assert world.labels(number) == {"pr-check-pass", "ci-pipeline-passed"}
    assert sum("| Project |" in text for text in world.said(number)) == 1


async def test_doubled_hooks_and_a_late_one_change_nothing(world: World) -> None:
    world.forge.faults.add(HookFault(trouble=HookTrouble.DUPLICATE, times=0))
    number = await world.open(GREEN)
    await world.say(number, "/check-pr\n/retest", wait=800)
    assert world.said(number)[0] == "The pipeline #3903 is running..."
    assert len(world.said(number)) == 2
    world.forge.faults.clear()
    world.forge.faults.add(HookFault(trouble=HookTrouble.LATE, event="Merge", delay=500))
    await world.forge.push(FORK, "topic", {"pkg/more.py": '"""More."""\n'}, author="dev-a")
    await world.settle()
    await world.say(number, "/check-pr", wait=600)  # its hook shows the new head before the late one does
    assert world.labels(number) == {"pr-check-pass"}


async def test_lost_hooks_are_made_up_by_looking(world: World) -> None:
    world.forge.faults.add(HookFault(trouble=HookTrouble.LOSE, times=0))
    number = await world.open(GREEN)
    await world.say(number, "/check-pr")
    assert world.labels(number) == set()
    await world.robot.poll(REPO)
    await world.robot.poll(REPO)
    assert world.labels(number) == {"pr-check-pass"}


@pytest.mark.parametrize("text", ["/retest_ut", "请 /retest", "/check-pr now", "`/check-pr`", "retest"])
async def test_other_words_are_no_commands(world: World, text: str) -> None:
    number = await world.open(GREEN)
    await world.say(number, text)
    assert (world.said(number), world.labels(number)) == ([], set())


async def test_forge_in_trouble_is_asked_again_for_labels(world: World) -> None:
    number = await world.open(GREEN)
    world.forge.faults.add(Fault(trouble=Trouble.ANSWER, method="POST", path="/labels$", status=429))
    await world.say(number, "/check-pr", wait=60)
    assert world.labels(number) == {"pr-check-pass"}


async def test_html_table_posted_twice(world: World) -> None:
    world.robot.settings = replace(world.robot.settings, html_table=True, post_twice=True)
    number = await world.open(GREEN)
    await world.say(number, "/check-pr\n/retest", wait=800)
    tables = [text for text in world.said(number) if "<table>" in text]
    assert len(tables) == 2
    assert "<td>Check_Pylint</td><td>&#9989;</td>" in tables[0]


async def test_hook_without_the_secret_is_turned_away(world: World) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.post(world.robot.hook_url, json={"object_kind": "note"}) as answer:
            assert answer.status == 401
        async with session.get(world.robot.hook_url) as answer:
            assert answer.status == 200
