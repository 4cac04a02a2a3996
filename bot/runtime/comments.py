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
"""Sending texts: new comments, and the one that is edited in place. Called by ``bot.runtime.act`` only."""

from __future__ import annotations

from dataclasses import replace

import sqlalchemy as sa

from bot.errors import NotFound
from bot.forge import Priority, PullRequest
from bot.gate.decision import WriteSticky
from bot.runtime import ledger, sticky
from bot.runtime.ledger import Sticky
from bot.runtime.markers import carries, marked
from bot.runtime.masking import secrets_of, without
from bot.runtime.outside import Outside, RoomAnswer
from bot.runtime.sticky import MARKER, Urge

_MARK = f"sticky-{MARKER}"


def without_secrets(body: str, outside: Outside) -> str:
    """The last look at a text before it leaves: whatever it quotes, no secret of ours goes with it."""
    return without(secrets_of(outside.settings), body)


async def write_comment(body: str, pr: PullRequest, outside: Outside, priority: Priority = Priority.ACT) -> RoomAnswer:
    """A new comment."""
    made = await outside.forge.create_comment(pr.repo, pr.number, without_secrets(body, outside), priority=priority)
    return RoomAnswer("done", data={"note_id": str(made.note_id), "discussion_id": made.discussion_id})


async def due(pr: PullRequest, name: str, outside: Outside) -> WriteSticky | None:
    """What the sticky comment should say now, if it must be written for it.

    Args:
        pr: The pull request.
        name: Tells this write from the others: part of its effect key.
        outside: The world.
    """
    case_key = f"{pr.repo}#{pr.number}"
    kind = WriteSticky.model_fields["kind"].default
    known, stored, begun = await outside.database.run(
        lambda c: (
            ledger.sticky(c, case_key, MARKER),
            sticky.read(c, case_key),
            ledger.left_open(c, case_key, kind),
        )
    )
    urge = max((section.urge for section in stored.values()), default=Urge.NONE)
    if begun:  # an attempt was interrupted: what became of it is looked at, and its row settled
        urge = max(urge, Urge.EDIT)
    if known is not None and not known.digest:  # it was seen to say something else
        urge = max(urge, Urge.EDIT)
    if urge <= Urge.WAIT:
        return None
    bodies = {section: found.body for section, found in stored.items()}
    text = sticky.render_sticky(bodies, outside.settings.gate.language)
    only_edit = urge is Urge.EDIT
    return WriteSticky(effect_key=f"{case_key}:sticky:write:{name}", body=text, only_if_exists=only_edit)


async def write_sticky(action: WriteSticky, pr: PullRequest, outside: Outside) -> RoomAnswer:
    """Create the sticky comment, or edit it where its text differs; one that somebody deleted is made anew."""
    case_key, database = f"{pr.repo}#{pr.number}", outside.database
    body = without_secrets(action.body, outside)
    if outside.settings.comments.hidden_markers:
        body = marked(body, _MARK, f"{case_key}:{MARKER}")
    known = await database.run(lambda c: ledger.sticky(c, case_key, MARKER))
    if known is None:
        known = await _find(action, body, pr, outside)
    if known is not None and not await _edit(known, body, pr, outside):
        await database.run(lambda c: ledger.forget_sticky(c, case_key, MARKER))
        known = None
    if known is None and action.only_if_exists:
        await database.run(lambda c: sticky.settle(c, case_key))
        return RoomAnswer("done", "there is none to edit")
    if known is None:
        made = (await write_comment(body, pr, outside)).data
        known = Sticky(int(made["note_id"]), made["discussion_id"], "")
        outside.point(f"created {action.effect_key}")
    written = replace(known, digest=sticky.digest(body))
    await database.run(lambda c: _enter(c, case_key, action, written, outside.stamp()))
    return RoomAnswer("done", data={"note_id": str(written.note_id), "discussion_id": written.discussion_id})


async def _edit(known: Sticky, body: str, pr: PullRequest, outside: Outside) -> bool:
    """False when the comment is gone. A text that once did not stick is read back at once, others by the next list."""
    if known.digest == sticky.digest(body):
        return True
    try:
        await outside.forge.edit_comment(pr.repo, known.note_id, body, read_back=not known.digest)
    except NotFound:
        return False
    return True


def _enter(connection: sa.Connection, case_key: str, action: WriteSticky, written: Sticky, now: float) -> None:
    """What the comment says now; attempts that failed earlier are overtaken by this one."""
    ledger.keep_sticky(connection, case_key, MARKER, written)
    sticky.settle(connection, case_key)
    for key in ledger.left_open(connection, case_key, action.kind):
        if key != action.effect_key:
            ledger.finish(connection, key, "done", now, detail="overtaken by a later write")


async def _find(action: WriteSticky, body: str, pr: PullRequest, outside: Outside) -> Sticky | None:
    """Look for a sticky comment that the store does not know; there can be one only after an interrupted attempt."""
    case_key = f"{pr.repo}#{pr.number}"
    begun = await outside.database.run(lambda c: _begun_before(c, case_key, action))
    if not begun:
        return None
    for comment in await outside.forge.comments(pr.repo, pr.number, priority=Priority.ACT):
        ours = carries(comment, outside.bot_login, _MARK, f"{case_key}:{MARKER}")
        same = comment.author == outside.bot_login and sticky.digest(comment.body) == sticky.digest(body)
        if ours or same:
            return Sticky(comment.note_id, comment.discussion_id, sticky.digest(comment.body))
    return None


def _begun_before(connection: sa.Connection, case_key: str, action: WriteSticky) -> bool:
    own = ledger.find(connection, action.effect_key)
    others = [key for key in ledger.left_open(connection, case_key, action.kind) if key != action.effect_key]
    return bool(others) or (own is not None and own.attempts > 1)
