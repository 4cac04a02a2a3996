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
"""Everything a wake-up may touch outside itself, handed over in one frozen bundle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from bot.build_server import BuildServer
from bot.clock import Clock
from bot.config import Settings
from bot.forge import ChangedFile, Forge, PullRequest
from bot.gate.decision import CheapReview, PublishReview, Repair
from bot.gate.finding import Finding
from bot.intake.grammar import DEFAULT_GRAMMAR, Grammar
from bot.runtime.database import Database


@dataclass(frozen=True, slots=True)
class RoomAnswer:
    """What a room reports of an action: ``done``, ``refused`` or ``failed``, and data for ``decide``."""

    outcome: str
    detail: str = ""
    data: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FoundTemplate:
    """The pull-request template of a base commit; an empty path says that there is none."""

    path: str
    text: str


RepairFiles = Callable[[PullRequest], "tuple[str, ...] | None"]
"""Paths that a pull request changes, where they were read already."""
Repairer = Callable[[Repair, PullRequest, RepairFiles], Awaitable[RoomAnswer]]
Reviewer = Callable[[PublishReview | CheapReview, PullRequest, "Outside"], Awaitable[RoomAnswer]]
Point = Callable[[str], None]

_FILES_KEPT = 200
_FORKS_KEPT = 200
_CHANGES_KEPT = 8
_PUSHABLE_SECONDS = 3600.0


def no_point(_name: str) -> None:
    """Nothing happens at this point of the program. The test that kills the service hands in another function."""


def never(_finding: Finding) -> bool:
    """No recipe knows any finding."""
    return False


@dataclass(frozen=True)
class Outside:
    """The world as a wake-up sees it.

    Attributes:
        bot_login: Our own account on the forge.
        job: The gate job's name, part of the flake history's key.
        repairer: Mends findings in a work tree and pushes or proposes.
        reviewer: Puts findings on lines.
        repairable: Whether a recipe exists for a finding.
        grammar: Command words and aliases.
        point: Called by name after every stored step and around every effect.
        busy: Entered while real work goes on; a virtual clock stands still meanwhile.
        templates: Templates by (repository, base sha), for this process' life.
        bare_repos: Repositories without a template, and until when that is believed.
        changes: Diffs by (repository, number, head sha), of the few pull requests that were read last.
        pushable: Source repositories that we may push to, and until when that is believed without asking again.
        files: Changed paths by (repository, number, head sha), for this process' life.
    """

    forge: Forge
    builds: BuildServer
    clock: Clock
    database: Database
    settings: Settings
    bot_login: str
    job: str
    repairer: Repairer
    reviewer: Reviewer
    repairable: Callable[[Finding], bool] = never
    grammar: Grammar = DEFAULT_GRAMMAR
    point: Point = no_point
    busy: Callable[[], AbstractContextManager[object]] = nullcontext
    templates: dict[tuple[str, str], FoundTemplate] = field(default_factory=dict)
    files: dict[tuple[str, int, str], tuple[str, ...]] = field(default_factory=dict)
    bare_repos: dict[str, float] = field(default_factory=dict)
    pushable: dict[str, float] = field(default_factory=dict)
    changes: dict[tuple[str, int, str], tuple[ChangedFile, ...]] = field(default_factory=dict)

    def stamp(self) -> float:
        """The clock's time in Unix seconds, the form in which it is stored."""
        return self.clock.now().timestamp()

    def files_of(self, pull: PullRequest) -> tuple[str, ...] | None:
        """The paths a pull request changes, where they were read already for this head."""
        return self.files.get((pull.repo, pull.number, pull.head_sha))

    def keep_files(self, pull: PullRequest, paths: tuple[str, ...]) -> None:
        """Remember the paths; the oldest are forgotten."""
        while len(self.files) >= _FILES_KEPT:
            del self.files[next(iter(self.files))]
        self.files[pull.repo, pull.number, pull.head_sha] = paths

    def believe_pushable(self, repo: str) -> None:
        """We were told just now that we may push there; the oldest such words are forgotten."""
        self.pushable.pop(repo, None)  # the order of the dictionary is that of age
        while len(self.pushable) >= _FORKS_KEPT:
            del self.pushable[next(iter(self.pushable))]
        self.pushable[repo] = self.stamp() + _PUSHABLE_SECONDS

    async def changes_of(self, pull: PullRequest) -> tuple[ChangedFile, ...]:
        """The diff of a pull request at its head; the forge is asked once per head and process."""
        key = (pull.repo, pull.number, pull.head_sha)
        if key not in self.changes:
            listed = tuple(await self.forge.changed_files(pull.repo, pull.number))
            while len(self.changes) >= _CHANGES_KEPT:
                del self.changes[next(iter(self.changes))]
            self.changes[key] = listed
        return self.changes[key]
