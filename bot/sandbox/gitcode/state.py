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
"""What the sandbox remembers. Plain records; the rules that change them are in ``actions``."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

CHINA = timezone(timedelta(hours=8))

GUEST, REPORTER, DEVELOPER, MAINTAINER, OWNER = 10, 20, 30, 40, 50
ALL_SCOPES = frozenset({"api", "read_user", "read_repository", "write_repository"})
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\Z")


@dataclass
class User:
    """A person or robot. ``number`` and ``hex_id`` are two of the three forms in which the id is shown."""

    number: int
    login: str
    name: str
    token: str
    scopes: frozenset[str] = ALL_SCOPES

    @property
    def hex_id(self) -> str:
        """The 24-hex id of lists."""
        return f"66aa{self.number:020x}"

    @property
    def email(self) -> str:
        """An address that reaches nobody."""
        return f"{self.login}@example.com"


@dataclass
class Label:
    """A label of a repository."""

    id: int
    name: str
    color: str
    created_at: datetime
    updated_at: datetime


@dataclass
class Note:
    """One comment or reply. ``platform`` marks the forge's own "changed this line on", which the API does not flag."""

    id: int
    author: str
    body: str
    created_at: datetime
    updated_at: datetime
    platform: bool = False
    history: list[str] = field(default_factory=list)


@dataclass
class Position:
    """Where a line comment was put: ``line`` counts in the new file at ``head_sha``; 0 for the file as a whole."""

    path: str
    line: int
    base_sha: str
    start_sha: str
    head_sha: str
    detached: bool = False


@dataclass
class Thread:
    """A discussion; the first note is the comment, the others are replies."""

    id: str
    notes: list[Note]
    position: Position | None = None
    resolved: bool = False
    outdated: bool = False


@dataclass
class LogEntry:
    """A line of a pull request's history."""

    id: int
    action: str
    content: str
    author: str
    at: datetime


@dataclass
class Issue:
    """An issue; its number space is not that of pull requests."""

    id: int
    number: str
    title: str
    body: str
    author: str
    state: str
    created_at: datetime
    labels: list[str] = field(default_factory=list)


@dataclass
class Pull:
    """A pull request; ``state`` is ``opened``, ``closed`` or ``merged``."""

    id: int
    number: int
    title: str
    body: str
    author: str
    source_repo: str
    source_branch: str
    target_branch: str
    head_sha: str
    base_sha: str
    created_at: datetime
    updated_at: datetime
    state: str = "opened"
    closed_at: datetime | None = None
    merged_at: datetime | None = None
    labels: list[str] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    log: list[LogEntry] = field(default_factory=list)
    issues: list[str] = field(default_factory=list)
    assignees: list[str] = field(default_factory=list)
    testers: list[str] = field(default_factory=list)
    reviewers: list[str] = field(default_factory=list)
    approved_by: list[str] = field(default_factory=list)
    tested_by: list[str] = field(default_factory=list)
    body_history: list[str] = field(default_factory=list)
    hidden_reads: int = 0

    @property
    def draft(self) -> bool:
        """A draft is a title prefix."""
        return self.title.startswith(("[WIP]", "WIP:"))


@dataclass
class Hook:
    """A web hook. ``encryption_type`` 0 sends the password in a header, 1 signs the body with it."""

    id: int
    url: str
    password: str
    encryption_type: int
    created_at: datetime
    events: dict[str, bool]
    result: str | None = None
    result_code: int = 0


@dataclass(frozen=True)
class Delivery:
    """One attempt to deliver a hook; ``status`` is 0 when nobody answered."""

    hook_id: int
    event: str
    delivery_id: str
    payload: dict[str, Any]
    status: int
    at: datetime
    note: str = ""


@dataclass
class Repo:
    """A repository. ``name`` is for display and may differ from ``path``."""

    id: int
    owner: str
    path: str
    name: str
    default_branch: str
    git_dir: Path
    created_at: datetime
    fork_of: str = ""
    first_pull: int = 1
    members: dict[str, int] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    issues: dict[str, Issue] = field(default_factory=dict)
    hooks: dict[int, Hook] = field(default_factory=dict)
    only_allow_merge_if_all_discussions_are_resolved: bool = True

    @property
    def full_name(self) -> str:
        """``owner/path``."""
        return f"{self.owner}/{self.path}"

    def level(self, login: str) -> int:
        """The access level of a login; 0 for a stranger."""
        return OWNER if login == self.owner else self.members.get(login, 0)


class World:
    """All users and repositories."""

    def __init__(self) -> None:
        self.users: dict[str, User] = {}
        self.repos: dict[str, Repo] = {}
        self.deliveries: list[Delivery] = []
        self._counters: dict[str, Iterator[int]] = {}

    def next_id(self, kind: str, start: int) -> int:
        """The next number of a kind; the first one is ``start``."""
        return next(self._counters.setdefault(kind, itertools.count(start)))

    def next_hex(self, kind: str) -> str:
        """The next 40-hex id of a kind; the same in every run."""
        number = self.next_id(f"hex-{kind}", 1)
        return hashlib.sha1(f"{kind} {number}".encode(), usedforsecurity=False).hexdigest()

    def user_of_token(self, token: str) -> User | None:
        """Whose token it is."""
        return next((user for user in self.users.values() if token and user.token == token), None)

    def repo(self, full_name: str) -> Repo:
        """A repository by name; raises ``KeyError``."""
        return self.repos[full_name]

    def pulls_from(self, source_repo: str, branch: str) -> list[tuple[Repo, Pull]]:
        """Open pull requests whose head is this branch."""
        return [
            (repo, pull)
            for repo in self.repos.values()
            for pull in repo.pulls.values()
            if pull.state == "opened" and pull.source_repo == source_repo and pull.source_branch == branch
        ]


def find_note(repo: Repo, note_id: int) -> tuple[Pull, Thread, Note] | None:
    """A comment or reply by its numeric id."""
    for pull in repo.pulls.values():
        for thread in pull.threads:
            for note in thread.notes:
                if note.id == note_id:
                    return pull, thread, note
    return None


def find_thread(pull: Pull, thread_id: str) -> Thread | None:
    """A discussion by its hex id."""
    return next((thread for thread in pull.threads if thread.id == thread_id), None)


def check_name(text: str) -> str:
    """A name that is safe as part of a path; raises ``ValueError`` otherwise."""
    if not _NAME.match(text) or text.endswith(".git"):
        raise ValueError(
            f"For a name in the sandbox, text should be letters, digits, '_', '.' or '-', but got {text!r}."
        )
    return text


def stamp(moment: datetime | None) -> str:
    """GitCode's form of a time: ISO 8601 in China's zone; the empty string for none."""
    return moment.astimezone(CHINA).isoformat(timespec="seconds") if moment else ""


def stamp_z(moment: datetime) -> str:
    """The form of commit times in hooks."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
