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
"""Guards of single steps: which note answers which request, who may ask for what, which label goes with which."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.gate.case import Outcome, Phase
from bot.gate.facts import DiagnosisFacts
from bot.gate.policy import Policy
from bot.gate.routing import Road, route, shared_tests

GREEN = ("pr-check-pass", "ci-pipeline-passed")


def test_pull_request_that_is_green_already_is_left_alone(glass: Any) -> None:
    glass.labels(*GREEN)
    glass.wake()
    assert glass.did() == []
    glass.wake(60)
    assert glass.case.outcome is Outcome.PASSED


@pytest.mark.parametrize("what", ["head_sha", "base_ref"])
@pytest.mark.parametrize("ended", [False, True])
def test_an_adopted_green_does_not_count_for_another_head_or_target(glass: Any, what: str, ended: bool) -> None:
    glass.labels(*GREEN)
    glass.wake()
    if ended:
        glass.wake(60)
        assert (glass.case.round, glass.case.outcome) == (0, Outcome.PASSED)
    glass.pr[what] = "b" * 40
    glass.wake(30)
    assert (glass.case.phase, "post_command /check-pr" in glass.did()) == (Phase.CHECKING, True)


def test_an_adopted_green_that_loses_its_label_is_checked_anew(glass: Any) -> None:
    glass.labels(*GREEN)
    glass.wake()
    assert glass.case.phase is Phase.LABELS
    glass.labels("pr-check-pass")
    glass.wake(30)
    assert (glass.case.phase, glass.did()) == (Phase.CHECKING, ["post_command /check-pr"])


def test_an_adopted_green_is_not_undone_by_a_build_that_nobody_asked_for(glass: Any) -> None:
    glass.labels(*GREEN)
    glass.wake()
    glass.wake(30, build=glass.build(None))
    assert (glass.case.phase, glass.case.build_number) == (Phase.LABELS, 0)
    glass.wake(30, build=glass.build(None))
    assert glass.case.outcome is Outcome.PASSED


@pytest.mark.parametrize(("label_after", "phase"), [(5, Phase.STARTING), (-5, Phase.DESCRIPTION)])
def test_the_later_of_label_and_refusal_counts(glass: Any, label_after: int, phase: Phase) -> None:
    glass.wake()
    asked = glass.now
    glass.wake(20)
    glass.robot("check_failed", "缺少 issue")
    glass.labels("pr-check-pass")
    glass.wake(1, label_times={"pr-check-pass": asked.replace(second=20 + label_after)})
    assert glass.case.phase is phase


def test_a_refusal_from_before_our_request_does_not_answer_it(glass: Any) -> None:
    glass.wake()
    glass.now = glass.now.replace(second=5)
    glass.robot("check_failed", "缺少 issue")  # by its time it could be the answer, by its id it is older
    glass.request("check-pr", author="gate-bot")
    glass.wake(5)
    assert glass.case.phase is Phase.CHECKING
    glass.robot("check_failed", "缺少 issue")
    glass.wake(5)
    assert glass.case.phase is Phase.DESCRIPTION


@pytest.mark.parametrize("kind", ["pipeline_running", "pipeline_result", "other"])
def test_only_a_refusal_refuses(glass: Any, kind: str) -> None:
    glass.wake()
    glass.now = glass.now.replace(second=5)
    glass.robot(kind, "…")
    glass.wake(5)
    assert glass.case.phase is Phase.CHECKING


def test_a_failed_label_from_before_the_request_needs_time_to_settle(glass: Any) -> None:
    glass.labels("pr-check-fail")
    glass.wake()
    glass.wake(59)
    assert (glass.case.phase, glass.did()) == (Phase.CHECKING, [])
    glass.wake(1)
    assert (glass.case.phase, glass.did()) == (Phase.DESCRIPTION, ["upsert_sticky template"])
    # Our own check finds nothing wrong, but asking again without an edit would go round in circles.
    for _ in range(3):
        glass.wake(3600)
        assert (glass.case.phase, glass.did()) == (Phase.DESCRIPTION, [])
    glass.pr["body"] = "better"
    glass.wake(60)
    assert glass.did() == ["post_command /check-pr", "upsert_sticky template"]


def test_a_label_never_answers_in_the_wake_up_that_asks(glass: Any) -> None:
    glass.policy = Policy(settle_seconds=0)
    glass.labels("pr-check-pass")
    glass.wake()
    assert (glass.case.phase, glass.did()) == (Phase.CHECKING, ["post_command /check-pr"])
    glass.wake(1)
    assert glass.did() == ["post_command /retest"]


def test_a_persons_check_that_was_answered_already_is_followed_at_once(glass: Any) -> None:
    glass.complete = False
    glass.wake()
    glass.now += timedelta(seconds=30)
    glass.request("check-pr")
    glass.labels("pr-check-pass")
    glass.wake(0, label_times={"pr-check-pass": glass.now})
    assert (glass.case.phase, glass.did()) == (Phase.STARTING, ["post_command /retest", "upsert_sticky template"])


def test_a_build_that_runs_already_is_followed_and_not_asked_for(glass: Any) -> None:
    glass.wake()
    glass.labels("pr-check-pass")
    glass.wake(30, build=glass.build(None))
    assert (glass.case.phase, glass.case.followed, glass.did()) == (Phase.BUILDING, True, [])


@pytest.mark.parametrize("owner", ["robot", "self"])
def test_a_build_from_before_the_request_does_not_answer_it(glass: Any, owner: str) -> None:
    glass.policy = Policy(owner=owner)
    glass.wake()
    glass.labels("pr-check-pass")
    glass.wake(30, build=glass.build("SUCCESS", number=40))
    assert glass.case.phase is Phase.STARTING
    glass.wake(60, build=glass.build("SUCCESS", number=40))
    assert glass.case.phase is Phase.STARTING
    glass.wake(60, build=glass.build(None, number=41))
    assert (glass.case.phase, glass.case.build_number) == (Phase.BUILDING, 41)


def test_our_own_start_takes_the_labels_of_earlier_builds_off(glass: Any) -> None:
    glass.policy = Policy(owner="self")
    glass.wake()
    glass.labels("pr-check-pass", "ci-pipeline-passed", "ci-pipeline-failed")
    glass.wake(5)
    assert glass.did() == [
        "start_build",
        "remove_label ci-pipeline-passed",
        "remove_label ci-pipeline-failed",
        "add_label ci-pipeline-running",
    ]


@pytest.mark.parametrize(
    ("mode", "asked", "outcome"),
    [
        ("push", [], Outcome.PATCH_CEILING),
        ("on-command", [], Outcome.PATCH_CEILING),  # an offer that could not be kept
        ("propose", ["repair propose"], None),  # a patch in a comment is no commit
    ],
)
def test_what_the_ceiling_of_commits_stops(
    glass: Any, judged: Any, mode: str, asked: list[str], outcome: Outcome | None
) -> None:
    glass.policy = Policy(repair_mode=mode, patch_ceiling=0)
    glass.to_building()
    glass.red(judged(repairable=True, in_diff=True))
    assert [action for action in glass.did() if action.startswith("repair")] == asked
    assert glass.case.outcome is outcome


@pytest.mark.parametrize(
    ("verdicts", "road"),
    [
        ((("pr", {"in_diff": False}),), Road.SCOPE),
        ((("pr", {"in_diff": True}),), Road.DEEP),
        ((("pr", {"in_diff": True, "repairable": True}), ("pr", {"in_diff": False})), Road.SCOPE),
        ((("pr", {"in_diff": True, "repairable": True}), ("pr", {"in_diff": True})), Road.DEEP),
        ((("pr", {"in_diff": True, "repairable": True}), ("unrelated", {})), Road.REPAIR),
        ((("process", {}), ("unrelated", {})), Road.PROCESS),
        ((("unrelated", {}), ("a verdict of later days", {})), Road.NOTHING_FOUND),
        ((("unrelated", {}), ("infrastructure", {})), Road.RETEST),
        ((("unrelated", {"broken_on_base": True}), ("infrastructure", {})), Road.BROKEN_BASE),
        ((), Road.NOTHING_FOUND),
    ],
)
def test_roads_by_whose_failure_it_is(glass: Any, judged: Any, verdicts: Any, road: Road) -> None:
    findings = tuple(judged(verdict, **more) for verdict, more in verdicts)
    diagnosis = DiagnosisFacts(build_number=41, findings=findings)
    assert route(diagnosis, glass.build("FAILURE"), glass.case, Policy()).road is road


@pytest.mark.parametrize(
    ("history", "shared"),
    [
        ({40: ("t::a",)}, ("t::a",)),
        ({41: ("t::a",)}, ()),  # this very build, judged a second time
        ({39: ("t::a",), 40: ("t::b",)}, ()),  # two builds ago
        ({40: ("t::a",), 42: ("t::b",)}, ("t::a",)),
        ({}, ()),
    ],
)
def test_tests_that_failed_in_the_build_before_too(
    glass: Any, history: dict[int, tuple[str, ...]], shared: tuple[str, ...]
) -> None:
    case = glass.case.model_copy(update={"failed_tests_by_build": history})
    build = glass.build("FAILURE", failed_tests=("t::a", "t::c"))
    assert shared_tests(case, build, DiagnosisFacts(build_number=41)) == shared
