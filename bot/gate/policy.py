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
"""What the operator may choose about the gate. Plain data with checked values; defaults are the community's rules."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

CommandRole = Literal["anyone", "author", "collaborator", "maintainer"]

DEFAULT_ROLES: dict[str, CommandRole] = {
    "check-pr": "anyone",
    "retest": "anyone",
    "diagnose": "anyone",
    "review": "anyone",
    "help": "anyone",
    "autofix": "author",
    "stop": "author",
}


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LabelNames(_Section):
    """Whole names of the labels that mean something to the gate."""

    check_pass: str = Field("pr-check-pass", min_length=1, description="The description was accepted.")
    check_fail: str = Field("pr-check-fail", min_length=1, description="The description was refused.")
    running: str = Field("ci-pipeline-running", min_length=1, description="The pipeline runs.")
    passed: str = Field("ci-pipeline-passed", min_length=1, description="The pipeline passed.")
    failed: str = Field("ci-pipeline-failed", min_length=1, description="The pipeline failed.")
    checking: str = Field("stat/checking", min_length=1, description="The robot says that it is at work.")


class Deadlines(_Section):
    """How long a case may rest in a state before GateBot does something else, in seconds."""

    check: int = Field(1800, ge=1, description="No answer to /check-pr.")
    start: int = Field(1800, ge=1, description="No build after /retest; also how long stat/checking may stay.")
    followed_start: int = Field(300, ge=1, description="No build after a /retest that a person typed.")
    build: int = Field(28800, ge=1, description="One build.")
    labels: int = Field(3600, ge=1, description="Build succeeded, second label missing.")
    diagnosis: int = Field(1800, ge=1, description="A red build whose log could not be read.")
    repair: int = Field(1800, ge=1, description="A repair, and the push becoming visible on the forge.")
    held: int = Field(900, ge=1, description="A command that waits for a log to be read.")
    description: int = Field(14 * 86400, ge=1, description="An incomplete description.")
    offer: int = Field(7 * 86400, ge=1, description="A repair that waits for /autofix.")
    idle: int = Field(21600, ge=60, description="Look again this often when only a person can move the case on.")


class Policy(_Section):
    """All choices that ``decide`` obeys."""

    owner: Literal["robot", "self"] = Field(
        "robot", description="Who checks descriptions, starts builds and sets labels: another account, or GateBot."
    )
    robot_logins: tuple[str, ...] = Field(("micro-compass",), description="Accounts of the gate robot.")
    language: Literal["zh", "en"] = Field("zh", description="Language of what GateBot writes.")
    auto_start: bool = Field(True, description="Start phase one when a pull request opens; false waits for a command.")
    draft_runs_gate: bool = Field(False, description="Run the gate for drafts too; a person's command always does.")
    hold_incomplete: bool = Field(
        True, description="Do not ask the robot to check a description that its own template finds incomplete."
    )
    poll_seconds: tuple[int, ...] = Field(
        (60, 270, 1200, 1800), min_length=1, description="Waits between looks; the last one repeats."
    )
    settle_seconds: int = Field(
        60, ge=0, description="A label that was there before a command counts only after this long without objection."
    )
    bypass_seconds: int = Field(60, ge=0, description="A SUCCESS shorter than this, without label or finding, is none.")
    patch_ceiling: int = Field(2, ge=0, description="Fix commits before a person must look.")
    flake_ceiling: int = Field(5, ge=0, description="Retests in a row for failures that are not the change's fault.")
    rounds_per_day: int = Field(20, ge=1, description="Rounds of the gate in 24 hours; then GateBot stops and says so.")
    repair_mode: Literal["push", "on-command", "propose"] = Field(
        "push", description="Push a fix commit where allowed, wait for /autofix, or only show a patch."
    )
    retest_meaning: Literal["full", "failed"] = Field(
        "full", description="What /retest runs here: the full gate or failed jobs only. Stated in replies."
    )
    publish_review: bool = Field(True, description="Put findings of a red build on the lines of the pull request.")
    findings_shown: int = Field(20, ge=1, le=200, description="Rows of the findings table in one comment.")
    roles: dict[str, CommandRole] = Field(DEFAULT_ROLES, description="Least role per command.")
    labels: LabelNames = LabelNames()
    deadlines: Deadlines = Deadlines()

    @field_validator("roles")
    @classmethod
    def _known_commands(cls, value: dict[str, CommandRole]) -> dict[str, CommandRole]:
        unknown = sorted(set(value) - set(DEFAULT_ROLES))
        if unknown:
            known = {"known": ", ".join(sorted(DEFAULT_ROLES)), "unknown": ", ".join(unknown)}
            raise PydanticCustomError("role_commands", "should name commands of {known}, but got {unknown}", known)
        return {**DEFAULT_ROLES, **value}

    @field_validator("poll_seconds")
    @classmethod
    def _positive_waits(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if any(wait < 1 for wait in value):
            raise PydanticCustomError("positive_waits", "should be positive numbers of seconds")
        return value

    @property
    def settle(self) -> timedelta:
        """``settle_seconds`` as a duration."""
        return timedelta(seconds=self.settle_seconds)
