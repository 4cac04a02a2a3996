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
"""Commands and requests: who is answered, who is followed, who is told to wait; and when phase one begins at all."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.gate.case import Outcome, Phase
from bot.gate.decision import Repair, Reply
from bot.gate.facts import DiagnosisFacts, GateRequest
from bot.gate.policy import Policy
from bot.texts import code, render

MORE = {"repairable": True, "in_diff": True}


def replies(glass: Any) -> list[str]:
    return [action.body for action in glass.last.actions if isinstance(action, Reply)]


def said(text_id: str, **values: object) -> str:
    return render(f"gate.reply.{text_id}", "zh", **values)


def log_of_41(findings: tuple[Any, ...]) -> DiagnosisFacts:
    return DiagnosisFacts(build_number=41, findings=findings)


def to_starting(glass: Any) -> None:
    glass.wake()
    glass.labels("pr-check-pass")
    glass.wake(61)
    assert glass.case.phase is Phase.STARTING


def test_a_retest_without_the_label_is_too_early_and_starts_no_second_check(glass: Any) -> None:
    glass.wake()
    glass.wake(5, commands=(glass.command("retest"),))
    assert replies(glass) == [said("too_early", label=code("pr-check-pass"))]
    assert glass.case.round == 1
    # The same as a comment that the robot reads too.
    glass.request("retest")
    glass.wake(5)
    assert (replies(glass), glass.case.round) == ([said("too_early", label=code("pr-check-pass"))], 1)


def test_help_is_given_on_a_closed_pull_request_and_nothing_else(glass: Any) -> None:
    glass.pr["state"] = "merged"
    glass.wake(0, commands=(glass.command("help"), glass.command("retest")))
    assert len(replies(glass)) == 2
    assert "/check-pr" in replies(glass)[0]
    assert replies(glass)[1] == said("closed")


def test_an_author_whose_role_is_unknown_is_not_called_a_stranger(glass: Any) -> None:
    glass.policy = Policy(roles={"autofix": "collaborator"})
    glass.wake(0, commands=(glass.command("autofix", role="unknown"),))
    assert replies(glass) == [said("role_unknown", command=code("/autofix"))]
    glass.wake(0, commands=(glass.command("autofix", role="author"),))
    assert replies(glass) == [
        said("not_allowed", command=code("/autofix"), role=render("gate.role.collaborator", "zh"))
    ]


def test_a_command_is_carried_out_once(glass: Any) -> None:
    glass.wake()
    command = glass.command("help")
    glass.wake(1, commands=(command,))
    assert len(replies(glass)) == 1
    glass.wake(1, commands=(command,))
    assert replies(glass) == []


def test_stop_after_the_end_says_so(glass: Any) -> None:
    glass.wake()
    glass.wake(1, commands=(glass.command("stop"),))
    glass.wake(1, commands=(glass.command("stop"),))
    assert replies(glass) == [said("already_ended")]


def test_a_refused_trigger_is_tried_twice_more_and_each_refusal_counts_once(glass: Any) -> None:
    to_starting(glass)
    for tries in (1, 2):
        glass.robot("trigger_refused")
        glass.wake(1)
        assert (glass.case.phase, glass.case.retriggers) == (Phase.CHECKING, ("refused",) * tries)
        glass.wake(61)
        glass.wake(1)
        assert glass.case.phase is Phase.STARTING, "the refusal of before is not read again"
    glass.robot("trigger_refused")
    glass.wake(1)
    assert (glass.case.outcome, glass.case.reason) == (Outcome.NEEDS_HUMAN, "gate.reason.refused")


def test_our_own_comments_are_not_followed_under_whatever_login(glass: Any) -> None:
    glass.complete = False
    glass.wake()
    glass.requests.append(GateRequest(name="check-pr", author="dev-b", note_id=99, at=glass.now, by_bot=True))
    glass.wake(5)
    assert glass.case.phase is Phase.DESCRIPTION
    glass.requests.append(GateRequest(name="check-pr", author="micro-compass", note_id=100, at=glass.now))
    glass.wake(5)
    assert glass.case.phase is Phase.DESCRIPTION
    glass.request("check-pr")
    glass.note_id = 101
    glass.request("check-pr", author="dev-c")
    glass.wake(5)
    assert (glass.case.phase, glass.case.followed) == (Phase.CHECKING, True)


def test_a_persons_retest_does_not_disturb_a_repair(glass: Any, judged: Any) -> None:
    glass.to_building()
    glass.red(judged(**MORE))
    glass.request("retest")
    glass.wake(5, build=glass.build("FAILURE"))
    assert (glass.case.phase, glass.did()) == (Phase.REPAIRING, [])
    glass.labels()
    glass.request("retest")
    glass.wake(5, build=glass.build("FAILURE"))
    assert (glass.case.phase, replies(glass)) == (Phase.REPAIRING, [said("too_early", label=code("pr-check-pass"))])


@pytest.mark.parametrize(("seconds", "followed"), [(-5, False), (5, True)])
def test_a_request_from_before_a_push_is_void(glass: Any, seconds: int, followed: bool) -> None:
    glass.to_building()
    glass.now += timedelta(seconds=60)
    glass.request("check-pr")
    glass.pr |= {"head_sha": "b" * 40, "head_at": glass.now - timedelta(seconds=seconds)}
    glass.wake(30, build=glass.build(None))
    assert (glass.case.phase, glass.case.followed) == (Phase.CHECKING, followed)


@pytest.mark.parametrize(
    ("labels", "draft", "phase"),
    [
        (("pr-check-pass", "ci-pipeline-passed"), False, Phase.LABELS),
        (("ci-pipeline-passed",), False, Phase.CHECKING),
        (("pr-check-pass",), False, Phase.CHECKING),
        (("pr-check-pass", "ci-pipeline-passed"), True, Phase.DRAFT),
    ],
)
def test_what_is_taken_for_green_already(glass: Any, labels: tuple[str, ...], draft: bool, phase: Phase) -> None:
    glass.labels(*labels)
    glass.pr["draft"] = draft
    glass.wake()
    assert glass.case.phase is phase
    # Nothing was taken for granted and then found missing.
    events = ["gate.event.check_asked"] if phase is Phase.CHECKING else []
    assert [entry.text_id for entry in glass.case.timeline] == events


@pytest.mark.parametrize(
    ("policy", "draft", "phase"),
    [
        ({}, True, Phase.DRAFT),
        ({"draft_runs_gate": True}, True, Phase.CHECKING),
        ({"auto_start": False}, False, Phase.NEW),
    ],
)
def test_whether_phase_one_begins_by_itself(glass: Any, policy: dict[str, Any], draft: bool, phase: Phase) -> None:
    glass.policy = Policy(**policy)
    glass.pr["draft"] = draft
    glass.wake()
    assert glass.case.phase is phase
    assert glass.last.wake_at is not None
    if phase is not Phase.CHECKING:
        assert (glass.did(), glass.last.wake_at) == ([], glass.now + timedelta(hours=6))


def test_a_label_from_before_the_refusal_approves_nothing(glass: Any) -> None:
    glass.complete = False
    glass.labels("pr-check-pass")
    glass.wake()
    glass.wake(10)
    assert glass.case.phase is Phase.DESCRIPTION
    glass.labels()
    glass.wake(10)
    glass.labels("pr-check-pass")
    glass.wake(10)
    assert glass.case.phase is not Phase.DESCRIPTION


def test_our_own_gate_holds_an_incomplete_description_whatever_the_policy_of_the_robots(glass: Any) -> None:
    glass.policy = Policy(owner="self", hold_incomplete=False)
    glass.complete = False
    glass.labels("pr-check-pass", "ci-pipeline-running")
    glass.wake()
    assert (glass.case.phase, glass.case.round) == (Phase.DESCRIPTION, 0)
    assert glass.did()[:3] == [
        "remove_label pr-check-pass",
        "remove_label ci-pipeline-running",
        "add_label pr-check-fail",
    ]
    glass.labels("pr-check-fail")
    glass.wake(60)
    assert glass.did() == []


def test_the_robot_is_asked_about_an_incomplete_description_where_the_policy_says_so(glass: Any) -> None:
    glass.policy = Policy(hold_incomplete=False)
    glass.complete = False
    glass.wake()
    assert glass.did() == ["post_command /check-pr"]


def test_autofix_waits_its_turn(glass: Any, judged: Any) -> None:
    glass.to_building()
    glass.red(judged(**MORE))
    glass.wake(5, commands=(glass.command("autofix"),), build=glass.build("FAILURE"))
    assert replies(glass) == [said("busy", state=render("gate.phase.repairing", "zh"))]


def test_autofix_mends_only_what_the_change_brought_on_its_own_files(glass: Any, judged: Any) -> None:
    glass.policy = Policy(repair_mode="on-command")
    glass.to_building()
    findings = (judged(**MORE), judged("unrelated", file="b.py", **MORE))
    glass.red(*findings)
    assert glass.case.phase is Phase.OFFERED
    diagnosis = log_of_41(findings)
    glass.wake(5, commands=(glass.command("autofix"),), build=glass.build("FAILURE"), diagnosis=diagnosis)
    asked = next(action for action in glass.last.actions if isinstance(action, Repair))
    assert [finding.file for finding in asked.findings] == ["a.py"]


@pytest.mark.parametrize("more", [{"repairable": True, "in_diff": False}, {"repairable": False, "in_diff": True}])
def test_autofix_says_where_nothing_can_be_mended(glass: Any, judged: Any, more: dict[str, bool]) -> None:
    glass.to_building()
    glass.red(judged(**more))
    diagnosis = log_of_41((judged(**more),))
    glass.wake(5, commands=(glass.command("autofix"),), build=glass.build("FAILURE"), diagnosis=diagnosis)
    assert "41" in replies(glass)[0]
    assert not any(isinstance(action, Repair) for action in glass.last.actions)


def test_autofix_of_an_older_build_is_refused(glass: Any, judged: Any) -> None:
    glass.to_building()
    glass.red(judged(in_diff=True))
    glass.case = glass.case.model_copy(update={"build_floor": 41})
    diagnosis = log_of_41((judged(**MORE),))
    glass.wake(5, commands=(glass.command("autofix"),), build=glass.build("FAILURE"), diagnosis=diagnosis)
    assert len(replies(glass)) == 1
    assert not any(isinstance(action, Repair) for action in glass.last.actions)


def test_autofix_at_the_ceiling_is_refused_before_it_is_begun(glass: Any, judged: Any) -> None:
    glass.to_building()
    glass.red(judged(in_diff=True))
    ended = glass.case
    for attempts, asked in ((1, True), (2, False)):
        glass.case = ended.model_copy(update={"patch_attempts": attempts})
        facts = {"build": glass.build("FAILURE"), "diagnosis": log_of_41((judged(**MORE),))}
        glass.wake(5, commands=(glass.command("autofix"),), **facts)
        assert any(isinstance(action, Repair) for action in glass.last.actions) is asked
    assert replies(glass) == [said("autofix_ceiling", count=2)]
    assert glass.case.outcome is ended.outcome


def test_a_command_waits_for_the_log_from_when_it_was_read_on(glass: Any) -> None:
    glass.to_building()
    old = glass.command("diagnose").model_copy(update={"at": glass.now - timedelta(hours=1)})
    glass.wake(5, commands=(old,), build=glass.build("FAILURE"))
    assert (replies(glass), len(glass.case.held)) == ([], 1)
    glass.wake(899, build=glass.build("FAILURE"))
    assert replies(glass) == []
    glass.wake(1, build=glass.build("FAILURE"))
    assert (replies(glass), glass.case.held) == ([said("log_unreadable")], ())


def test_our_own_gate_checks_the_same_description_anew_when_the_template_changed(glass: Any) -> None:
    glass.policy = Policy(owner="self")
    glass.complete = False
    glass.wake()
    glass.labels("pr-check-fail")
    glass.wake(60)
    assert glass.case.phase is Phase.DESCRIPTION
    glass.complete = True
    glass.wake(60)
    assert glass.did()[:2] == ["remove_label pr-check-fail", "add_label pr-check-pass"]
