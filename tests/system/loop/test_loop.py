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
"""The whole loop against the sandboxes: what GateBot does from the web hook to the last label."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.demo import files, story
from bot.demo.watch import Happening
from bot.demo.world import AUTHOR, BOT, FORK, MAINTAINER_LOGIN, REPO, ROBOT, WorldOptions
from bot.gate.case import Outcome, Phase
from bot.sandbox.faults import Fault, HookFault, HookTrouble, Trouble
from bot.sandbox.gitcode import gitrepo
from tests.system.loop.conftest import Opener

LONG = 7200.0  # a build during which there is time to do something
MISSPELT = {"numeric/clamp.py": files.GOOD_MODULE.replace("permitted", "permited")}


async def test_a_good_pull_request_is_green_in_two_commands_and_twelve_calls(play: Opener) -> None:
    async with play() as p:
        await p.open()
        case = await p.until_ended()
        assert case.outcome is Outcome.PASSED
        assert p.labels == {"pr-check-pass", "ci-pipeline-passed"}
        assert p.commands() == ["/check-pr", "/retest"]
        reports = [body for body in p.said() if not body.startswith("/")]
        assert len(reports) == 1
        assert "`ci-pipeline-passed`" in reports[0]
        calls = p.forge.calls(BOT)
        assert len(calls) <= 12, [f"{call.method} {call.path}" for call in calls]
        assert {call.status for call in calls} <= {200, 201}


async def test_the_demo_story_is_green_after_one_fix_within_twenty_five_calls(tmp_path: Path) -> None:
    told: list[Happening] = []
    options = WorldOptions(state=tmp_path)
    # More quiet than usual before the clock moves on: moving in the midst of a wake-up, on a busy machine, costs calls.
    async with story.Stage(tmp_path, options=options, grace=1.0) as stage:
        ending = await story.play(stage, told.append)
        calls = [f"{call.at:%H:%M:%S} {call.method} {call.path[-40:]}" for call in stage.world.forge.calls(BOT)]
    assert ending.passed
    assert ending.calls <= 25, calls
    assert ending.builds == 2
    assert len(ending.case.commits) == 1
    assert "-import os" in ending.fix
    assert '-    """Return the value, or the nearest bound when it is outside the permited range' in ending.fix
    assert "Expectation:" in ending.fix
    order = [happening.text_id for happening in told if happening.text_id in ("demo.completes", "demo.build_ends")]
    assert order == ["demo.completes", "demo.build_ends", "demo.build_ends"]
    assert "Check_DT_Design" in next(h.values["stages"] for h in told if h.text_id == "demo.build_ends")


async def test_the_template_comment_names_what_is_missing_and_is_edited_in_place(play: Opener) -> None:
    async with play() as p:
        await p.open(body=files.INCOMPLETE_BODY)
        await p.until(lambda case: case.phase is Phase.DESCRIPTION, "the description is asked for")
        assert p.commands() == []
        first = p.said()
        assert len(first) == 1
        assert "做了什么，为什么需要" in first[0]
        assert "涉及的模块" in first[0]
        await p.forge.edit_description(REPO, p.number, files.INCOMPLETE_BODY.replace("在此行填写模块名", "numeric"))
        await p.until(lambda _case: "涉及的模块" not in p.said()[0], "the comment is brought up to date")
        assert len(p.said()) == 1
        await p.forge.edit_description(REPO, p.number, files.COMPLETE_BODY)
        assert (await p.until_ended()).outcome is Outcome.PASSED
        (sticky,) = [body for body in p.said() if not body.startswith("/")]
        assert sticky.startswith("## GateBot：最终报告")
        assert "### PR 描述\n\nPR 描述已补全，感谢！" in sticky


