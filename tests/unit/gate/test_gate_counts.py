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
"""What is counted, kept and forgotten: repairs and their results, rounds, pushes, ends, and reviews of red builds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.gate.case import Outcome, Phase
from bot.gate.decision import PublishReview, Repair
from bot.gate.facts import ActionResult, DiagnosisFacts, Facts, PullRequestFacts
from bot.gate.policy import Policy
from bot.gate.repairing import start_repair
from bot.gate.rounds import begin_round, follow_retest, reopen
from bot.gate.step import Context
from bot.gate.triage import load_time

MORE = {"repairable": True, "in_diff": True}


def context(glass: Any, policy: Policy | None = None, **facts: Any) -> Context:
    seen = Facts(**{"now": glass.now, "bot_login": "gate-bot", "pr": PullRequestFacts(**glass.pr), **facts})
    return Context(seen, policy or Policy())


def to_repairing(glass: Any, judged: Any, **facts: Any) -> ActionResult:
    """A red build whose repair was asked for; gives a result of that repair to be filled in."""
    glass.to_building()
    glass.red(judged(**MORE), **facts)
    asked = next(action for action in glass.last.actions if isinstance(action, Repair))
    return ActionResult(effect_key=asked.effect_key, kind="repair", outcome="done")


def with_status(result: ActionResult, status: str, **data: str) -> ActionResult:
    return result.model_copy(update={"data": {"status": status, **data}})


def test_without_the_right_to_push_a_patch_is_asked_for_and_no_attempt_counted(glass: Any, judged: Any) -> None:
    build = glass.build("FAILURE")
    step = start_repair(glass.case, context(glass, may_push=False), build.number, (judged(**MORE),))
    assert [(action.kind, action.mode) for action in step.actions if isinstance(action, Repair)] == [
        ("repair", "propose")
    ]
    assert (step.case.patch_attempts, step.case.repair_counted) == (0, False)
    step = start_repair(glass.case, context(glass, may_push=True), build.number, (judged(**MORE),))
    assert (step.case.patch_attempts, step.case.repair_counted) == (1, True)


@pytest.mark.parametrize(("attempts", "outcome"), [(1, None), (2, Outcome.PATCH_CEILING), (3, Outcome.PATCH_CEILING)])
def test_no_third_commit_is_ever_asked_for(glass: Any, judged: Any, attempts: int, outcome: Outcome | None) -> None:
    case = glass.case.model_copy(update={"patch_attempts": attempts})
    assert start_repair(case, context(glass, may_push=True), 41, (judged(**MORE),)).case.outcome is outcome


@pytest.mark.parametrize(
    ("data", "outcome", "reason"),
    [
        ({"scope": "outside", "reason": "a.h。"}, Outcome.SCOPE_CREEP, "gate.reason.scope"),
        ({"reason": "secret"}, Outcome.NEEDS_HUMAN, "gate.reason.repair_refused"),
        ({"scope": "inside", "reason": "secret"}, Outcome.NEEDS_HUMAN, "gate.reason.repair_refused"),
    ],
)
def test_a_refused_repair_gives_its_attempt_back(
    glass: Any, judged: Any, data: dict[str, str], outcome: Outcome, reason: str
) -> None:
    result = to_repairing(glass, judged)
    assert glass.case.patch_attempts == 1
    glass.wake(5, results=(with_status(result, "refused", **data),), build=glass.build("FAILURE"))
    assert (glass.case.outcome, glass.case.reason) == (outcome, reason)
    assert glass.case.reason_values["detail"] == data["reason"].rstrip("。")
    assert glass.case.patch_attempts == 0


def test_a_failed_repair_is_tried_once_more(glass: Any, judged: Any) -> None:
    result = to_repairing(glass, judged)
    failed = result.model_copy(update={"outcome": "failed", "detail": "disk full"})
    facts = {"build": glass.build("FAILURE"), "diagnosis": None}
    glass.wake(5, results=(failed,), **facts)
    assert (glass.case.phase, glass.case.patch_attempts) == (Phase.BUILDING, 0)
    glass.red(judged(**MORE))
    asked = next(action for action in glass.last.actions if isinstance(action, Repair))
    assert (glass.case.phase, glass.case.repairs, glass.case.patch_attempts) == (Phase.REPAIRING, 2, 1)
    assert not any(isinstance(action, PublishReview) for action in glass.last.actions)
    assert [entry.text_id for entry in glass.case.timeline].count("gate.event.build_red") == 1
    glass.wake(5, results=(failed.model_copy(update={"effect_key": asked.effect_key}),), **facts)
    assert (glass.case.reason, glass.case.reason_values) == ("gate.reason.repair_failed", {"detail": "disk full"})


def test_a_result_that_comes_twice_or_late_counts_once(glass: Any, judged: Any) -> None:
    result = with_status(to_repairing(glass, judged), "pushed", sha="c" * 40, subject="fix", rules="W0611")
    glass.wake(5, results=(result,), build=glass.build("FAILURE"))
    glass.wake(5, results=(result,), build=glass.build("FAILURE"))
    assert [commit.sha for commit in glass.case.commits] == ["c" * 40]
    assert glass.case.patch_attempts == 1
    # A result of the first repair while the second one is on its way.
    glass.case = glass.case.model_copy(update={"repairs": 2, "repair_counted": True, "pending_key": "x:2"})
    glass.wake(5, results=(with_status(result, "refused"),), build=glass.build("FAILURE"))
    assert (glass.case.phase, glass.case.patch_attempts, len(glass.case.commits)) == (Phase.REPAIRING, 1, 1)


def test_a_head_that_moved_under_the_repair_is_waited_for(glass: Any, judged: Any) -> None:
    result = to_repairing(glass, judged)
    glass.wake(5, results=(with_status(result, "head-moved"),), build=glass.build("FAILURE"))
    assert (glass.case.phase, glass.case.outcome, glass.case.patch_attempts) == (Phase.REPAIRING, None, 0)


@pytest.mark.parametrize("status", ["proposed", "refused"])
def test_a_result_for_a_head_that_is_gone_ends_nothing(glass: Any, judged: Any, status: str) -> None:
    result = to_repairing(glass, judged)
    glass.pr["head_sha"] = "b" * 40
    glass.wake(5, build=glass.build("FAILURE"))
    assert glass.case.phase is Phase.CHECKING
    glass.wake(5, results=(with_status(result, status),), build=glass.build("FAILURE"))
    assert (glass.case.phase, glass.case.outcome, glass.case.patch_attempts) == (Phase.CHECKING, None, 0)


@pytest.mark.parametrize(("seconds", "begun"), [(86_399, False), (86_400, True)])
def test_rounds_count_for_a_day(glass: Any, seconds: int, begun: bool) -> None:
    case = glass.case.model_copy(update={"rounds_at": (glass.now - timedelta(seconds=seconds),)})
    step = begin_round(case, context(glass, Policy(rounds_per_day=1)))
    assert (step.case.phase is Phase.CHECKING) is begun


def test_builds_that_were_there_before_a_round_do_not_answer_it(glass: Any) -> None:
    step = begin_round(glass.case, context(glass, build=glass.build("SUCCESS", number=40)))
    assert step.case.build_floor == 40
    known = glass.case.model_copy(update={"build_number": 43, "build_floor": 41})
    assert begin_round(known, context(glass)).case.build_floor == 43


@pytest.mark.parametrize(
    ("running", "seconds", "floor"),
    [(True, 0, 0), (True, 5, 0), (True, -1, 41), (False, 5, 41)],
)
def test_which_build_may_answer_a_persons_retest(glass: Any, running: bool, seconds: int, floor: int) -> None:
    build = glass.build(None if running else "SUCCESS")
    asked = build.started_at - timedelta(seconds=seconds)
    assert follow_retest(glass.case, context(glass, build=build), asked).case.build_floor == floor


@pytest.mark.parametrize(
    ("outcome", "new_head", "counts"),
    [
        (Outcome.PASSED, False, (0, 0)),
        (Outcome.NEEDS_HUMAN, True, (0, 0)),
        (Outcome.NEEDS_HUMAN, False, (2, 5)),
        (Outcome.PATCH_CEILING, False, (2, 5)),
    ],
)
def test_what_a_new_loop_forgets(glass: Any, outcome: Outcome, new_head: bool, counts: tuple[int, int]) -> None:
    case = glass.case.model_copy(
        update={"outcome": outcome, "patch_attempts": 2, "flake_retests": 5, "retriggers": ("lost",)}
    )
    again = reopen(case, context(glass), new_head=new_head)
    assert (again.patch_attempts, again.flake_retests) == counts
    assert (again.outcome, again.retriggers) == (None, ())


def test_a_push_forgets_what_belonged_to_the_old_head(glass: Any) -> None:
    glass.to_building()
    glass.case = glass.case.model_copy(
        update={"flake_retests": 3, "retriggers": ("lost",), "request_note": 9, "forced": True}
    )
    assert glass.case.retest_at is not None
    glass.pr["head_sha"] = "b" * 40
    glass.pr["draft"] = True  # so that phase one does not set anything anew
    glass.wake(5, build=glass.build(None))
    case = glass.case
    assert (case.phase, case.flake_retests, case.retriggers, case.retest_at) == (Phase.DRAFT, 0, (), None)
    assert (case.request_note, case.forced, case.build_number, case.build_floor) == (0, False, 0, 41)


def test_what_was_found_on_the_old_head_is_not_reported_of_the_new_one(glass: Any, judged: Any) -> None:
    glass.to_building()
    glass.red(judged())
    assert [found.rule for found in glass.case.unresolved] == ["W0611"]
    glass.pr["head_sha"] = "b" * 40
    glass.wake(60, build=glass.build("FAILURE"))
    glass.wake(60, commands=(glass.command("stop"),))
    assert (glass.case.outcome, glass.case.unresolved) == (Outcome.USER_INTERRUPT, ())
    assert "W0611" not in "".join(action.body for action in glass.last.actions if action.kind == "upsert_sticky")


def test_a_question_that_waits_for_a_log_is_answered_though_a_push_comes(glass: Any, judged: Any) -> None:
    glass.to_building()
    glass.wake(60, commands=(glass.command("diagnose"), glass.command("autofix")), build=glass.build("FAILURE"))
    assert ([held.name for held in glass.case.held], glass.did()) == (["diagnose", "autofix"], [])
    glass.pr["head_sha"] = "b" * 40
    glass.red(judged())
    assert (glass.case.held, glass.did()) == ((), ["post_command /check-pr", "reply", "reply"])
    diagnosis, busy = (action.body for action in glass.last.actions if action.kind == "reply")
    assert "W0611" in diagnosis
    assert "正在" in busy, busy


def test_requests_from_before_the_head_are_history_when_a_case_opens(glass: Any) -> None:
    glass.request("check-pr")
    glass.pr["head_at"] = glass.now + timedelta(hours=1)
    glass.wake(7200)
    assert glass.did() == ["post_command /check-pr"], "it is asked anew, not followed"
    assert not glass.case.followed


@pytest.mark.parametrize("labels", [(), ("pr-check-pass",)])
def test_our_own_green_build_gets_its_label_only_beside_the_first(glass: Any, labels: tuple[str, ...]) -> None:
    glass.policy = Policy(owner="self")
    glass.labels("pr-check-pass")
    glass.wake()
    glass.wake(60, build=glass.build(None))
    glass.labels(*labels)
    glass.wake(900, build=glass.build("SUCCESS"))
    assert ("add_label ci-pipeline-passed" in glass.did()) is bool(labels)


def test_a_push_after_stop_starts_nothing(glass: Any) -> None:
    glass.to_building()
    glass.wake(5, commands=(glass.command("stop"),), build=glass.build(None))
    glass.pr["head_sha"] = "b" * 40
    glass.wake(5)
    assert (glass.case.outcome, glass.case.head_sha, glass.did()) == (Outcome.USER_INTERRUPT, "b" * 40, [])


def test_our_own_labels_of_the_old_head_go_with_a_push(glass: Any) -> None:
    glass.policy = Policy(owner="self")
    glass.wake()
    glass.labels("pr-check-pass", "ci-pipeline-passed", "ci-pipeline-failed")
    glass.pr["head_sha"] = "b" * 40
    glass.wake(5)
    assert glass.did()[:2] == ["remove_label ci-pipeline-passed", "remove_label ci-pipeline-failed"]


@pytest.mark.parametrize(("owner", "did"), [("robot", []), ("self", ["remove_label ci-pipeline-running"])])
def test_only_our_own_running_label_is_taken_off_at_the_end(glass: Any, owner: str, did: list[str]) -> None:
    glass.to_building()
    glass.policy = Policy(owner=owner)
    glass.labels("pr-check-pass", "ci-pipeline-running")
    glass.wake(5, commands=(glass.command("stop"),), build=glass.build(None))
    assert [action for action in glass.did() if "label" in action] == did


@pytest.mark.parametrize("state", ["merged", "closed"])
def test_how_a_pull_request_was_closed_is_told(glass: Any, state: str) -> None:
    glass.to_building()
    glass.pr["state"] = state
    glass.wake(5)
    assert (glass.case.outcome, glass.case.reason) == (Outcome.CLOSED, f"gate.reason.{state}")


def test_a_reopened_pull_request_begins_a_new_report(glass: Any) -> None:
    glass.to_building()
    glass.pr["state"] = "closed"
    glass.wake(5)
    glass.pr["state"] = "open"
    glass.wake(3600)
    assert (glass.case.outcome, glass.case.opened_at) == (None, glass.now)
    assert [entry.text_id for entry in glass.case.timeline] == ["gate.event.check_asked"]


def test_since_when_a_label_is_there_is_remembered_and_forgotten_with_it(glass: Any) -> None:
    first = glass.now
    glass.labels("pr-check-pass")
    glass.wake()
    glass.wake(30)
    assert glass.case.label_since == {"pr-check-pass": first}
    glass.labels()
    glass.wake(1)
    glass.labels("pr-check-pass")
    glass.wake(1)
    assert glass.case.label_since == {"pr-check-pass": first + timedelta(seconds=32)}


def reviews(glass: Any) -> list[tuple[int, list[str]]]:
    found = [action for action in glass.last.actions if isinstance(action, PublishReview)]
    return [(action.build_number, [finding.file for finding in action.findings]) for action in found]


def test_findings_of_the_change_go_on_its_lines_and_off_with_a_green_build(glass: Any, judged: Any) -> None:
    glass.to_building()
    glass.red(judged(in_diff=True), judged("infrastructure", file="b.py"))
    assert reviews(glass) == [(41, ["a.py"])]
    glass.request("retest")
    glass.wake(5, build=glass.build("FAILURE"))
    glass.wake(60, build=glass.build(None, number=42))
    glass.wake(900, build=glass.build("SUCCESS", number=42))
    assert reviews(glass) == [(42, [])]


def test_a_green_build_without_a_red_one_before_reviews_nothing(glass: Any) -> None:
    glass.to_building()
    glass.wake(900, build=glass.build("SUCCESS"))
    assert reviews(glass) == []


def test_the_log_of_another_build_is_not_taken_for_this_ones(glass: Any, judged: Any) -> None:
    glass.to_building()
    of_another = DiagnosisFacts(build_number=40, findings=(judged(**MORE),))
    glass.wake(5, build=glass.build("FAILURE"), diagnosis=of_another)
    assert (glass.case.phase, glass.case.judged_build, glass.did()) == (Phase.BUILDING, 0, [])
    glass.red(judged(**MORE))
    assert (glass.case.phase, glass.case.judged_build) == (Phase.REPAIRING, 41)


def test_our_comment_of_an_earlier_round_is_not_taken_for_this_rounds(glass: Any) -> None:
    glass.wake()
    first = glass.request("check-pr", author="gate-bot")
    glass.wake(5)
    assert glass.case.request_note == first
    glass.pr["head_sha"] = "b" * 40
    glass.wake(5)
    glass.wake(5)  # the listing does not show the new comment yet
    assert (glass.case.phase, glass.case.round, glass.case.request_note) == (Phase.CHECKING, 2, 0)
    second = glass.request("check-pr", author="gate-bot")
    glass.wake(5)
    assert glass.case.request_note == second


def test_the_newest_ten_builds_are_remembered(glass: Any, judged: Any) -> None:
    glass.to_building()
    glass.case = glass.case.model_copy(update={"failed_tests_by_build": dict.fromkeys(range(20, 32), ())})
    glass.red(judged("unrelated", tool="pytest", function="t.py::a"))
    assert list(glass.case.failed_tests_by_build) == [*range(23, 32), 41]
    assert glass.case.flake_retests == 1


def test_an_end_that_follows_on_an_end_is_reported_anew(glass: Any) -> None:
    glass.policy = Policy(rounds_per_day=1)
    glass.wake()
    glass.wake(5, commands=(glass.command("stop"),))
    assert "upsert_sticky" in [action.kind for action in glass.last.actions]
    glass.wake(5, commands=(glass.command("check-pr"),))  # begins anew, and the budget of the day ends it at once
    assert glass.case.reason == "gate.reason.budget"
    assert "upsert_sticky" in [action.kind for action in glass.last.actions]
    glass.wake(5)
    assert glass.last.actions == ()


@pytest.mark.parametrize(
    ("path", "test", "depends"),
    [
        ("tests/a/conftest.py", "tests/a/test_x.py", True),
        ("tests/conftest.py", "tests/a/test_x.py", True),
        ("conftest.py", "tests/a/test_x.py", True),
        ("tests/a/conftest.py", "tests/ab/test_x.py", False),
        ("tests/a/conftest.py", "", True),
        ("tests/a/not_conftest.py", "tests/a/test_x.py", False),
    ],
)
def test_which_conftest_a_test_depends_on(path: str, test: str, depends: bool) -> None:
    assert bool(load_time((path,), test)) is depends


def test_findings_that_were_too_many_to_be_judged_are_counted_and_told(glass: Any, judged: Any) -> None:
    glass.to_building()
    facts = DiagnosisFacts(build_number=41, findings=(judged(), judged(file="b.py")), beyond=998)
    glass.wake(300, build=glass.build("FAILURE", number=41), diagnosis=facts, commands=(glass.command("diagnose"),))
    told = {entry.text_id: entry.values for entry in glass.case.timeline}
    assert told["gate.event.build_red"] == {"build": "41", "count": "1000"}
    assert told["gate.event.beyond"] == {"count": "2", "beyond": "998"}
    answer = next(action.body for action in glass.last.actions if action.kind == "reply")
    assert "998" in answer
