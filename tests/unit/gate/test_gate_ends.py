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
"""Ends that nobody wants: each is reached at its deadline and not before, and the report says why in both languages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.gate.case import Outcome, Phase
from bot.gate.facts import ActionResult
from bot.gate.policy import Policy
from bot.gate.report import final_body


def write_result(glass: Any, outcome: str, detail: str = "") -> ActionResult:
    """What became of the command that the case waits for."""
    return ActionResult(effect_key=glass.case.pending_key, kind="post_command", outcome=outcome, detail=detail)


def ended_with(glass: Any, reason: str) -> bool:
    assert glass.last.wake_at is None
    return (glass.case.phase, glass.case.outcome, glass.case.reason) == (
        Phase.ENDED,
        Outcome.NEEDS_HUMAN,
        f"gate.reason.{reason}",
    )


def told(glass: Any) -> tuple[str, str]:
    """The line of the report that says why, in Chinese and English; the comment itself holds the same report."""
    bodies = [str(final_body(glass.case, glass.policy.model_copy(update={"language": lang}))) for lang in ("zh", "en")]
    zh, en = ([line for line in body.split("\n") if "**原因**" in line or "**Reason**" in line] for body in bodies)
    sent = [action for action in glass.last.actions if action.kind == "upsert_sticky"]
    assert any(zh[0] in action.body for action in sent)
    return zh[0].removeprefix("- **原因**："), en[0].removeprefix("- **Reason**: ")


def test_a_write_that_the_forge_refuses_ends_at_once(glass: Any) -> None:
    glass.wake()
    glass.wake(5, results=(write_result(glass, "refused", "403 no right to comment"),))
    assert ended_with(glass, "write_refused")
    assert told(glass) == (
        "GateBot 没有所需的写权限：403 no right to comment。",
        "GateBot lacks a permission to write: 403 no right to comment.",
    )


def test_a_write_that_fails_is_tried_three_times_more(glass: Any) -> None:
    glass.wake()
    for attempt in range(1, 4):
        before = glass.case.round
        glass.wake(5, results=(write_result(glass, "failed", "502"),))
        assert (glass.case.phase, glass.case.round) == (Phase.CHECKING, before + 1), attempt
        assert glass.did() == ["post_command /check-pr"]
    glass.wake(5, results=(write_result(glass, "failed", "502"),))
    assert ended_with(glass, "write_failed")
    assert told(glass) == ("多次写入失败：502。", "Writing failed again and again: 502.")


def test_a_write_that_was_done_or_is_not_waited_for_ends_nothing(glass: Any) -> None:
    glass.wake()
    other = ActionResult(effect_key="org/lib#647:reply:9", kind="reply", outcome="refused")
    glass.wake(5, results=(write_result(glass, "done"), other))
    assert (glass.case.phase, glass.case.pending_key) == (Phase.CHECKING, "")
    # Its second delivery after a crash finds nothing to wait for.
    glass.wake(5, results=(other.model_copy(update={"effect_key": ""}),))
    assert glass.case.outcome is None


def test_an_offer_that_nobody_takes_up_expires_after_a_week(glass: Any, judged: Any) -> None:
    glass.policy = Policy(repair_mode="on-command")
    glass.to_building()
    glass.red(judged(repairable=True, in_diff=True))
    assert glass.case.phase is Phase.OFFERED
    offered = glass.now
    assert glass.last.wake_at == offered + timedelta(days=7)
    glass.wake(7 * 86400 - 1, build=glass.build("FAILURE"))
    assert glass.case.phase is Phase.OFFERED
    glass.wake(1, build=glass.build("FAILURE"))
    assert ended_with(glass, "offer_expired")
    assert told(glass) == (
        "可以自动修复，但一直没有收到 `/autofix`。",
        "A repair was possible, but nobody asked for it with `/autofix`.",
    )


def test_a_template_that_cannot_be_read_ends_our_own_check(glass: Any) -> None:
    glass.policy = Policy(owner="self")
    glass.wake(template=None)
    assert glass.case.phase is Phase.CHECKING
    glass.wake(1799, template=None)
    assert (glass.case.phase, glass.did()) == (Phase.CHECKING, [])
    glass.wake(1, template=None)
    assert ended_with(glass, "check_unreadable")
    assert told(glass) == (
        "无法读取 PR 模板，描述检查没有完成。",
        "The template could not be read, so the description was not checked.",
    )


def test_a_build_that_never_ends_is_given_up_after_eight_hours(glass: Any) -> None:
    glass.to_building()
    began = glass.case.phase_since
    started = glass.build(None)
    glass.wake((began - glass.now).total_seconds() + 28799, build=started)
    assert (glass.case.phase, glass.did()) == (Phase.BUILDING, [])
    assert glass.last.wake_at == began + timedelta(seconds=28800)
    glass.wake(1, build=started)
    assert ended_with(glass, "build_slow")
    assert told(glass) == ("构建 41 运行时间过长，没有结束。", "Build 41 has been running too long.")


@pytest.mark.parametrize("seconds", [599, 600])
def test_deadlines_are_the_operators(glass: Any, seconds: int) -> None:
    glass.policy = Policy.model_validate({"deadlines": {"build": 600}})
    glass.to_building()
    glass.wake(seconds, build=glass.build(None))
    assert (glass.case.outcome is Outcome.NEEDS_HUMAN) is (seconds == 600)


def green(glass: Any) -> None:
    """Through both phases to a green end."""
    glass.to_building()
    glass.labels("pr-check-pass", "ci-pipeline-passed")
    glass.wake(900, build=glass.build("SUCCESS"))
    assert glass.case.outcome is Outcome.PASSED


def test_a_check_that_the_robot_refuses_after_a_green_end_opens_the_case_again(glass: Any) -> None:
    green(glass)
    glass.now += timedelta(seconds=60)
    glass.labels("ci-pipeline-passed", "pr-check-fail")
    glass.robot("check_failed", "描述为空")
    glass.wake(1)
    assert (glass.case.phase, glass.case.outcome) == (Phase.DESCRIPTION, None)
    assert glass.case.robot_reasons == ("描述为空",)
    assert "upsert_sticky template" in glass.did()


@pytest.mark.parametrize("labels", [("pr-check-pass", "ci-pipeline-passed"), ("ci-pipeline-passed",)])
def test_a_green_end_stands_while_the_label_is_there_or_nobody_refused(glass: Any, labels: tuple[str, ...]) -> None:
    glass.robot("check_failed", "an older round")
    green(glass)
    if "pr-check-pass" in labels:
        glass.now += timedelta(seconds=60)
        glass.robot("check_failed", "of a label that came back")
    glass.labels(*labels)
    glass.wake(60)
    assert (glass.case.phase, glass.case.outcome, glass.did()) == (Phase.ENDED, Outcome.PASSED, [])
