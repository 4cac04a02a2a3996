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
"""The one way out: every comment, label, build and push leaves through :func:`perform`, once per effect key.

The order that makes it "once": the ledger says *started* before the call leaves, and *done* after the answer. Whoever
finds *started* (after a crash, or a time-out that may have come too late) looks for the effect before repeating it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

import sqlalchemy as sa

from bot.errors import GateBotError, NotFound, RetryLater, TellOperator
from bot.forge import Comment, Priority, PullRequest
from bot.gate.decision import (
    AddLabel,
    AnyAction,
    CheapReview,
    LineComment,
    PostCommand,
    PublishReview,
    RemoveLabel,
    Repair,
    Reply,
    ResolveThread,
    StartBuild,
    UpsertSticky,
    WriteSticky,
)
from bot.gate.facts import ActionResult
from bot.review.fingerprint import read_mark
from bot.runtime import ledger, records, sticky
from bot.runtime.comments import due, without_secrets, write_comment, write_sticky
from bot.runtime.markers import carries, marked, plain
from bot.runtime.outside import Outside, RoomAnswer
from bot.runtime.sticky import Urge
from bot.runtime.tables import effects

log = logging.getLogger(__name__)


async def perform(action: AnyAction, pr: PullRequest, outside: Outside) -> ActionResult:
    """Carry out an action unless its effect key is done already.

    Args:
        action: What was decided.
        pr: The pull request as observed in the same wake-up.
        outside: The world.

    Raises:
        RetryLater: A passing trouble; the same call may be made again with the same action.
    """
    case_key, key = f"{pr.repo}#{pr.number}", action.effect_key
    database = outside.database
    effect = await database.run(lambda c: ledger.begin(c, key, case_key, action.kind, outside.stamp()))
    if effect.final:
        return _result(action, effect.state, effect.detail, effect.data)
    outside.point(f"begun {key}")
    try:
        answer = None
        if effect.attempts > 1:
            answer = await _look_for(action, pr, outside)
        if answer is None:
            answer = await _carry_out(action, pr, outside)
    except RetryLater as error:
        if not error.effect_unknown and effect.attempts == 1:
            await database.run(lambda c: ledger.withdraw(c, key))
        raise
    except GateBotError as error:
        answer = RoomAnswer("refused", without_secrets(str(error), outside))
        log.log(logging.ERROR if isinstance(error, TellOperator) else logging.WARNING, "%s: %s", key, answer.detail)
    outside.point(f"sent {key}")
    await database.run(lambda c: _enter(c, action, case_key, answer, outside))
    outside.point(f"done {key}")
    return _result(action, answer.outcome, answer.detail, answer.data)


async def bring_up_to_date(pr: PullRequest, name: str, outside: Outside) -> ActionResult | None:
    """Write the sticky comment if something that was set since its last write asks for it; ``None``: nothing does.

    Args:
        pr: The pull request.
        name: Tells this write from the others of the pull request, such as the number of the wake-up.
        outside: The world.

    Raises:
        RetryLater: A passing trouble; whoever asks next will find it still to be done.
    """
    action = await due(pr, name, outside)
    if action is None:
        return None
    result = await perform(action, pr, outside)
    if result.outcome != "done":  # the forge will not have this text: the next change is the next try
        await outside.database.run(lambda c: sticky.settle(c, f"{pr.repo}#{pr.number}", Urge.WAIT))
    return result


async def give_up(action: AnyAction, pr: PullRequest, why: str, outside: Outside) -> ActionResult:
    """Enter that an action failed for good: the trouble outlasted every retry."""
    answer = RoomAnswer("failed", without_secrets(why, outside))
    await outside.database.run(lambda c: _enter(c, action, f"{pr.repo}#{pr.number}", answer, outside))
    return _result(action, answer.outcome, answer.detail, answer.data)


def _enter(connection: sa.Connection, action: AnyAction, case_key: str, answer: RoomAnswer, outside: Outside) -> None:
    now = outside.stamp()
    ledger.finish(connection, action.effect_key, answer.outcome, now, detail=answer.detail, data=answer.data)
    detail = action.effect_key + (f": {answer.detail}" if answer.detail else "")
    records.note(connection, records.AuditEntry(now, case_key, outside.bot_login, action.kind, answer.outcome, detail))


def _result(action: AnyAction, outcome: str, detail: str, data: dict[str, str]) -> ActionResult:
    return ActionResult(effect_key=action.effect_key, kind=action.kind, outcome=outcome, detail=detail, data=dict(data))


async def _carry_out(action: AnyAction, pr: PullRequest, outside: Outside) -> RoomAnswer:
    match action:
        case PostCommand():
            return await write_comment(action.command, pr, outside)
        case Reply() if action.to_note < 0:
            # The command came by the command line, and so does the answer; the pull request need not hear it.
            return RoomAnswer("done", plain(action.body))
        case Reply():
            return await write_comment(_signed(action.body, action, outside), pr, outside, Priority.REPLY)
        case UpsertSticky():
            case_key = f"{pr.repo}#{pr.number}"
            kept = await outside.database.run(lambda c: sticky.put(c, case_key, action))
            return RoomAnswer("done", "" if kept else "there is none to edit")
        case WriteSticky():
            return await write_sticky(action, pr, outside)
        case AddLabel():
            await outside.forge.add_labels(pr.repo, pr.number, (action.label,))
            return RoomAnswer("done")
        case RemoveLabel():
            return await _remove_label(action.label, pr, outside)
        case StartBuild():
            return await _start_build(action, pr, outside)
        case PublishReview() | CheapReview():
            return await outside.reviewer(action, pr, outside)
        case LineComment():
            return await _comment_on_line(action, pr, outside)
        case ResolveThread():
            await outside.forge.resolve(pr.repo, pr.number, action.discussion_id)
            return RoomAnswer("done")
        case Repair():
            return await outside.repairer(action, pr, outside.files_of)


async def _look_for(action: AnyAction, pr: PullRequest, outside: Outside) -> RoomAnswer | None:
    """The effect of an earlier attempt, if it can be seen; ``None``: it did not happen, or repeating is harmless."""
    match action:
        case PostCommand():
            return await _find_comment(pr, outside, lambda comment: plain(comment.body) == plain(action.command))
        case Reply():
            return await _find_comment(pr, outside, _recogniser(action, outside))
        case StartBuild():
            return await _find_build(action, pr, outside)
        case LineComment():
            return await _find_comment(pr, outside, lambda comment: _same_finding(comment.body, action.body))
        case _:
            # Labels and the sticky comment say how things should be, not what to add; repair and review look for
            # their own traces (commit trailer, the ledger of their line comments).
            return None


def _signed(body: str, action: Reply, outside: Outside) -> str:
    return marked(body, action.kind, action.effect_key) if outside.settings.comments.hidden_markers else body


def _recogniser(action: Reply, outside: Outside) -> Callable[[Comment], bool]:
    if outside.settings.comments.hidden_markers:
        return lambda comment: carries(comment, outside.bot_login, action.kind, action.effect_key)
    return lambda comment: plain(comment.body) == plain(action.body)


async def _comment_on_line(action: LineComment, pr: PullRequest, outside: Outside) -> RoomAnswer:
    made = await outside.forge.create_comment(
        pr.repo,
        pr.number,
        without_secrets(action.body, outside),
        path=action.path,
        line=action.line,
        file_level=not action.line,
    )
    return RoomAnswer("done", data={"note_id": str(made.note_id), "discussion_id": made.discussion_id})


def _same_finding(one: str, other: str) -> bool:
    return plain(one) == plain(other) and read_mark(one) == read_mark(other)


async def _find_comment(pr: PullRequest, outside: Outside, recognise: Callable[[Comment], bool]) -> RoomAnswer | None:
    """A comment of ours that no other effect of this case accounts for: a command may rightly stand there twice."""
    case_key = f"{pr.repo}#{pr.number}"
    taken = await outside.database.run(lambda c: _note_ids(c, case_key))
    for comment in await outside.forge.comments(pr.repo, pr.number, priority=Priority.ACT):
        if comment.author == outside.bot_login and comment.note_id not in taken and recognise(comment):
            data = {"note_id": str(comment.note_id), "discussion_id": comment.discussion_id}
            return RoomAnswer("done", "found after an interruption", data)
    return None


def _note_ids(connection: sa.Connection, case_key: str) -> set[int]:
    rows = connection.execute(
        sa.select(effects.c.data).where(effects.c.case_key == case_key, effects.c.state == "done")
    )
    return {int(found) for (data,) in rows if (found := json.loads(data).get("note_id", "")).isdigit()}


async def _remove_label(label: str, pr: PullRequest, outside: Outside) -> RoomAnswer:
    try:
        await outside.forge.remove_label(pr.repo, pr.number, label)
    except NotFound:  # it was gone already, which is all that was wanted
        return RoomAnswer("done", "was not set")
    return RoomAnswer("done")


async def _start_build(action: StartBuild, pr: PullRequest, outside: Outside) -> RoomAnswer:
    queue_id = await outside.builds.start(build_parameters(action, pr))
    return RoomAnswer("done", data={"queue_id": str(queue_id)})


def build_parameters(action: StartBuild, pr: PullRequest) -> dict[str, str]:
    """Parameters of the gate job: the names that the gate's own plug-in uses for its variables, and our effect key.

    Unknown ones are dropped by the server, so offering more than a job declares does no harm.
    """
    return {
        "giteePullRequestIid": str(pr.number),
        "giteePullRequestLastCommit": action.head_sha,
        "giteeSourceBranch": pr.head_ref,
        "giteeSourceRepoHttpUrl": pr.head_url,
        "giteeTargetBranch": pr.base_ref,
        "giteeTargetRepoHttpUrl": pr.base_url,
    }


async def _find_build(action: StartBuild, pr: PullRequest, outside: Outside) -> RoomAnswer | None:
    for build in await outside.builds.builds_of(pr.number):
        if build.head_sha and build.head_sha == action.head_sha and build.running:
            return RoomAnswer("done", "found after an interruption", {"queue_id": str(build.queue_id)})
    return None
