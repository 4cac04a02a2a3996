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
"""A gap that hooks saw makes the robot's label on our own commit fresh, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from bot.gate.facts import ActionResult

PASS = "pr-check-pass"
COMMIT = "f" * 40


def pushed(glass: Any, judged: Any) -> None:
    """A red build is mended by our commit; its push is the head, the old head's label is still on."""
    glass.to_building()
    glass.red(judged(repairable=True))
    repair = next(action for action in glass.last.actions if action.kind == "repair")
    data = {"status": "pushed", "sha": COMMIT, "subject": "fix(gate): W0611"}
    glass.pr["head_sha"] = COMMIT
    result = ActionResult(effect_key=repair.effect_key, kind="repair", outcome="done", data=data)
    glass.wake(1, results=(result,))
    assert glass.did()[0] == "post_command /check-pr"


@pytest.mark.parametrize(("gaps", "did"), [((), []), ((PASS,), ["post_command /retest"]), (("pr-check-fail",), [])])
def test_the_label_counts_at_once_only_when_it_was_seen_to_be_off(
    glass: Any, judged: Any, gaps: tuple[str, ...], did: list[str]
) -> None:
    pushed(glass, judged)
    glass.wake(2, label_gaps=frozenset(gaps))
    assert [action for action in glass.did() if action.startswith("post")] == did


def test_a_gap_is_no_label(glass: Any, judged: Any) -> None:
    pushed(glass, judged)
    glass.labels()
    glass.wake(2, label_gaps=frozenset({PASS}))
    assert glass.did() == []


def test_a_hook_that_comes_late_makes_no_later_answer_of_the_same_head_any_younger(glass: Any, judged: Any) -> None:
    pushed(glass, judged)
    glass.wake(2, label_gaps=frozenset({PASS}))
    since = glass.case.label_since[PASS]
    assert since == glass.now
    glass.wake(30, label_gaps=frozenset({PASS}))
    assert glass.case.label_since[PASS] == since
