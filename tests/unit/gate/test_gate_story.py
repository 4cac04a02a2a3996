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
"""The two-phase gate, wake-up by wake-up: the community's truth table and routes as plain stories."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.gate.case import Outcome, Phase
from bot.gate.decision import Repair, Reply, UpsertSticky
from bot.gate.facts import ActionResult
from bot.gate.policy import Policy

GREEN = ("pr-check-pass", "ci-pipeline-passed")


def waits(glass: Any) -> float:
    return float((glass.last.wake_at - glass.now).total_seconds())


def test_green_loop_takes_two_commands_and_one_report(glass: Any) -> None:
    glass.wake()
    assert glass.did() == ["post_command /check-pr"]
    assert waits(glass) == 60
    glass.labels("pr-check-pass")
    glass.wake(30)
    assert glass.did() == ["post_command /retest"]
    waited = []
    for _ in range(5):
        waited.append(waits(glass))
        glass.wake(waited[-1], build=glass.build(None))
        assert glass.did() == []
    assert waited == [60, 270, 1200, 1800, 1800]
    glass.wake(1800, build=glass.build("SUCCESS"))
    assert glass.case.phase is Phase.LABELS
    glass.labels(*GREEN)
    glass.wake(60, build=glass.build("SUCCESS"))
    assert glass.case.outcome is Outcome.PASSED
    assert glass.did() == ["upsert_sticky summary"]
    assert glass.last.wake_at is None


def test_success_alone_is_not_green(glass: Any) -> None:
    glass.to_building()
    for _ in range(3):
        glass.wake(300, build=glass.build("SUCCESS"))
        assert glass.case.phase is Phase.LABELS
    glass.labels("ci-pipeline-passed")
    glass.wake(10, build=glass.build("SUCCESS"))
    assert (glass.case.phase, glass.did()) == (Phase.CHECKING, ["post_command /check-pr"])


@pytest.mark.parametrize("seconds", [1, 17, 59])
def test_bypass_build_proves_nothing(glass: Any, seconds: int) -> None:
    glass.to_building()
    glass.wake(60, build=glass.build("SUCCESS", seconds))
    assert glass.case.outcome is None
    assert [entry.text_id for entry in glass.case.timeline][-1] == "gate.event.bypass"
    glass.labels()
    glass.wake(60, build=glass.build("SUCCESS", seconds))
    assert glass.did() == ["post_command /check-pr"]


def test_short_build_with_both_labels_is_no_bypass(glass: Any) -> None:
    glass.to_building()
    glass.labels(*GREEN)
    glass.wake(60, build=glass.build("SUCCESS", 50))
    assert glass.case.outcome is Outcome.PASSED


def test_pass_label_from_before_the_request_needs_time_to_settle(glass: Any) -> None:
    glass.labels("pr-check-pass")
    glass.wake()
    assert glass.did() == ["post_command /check-pr"]
    glass.wake(20)
    assert glass.did() == []
    glass.wake(40)
    assert glass.did() == ["post_command /retest"]


def test_refusal_older_than_the_label_is_ignored(glass: Any) -> None:
    glass.robot("check_failed", "Pull Request未关联issue")
    glass.wake(5)
    glass.labels("pr-check-pass")
    glass.wake(30)
    assert glass.did() == ["post_command /retest"]


def test_refusal_leads_to_one_comment_that_is_edited(glass: Any) -> None:
    glass.wake()
    glass.now += timedelta(seconds=5)
    glass.robot("check_failed", "Pull Request未关联issue", "@all 模板中'描述' 信息为空")
    glass.wake(5)
    assert glass.did() == ["upsert_sticky template"]
    assert glass.last.actions[0].body.split("\n\n")[2] == (
        "- Pull Request未关联issue\n- @\u200ball 模板中'描述' 信息为空"
    )
    glass.wake(60)
    assert glass.did() == []
    glass.pr["body"] = "better"
    glass.wake(60)
    assert glass.did() == ["post_command /check-pr", "upsert_sticky template"]


def test_incomplete_description_is_held_until_edited(glass: Any) -> None:
    glass.complete = False
    glass.wake()
    assert glass.did() == ["upsert_sticky template"]
    assert "- 缺少「描述」一节" in glass.last.actions[0].body
    glass.complete, glass.pr["body"] = True, "full"
    glass.wake(100)
    assert glass.did() == ["post_command /check-pr", "upsert_sticky template"]


def test_a_persons_commands_are_followed_not_repeated(glass: Any) -> None:
    note = glass.request("check-pr")
    glass.wake(1, commands=(glass.command("check-pr").model_copy(update={"note_id": note}),))
    assert glass.did() == []
    glass.labels("pr-check-pass")
    glass.now += timedelta(seconds=20)
    glass.request("retest")
    glass.wake(1)
    assert (glass.case.phase, glass.did()) == (Phase.STARTING, [])
    glass.wake(60, build=glass.build(None))
    assert glass.case.phase is Phase.BUILDING


def test_retest_typed_too_early_is_answered_once(glass: Any) -> None:
    glass.complete = False
    glass.wake()
    note = glass.request("retest")
    glass.wake(5)
    assert glass.did()[:2] == ["reply", "post_command /check-pr"]
    reply = glass.last.actions[0]
    assert isinstance(reply, Reply)
    assert reply.to_note == note
    assert reply.body == (
        "现在还不能 `/retest`：PR 没有标签 `pr-check-pass`。没有这个标签时流水线会被拒绝，或者什么都不运行就显示成功。"
        "已转到第一步：检查 PR 描述，通过后会自动触发流水线。"
    )
    glass.robot("trigger_refused")
    glass.wake(5)
    assert "reply" not in glass.did()


def test_build_of_another_head_is_ignored(glass: Any) -> None:
    glass.wake()
    glass.labels("pr-check-pass")
    glass.wake(30)
    glass.wake(60, build=glass.build("SUCCESS", head_sha="c" * 40))
    assert glass.case.phase is Phase.STARTING


def test_lost_build_is_triggered_again_once(glass: Any) -> None:
    glass.to_building()
    glass.wake(60)
    glass.wake(60)
    assert glass.did() == ["post_command /check-pr"]
    glass.wake(61)
    assert glass.did() == ["post_command /retest"]
    glass.wake(61, build=glass.build(None, number=42))
    glass.wake(61, build_lost=True)
    assert (glass.case.outcome, glass.case.reason) == (Outcome.NEEDS_HUMAN, "gate.reason.build_lost")


def test_no_build_gets_one_more_try_then_a_human(glass: Any) -> None:
    glass.labels("pr-check-pass", "stat/checking")
    commands = []
    for _ in range(30):
        glass.wake(waits(glass) if glass.last else 0)
        commands += glass.did()
        if glass.case.outcome:
            break
    assert commands == ["post_command /check-pr", "post_command /retest"] * 2 + ["upsert_sticky summary"]
    assert (glass.case.outcome, glass.case.reason) == (Outcome.NEEDS_HUMAN, "gate.reason.no_build")


def test_red_build_is_repaired_then_phase_one_on_the_new_head(glass: Any, judged: Any) -> None:
    glass.to_building()
    glass.red(judged(repairable=True))
    assert glass.did() == ["publish_review", "repair push", "upsert_sticky summary"]
    repair = next(action for action in glass.last.actions if isinstance(action, Repair))
    glass.pr["head_sha"] = "f" * 40
    data = {"status": "pushed", "sha": "f" * 40, "subject": "fix(gate): Check_Pylint W0611", "rules": "W0611"}
    pushed = ActionResult(effect_key=repair.effect_key, kind="repair", outcome="done", data=data)
    glass.wake(5, results=(pushed,), build=glass.build("FAILURE"))
    assert glass.did() == ["post_command /check-pr", "upsert_sticky summary"]
    section = glass.last.actions[-1]
    assert section.may_wait  # it goes out with the write that the red build asked for
    assert "ffffffffffff" in section.body
    assert (glass.case.patch_attempts, [commit.sha for commit in glass.case.commits]) == (1, ["f" * 40])


@pytest.mark.parametrize(
    ("findings", "outcome", "reason"),
    [
        ([{}], Outcome.NEEDS_HUMAN, "deep"),
        ([{"repairable": True}, {}], Outcome.NEEDS_HUMAN, "deep"),
        ([{"repairable": True, "in_diff": False}], Outcome.SCOPE_CREEP, "scope"),
        ([{"verdict": "process"}], Outcome.NEEDS_HUMAN, "process"),
        ([{"verdict": "unrelated", "broken_on_base": True}], Outcome.STICKY_FLAKE, "broken_base"),
        ([{"verdict": "???"}], Outcome.NEEDS_HUMAN, "nothing_found"),
        ([], Outcome.NEEDS_HUMAN, "nothing_found"),
    ],
)
def test_routes_to_an_end(glass: Any, judged: Any, findings: list[Any], outcome: Outcome, reason: str) -> None:
    glass.to_building()
    glass.red(*(judged(**item) for item in findings))
    assert (glass.case.outcome, glass.case.reason) == (outcome, f"gate.reason.{reason}")
    assert "repair push" not in glass.did()


def test_unrelated_failure_is_retested_and_a_repeated_one_is_sticky(glass: Any, judged: Any) -> None:
    glass.to_building()
    flake = judged("unrelated", tool="pytest", function="t.py::test_a", reasons=("passes on master",))
    glass.red(flake)
    assert glass.did()[:2] == ["upsert_sticky flake", "post_command /check-pr"]  # why it is run again, and the run
    assert glass.case.flake_retests == 1
    glass.wake(61, build=glass.build("FAILURE"))
    glass.wake(61, build=glass.build(None, number=42))
    glass.red(flake, number=42)
    assert glass.case.outcome is Outcome.STICKY_FLAKE
    flakes = [a for a in glass.last.actions if isinstance(a, UpsertSticky) and a.marker == "flake"]
    assert len(flakes) == 1
    assert "41, [42](https://ci.example.com/job/Gate/42/)" in flakes[0].body


def test_red_build_waits_for_its_log_but_not_for_ever(glass: Any) -> None:
    glass.to_building()
    for _ in range(20):
        glass.wake(waits(glass), build=glass.build("FAILURE"))
        if glass.case.outcome:
            break
    assert glass.case.reason == "gate.reason.log_unreadable"


def test_on_command_waits_for_autofix(glass: Any, judged: Any) -> None:
    glass.policy = Policy(repair_mode="on-command")
    glass.to_building()
    glass.red(judged(repairable=True))
    assert glass.case.phase is Phase.OFFERED
    stranger = glass.command("autofix", author="x", role="anyone")
    glass.wake(5, commands=(stranger,), build=glass.build("FAILURE"))
    assert [a.body for a in glass.last.actions if isinstance(a, Reply)] == [
        "命令 `/autofix` 需要的权限：PR 作者或更高权限。"
    ]
    unknown = glass.command("autofix", author="x", role="unknown")
    glass.wake(5, commands=(unknown,), build=glass.build("FAILURE"))
    assert [a.body for a in glass.last.actions if isinstance(a, Reply)] == [
        "暂时无法查询您的权限，`/autofix` 没有执行，请稍后再试。"
    ]
    glass.wake(5, commands=(glass.command("autofix", role="unknown"),), build=glass.build("FAILURE"))
    assert glass.did() == [], "the author needs no look-up, but the log must be read first"
    glass.red(judged(repairable=True))
    assert glass.did()[:2] == ["reply", "repair push"]


def test_without_write_access_a_patch_is_shown(glass: Any, judged: Any) -> None:
    glass.to_building()
    glass.policy = Policy(repair_mode="propose")
    glass.red(judged(repairable=True))
    repair = next(action for action in glass.last.actions if isinstance(action, Repair))
    data = {"status": "proposed", "patch": "--- a/a.py\n+++ b/a.py\n@@ -1 +0,0 @@\n-import os\n"}
    result = ActionResult(effect_key=repair.effect_key, kind="repair", outcome="done", data=data)
    glass.wake(5, results=(result,), build=glass.build("FAILURE"))
    assert glass.case.reason == "gate.reason.proposed"
    assert glass.did() == ["upsert_sticky patch", "upsert_sticky summary"]
    assert "```diff\n--- a/a.py\n+++ b/a.py\n@@ -1 +0,0 @@\n-import os\n```" in glass.last.actions[0].body


def test_own_gate_checks_starts_and_labels(glass: Any, judged: Any) -> None:
    glass.policy = Policy(owner="self")
    glass.complete = False
    glass.wake()
    assert glass.did() == ["add_label pr-check-fail", "upsert_sticky template"]
    glass.labels("pr-check-fail")
    glass.complete, glass.pr["body"] = True, "full"
    glass.wake(60)
    assert glass.did()[:2] == ["remove_label pr-check-fail", "add_label pr-check-pass"]
    assert glass.last.again
    glass.labels("pr-check-pass")
    glass.wake(1)
    assert glass.did() == ["start_build", "add_label ci-pipeline-running"]
    glass.labels("pr-check-pass", "ci-pipeline-running")
    glass.wake(60, build=glass.build("SUCCESS", 20))
    assert "add_label ci-pipeline-passed" not in glass.did(), "a bypass build is never passed"
    glass.wake(60, build=glass.build(None, number=42))
    glass.wake(300, build=glass.build("SUCCESS", number=42))
    assert glass.did() == ["remove_label ci-pipeline-running", "add_label ci-pipeline-passed"]
    glass.labels(*GREEN)
    glass.wake(1, build=glass.build("SUCCESS", number=42))
    assert glass.case.outcome is Outcome.PASSED


def test_ceilings(glass: Any, judged: Any) -> None:
    glass.policy = Policy(patch_ceiling=0, flake_ceiling=0)
    glass.to_building()
    glass.red(judged(repairable=True))
    assert glass.case.outcome is Outcome.PATCH_CEILING
    glass.pr["head_sha"] = "b" * 40
    glass.wake(5, build=glass.build("FAILURE"))
    glass.wake(61, build=glass.build("FAILURE"))
    glass.wake(61, build=glass.build(None, number=42))
    glass.red(judged("infrastructure"), number=42)
    assert glass.case.outcome is Outcome.FLAKE_CEILING


def test_circuit_breaker(glass: Any, judged: Any) -> None:
    glass.policy = Policy(rounds_per_day=1)
    glass.to_building()
    glass.red(judged("infrastructure"))
    assert glass.case.reason == "gate.reason.budget"


def test_own_gate_never_starts_on_an_incomplete_description(glass: Any) -> None:
    glass.policy = Policy(owner="self")
    glass.complete = False
    glass.wake()
    glass.labels("pr-check-fail")
    glass.wake(5, commands=(glass.command("check-pr"),))
    assert glass.did() == ["reply"]
    assert glass.case.phase is Phase.DESCRIPTION


def test_a_command_after_the_ceiling_buys_no_further_commit(glass: Any, judged: Any) -> None:
    glass.to_building()
    glass.case = glass.case.model_copy(update={"patch_attempts": 2})
    glass.red(judged(repairable=True))
    assert glass.case.outcome is Outcome.PATCH_CEILING
    glass.request("retest")
    glass.wake(5)
    assert (glass.case.outcome, glass.case.patch_attempts) == (None, 2)
    glass.wake(5, commands=(glass.command("autofix"),), build=glass.build(None, number=42))
    glass.red(judged(repairable=True), number=42)
    assert glass.case.outcome is Outcome.PATCH_CEILING
    glass.pr["head_sha"] = "b" * 40
    glass.wake(5, build=glass.build("FAILURE", number=42))
    assert glass.case.patch_attempts == 0, "a person read the report and pushed"


def test_repair_without_result_ends_with_a_human(glass: Any, judged: Any) -> None:
    glass.to_building()
    glass.red(judged(repairable=True))
    waited = 0.0
    while glass.case.outcome is None:
        waited += waits(glass)
        glass.wake(waits(glass), build=glass.build("FAILURE"))
    assert (glass.case.reason, waited) == ("gate.reason.repair_slow", 1800)


def test_forgotten_description_ends_after_two_weeks(glass: Any) -> None:
    glass.complete = False
    glass.wake()
    waited = 0.0
    while glass.case.outcome is None:
        waited += waits(glass)
        glass.wake(waits(glass))
    assert (glass.case.reason, waited) == ("gate.reason.description_stale", 14 * 86400)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("help", "| `/stop` | 停止处理这个 PR | PR 作者或更高权限 |"),
        ("diagnose", "还没有找到这个 PR 的构建"),
    ],
)
def test_answers_to_questions(glass: Any, command: str, shown: str) -> None:
    asked = glass.command(command, author="x", role="anyone")
    glass.wake(commands=(asked,))
    (answer,) = [action for action in glass.last.actions if isinstance(action, Reply)]
    assert shown in answer.body
    assert answer.to_note == asked.note_id
    glass.wake(1, commands=(asked,))
    assert glass.did() == [], "the same comment delivered twice is answered once"
