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


class Phase(StrEnum):
    """Where the case rests."""

    NEW = "new"
    DESCRIPTION = "description"  # the description is incomplete; the author must edit it
    CHECKING = "checking"  # /check-pr was written; waiting for pr-check-pass
    STARTING = "starting"  # /retest was written; waiting for a real build
    BUILDING = "building"  # a build runs
    LABELS = "labels"  # SUCCESS; waiting for the second label
    REPAIRING = "repairing"  # a repair was asked for; its result decides
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


class Case(BaseModel):
    """State of one pull request. ``version`` guards stored cases against older code."""

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

    @property
    def key(self) -> str:
        """``owner/repo#number``."""
        return f"{self.repo}#{self.number}"
