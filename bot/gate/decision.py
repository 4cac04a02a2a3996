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
"""What a wake-up decided: actions with effect keys, the next stored case, and when to look again."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from bot.gate.case import Case
from bot.gate.finding import Finding


class Action(BaseModel):
    """Base of all actions.

    Attributes:
        effect_key: Names the effect, not the attempt: ``owner/repo#647:check-pr:<head sha>:1``. The act step carries
            out each key at most once, however often the wake-up is replayed.
    """

    model_config = ConfigDict(frozen=True)
    effect_key: str


class PostCommand(Action):
    """Write a command for the gate robot (``/check-pr`` or ``/retest``) as a comment of its own."""

    kind: Literal["post_command"] = "post_command"
    command: str


class Reply(Action):
    """Answer a person once; ``to_note`` is the comment that asked, 0 for none."""

    kind: Literal["reply"] = "reply"
    to_note: int
    body: str


class UpsertSticky(Action):
    """Set one section of the one comment that is edited in place; it is written once, at the end of the wake-up.

    Sections (``marker``): ``summary`` (state, later the final report), ``template`` (what the description lacks),
    ``review`` (what is on lines and what is not), ``patch`` (a proposed fix), ``flake`` (evidence for maintainers).

    Attributes:
        marker: The section.
        body: Its text; an empty one takes the section out.
        only_if_exists: Do not write the comment anew for this section alone.
        may_wait: Do not even edit it for this section alone: it goes out with the next write.
    """

    kind: Literal["upsert_sticky"] = "upsert_sticky"
    marker: str
    body: str
    only_if_exists: bool = False
    may_wait: bool = False


class WriteSticky(Action):
    """Create or edit the one comment of ours that holds all sections; asked for by the runtime, not by ``decide``."""

    kind: Literal["write_sticky"] = "write_sticky"
    body: str
    only_if_exists: bool = False


class AddLabel(Action):
    """Put a label on the pull request."""

    kind: Literal["add_label"] = "add_label"
    label: str


class RemoveLabel(Action):
    """Take a label off; absent already counts as done."""

    kind: Literal["remove_label"] = "remove_label"
    label: str


class StartBuild(Action):
    """Start the gate job ourselves (``gate.owner: self``)."""

    kind: Literal["start_build"] = "start_build"
    head_sha: str


class PublishReview(Action):
    """Put the findings of a build on the lines of the pull request and resolve what is outdated."""

    kind: Literal["publish_review"] = "publish_review"
    head_sha: str
    build_number: int
    findings: tuple[Finding, ...]


class LineComment(Action):
    """Write one comment of the review room on a line of the new file, or on the file where ``line`` is 0."""

    kind: Literal["line_comment"] = "line_comment"
    path: str
    line: int
    body: str


class ResolveThread(Action):
    """Resolve a thread of ours."""

    kind: Literal["resolve_thread"] = "resolve_thread"
    discussion_id: str


class Repair(Action):
    """Mend the findings in a work tree at ``head_sha``; ``mode`` is ``push`` or ``propose``."""

    kind: Literal["repair"] = "repair"
    head_sha: str
    build_number: int
    mode: str
    findings: tuple[Finding, ...]


class CheapReview(Action):
    """Run the checks that need no build server on the changed lines (``/review``)."""

    kind: Literal["cheap_review"] = "cheap_review"
    head_sha: str
    to_note: int


AnyAction = (
    PostCommand
    | Reply
    | UpsertSticky
    | AddLabel
    | RemoveLabel
    | StartBuild
    | PublishReview
    | Repair
    | CheapReview
    | LineComment
    | ResolveThread
    | WriteSticky
)


class Decision(BaseModel):
    """The whole outcome of ``decide``.

    ``wake_at`` is ``None`` only when the case has ended or nothing but an outside event can move it on (then the sweep
    still looks). ``again`` asks for another observe–decide round at once, because an action's result matters.
    """

    model_config = ConfigDict(frozen=True)
    case: Case
    actions: tuple[AnyAction, ...] = ()
    wake_at: datetime | None = None
    again: bool = False