async def test_a_retest_typed_too_early_is_explained_and_its_bypass_build_proves_nothing(play: Opener) -> None:
    # GateBot is given the time in which the bypass build ends: else the queue folds it into the real one.
    async with play(gate={"auto_start": False}, runtime={"settle_seconds": 40.0}) as p:
        await p.open()
        await p.say(AUTHOR, "/retest")
        case = await p.until_ended()
        assert case.outcome is Outcome.PASSED
        bypass, *real = p.stage.world.runs()
        assert bypass.bypass
        assert [run.bypass for run in real] == [False]
        assert bypass.final == "SUCCESS"
        assert case.build_number == real[0].number
        assert p.commands() == ["/check-pr", "/retest"]
        explained = [body for body in p.said() if "pr-check-pass" in body and "最终报告" not in body]
        assert len(explained) == 1


async def test_a_push_during_the_build_voids_it(play: Opener) -> None:
    async with play(reported_seconds=LONG, grace=2.0) as p:
        await p.open()
        await p.until(lambda case: case.phase is Phase.BUILDING, "the first build")
        head = await p.push({"README.md": "# 演示仓库\n\n一个很小的数值库，带上下界。\n"})
        case = await p.until_ended()
        assert case.outcome is Outcome.PASSED
        assert case.head_sha == head
        assert p.commands() == ["/check-pr", "/retest", "/check-pr", "/retest"]
        runs = p.stage.world.runs()
        assert [run.final for run in runs] == ["ABORTED", "SUCCESS"]
        assert runs[-1].source is not None
        assert runs[-1].source.head_sha == head


async def test_where_there_is_no_robot_gatebot_owns_the_gate(play: Opener) -> None:
    async with play(robot=False) as p:
        await p.open(body=files.INCOMPLETE_BODY, changed=MISSPELT)
        await p.until(lambda case: case.phase is Phase.DESCRIPTION, "the description is asked for")
        assert p.labels == {"pr-check-fail"}
        assert p.stage.world.runs() == []
        await p.forge.edit_description(REPO, p.number, files.COMPLETE_BODY)
        case = await p.until_ended()
        assert case.outcome is Outcome.PASSED
        assert p.labels == {"pr-check-pass", "ci-pipeline-passed"}
        assert p.commands() == []
        assert [run.final for run in p.stage.world.runs()] == ["FAILURE", "SUCCESS"]


async def test_hooks_that_come_twice_late_and_out_of_order_change_nothing(play: Opener) -> None:
    async with play() as p:
        p.forge.faults.add(
            HookFault(trouble=HookTrouble.DUPLICATE, times=0),
            HookFault(trouble=HookTrouble.LATE, event="Note", nth=3, delay=90.0),
            HookFault(trouble=HookTrouble.REORDER, event="Merge", nth=2),
        )
        await p.open(changed=MISSPELT)
        case = await p.until_ended()
        assert case.outcome is Outcome.PASSED
        assert p.commands() == ["/check-pr", "/retest", "/check-pr", "/retest"]
        assert len(case.commits) == 1
        said = [body.partition("\n")[0] for body in p.said() if not body.startswith("/")]
        assert len(said) == len(set(said)) == 2, said  # the line, and the one summary


async def test_hooks_that_never_come_are_made_up_for_by_looking(play: Opener) -> None:
    async with play() as p:
        await p.open()
        await p.until(lambda case: case.phase is Phase.CHECKING, "the first wake-up")
        p.stop_hooks()
        case = await p.until_ended()
        assert case.outcome is Outcome.PASSED
        assert p.commands() == ["/check-pr", "/retest"]


@pytest.mark.parametrize("trouble", [Trouble.AFTER_HANG, Trouble.AFTER_CUT, Trouble.AFTER_ANSWER])
async def test_a_comment_that_was_written_but_not_answered_is_not_written_again(play: Opener, trouble: Trouble) -> None:
    async with play(gitcode={"timeout_seconds": 1.0}) as p:
        fault = Fault(trouble=trouble, method="POST", path=r"/pulls/\d+/comments$", status=502)
        p.forge.faults.add(fault)
        await p.open()
        case = await p.until_ended()
        assert case.outcome is Outcome.PASSED
        assert p.forge.faults.unspent() == []
        assert p.commands() == ["/check-pr", "/retest"]


