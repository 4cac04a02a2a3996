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
"""What a build proves, whose label it is, and what becomes of builds that vanish or are overtaken: the borders."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.gate.case import Outcome, Phase
from bot.gate.facts import BuildFacts, DiagnosisFacts, Facts, PullRequestFacts
from bot.gate.policy import Policy
from bot.gate.schedule import next_poll, not_before
from bot.gate.truth import Proof, label_since, passed_label_is_fresh, proof_of, same_head

ROBOT, OWN = Policy(), Policy(owner="self")
NONE: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("build", "policy", "proof"),
    [
        ({"running": True, "result": "SUCCESS"}, ROBOT, Proof.RUNNING),
        ({"running": True, "result": "FAILURE"}, ROBOT, Proof.RUNNING),
        ({"result": None}, ROBOT, Proof.RUNNING),
        ({"result": "ABORTED"}, ROBOT, Proof.VOID),
        ({"result": "NOT_BUILT"}, ROBOT, Proof.VOID),
        ({"result": "FAILURE"}, ROBOT, Proof.RED),
        ({"result": "UNSTABLE"}, OWN, Proof.RED),
        # the robot's gate: a missing duration says nothing, a short one too much
        ({"duration_ms": 0}, ROBOT, Proof.GREEN),
        ({"duration_ms": 1}, ROBOT, Proof.BYPASS),
        ({"duration_ms": 59_999}, ROBOT, Proof.BYPASS),
        ({"duration_ms": 60_000}, ROBOT, Proof.GREEN),
        ({"duration_ms": 17_000, "failed_stages": ("UT",)}, ROBOT, Proof.GREEN),
        ({"duration_ms": 17_000, "failed_tests": ("t::a",)}, ROBOT, Proof.GREEN),
        # our own gate: only the duration speaks
        ({"duration_ms": 0}, OWN, Proof.BYPASS),
        ({"duration_ms": 59_999, "failed_tests": ("t::a",)}, OWN, Proof.BYPASS),
        ({"duration_ms": 60_000}, OWN, Proof.GREEN),
    ],
)
def test_proof_of_a_build(glass: Any, build: dict[str, Any], policy: Policy, proof: Proof) -> None:
    facts = {"number": 41, "url": "", "result": "SUCCESS", "running": False, "started_at": glass.now, "duration_ms": 1}
    assert proof_of(BuildFacts(**{**facts, **build}), None, NONE, policy) is proof


def test_a_label_or_a_finding_of_its_own_log_vouches_for_a_short_build(glass: Any, judged: Any) -> None:
    short = glass.build("SUCCESS", 17)
    own, other = (DiagnosisFacts(build_number=number, findings=(judged(),)) for number in (41, 40))
    assert proof_of(short, own, NONE, ROBOT) is Proof.GREEN
    assert proof_of(short, other, NONE, ROBOT) is Proof.BYPASS
    assert proof_of(short, DiagnosisFacts(build_number=41), NONE, ROBOT) is Proof.BYPASS
    assert proof_of(short, None, frozenset({"ci-pipeline-passed"}), ROBOT) is Proof.GREEN
    assert proof_of(short, None, frozenset({"ci-pipeline-failed"}), ROBOT) is Proof.BYPASS


@pytest.mark.parametrize(
    ("build_sha", "head_sha", "same"),
    [
        ("", "a" * 40, True),
        ("bbbbbb", "a" * 40, True),  # too short to tell
        ("bbbbbbb", "a" * 40, False),
        ("aaaaaaa", "a" * 40, True),
        ("A" * 40, "a" * 40, True),
        ("a" * 40, "a" * 12, True),
        ("a" * 39 + "b", "a" * 40, False),
    ],
)
def test_whose_build_it_is(build_sha: str, head_sha: str, same: bool) -> None:
    assert same_head(build_sha, head_sha) is same


def facts_of(glass: Any, **more: Any) -> Facts:
    labels = {**glass.pr, "labels": frozenset({"ci-pipeline-passed"})}
    return Facts(now=glass.now, bot_login="gate-bot", pr=PullRequestFacts(**labels), **more)


def test_the_forge_knows_better_than_we_since_when_a_label_is_there(glass: Any) -> None:
    passed, ours = "ci-pipeline-passed", glass.now - timedelta(seconds=9)
    case = glass.case.model_copy(update={"label_since": {passed: ours}})
    assert label_since(case, facts_of(glass, label_times={passed: glass.now}), passed) == glass.now
    assert label_since(case, facts_of(glass), passed) == ours
    assert label_since(case, facts_of(glass), "pr-check-pass") is None


@pytest.mark.parametrize(
    ("seconds", "build", "fresh"),
    [
        (0, {}, True),  # put on in the very second of the request
        (-1, {}, False),
        (-1, {"result": "SUCCESS", "duration_ms": 60_000}, True),  # it stayed on, and a real build stands behind it
        (-1, {"result": "SUCCESS", "duration_ms": 59_999}, False),
        (-1, {"result": "SUCCESS", "duration_ms": 60_000, "running": True}, False),
        (-1, {"result": "FAILURE", "duration_ms": 60_000}, False),
        (-1, {"result": "SUCCESS", "duration_ms": 60_000, "number": 42}, False),
        (-1, {"result": "SUCCESS", "duration_ms": 60_000, "number": 40}, False),
    ],
)
def test_a_passed_label_belongs_to_this_round_or_not(
    glass: Any, seconds: int, build: dict[str, Any], fresh: bool
) -> None:
    asked = glass.now
    case = glass.case.model_copy(
        update={"round": 1, "retest_at": asked, "build_number": 41, "build_floor": 40, "head_sha": glass.pr["head_sha"]}
    )
    base = {"number": 41, "url": "", "result": None, "running": False, "started_at": glass.now, "duration_ms": 0}
    facts = facts_of(
        glass,
        label_times={"ci-pipeline-passed": asked + timedelta(seconds=seconds)},
        build=BuildFacts(**{**base, **build}) if build else None,
    )
    assert passed_label_is_fresh(case, facts, ROBOT) is fresh


def test_a_label_without_a_request_counts_only_where_the_case_was_adopted(glass: Any) -> None:
    facts = facts_of(glass, label_times={"ci-pipeline-passed": glass.now})
    for number, fresh in ((0, True), (1, False)):
        case = glass.case.model_copy(update={"round": number, "retest_at": None})
        assert passed_label_is_fresh(case, facts, ROBOT) is fresh


def test_a_look_due_at_the_shortest_gap_is_kept_and_none_lies_in_the_past(glass: Any) -> None:
    now = glass.now
    assert next_poll(now - timedelta(seconds=40), now, (60, 270)) == now + timedelta(seconds=20)
    assert next_poll(now - timedelta(seconds=41), now, (60, 270)) == now + timedelta(seconds=289)
    assert next_poll(now + timedelta(hours=1), now, (60, 270)) == now + timedelta(seconds=60)
    assert not_before(now - timedelta(seconds=5), now) == now + timedelta(seconds=1)
    assert not_before(now + timedelta(seconds=5), now) == now + timedelta(seconds=5)


def test_a_request_whose_build_is_gone_from_the_queue_is_made_again_once(glass: Any) -> None:
    glass.wake()
    glass.labels("pr-check-pass")
    glass.wake(30)
    glass.wake(30, build_lost=True)
    assert (glass.case.phase, glass.did()) == (Phase.CHECKING, ["post_command /check-pr"])
    glass.wake(61)
    glass.wake(30, build_lost=True)
    assert (glass.case.outcome, glass.case.reason) == (Outcome.NEEDS_HUMAN, "gate.reason.build_lost")


def test_a_persons_retest_without_a_build_is_waited_for_less_long(glass: Any) -> None:
    glass.wake()
    glass.labels("pr-check-pass")
    glass.request("retest")
    glass.wake(30)
    assert (glass.case.phase, glass.case.followed) == (Phase.STARTING, True)
    glass.wake(299)
    assert glass.case.phase is Phase.STARTING
    glass.wake(1)
    assert (glass.case.phase, glass.case.retriggers) == (Phase.CHECKING, ("followed",))
    # The next such wait for the same head is as long as for our own request.
    glass.request("retest")
    glass.wake(61)
    assert (glass.case.phase, glass.case.followed) == (Phase.STARTING, True)
    glass.wake(1799)
    assert glass.case.phase is Phase.STARTING
    glass.wake(1)
    assert (glass.case.phase, glass.case.retriggers) == (Phase.CHECKING, ("followed", "stuck"))


def test_a_newer_build_of_the_round_takes_the_place_of_the_older_one(glass: Any) -> None:
    glass.to_building()
    glass.wake(60, build=glass.build(None, number=42))
    assert (glass.case.phase, glass.case.build_number) == (Phase.BUILDING, 42)
    glass.wake(60, build=glass.build("SUCCESS", number=41))  # an answer that is older than what we know
    assert (glass.case.phase, glass.case.build_number) == (Phase.BUILDING, 42)
    glass.wake(59, build=glass.build("SUCCESS", number=41))
    assert glass.case.phase is Phase.BUILDING
    glass.wake(1, build=glass.build("SUCCESS", number=41))
    assert (glass.case.phase, glass.case.retriggers) == (Phase.CHECKING, ("lost",))


def test_a_build_that_is_found_again_was_not_lost(glass: Any) -> None:
    glass.to_building()
    glass.wake(60)
    glass.wake(30, build=glass.build(None))
    glass.wake(31)
    assert glass.case.phase is Phase.BUILDING
    glass.wake(59)
    assert glass.case.phase is Phase.BUILDING
    glass.wake(1)
    assert glass.case.phase is Phase.CHECKING


def own_gate(glass: Any) -> None:
    glass.policy = OWN
    glass.wake()
    glass.labels("pr-check-pass")
    glass.wake(5)


def test_our_own_gate_swaps_its_labels_with_the_build(glass: Any, judged: Any) -> None:
    own_gate(glass)
    assert glass.did() == ["start_build", "add_label ci-pipeline-running"]
    everything = ("pr-check-pass", "ci-pipeline-running", "ci-pipeline-passed", "ci-pipeline-failed")
    glass.labels(*everything)
    glass.wake(30, build=glass.build(None))
    glass.labels("pr-check-pass", "ci-pipeline-running", "ci-pipeline-failed")
    glass.wake(900, build=glass.build("SUCCESS"))
    assert glass.did() == [
        "remove_label ci-pipeline-running",
        "remove_label ci-pipeline-failed",
        "add_label ci-pipeline-passed",
    ]


def test_our_own_gate_takes_passed_off_where_the_build_is_red(glass: Any, judged: Any) -> None:
    own_gate(glass)
    glass.labels("pr-check-pass", "ci-pipeline-running", "ci-pipeline-passed")
    glass.wake(30, build=glass.build(None))
    glass.red(judged(in_diff=True))
    assert glass.did()[:3] == [
        "remove_label ci-pipeline-running",
        "remove_label ci-pipeline-passed",
        "add_label ci-pipeline-failed",
    ]


def test_our_own_bypass_build_is_started_again_once(glass: Any) -> None:
    own_gate(glass)
    glass.labels("pr-check-pass", "ci-pipeline-running")
    glass.wake(30, build=glass.build(None))
    glass.wake(30, build=glass.build("SUCCESS", 59))
    assert (glass.case.outcome, glass.case.retriggers) == (None, ("bypass",))
