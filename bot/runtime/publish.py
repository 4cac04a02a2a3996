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
"""Carries out a review: what the review room plans leaves as ordinary actions, each with an effect key of its own.

So an interruption between two comments repeats none of them, and the ledger is the memory of what was commented. The
list of comments is read only where there is something of ours to look after.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from bot.errors import GateBotError, RetryLater
from bot.forge import Comment, PullRequest
from bot.gate.decision import CheapReview, LineComment, PublishReview, Reply, ResolveThread, UpsertSticky
from bot.gate.finding import Finding
from bot.review.diffmap import read_hunks
from bot.review.fingerprint import read_mark
from bot.review.planner import CAP, Existing, Placed, ReviewPlan, ReviewPolicy, plan_review
from bot.review.words import comment_body, summary_body
from bot.runtime import ledger, sticky
from bot.runtime.act import perform
from bot.runtime.outside import Outside, Reviewer, RoomAnswer
from bot.texts import render

log = logging.getLogger(__name__)

_MOST_REFUSED = 3  # after so many findings in a row that the forge takes nowhere, the rest goes to the summary


@dataclass(frozen=True, slots=True)
class _Written:
    """A comment of ours as the ledger knows it."""

    head_sha: str
    source: str
    name: str
    discussion_id: str


def make_reviewer() -> Reviewer:
    """The reviewer: findings of a build, or of the quick checks, on the lines of the pull request."""

    async def review(action: PublishReview | CheapReview, pull: PullRequest, outside: Outside) -> RoomAnswer:
        if pull.head_sha != action.head_sha:
            return await _moved(action, pull, outside)
        if isinstance(action, CheapReview):
            return await _cheap(action, pull, outside)
        return await _publish(action, action.findings, "build", pull, outside)

    return review


async def _moved(action: PublishReview | CheapReview, pull: PullRequest, outside: Outside) -> RoomAnswer:
    """These lines are gone; what is wrong with the new head its own build will tell."""
    if isinstance(action, CheapReview):
        body = render("review.moved", outside.settings.gate.language)
        await _answer(action, body, pull, outside)
    return RoomAnswer("done", "the head has moved")


async def _cheap(action: CheapReview, pull: PullRequest, outside: Outside) -> RoomAnswer:
    from bot.repair.reason import because
    from bot.repair.workspace import SourceGone
    from bot.runtime.heads import head_task
    from bot.runtime.quick_check import check  # loads linters' wrappers; only /review needs them

    language = outside.settings.gate.language
    changed = await outside.changes_of(pull)
    try:
        with outside.busy():
            outcome = await asyncio.to_thread(check, head_task(pull, outside.settings), changed, language)
    except RetryLater:
        raise
    except SourceGone:
        await _answer(action, because("source-gone").text(language), pull, outside)
        return RoomAnswer("refused", "the source branch is gone")
    except GateBotError as error:  # whoever asked must hear of it, and the operator reads it in the log
        log.error("%s: %s", action.effect_key, error)
        await _answer(action, render("review.failed", language, why=str(error)), pull, outside)
        return RoomAnswer("refused", str(error))
    if outcome is None:
        return await _moved(action, pull, outside)
    answer = await _publish(action, outcome.findings, "review", pull, outside, missing=outcome.missing)
    text_id = "review.answer" if outcome.findings else "review.answer_clean"
    values = {"total": answer.data["total"], "created": answer.data["created"]} if outcome.findings else {}
    await _answer(action, render(text_id, language, **values), pull, outside)
    return answer


async def _answer(action: CheapReview, body: str, pull: PullRequest, outside: Outside) -> None:
    await perform(Reply(effect_key=f"{action.effect_key}:answer", to_note=action.to_note, body=body), pull, outside)


async def _publish(
    action: PublishReview | CheapReview,
    findings: Sequence[Finding],
    source: str,
    pull: PullRequest,
    outside: Outside,
    *,
    missing: Sequence[str] = (),
) -> RoomAnswer:
    case_key = f"{pull.repo}#{pull.number}"
    written = await outside.database.run(lambda c: _written(c, case_key))
    listed = await outside.forge.comments(pull.repo, pull.number) if written else []
    closed = await outside.database.run(lambda c: _look_back(c, case_key, listed, pull.head_sha, outside.stamp()))
    existing = _existing(written, listed, outside.bot_login, closed)
    files = (
        {file.path: read_hunks(file.patch) for file in await outside.changes_of(pull) if file.status != "deleted"}
        if findings
        else {}
    )
    used = sum(comment.head_sha == pull.head_sha for comment in written)
    plan = plan_review(findings, files, existing, ReviewPolicy(cap=CAP - used, source=source))
    refused = await _create(plan, source, pull, outside)
    for comment in plan.resolve:
        key = _resolve_key(case_key, pull.head_sha, comment.discussion_id)
        await perform(ResolveThread(effect_key=key, discussion_id=comment.discussion_id), pull, outside)
    body = summary_body(
        plan, (*refused, *plan.summary_rest), pull.head_sha, outside.settings.gate.language, missing=missing
    )
    section = UpsertSticky(
        effect_key=f"{action.effect_key}:summary",
        marker="review",
        body=body,
        only_if_exists=not findings and not written,
        may_wait=not findings and source == "build",  # a green build's own comments follow soon
    )
    await perform(section, pull, outside)
    return RoomAnswer(
        "done",
        data={
            "total": str(len(plan.create) + len(plan.keep) + len(plan.summary_rest)),
            "created": str(len(plan.create) - len(refused)),
            "kept": str(len(plan.keep)),
            "resolved": str(len(plan.resolve)),
            "rest": str(len(plan.summary_rest) + len(refused)),
        },
    )


async def _create(plan: ReviewPlan, source: str, pull: PullRequest, outside: Outside) -> tuple[Placed, ...]:
    """Write the comments, each on the first rung of the ladder that the forge takes; return what it takes nowhere."""
    refused: list[Placed] = []
    in_a_row = 0
    for item in plan.create:
        done = in_a_row < _MOST_REFUSED and await _comment(item, source, pull, outside)
        in_a_row = 0 if done else in_a_row + 1
        if not done:
            refused.append(item)
    return tuple(refused)


async def _comment(item: Placed, source: str, pull: PullRequest, outside: Outside) -> bool:
    language, marks = outside.settings.gate.language, outside.settings.comments.hidden_markers
    key = f"{pull.repo}#{pull.number}:line:{pull.head_sha}:{source}:{item.name}"
    rungs = [item, Placed(item.finding, item.name, item.path, 0, item.text)] if item.line else [item]
    for rung in rungs:
        body = comment_body(rung, source, language, hidden_mark=marks)
        where = key if rung is item else f"{key}:file"
        action = LineComment(effect_key=where, path=rung.path, line=rung.line, body=body)
        if (await perform(action, pull, outside)).outcome == "done":
            return True
    return False


def _written(connection: sa.Connection, case_key: str) -> list[_Written]:
    found = []
    for row in ledger.of_kind(connection, case_key, LineComment.model_fields["kind"].default):
        head, source, name = row.key.removeprefix(f"{case_key}:line:").split(":")[:3]
        found.append(_Written(head, source, name, row.data.get("discussion_id", "")))
    return found


def _resolve_key(case_key: str, head_sha: str, discussion_id: str) -> str:
    return f"{case_key}:resolve:{head_sha}:{discussion_id}"


def _look_back(
    connection: sa.Connection, case_key: str, listed: Sequence[Comment], head_sha: str, now: float
) -> frozenset[str]:
    """Settle what the list of comments tells of earlier writes; the threads that we resolved ourselves.

    A thread whose resolving was begun by a life that died is resolved, or gone, or still open; an open one keeps its
    row while this head may plan it again. The list also proves what the sticky comment says.
    """
    if listed:
        sticky.compare(connection, case_key, listed)
    kind = ResolveThread.model_fields["kind"].default
    still_open = {comment.discussion_id for comment in listed if not comment.resolved}
    for key in ledger.left_open(connection, case_key, kind):
        thread = key.rpartition(":")[2]
        if thread not in still_open:
            ledger.finish(connection, key, "done", now, detail="found after an interruption")
        elif key != _resolve_key(case_key, head_sha, thread):
            ledger.finish(connection, key, "failed", now, detail="overtaken by a later head")
    return frozenset(row.key.rpartition(":")[2] for row in ledger.of_kind(connection, case_key, kind))


def _existing(
    written: Iterable[_Written], listed: Iterable[Comment], bot_login: str, closed: frozenset[str]
) -> list[Existing]:
    """What the ledger knows, as the list shows it now, and marked comments of ours that a lost store forgot.

    A comment that somebody deleted counts as resolved: it is not written again.
    """
    shown = {comment.discussion_id: comment for comment in listed if comment.author == bot_login}
    known: dict[str, Existing] = {}
    for one in written:
        comment = shown.get(one.discussion_id)
        if comment is None:
            known[one.discussion_id] = Existing(one.name, one.source, one.discussion_id, resolved=True)
        else:
            known[one.discussion_id] = _seen(one.source, one.name, comment, bot_login, closed)
    for comment in shown.values():
        mark = read_mark(comment.body) if comment.discussion_id not in known else None
        if mark is not None:
            known[comment.discussion_id] = _seen(mark[0], mark[1], comment, bot_login, closed)
    return list(known.values())


def _seen(source: str, name: str, comment: Comment, bot_login: str, closed: frozenset[str]) -> Existing:
    return Existing(
        name=name,
        source=source,
        discussion_id=comment.discussion_id,
        resolved=comment.resolved,
        answered=any(author != bot_login for author in comment.reply_authors),
        outdated=comment.outdated,
        closed_by_us=comment.discussion_id in closed,
    )