async def test_a_forge_in_trouble_is_waited_for(play: Opener) -> None:
    async with play() as p:
        p.forge.faults.add(
            Fault(trouble=Trouble.ANSWER, method="GET", path=r"/pulls/\d+$", nth=1, times=5, status=500),
            Fault(
                trouble=Trouble.ANSWER,
                method="POST",
                path=r"/comments$",
                nth=2,
                times=1,
                status=429,
                headers={"Retry-After": "70"},
            ),
            Fault(trouble=Trouble.ANSWER, method="PATCH", path=r"/comments/", nth=1, times=1, status=418),
        )
        await p.open(body=files.INCOMPLETE_BODY)
        await p.until(lambda case: case.phase is Phase.DESCRIPTION, "the description is asked for")
        await p.forge.edit_description(REPO, p.number, files.COMPLETE_BODY)
        assert (await p.until_ended()).outcome is Outcome.PASSED
        assert p.forge.faults.unspent() == []
        assert p.commands() == ["/check-pr", "/retest"]


async def test_a_build_server_that_is_away_delays_and_loses_nothing(play: Opener) -> None:
    async with play() as p:
        p.stage.world.jenkins.faults.add(Fault(trouble=Trouble.ANSWER, path="/api/json", times=12, status=503))
        await p.open()
        assert (await p.until_ended()).outcome is Outcome.PASSED
        assert p.commands() == ["/check-pr", "/retest"]


async def test_stop_is_for_the_author_and_a_later_command_resumes(play: Opener) -> None:
    async with play(reported_seconds=LONG) as p:
        p.forge.add_user("stranger")
        await p.open()
        await p.until(lambda case: case.phase is Phase.BUILDING, "the build")
        await p.say("stranger", "/stop")
        await p.until(lambda _case: any("/stop" in body or "stop" in body for body in p.said()), "the refusal")
        case = await p.case()
        assert case is not None
        assert case.outcome is None
        await p.say(AUTHOR, "／stop")
        assert (await p.until_ended()).outcome is Outcome.USER_INTERRUPT
        await p.say(AUTHOR, "/retest")
        case = await p.until(lambda case: case.outcome is Outcome.PASSED, "green after all")
        assert p.labels == {"pr-check-pass", "ci-pipeline-passed"}


async def test_a_repair_waits_for_its_command_where_the_policy_says_so(play: Opener) -> None:
    async with play(gate={"repair_mode": "on-command"}) as p:
        await p.open(changed=MISSPELT)
        await p.until(lambda case: case.phase is Phase.OFFERED, "the offer")
        head = p.forge.pull(REPO, p.number).head_sha
        assert any("/autofix" in body for body in p.said())
        await p.say(AUTHOR, "请修复\n\n/autofix")
        case = await p.until_ended()
        assert case.outcome is Outcome.PASSED
        assert len(case.commits) == 1
        commit = (await gitrepo.commits(p.forge.world.repo(FORK).git_dir, case.commits[0].sha, 1))[0]
        assert commit.parents == (head,)
        assert "Check_Codespell" in commit.message


async def test_a_branch_we_may_not_push_to_gets_a_patch(play: Opener) -> None:
    async with play() as p:
        del p.forge.world.repo(FORK).members[BOT]
        await p.open(changed=MISSPELT)
        case = await p.until_ended()
        assert case.outcome is Outcome.NEEDS_HUMAN
        assert case.commits == ()
        patches = [body for body in p.said() if "```diff" in body]
        assert len(patches) == 1
        assert '+    """Return the value, or the nearest bound when it is outside the permitted range' in patches[0]


