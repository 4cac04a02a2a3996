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
"""What ``observe`` read just now. A value: ``decide`` sees the world only through it."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, ConfigDict

from bot.gate.finding import Finding


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class PullRequestFacts(_Value):
    """The pull request as read now; ``state`` is ``open``, ``closed`` or ``merged``."""

    number: int
    repo: str
    state: str
    author: str
    title: str
    body: str
    head_sha: str
    head_ref: str
    head_repo: str
    base_ref: str
    labels: frozenset[str] = frozenset()
    draft: bool = False
    html_url: str = ""
    head_at: datetime | None = None  # when the head was pushed, where known


class CommandRequest(_Value):
    """A slash command taken from the inbox, in the order typed.

    ``role`` is one of ``anyone``, ``author``, ``collaborator``, ``maintainer``, or ``unknown`` when the look-up failed.
    """

    name: str
    arguments: str
    author: str
    role: str
    note_id: int
    at: datetime


class Suggestion(_Value):
    """A near miss: what was typed and the command it probably meant, both with their slash."""

    typed: str
    meant: str
    author: str
    note_id: int


class TemplateVerdict(_Value):
    """The description checked against the base branch's template; ``missing`` holds ready texts, one per item."""

    complete: bool
    missing: tuple[str, ...] = ()
    template_path: str = ""
    body_digest: str = ""


class RobotNote(_Value):
    """A comment of the gate robot that means something to the gate.

    ``kind`` is ``check_failed``, ``trigger_refused``, ``pipeline_running`` or ``pipeline_result``.
    """

    kind: str
    at: datetime
    note_id: int
    reasons: tuple[str, ...] = ()
    build_number: int = 0


class GateRequest(_Value):
    """A ``/check-pr`` or ``/retest`` comment that the gate robot reads too, whoever wrote it.

    A person's command without a request of the same ``note_id`` (an alias, the CLI) is carried out by GateBot itself.
    """

    name: str
    author: str
    note_id: int
    at: datetime
    by_bot: bool = False


class BuildFacts(_Value):
    """The newest build of this pull request that is not ``ABORTED``."""

    number: int
    url: str
    result: str | None
    running: bool
    started_at: datetime
    duration_ms: int = 0
    head_sha: str = ""
    failed_stages: tuple[str, ...] = ()
    failed_tests: tuple[str, ...] = ()


class JudgedFinding(_Value):
    """A finding with the verdict of triage: ``pr``, ``unrelated``, ``infrastructure`` or ``process``, and why.

    ``in_diff`` is false when the fix would lie outside the pull request's files; ``broken_on_base`` is true when the
    same item fails on the target branch as well.
    """

    finding: Finding
    verdict: str
    reasons: tuple[str, ...] = ()
    repairable: bool = False
    in_diff: bool = True
    broken_on_base: bool = False


class DiagnosisFacts(_Value):
    """The log of one finished build, read and judged. ``beyond``: findings that were too many to be judged."""

    build_number: int
    findings: tuple[JudgedFinding, ...] = ()
    excerpt: tuple[str, ...] = ()
    complete: bool = True
    beyond: int = 0


class ActionResult(_Value):
    """What became of an action: ``outcome`` is ``done``, ``refused`` or ``failed``; ``data`` is the action's own.

    For ``kind == "repair"`` the data are: ``status`` (``pushed``, ``proposed``, ``refused`` or ``head-moved``),
    ``sha``, ``subject``, ``rules`` and ``places`` (one per line), ``patch`` (unified diff), ``scope`` (``outside`` when
    the fix would leave the pull request's files, ``gone`` when its source is deleted), ``why`` (nothing was pushed) and
    ``reason`` (both for people). ``failed`` means that trouble on our side prevented the action and a second try may
    help.
    """

    effect_key: str
    kind: str
    outcome: str
    detail: str = ""
    data: dict[str, str] = {}


class Facts(_Value):
    """Everything one wake-up may know."""

    now: datetime
    bot_login: str
    pr: PullRequestFacts
    template: TemplateVerdict | None = None
    commands: tuple[CommandRequest, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    robot_notes: tuple[RobotNote, ...] = ()
    gate_requests: tuple[GateRequest, ...] = ()
    build: BuildFacts | None = None
    diagnosis: DiagnosisFacts | None = None
    may_push: bool = False
    results: tuple[ActionResult, ...] = ()
    label_times: dict[str, datetime] = {}  # when a label was put on, where the forge tells
    label_gaps: frozenset[str] = frozenset()  # labels that were off for a while since our own push made this head
    build_lost: bool = False  # the build or queue entry that we wait for is known to be gone
