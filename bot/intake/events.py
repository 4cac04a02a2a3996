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
"""What a webhook says, as frozen values, and the promise the receiver needs of the durable inbox."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class MergeRequestEvent(_Value):
    """A merge-request hook. Everything but ``repo`` and ``number`` may be missing (empty); re-read before acting on it.

    Attributes:
        action: ``open``, ``update``, ``merge``, ``close``, ``reopen`` or whatever the forge sent, lower case;
            ``state == "merged"`` is always ``merge``, because the forge may call a merge an ``update``.
        state: ``open``, ``closed``, ``merged`` or empty.
        description: None when the payload did not carry it (which is not the same as an empty description).
        labels: None when the payload did not carry them.
        old_sha: The head before a push, when the forge told.
        updated_at: As sent; part of the effect key, never parsed.
    """

    kind: Literal["merge_request"] = "merge_request"
    repo: str
    number: int
    action: str
    state: str = ""
    title: str = ""
    description: str | None = None
    author: str = ""
    actor: str = ""
    head_sha: str = ""
    head_ref: str = ""
    head_repo: str = ""
    head_url: str = ""
    base_ref: str = ""
    base_sha: str = ""
    labels: frozenset[str] | None = None
    draft: bool = False
    old_sha: str = ""
    updated_at: str = ""
    html_url: str = ""


class NoteEvent(_Value):
    """A comment on a merge request. The forge does not tell creation from edit: compare ``note_id`` and ``digest``.

    Attributes:
        note_id: Numeric comment id; 0 when the payload had none.
        digest: SHA-256 of the body in hex; a known ``note_id`` with another digest is an edit.
        author: Login of the commenter.
        pr_author: Login of the pull request's author, empty when not told.
        created_at: As sent.
    """

    kind: Literal["note"] = "note"
    repo: str
    number: int
    note_id: int
    discussion_id: str = ""
    body: str = ""
    digest: str = ""
    author: str = ""
    pr_author: str = ""
    pr_state: str = ""
    head_sha: str = ""
    on_line: bool = False
    created_at: str = ""


class Ignored(_Value):
    """An event that needs nothing of us; ``reason`` is a fixed word for the counter."""

    kind: Literal["ignored"] = "ignored"
    event: str
    reason: str


Event = MergeRequestEvent | NoteEvent


class DeliveryKeys(_Value):
    """Three names of one delivery. The inbox refuses an event when any non-empty one is known already.

    Attributes:
        delivery_id: Header ``X-GitCode-Delivery``: equal on a redelivery.
        body_uuid: ``uuid`` of the body: equal on a redelivery by another path.
        effect: What happened, told by content: equal when a hook registered twice sends the same thing under new ids.
        subject: The thing it happened to (``note:owner/repo#1:99``); NOT unique: an edited note has the same subject
            and another effect.
    """

    delivery_id: str = ""
    body_uuid: str = ""
    effect: str
    subject: str


class StoredEvent(_Value):
    """An accepted event with its keys, ready to be stored."""

    keys: DeliveryKeys
    received_at: datetime
    event: Event = Field(discriminator="kind")

    @property
    def case_key(self) -> str:
        """``owner/repo#number`` of the pull request concerned."""
        return f"{self.event.repo}#{self.event.number}"


class Inbox(Protocol):
    """The durable store behind the receiver."""

    async def put(self, event: StoredEvent) -> bool:
        """Store the event durably; return only when it would survive a power cut.

        Returns:
            True when it is new, False when one of its keys is known already (then nothing is stored).

        Raises:
            Exception: Of any type, when it could not be stored; the receiver answers 503 and the sender may try again.
        """
        ...