async def test_a_pull_request_whose_hook_never_came_is_found_by_the_sweep(play: Opener) -> None:
    from bot.runtime.sweep import sweep

    async with play(hooks=False) as p:
        before = p.stage.clock.now()
        number = await p.open()
        outside = p.stage.server.service.outside()
        assert await sweep(REPO, before, outside) == 1
        p.stage.server.service.notify()
        case = await p.until_ended()
        assert (case.number, case.outcome) == (number, Outcome.PASSED)
        assert p.commands() == ["/check-pr", "/retest"]


async def test_a_command_whose_hook_never_came_is_found_by_the_sweep(play: Opener) -> None:
    from bot.runtime.sweep import sweep

    async with play() as p:
        await p.open()
        await p.until_ended()
        outside = p.stage.server.service.outside()
        assert await sweep(REPO, p.stage.clock.now(), outside) == 0
        p.stop_hooks()
        await p.stage.clock.sleep(60)
        before = p.stage.clock.now()
        await p.say(AUTHOR, "/help")
        assert await sweep(REPO, before, outside) == 1
        p.stage.server.service.notify()
        await p.until(lambda _case: any("/autofix" in body for body in p.said()), "the answer")
        assert await sweep(REPO, before, outside) == 0


async def test_a_check_that_is_refused_after_the_green_end_asks_for_the_description(play: Opener) -> None:
    async with play() as p:
        await p.open()
        assert (await p.until_ended()).outcome is Outcome.PASSED
        await p.stage.clock.sleep(60)
        await p.forge.edit_description(REPO, p.number, files.INCOMPLETE_BODY)
        await p.say(AUTHOR, "/check-pr")
        case = await p.until(lambda case: case.phase is Phase.DESCRIPTION, "the description is asked for")
        assert case.outcome is None
        assert "pr-check-pass" not in p.labels
        await p.forge.edit_description(REPO, p.number, files.COMPLETE_BODY)
        assert (await p.until_ended()).outcome is Outcome.PASSED
        assert p.labels == {"pr-check-pass", "ci-pipeline-passed"}
        assert p.commands() == ["/check-pr", "/retest", "/check-pr", "/retest"]
        assert len([body for body in p.said() if not body.startswith("/")]) == 1


async def test_many_pull_requests_go_side_by_side_and_each_in_order(play: Opener) -> None:
    async with play(robot=False) as p:
        numbers = [await p.open(title=f"feat: clamp {n}") for n in range(4)]
        for number in numbers:
            p.number = number
            assert (await p.until_ended()).outcome is Outcome.PASSED
        assert len(p.stage.world.runs()) == 4


async def test_a_command_in_a_quote_or_in_code_does_nothing_and_a_near_miss_is_asked_about(play: Opener) -> None:
    async with play(gate={"auto_start": False}) as p:
        await p.open()
        await p.say(MAINTAINER_LOGIN, "> /retest\n\n`/retest`\n\n```\n/check-pr\n```\n<!-- /retest -->")
        await p.say(MAINTAINER_LOGIN, "/retset")
        await p.until(lambda _case: len(p.said()) == 1, "one answer")
        assert "没有命令 `/retset`，您是想输入 `/retest` 吗？" in p.said()[0]
        assert p.commands() == []
        assert p.said(ROBOT) == []


async def test_closing_ends_the_case_and_nothing_more_is_said(play: Opener) -> None:
    async with play(reported_seconds=LONG) as p:
        await p.open()
        await p.until(lambda case: case.phase is Phase.BUILDING, "the build")
        said = p.said()
        await p.forge.close_pull_request(REPO, p.number, actor=AUTHOR)
        assert (await p.until_ended()).outcome is Outcome.CLOSED
        assert p.said() == said


async def test_the_right_to_push_to_a_fork_is_asked_once_for_several_pull_requests(play: Opener) -> None:
    async with play() as p:
        for number in range(2):
            await p.open(changed=MISSPELT, title=f"feat: clamp {number}")
            case = await p.until_ended()
            assert (case.outcome, len(case.commits)) == (Outcome.PASSED, 1)
        assert sum("self-permission" in call.path for call in p.forge.calls(BOT)) == 1
