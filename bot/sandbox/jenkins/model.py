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
"""State of the sandbox Jenkins: jobs, builds, queue items, people."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.sandbox.jenkins.checkout import Source
from bot.sandbox.jenkins.console import ConsoleLog, Span
from bot.sandbox.jenkins.gate import GateOptions
from bot.sandbox.jenkins.report import StageReport

PARAMETERS = (
    "giteePullRequestIid",
    "giteePullRequestLastCommit",
    "giteeSourceBranch",
    "giteeTargetBranch",
    "giteeSourceRepoHttpUrl",
    "giteeTargetRepoHttpUrl",
)
LEFT_ITEM_SECONDS = 300.0  # Jenkins forgets a queue item this long after it left


class DescriptionForm(StrEnum):
    """How the plugin describes a build: language, whether a comment started it, whether it holds a link."""

    ENGLISH = "en"
    ENGLISH_COMMENT = "en-comment"
    ENGLISH_LINK = "en-link"
    CHINESE = "zh"
    CHINESE_COMMENT = "zh-comment"
    CHINESE_LINK = "zh-link"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class JobSettings:
    """A job and how its builds behave. Seconds are those of the sandbox's clock.

    Attributes:
        name: Full name, folders separated by ``/``.
        repository_url: Clone URL that a start by parameters builds when it names no other.
        target_branch: Target branch when none is named.
        parameters: Parameters the job declares; others are dropped silently. None: the job is not parameterised.
        description: Form of the description of builds that a pull request started.
        reported_seconds: Duration that a build pretends; ``None`` for the time it really takes, with a growing log.
        bypass_seconds: Duration of a build that runs nothing.
        quiet_seconds: Quiet period before a queue item may start.
        result_lead: How long before its end a build's ``result`` is already set while ``building``.
        post_production: How long ``inProgress`` stays set after ``building`` is not.
        executable_gap: How long a queue item that left has a null ``executable``.
        publish_junit: Whether test reports are published; else their URL is 404.
        concurrent: Whether builds of the job may run side by side.
        abort_superseded: Whether a new start for a pull request aborts its running build.
        keep_builds: How many builds log rotation leaves; 0 for all.
        first_number: Number of the first build.
        buildable: Whether the job may be started; else 409.
        refuse: Whether starts are turned down with a bare ``302 .``.
        gate: How the gate itself is run.
    """

    name: str
    repository_url: str = ""
    target_branch: str = "master"
    parameters: tuple[str, ...] = PARAMETERS
    description: DescriptionForm = DescriptionForm.ENGLISH_COMMENT
    reported_seconds: float | None = 600.0
    bypass_seconds: float = 17.0
    quiet_seconds: float = 5.0
    result_lead: float = 2.0
    post_production: float = 3.0
    executable_gap: float = 0.0
    publish_junit: bool = True
    concurrent: bool = True
    abort_superseded: bool = True
    keep_builds: int = 0
    first_number: int = 1
    buildable: bool = True
    refuse: bool = False
    gate: GateOptions = field(default_factory=GateOptions)


@dataclass(frozen=True, kw_only=True)
class PullRequestTrigger:
    """A start by the forge's plugin.

    Attributes:
        source: What to build.
        user: Who commented; empty when a push or the opening started it.
        source_label: The branch as the description names it, such as ``dev-a/sort-layout``.
        html_url: Web page of the pull request, for the descriptions that link it.
        bypass: Whether the gate finds nothing to do, as without ``pr-check-pass``.
    """

    source: Source
    user: str = ""
    source_label: str = ""
    html_url: str = ""
    bypass: bool = False


@dataclass(eq=False)
class Run:
    """A build. What it shows depends on the moment, so that nothing needs to run for it to go on."""

    job: Job
    number: int
    queue_id: int
    started: datetime
    moment: float
    causes: list[str]
    parameters: dict[str, str]
    description: str | None
    source: Source | None
    bypass: bool = False
    log: ConsoleLog = field(default_factory=ConsoleLog)
    log_gone: bool = False
    stages: list[tuple[StageReport, Span]] = field(default_factory=list)
    final: str | None = None
    result_at: float = math.inf
    built_at: float = math.inf
    finished_at: float = math.inf
    suites: list[dict[str, Any]] | None = None
    done: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    def building(self, now: float) -> bool:
        """``building``: NOT_STARTED and BUILDING."""
        return now < self.built_at

    def in_progress(self, now: float) -> bool:
        """``inProgress``: BUILDING and POST_PRODUCTION."""
        return now < self.finished_at

    def result(self, now: float) -> str | None:
        """The result, which may be there before the build ends."""
        return self.final if now >= self.result_at else None

    def duration_ms(self, now: float) -> int:
        """0 until the end."""
        return round((self.finished_at - self.moment) * 1000) if now >= self.finished_at else 0

    @property
    def pull_request(self) -> int:
        """Number of the pull request, 0 when it is none's."""
        return self.source.pull_request if self.source else 0


