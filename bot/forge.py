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
"""What GateBot needs of a forge. ``bot.gitcode`` implements it; nothing else knows which forge it is."""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Protocol

from pydantic import BaseModel, ConfigDict


class Priority(IntEnum):
    """Who goes first when the call budget is short (lower value first)."""

    REPLY = 0
    ACT = 1
    OBSERVE = 2
    SYNC = 3


class Role(StrEnum):
    """Standing of a login in a repository, weakest first."""

    ANYONE = "anyone"
    AUTHOR = "author"
    COLLABORATOR = "collaborator"
    MAINTAINER = "maintainer"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class PullRequest(_Value):
    """A pull request as read now. ``repo`` names are ``owner/name``; times are aware."""

    repo: str
    number: int
    state: str  # "open" | "closed" | "merged": the adapter folds the forge's spellings
    title: str
    body: str
    author: str
    head_sha: str
    head_ref: str
    head_repo: str
    head_url: str  # clone URL of the source repository
    base_ref: str
    base_sha: str
    base_url: str
    labels: frozenset[str] = frozenset()
    draft: bool = False
    html_url: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None


class Comment(_Value):
    """A comment on a pull request. Both ids are kept: the forge uses one for edits, the other for threads."""

    note_id: int
    discussion_id: str
    author: str
    body: str
    created_at: datetime
    updated_at: datetime
    on_line: bool = False
    path: str = ""
    line: int = 0
    resolved: bool = False
    outdated: bool = False
    reply_authors: tuple[str, ...] = ()


class CommentRef(_Value):
    """Ids of a comment that was just written."""

    note_id: int
    discussion_id: str


class ChangedFile(_Value):
    """One file of the pull request's diff; ``patch`` is unified-diff hunks, empty when too large or binary."""

    path: str
    old_path: str
    status: str  # "added" | "modified" | "deleted" | "renamed"
    patch: str
    additions: int = 0
    deletions: int = 0
    too_large: bool = False


class DirectoryEntry(_Value):
    """One entry of a directory of a repository; ``path`` is relative to the root."""

    path: str
    is_directory: bool = False


class Forge(Protocol):
    """Reads and writes pull requests. Every method may raise ``bot.errors`` types, sorted by remedy."""

    async def login(self) -> str:
        """The login of the account that GateBot acts as (``GET /user``)."""
        ...

    async def pull_request(self, repo: str, number: int, *, priority: Priority = Priority.OBSERVE) -> PullRequest:
        """The pull request as it is now (``GET /pulls/{n}``)."""
        ...

    async def open_pull_requests(
        self, repo: str, *, updated_after: datetime | None = None, priority: Priority = Priority.SYNC
    ) -> list[PullRequest]:
        """Open pull requests, the most recently updated first (``GET /pulls``)."""
        ...

    async def comments(self, repo: str, number: int, *, priority: Priority = Priority.OBSERVE) -> list[Comment]:
        """Every comment, oldest first, replies folded into ``reply_authors`` (``GET /pulls/{n}/comments``)."""
        ...

    async def comment(self, repo: str, note_id: int, *, priority: Priority = Priority.OBSERVE) -> Comment:
        """One comment with its path and line (``GET /pulls/comments/{note_id}``)."""
        ...

    async def create_comment(
        self,
        repo: str,
        number: int,
        body: str,
        *,
        path: str = "",
        line: int = 0,
        file_level: bool = False,
        priority: Priority = Priority.ACT,
    ) -> CommentRef:
        """Write a comment: plain, on a line of the new file, or on a file (``POST /pulls/{n}/comments``).

        Never sent twice: ``RetryLater`` with ``effect_unknown`` asks the caller to look for it first.
        """
        ...

    async def edit_comment(
        self, repo: str, note_id: int, body: str, *, read_back: bool = True, priority: Priority = Priority.ACT
    ) -> None:
        """Replace the text of an own comment (``PATCH /pulls/comments/{note_id}``).

        ``read_back``: make sure at once that it took effect; else the caller looks at the next list of comments.
        """
        ...

    async def delete_comment(self, repo: str, note_id: int, *, priority: Priority = Priority.ACT) -> None:
        """Remove an own comment; one that is gone is fine (``DELETE /pulls/comments/{note_id}``)."""
        ...

    async def reply(
        self, repo: str, number: int, discussion_id: str, body: str, *, priority: Priority = Priority.REPLY
    ) -> CommentRef:
        """Answer in a thread (``POST /pulls/{n}/discussions/{discussion_id}/comments``); never sent twice."""
        ...

    async def resolve(self, repo: str, number: int, discussion_id: str, *, priority: Priority = Priority.ACT) -> None:
        """Mark a thread as resolved (``PUT /pulls/{n}/comments/{discussion_id}``)."""
        ...

    async def add_labels(
        self, repo: str, number: int, labels: tuple[str, ...], *, priority: Priority = Priority.ACT
    ) -> None:
        """Put labels on; one that is there is fine (``POST /pulls/{n}/labels``)."""
        ...

    async def remove_label(self, repo: str, number: int, label: str, *, priority: Priority = Priority.ACT) -> None:
        """Take a label off; one that is not there is fine (``DELETE /pulls/{n}/labels/{name}``)."""
        ...

    async def changed_files(
        self, repo: str, number: int, *, priority: Priority = Priority.OBSERVE
    ) -> list[ChangedFile]:
        """The files of the diff with their hunks (``GET /pulls/{n}/files``, else ``files.json``)."""
        ...

    async def file_text(self, repo: str, path: str, ref: str, *, priority: Priority = Priority.OBSERVE) -> str | None:
        """A file's text at a branch, tag or commit; ``None`` if there is none (``GET /contents/{path}``)."""
        ...

    async def directory(
        self, repo: str, path: str, ref: str, *, priority: Priority = Priority.OBSERVE
    ) -> list[DirectoryEntry]:
        """What lies in a directory, ``""`` being the root; nothing where there is none (``GET /contents/{path}``)."""
        ...

    async def role(self, repo: str, number: int, login: str, *, priority: Priority = Priority.OBSERVE) -> Role:
        """The strongest standing of ``login`` for this pull request (``GET /collaborators/{login}/permission``)."""
        ...

    async def may_push(self, repo: str, *, priority: Priority = Priority.OBSERVE) -> bool:
        """Whether GateBot's account may push to ``repo`` (``GET /collaborators/self-permission``)."""
        ...

    async def close(self) -> None:
        """Let go of connections and of whoever waits for the call budget."""
        ...
