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
"""When a pull request is read again, and what hooks prove of its labels."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.forge import PullRequest
from bot.gate.case import Case, Commit, Phase
from bot.gate.facts import ActionResult, RobotNote
from bot.gate.policy import Policy
from bot.intake.events import MergeRequestEvent, NoteEvent
from bot.runtime.events import Events, Order
from bot.runtime.known_pull import is_stale, labels_gone_between
from bot.runtime.memory import Memory

PASS, FAIL, RUNNING = "pr-check-pass", "pr-check-fail", "ci-pipeline-running"
CASE = Case(repo="a/b", number=647)
QUIET = Events()


def told(pull: PullRequest, **other: Any) -> MergeRequestEvent:
    """A hook that says what is known already, but for some of it."""
    known: dict[str, Any] = {
        "state": pull.state,
        "title": pull.title,
        "description": pull.body,
        "head_sha": pull.head_sha,
    }
    known |= {"base_ref": pull.base_ref, "labels": pull.labels, "draft": pull.draft}
    return MergeRequestEvent(repo=pull.repo, number=pull.number, action="update", **{**known, **other})


def said(note_id: int, **other: Any) -> Events:
    return Events(notes=((NoteEvent(repo="a/b", number=647, note_id=note_id, **other), 0.0),))


def stale(pull: PullRequest, now: datetime, events: Events = QUIET, case: Case = CASE, **other: Any) -> bool:
    memory = {"pr": pull, "pr_read_at": now - timedelta(minutes=1), **other.pop("memory", {})}
    how = {"asked": False, "first": True, "running": False, **other}
    return is_stale(case, Memory(**memory), events, how.pop("policy", Policy()), now, **how)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({}, False),
        ({"labels": frozenset({PASS, RUNNING})}, False),
        ({"title": " t\r\n"}, False),
        ({"labels": frozenset()}, True),
        ({"labels": None}, True),
        ({"description": None}, True),
        ({"description": "other"}, True),
        ({"head_sha": "3" * 40}, True),
        ({"base_ref": "r2.0"}, True),
        ({"base_ref": ""}, True),
        ({"state": "closed"}, True),
        ({"draft": True}, True),
    ],
)
def test_a_hook_leads_to_a_read_where_it_says_something_else_or_too_little(
    pull: PullRequest, now: datetime, other: dict[str, Any], expected: bool
) -> None:
    assert stale(pull, now, Events(pulls=(told(pull, **other),))) is expected


def test_where_the_labels_are_ours_the_running_one_is_news(pull: PullRequest, now: datetime) -> None:
    events = Events(pulls=(told(pull, labels=frozenset({PASS, RUNNING})),))
    assert stale(pull, now, events, policy=Policy(owner="self"))


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        (said(5), False),
        (said(5, head_sha="1" * 40, pr_state="open"), False),
        (said(5, head_sha="3" * 40), True),
        (said(5, pr_state="closed"), True),
        (said(7), True),
        (said(8), False),
        (Events(nudges=1), True),
        (Events(orders=((Order(name="retest", author="keeper", order_id=-1), 0.0),)), True),
    ],
    ids=["comment", "same", "other-head", "closed", "robot", "robot-on-build", "nudge", "order"],
)
def test_a_comment_leads_to_a_read_where_it_tells_of_a_change(
    pull: PullRequest, now: datetime, events: Events, expected: bool
) -> None:
    notes = (RobotNote(kind="check_failed", at=now, note_id=7), RobotNote(kind="pipeline_result", at=now, note_id=8))
    assert stale(pull, now, events, memory={"robot_notes": notes}) is expected


def test_a_command_leads_to_a_read(pull: PullRequest, now: datetime) -> None:
    assert stale(pull, now, said(5), asked=True)


@pytest.mark.parametrize(
    ("phase", "running", "minutes", "expected"),
    [
        (Phase.BUILDING, True, 29, False),
        (Phase.BUILDING, True, 31, True),
        (Phase.BUILDING, False, 1, True),
        (Phase.CHECKING, True, 1, True),
    ],
)
def test_a_timer_reads_but_for_a_while_in_a_running_build(
    pull: PullRequest, now: datetime, phase: Phase, running: bool, minutes: int, expected: bool
) -> None:
    memory = {"pr_read_at": now - timedelta(minutes=minutes)}
    assert stale(pull, now, case=CASE.model_copy(update={"phase": phase}), running=running, memory=memory) is expected


@pytest.mark.parametrize(
    ("owner", "first", "sha", "expected"),
    [
        ("robot", False, "1" * 40, False),
        ("robot", True, "1" * 40, True),
        ("robot", False, "3" * 40, True),
        ("self", False, "1" * 40, True),
    ],
)
def test_our_own_push_is_not_read_back_in_the_wake_up_that_made_it(
    pull: PullRequest, now: datetime, owner: str, first: bool, sha: str, expected: bool
) -> None:
    data = {"status": "pushed", "sha": sha}
    result = ActionResult(effect_key="k", kind="repair", outcome="done", data=data)
    memory = {"pr_read_at": None, "results": (result,)}
    assert stale(pull, now, first=first, memory=memory, policy=Policy(owner=owner)) is expected


@pytest.mark.parametrize("first", [False, True])
def test_what_was_never_read_is_read_and_what_nothing_changed_is_not(
    pull: PullRequest, now: datetime, first: bool
) -> None:
    assert stale(pull, now, first=first, memory={"pr": None})
    assert stale(pull, now, first=first, memory={"pr_read_at": None})
    assert not stale(pull, now, first=False)


@pytest.mark.parametrize(
    ("ours", "hooks", "gone"),
    [
        (True, ({"labels": frozenset()}, {}), {PASS, FAIL}),
        (True, ({},), {FAIL}),
        (True, ({"labels": None},), set()),
        (True, ({"labels": frozenset(), "head_sha": "3" * 40},), set()),
        (True, (), set()),
        (False, ({"labels": frozenset()},), set()),
    ],
    ids=["off-then-on", "always-on", "untold", "of-another-head", "no-hook", "not-our-commit"],
)
def test_a_label_was_off_where_a_hook_about_our_own_commit_lacked_it(
    pull: PullRequest, ours: bool, hooks: tuple[dict[str, Any], ...], gone: set[str]
) -> None:
    commits = (Commit(sha=pull.head_sha, subject="fix"),) if ours else ()
    events = Events(pulls=tuple(told(pull, **hook) for hook in hooks))
    assert labels_gone_between(CASE.model_copy(update={"commits": commits}), events, pull, Policy()) == gone