@dataclass(eq=False)
class Job:
    """A job with its builds, by number."""

    settings: JobSettings
    runs: dict[int, Run] = field(default_factory=dict)
    next_number: int = 1

    def newest_first(self) -> list[Run]:
        """Its builds, newest first."""
        return [self.runs[number] for number in sorted(self.runs, reverse=True)]

    def rotate(self) -> None:
        """Drop the builds that log rotation does not keep."""
        keep = self.settings.keep_builds
        for run in self.newest_first()[keep:] if keep else []:
            del self.runs[run.number]


class QueueState(StrEnum):
    """Where a queue item is; the values end its ``_class``."""

    WAITING = "WaitingItem"
    BLOCKED = "BlockedItem"
    BUILDABLE = "BuildableItem"
    LEFT = "LeftItem"


@dataclass(eq=False)
class QueueEntry:
    """A queue item."""

    queue_id: int
    job: Job
    entered: datetime
    moment: float
    quiet_until: float
    parameters: dict[str, str]
    causes: list[str]
    trigger: PullRequestTrigger | None
    source: Source | None
    state: QueueState = QueueState.WAITING
    left_at: float = math.inf
    cancelled: bool = False
    run: Run | None = None
    task: asyncio.Task[None] | None = None
    left: asyncio.Event = field(default_factory=asyncio.Event)

    def same_task(self, other_parameters: Mapping[str, str], other: PullRequestTrigger | None) -> bool:
        """Whether another start would be folded into this one."""
        mine, theirs = self.trigger, other
        same_pull = (mine is None) == (theirs is None) and (
            mine is None or theirs is None or (mine.source, mine.bypass) == (theirs.source, theirs.bypass)
        )
        return self.state is not QueueState.LEFT and same_pull and self.parameters == dict(other_parameters)


@dataclass(frozen=True)
class Account:
    """A person or robot that may sign in with a password or an API token."""

    login: str
    password: str = ""
    token: str = ""
    may_build: bool = True


def queue_ids(first: int = 1) -> itertools.count[int]:
    """Ids of queue items: one sequence for the whole server, and not that of the build numbers."""
    return itertools.count(first)


def describe(trigger: PullRequestTrigger, form: DescriptionForm) -> str | None:
    """The description the plugin gives a build, in the wanted form."""
    if form is DescriptionForm.NONE:
        return None
    number = trigger.source.pull_request
    name = f"Gitee Pull Request #{number}"
    if form in (DescriptionForm.ENGLISH_LINK, DescriptionForm.CHINESE_LINK):
        name = f'<a href="{trigger.html_url}" target="_blank">{name}</a>'
    branches = f"{trigger.source_label or trigger.source.source_branch} => {trigger.source.target_branch}"
    by_comment = form not in (DescriptionForm.ENGLISH, DescriptionForm.CHINESE)
    user = f"{trigger.user} " if trigger.user and by_comment else ""
    if form in (DescriptionForm.CHINESE, DescriptionForm.CHINESE_COMMENT, DescriptionForm.CHINESE_LINK):
        return f"由 {user}{name}: {branches} 触发"
    return f"Triggered by {user}{name}: {branches}"
