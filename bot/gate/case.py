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
"""One pull request on its way through the gate, as stored data."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from bot.gate.facts import CommandRequest


class Phase(StrEnum):
    """Where the case rests."""

    NEW = "new"
    DESCRIPTION = "description"  # the description is incomplete; the author must edit it
    CHECKING = "checking"  # /check-pr was written; waiting for pr-check-pass
    STARTING = "starting"  # /retest was written; waiting for a real build
    BUILDING = "building"  # a build runs
    LABELS = "labels"  # SUCCESS; waiting for the second label
    REPAIRING = "repairing"  # a repair was asked for; its result decides
    OFFERED = "offered"  # the findings can be repaired, but a person must say /autofix first
    DRAFT = "draft"  # nothing runs until the pull request is ready or a person asks
    ENDED = "ended"


class Outcome(StrEnum):
    """Terminal states; the final report explains each."""

    PASSED = "ci-pipeline-passed"
    PATCH_CEILING = "patch-ceiling"
    FLAKE_CEILING = "flake-ceiling"
    NEEDS_HUMAN = "needs-human-guidance"
    STICKY_FLAKE = "upstream-sticky-flake"
    SCOPE_CREEP = "scope-creep-refused"
    USER_INTERRUPT = "user-interrupt"
    CLOSED = "closed"


class TimelineEntry(BaseModel):
    """A key event for the final report."""

    model_config = ConfigDict(frozen=True)
    at: datetime
    text_id: str
    values: dict[str, str] = {}


class Commit(BaseModel):
    """A fix commit that was pushed."""

    model_config = ConfigDict(frozen=True)
    sha: str
    subject: str
    rules: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


class Unresolved(BaseModel):
    """A finding that is still open, kept for the report after the log itself is gone."""

    model_config = ConfigDict(frozen=True)
    stage: str
    rule: str
    place: str
    verdict: str
    message: str = ""
    why: str = ""
    repairable: bool = False


class Case(BaseModel):
    """State of one pull request.

    Attributes:
        version: Guards stored cases against older code.
        round: Grows with each run through the gate and never shrinks; part of effect keys.
        head_since: When this head was first seen here.
        poll_since: Start of the polling schedule (the time of ``/retest``, or of the phase).
        request_at: When ``/check-pr`` was asked in this round, by the forge's clock where known.
        request_note: Id of that comment; 0 while unknown.
        retest_at: When ``/retest`` was asked in this round, by us or by a person.
        followed: The command that counts was typed by a person.
        label_since: First time each gate label was seen without a gap.
        build_floor: Builds up to this number do not answer this round's request.
        lost_since: When the build of this round could first not be found.
        red_since: When the build was first seen red; the log must be read soon after.
        retriggers: Automatic second tries already used for this head, by reason.
        reason: Why the case ended or waits, as a text id of ``bot.texts.gate``.
        reason_values: Fields of that text.
        robot_reasons: What the gate robot found missing in the description.
        checked_digest: Digest of the description that was last judged.
        forced: A person asked for this round, so the draft state and our own template check do not hold it back.
        pending_key: Effect key whose failure would leave the case without a next event.
        repairs: Repairs asked for so far; part of their effect keys.
        repair_counted: The repair that runs was counted as a patch attempt and is given back if nothing is pushed.
        handled: Commands that were answered, newest last, as ``note id:name``.
        held: Commands that wait for a log to be read.
        last_request_note: Newest comment with a gate command that was taken in.
        last_robot_note: Newest refusal of the robot that was taken in.
        pushes: New heads and new target branches seen so far; part of the effect keys of what a push undoes.
        rounds_at: Starts of the rounds of the last 24 hours.
        sticky_digests: Digest of the last text per comment that is edited in place.
        edits: Edits of such comments so far; part of their effect keys.
        judged_build: Build whose findings were routed.
        base_ref: Target branch that the description and the builds were judged against.
    """

    model_config = ConfigDict(frozen=True)
    version: int = 1
    repo: str
    number: int
    phase: Phase = Phase.NEW
    outcome: Outcome | None = None
    head_sha: str = ""
    opened_at: datetime | None = None
    phase_since: datetime | None = None
    round: int = 0  # grows with each /check-pr + /retest pair; part of effect keys
    wakeups_in_phase: int = 0
    build_number: int = 0
    failed_tests_by_build: dict[int, tuple[str, ...]] = {}
    patch_attempts: int = 0
    flake_retests: int = 0
    commits: tuple[Commit, ...] = ()
    timeline: tuple[TimelineEntry, ...] = ()
    comments_posted: int = 0
    head_since: datetime | None = None
    poll_since: datetime | None = None
    request_at: datetime | None = None
    request_note: int = 0
    retest_at: datetime | None = None
    followed: bool = False
    label_since: dict[str, datetime] = {}
    build_floor: int = 0
    build_url: str = ""
    build_result: str = ""
    lost_since: datetime | None = None
    red_since: datetime | None = None
    retriggers: tuple[str, ...] = ()
    reason: str = ""
    reason_values: dict[str, str] = {}
    robot_reasons: tuple[str, ...] = ()
    checked_digest: str = ""
    forced: bool = False
    pending_key: str = ""
    repairs: int = 0
    repair_counted: bool = False
    handled: tuple[str, ...] = ()
    held: tuple[CommandRequest, ...] = ()
    last_request_note: int = 0
    last_robot_note: int = 0
    pushes: int = 0
    rounds_at: tuple[datetime, ...] = ()
    sticky_digests: dict[str, str] = {}
    edits: int = 0
    judged_build: int = 0
    base_ref: str = ""
    unresolved: tuple[Unresolved, ...] = ()

    @property
    def key(self) -> str:
        """``owner/repo#number``."""
        return f"{self.repo}#{self.number}"
