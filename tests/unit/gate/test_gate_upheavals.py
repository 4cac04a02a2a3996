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
"""What people do to a pull request in the midst of its case: pushes, another target, stop, close, reopen."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.gate.case import Outcome, Phase
from bot.gate.facts import GateRequest

GREEN = ("pr-check-pass", "ci-pipeline-passed")


def test_push_voids_the_phase(glass: Any) -> None:
    glass.to_building()
    glass.pr["head_sha"] = "b" * 40
    glass.wake(30, build=glass.build(None))
    assert (glass.case.phase, glass.did()) == (Phase.CHECKING, ["post_command /check-pr"])
    glass.labels()
    glass.wake(10)
    glass.labels("pr-check-pass")
    glass.wake(10, build=glass.build("SUCCESS"))
    glass.wake(60, build=glass.build("SUCCESS"))
    assert glass.case.phase is Phase.STARTING, "the old head's build answers nothing"


def test_stale_label_of_the_old_head_is_no_success(glass: Any) -> None:
    glass.to_building()
    glass.labels(*GREEN)
    glass.wake(60, build=glass.build(None))
    glass.pr["head_sha"] = "b" * 40
    glass.wake(60)
    assert glass.did() == ["post_command /check-pr"]
    glass.wake(61, build=glass.build("SUCCESS"))
    assert glass.did() == ["post_command /retest"]
    glass.wake(60, build=glass.build("SUCCESS", 20, number=42))
    assert glass.case.outcome is None


@pytest.mark.parametrize("green", [False, True])
def test_another_target_branch_voids_the_phase(glass: Any, green: bool) -> None:
    glass.to_building()
    if green:
        glass.labels("pr-check-pass", "ci-pipeline-passed")
        glass.wake(300, build=glass.build("SUCCESS"))
        assert glass.case.outcome is Outcome.PASSED
    glass.pr["base_ref"] = "r2.0"
    glass.wake(30, build=glass.build("SUCCESS"))
    assert (glass.case.phase, glass.case.outcome) == (Phase.CHECKING, None)
    assert "post_command /check-pr" in glass.did()
    assert [entry.values for entry in glass.case.timeline if entry.text_id == "gate.event.retargeted"] == [
        {"base": "r2.0"}
    ]
    glass.wake(120, build=glass.build("SUCCESS"))  # the labels of the old target are still on
    assert (glass.case.phase, glass.did()[:1]) == (Phase.STARTING, ["post_command /retest"])
    glass.wake(60, build=glass.build("SUCCESS"))
    assert glass.case.phase is Phase.STARTING, "the old target's build answers nothing"
    glass.pr["base_ref"] = ""
    glass.wake(60, build=glass.build(None, number=42))
    assert glass.case.phase is Phase.BUILDING, "an answer that leaves the target out is no other target"


def test_a_case_of_an_older_release_takes_its_target_branch_as_it_is(glass: Any) -> None:
    glass.to_building()
    glass.case = glass.case.model_copy(update={"base_ref": ""})
    glass.wake(60, build=glass.build(None))
    assert (glass.case.phase, glass.case.base_ref) == (Phase.BUILDING, "master")


@pytest.mark.parametrize(("last", "outcome"), [("stop", Outcome.USER_INTERRUPT), ("retest", None)])
@pytest.mark.parametrize("labelled", [False, True])
def test_of_a_stop_and_a_request_that_come_together_the_later_one_counts(
    glass: Any, last: str, outcome: Outcome | None, labelled: bool
) -> None:
    glass.to_building()
    if not labelled:
        glass.labels()
    commands = []
    for name in ("retest", "stop") if last == "stop" else ("stop", "retest"):
        command = glass.command(name)
        if name == "retest":
            request = {"name": name, "author": command.author, "note_id": command.note_id, "at": glass.now}
            glass.requests.append(GateRequest(**request))
        commands.append(command)
    glass.wake(5, commands=tuple(commands), build=glass.build(None))
    assert glass.case.outcome is outcome


def test_stop_and_resume(glass: Any) -> None:
    glass.to_building()
    glass.wake(5, commands=(glass.command("stop"),), build=glass.build(None))
    assert glass.case.outcome is Outcome.USER_INTERRUPT
    glass.pr["head_sha"] = "b" * 40
    glass.wake(5)
    assert glass.did() == []
    glass.request("check-pr")
    glass.wake(5)
    assert glass.case.phase is Phase.CHECKING


def test_closed_and_reopened(glass: Any) -> None:
    glass.wake()
    glass.pr["state"] = "closed"
    glass.wake(5)
    assert (glass.case.outcome, glass.did()) == (Outcome.CLOSED, [])
    glass.pr["state"] = "open"
    glass.wake(5)
    assert glass.did() == ["post_command /check-pr"]


def test_draft_rests_until_asked(glass: Any) -> None:
    glass.pr["draft"] = True
    glass.wake()
    assert (glass.case.phase, glass.did()) == (Phase.DRAFT, [])
    glass.wake(5, commands=(glass.command("check-pr"),))
    assert glass.did() == ["reply", "post_command /check-pr"]


def test_a_persons_retest_on_a_stale_label_waits_for_the_check(glass: Any) -> None:
    glass.labels("pr-check-pass")
    glass.wake()
    glass.now += timedelta(seconds=5)
    glass.request("retest")
    glass.wake(5)
    assert glass.case.phase is Phase.CHECKING
    glass.wake(60, build=glass.build(None))
    assert (glass.case.phase, glass.did()) == (Phase.BUILDING, [])
