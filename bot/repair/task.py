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
"""What a repair is asked to do and what became of it. Frozen data only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from bot.gate.finding import Finding
from bot.repair.reason import Reason

Mode = Literal["push", "propose"]
Status = Literal["pushed", "proposed", "refused", "head-moved"]


def _no_secrets() -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Credentials:
    """How git may log in. ``password`` is called only at the moment of a fetch or push and is never stored."""

    username: str
    password: Callable[[], str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RepairTask:
    """One request to mend findings at one exact head.

    Attributes:
        repo: ``owner/name`` of the repository the pull request targets.
        number: Pull request number.
        head_sha: Full sha the findings belong to; nothing is pushed when the branch has moved on.
        head_ref: Source branch name, without ``refs/heads/``.
        clone_url: URL of the target repository (holds ``base_ref``); without user or password.
        push_url: URL of the source repository (holds ``head_ref``); without user or password.
        base_ref: Target branch name; check rules (rcfile, allow list) are read from it.
        findings: What to mend.
        pr_files: Paths the pull request changes; nothing else may be edited.
        mode: ``push`` commits to the source branch, ``propose`` only returns a patch.
        author_name: Name in the commit.
        author_email: Address in the commit.
        work_root: Directory for mirrors and work trees; ours alone.
        credentials: Log-in for fetch and push, or ``None`` for anonymous.
        case_id: Value of the ``GateBot-Case`` trailer; ``owner/name#number`` when empty.
        known_secrets: Gives every secret the daemon holds, so that none can leave in a patch.
    """

    repo: str
    number: int
    head_sha: str
    head_ref: str
    clone_url: str
    push_url: str
    base_ref: str
    findings: tuple[Finding, ...]
    pr_files: tuple[str, ...]
    mode: Mode
    author_name: str
    author_email: str
    work_root: Path
    credentials: Credentials | None = None
    case_id: str = ""
    known_secrets: Callable[[], tuple[str, ...]] = field(default=_no_secrets, repr=False)

    @property
    def trailer(self) -> str:
        """The neutral trailer by which our own commit is known again after a crash."""
        return f"GateBot-Case: {self.case_id or f'{self.repo}#{self.number}'}"


@dataclass(frozen=True, slots=True)
class CheckEvidence:
    """One re-run of a check on the touched files: how many findings it printed before and after."""

    check: str
    command: str
    files: tuple[str, ...]
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class RepairOutcome:
    """What became of a task.

    Attributes:
        status: ``pushed``, ``proposed`` (patch only), ``refused`` (nothing could be mended) or ``head-moved``.
        commit_sha: The pushed commit; empty otherwise.
        subject: First line of the commit message.
        patch: Unified diff of the whole repair, for a comment; empty when nothing was mended.
        fixed: Findings whose own check no longer shows them.
        refused: Findings left alone, each with the reason.
        checks: What was re-run, before and after.
        detail: Why the status is not the one asked for, e.g. no permission to push.
    """

    status: Status
    commit_sha: str = ""
    subject: str = ""
    patch: str = ""
    fixed: tuple[Finding, ...] = ()
    refused: tuple[tuple[Finding, Reason], ...] = ()
    checks: tuple[CheckEvidence, ...] = ()
    detail: Reason | None = None
