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
"""Whether what is known of a pull request is still good, and what hooks tell about it besides; pure.

Reading it costs a call, so hooks are believed where they say everything.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.forge import PullRequest
from bot.gate.case import Case, Phase
from bot.gate.policy import Policy
from bot.intake.events import MergeRequestEvent
from bot.runtime.events import Events
from bot.runtime.memory import Memory

_PULL_IS_GOOD_FOR = timedelta(minutes=30)  # while a build runs and no hook speaks


def is_stale(
    case: Case,
    memory: Memory,
    events: Events,
    policy: Policy,
    now: datetime,
    *,
    asked: bool,
    first: bool,
    running: bool,
) -> bool:
    """Whether the pull request must be read, for what the memory holds of it may be out of date.

    Args:
        case: The case as stored.
        memory: What earlier wake-ups saw.
        events: What happened since.
        policy: The operator's choices.
        now: The present time.
        asked: Whether a command came.
        first: False for the further rounds of one wake-up.
        running: Whether the newest build runs.
    """
    if memory.pr is None:
        return True
    if not first and policy.owner == "robot" and _just_pushed(memory, memory.pr):
        return False  # we hold all that the next step needs; the next wake-up reads, and no label counts before
    if memory.pr_read_at is None:
        return True
    if not first:
        return False
    if not events.any:  # a timer: while the build runs, only a lost hook could have changed anything
        return not (case.phase is Phase.BUILDING and running and now - memory.pr_read_at < _PULL_IS_GOOD_FOR)
    if events.nudges or events.orders or asked:
        return True
    if any(_tells_something_new(event, memory.pr, policy) for event in events.pulls):
        return True
    moved = any(event.head_sha and event.head_sha != memory.pr.head_sha for event, _ in events.notes)
    closed = any(event.pr_state and event.pr_state != memory.pr.state for event, _ in events.notes)
    # What the robot says of a build is asked of the build server; the labels that go with it send hooks of their own.
    told = {note.note_id for note in memory.robot_notes if not note.kind.startswith("pipeline_")}
    return moved or closed or any(event.note_id in told for event, _ in events.notes)


def _just_pushed(memory: Memory, pull: PullRequest) -> bool:
    """Whether the head is the commit that we pushed in the last round of this wake-up."""
    return any(result.kind == "repair" and result.data.get("sha") == pull.head_sha for result in memory.results)


def labels_gone_between(case: Case, events: Events, pull: PullRequest, policy: Policy) -> frozenset[str]:
    """Labels of the gate that were off at a time when the head was what it is.

    Told by hooks, which may come late: they prove it only of a head that never was before, which is one we made.
    """
    if pull.head_sha not in {commit.sha for commit in case.commits}:
        return frozenset()
    told = [event.labels for event in events.pulls if event.head_sha == pull.head_sha and event.labels is not None]
    watched = {policy.labels.check_pass, policy.labels.check_fail}
    return frozenset(label for label in watched if any(label not in labels for labels in told))


def _tells_something_new(event: MergeRequestEvent, known: PullRequest, policy: Policy) -> bool:
    """Whether a hook differs from what we know; one about a label that we put on ourselves does not.

    That the robot says "running" is no news either: the build server is asked, and no decision hangs on that label.
    A hook that leaves anything open counts as new, and nothing of it is taken over: the pull request is read instead,
    because nobody has seen yet what the forge's update hooks really carry.
    """
    idle = {policy.labels.running} if policy.owner == "robot" else set[str]()
    return not (
        event.head_sha == known.head_sha
        and event.state == known.state
        and _same_text(event.title, known.title)
        and _same_text(event.description, known.body)
        and event.labels is not None
        and event.labels - idle == known.labels - idle
        and event.base_ref == known.base_ref
        and event.draft == known.draft
    )


def _same_text(one: str | None, other: str) -> bool:
    """Hooks and answers of the forge differ in line ends and in blanks at the end of one and the same text."""
    return one is not None and one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()
