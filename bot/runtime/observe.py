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
"""Observe: everything a wake-up may know, read with as few calls to the forge as will do.

At most one GET of the pull request and one of its comments per look. Hooks are believed where they say everything
(a comment's text and author, the head it was made on); whatever they leave open is read.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict

from bot.build_server import Build
from bot.errors import GateBotError, RetryLater
from bot.forge import Comment, PullRequest
from bot.gate.case import Case, Phase
from bot.gate.facts import (
    CommandRequest,
    DiagnosisFacts,
    Facts,
    PullRequestFacts,
)
from bot.gate.wants import wants_build, wants_template
from bot.intake.commands import Command
from bot.runtime import look_at_build, records, sticky
from bot.runtime.description import judge_description
from bot.runtime.events import Events, sort_events
from bot.runtime.evidence import past_of, ways_to_changed_code
from bot.runtime.inbox import InboxRow
from bot.runtime.judge import judge, telling, test_id
from bot.runtime.known_pull import is_stale, labels_gone_between
from bot.runtime.memory import Memory
from bot.runtime.outside import Outside
from bot.runtime.said import Asked, Said, TakenIn, from_comment, from_event, moment, take_in

log = logging.getLogger(__name__)

_JUST_OPENED = timedelta(minutes=10)
_ROLE_ORDER = ("anyone", "author", "collaborator", "maintainer")


class Observation(BaseModel):
    """What was seen: the facts for ``decide``, the memory to keep, and the pull request for ``act``."""

    model_config = ConfigDict(frozen=True)
    facts: Facts
    memory: Memory
    pull: PullRequest


async def observe(
    case: Case, memory: Memory, rows: Sequence[InboxRow], outside: Outside, *, first: bool
) -> Observation:
    """Read the world for one case.

    Args:
        case: The case as stored.
        memory: What earlier wake-ups saw.
        rows: Events that nobody has handled yet.
        outside: The world.
        first: False for the further rounds of one wake-up, in which only what our own actions changed is read again.

    Raises:
        RetryLater: The forge or the build server does not answer.
        GateBotError: They refuse; the message says what to change.
    """
    policy, now = outside.settings.gate, outside.clock.now()
    events = sort_events(rows)
    results = memory.results
    seen = look_at_build.SeenBuild(None)
    taken = _take_in_hooks(memory, events, outside)
    if wants_build(case) or taken.asked or events.orders or events.pulls:
        seen = await look_at_build.newest_build(case, memory, outside)
    running = seen.build is not None and seen.build.running
    pull, memory = await _pull(case, taken, events, outside, first=first, running=running)
    if _wants_comments(case, memory, events, pull, now, first=first):
        taken = await _take_in_list(case, memory, taken, events, outside)
        memory = taken.memory
    memory = _note_push(memory, events, rows)
    if wants_template(case, pull.head_sha, pull.base_ref, policy):
        memory = await judge_description(pull, memory, outside)
    commands = await _commands(taken.asked, events, pull, memory, outside)
    memory = commands[1]
    if seen.build is not None and look_at_build.wants_reading(seen.build, memory, policy.bypass_seconds):
        memory = await _diagnose(case, seen.build, pull, memory, outside)
    memory = await _may_push(pull, memory, outside)
    facts = Facts(
        now=now,
        bot_login=outside.bot_login,
        pr=_facts_of(pull, memory),
        template=memory.template,
        commands=commands[0],
        suggestions=taken.suggestions,
        robot_notes=memory.robot_notes,
        gate_requests=memory.gate_requests,
        build=look_at_build.facts_of(seen.build, memory) if seen.build else None,
        diagnosis=memory.diagnosis,
        may_push=memory.may_push.get(pull.head_repo, False),
        results=results,
        build_lost=seen.lost,
        label_gaps=labels_gone_between(case, events, pull, policy),
    )
    return Observation(facts=facts, memory=memory.with_(results=()), pull=pull)


def _take_in_hooks(memory: Memory, events: Events, outside: Outside) -> TakenIn:
    return _take(outside, memory, [from_event(event, received) for event, received in events.notes])


def _take(outside: Outside, memory: Memory, said: list[Said]) -> TakenIn:
    return take_in(
        said,
        memory,
        outside.settings.gate,
        outside.grammar,
        bot_login=outside.bot_login,
        on_edit=outside.settings.commands.on_edit,
    )


async def _pull(
    case: Case, taken: TakenIn, events: Events, outside: Outside, *, first: bool, running: bool
) -> tuple[PullRequest, Memory]:
    memory, policy, now = taken.memory, outside.settings.gate, outside.clock.now()
    asked = bool(taken.asked)
    if memory.pr and not is_stale(case, memory, events, policy, now, asked=asked, first=first, running=running):
        return memory.pr, memory
    pull = await outside.forge.pull_request(case.repo, case.number)
    return pull, memory.with_(pr=pull, pr_read_at=outside.clock.now())


def _wants_comments(
    case: Case, memory: Memory, events: Events, pull: PullRequest, now: datetime, *, first: bool
) -> bool:
    """Comments come by hook; the list is read where a hook may have been lost or the case is older than we are."""
    if not first:
        return False
    if memory.comments_read_at is None and case.opened_at is None:
        opened = any(event.action == "open" for event in events.pulls)
        young = pull.created_at is not None and now - pull.created_at < _JUST_OPENED
        return not (opened and young)
    if events.nudges:
        return True
    return not events.any and case.phase in (Phase.CHECKING, Phase.STARTING)


async def _take_in_list(case: Case, memory: Memory, before: TakenIn, events: Events, outside: Outside) -> TakenIn:
    listed = await outside.forge.comments(case.repo, case.number)
    await outside.database.run(lambda c: sticky.compare(c, case.key, listed))
    memory = memory.with_(comments_read_at=outside.clock.now())
    since = case.opened_at
    said = [from_comment(comment, fresh=_is_fresh(comment, since)) for comment in listed if not comment.on_line]
    later = _take(outside, memory, said)
    return TakenIn(later.memory, before.asked + later.asked, before.suggestions + later.suggestions)


def _is_fresh(comment: Comment, since: datetime | None) -> bool:
    """A listed comment may give a command only when it was written after the case began: history is not an order."""
    return since is not None and comment.created_at >= since


def _note_push(memory: Memory, events: Events, rows: Sequence[InboxRow]) -> Memory:
    received = {row.row_id: row.received_at for row in rows}
    latest = max(received.values(), default=0.0)
    for event in events.pulls:
        if event.old_sha and memory.pr is not None and event.head_sha == memory.pr.head_sha:
            memory = memory.with_(head_at=moment(event.updated_at, latest))
    return memory


async def _commands(
    asked: Sequence[Asked], events: Events, pull: PullRequest, memory: Memory, outside: Outside
) -> tuple[tuple[CommandRequest, ...], Memory]:
    commands: list[CommandRequest] = []
    for one in asked:
        role, memory = await _role(one.command, one.author, pull, memory, outside)
        commands.append(
            CommandRequest(
                name=one.command.name,
                arguments=one.command.arguments,
                author=one.author,
                role=role,
                note_id=one.note_id,
                at=one.at,
            )
        )
    for order, received in events.orders:
        commands.append(
            CommandRequest(
                name=order.name,
                arguments=order.arguments,
                author=order.author,
                role="maintainer",
                note_id=order.order_id,
                at=moment("", received),
            )
        )
    if commands:
        await _audit(commands, pull, outside)
    return tuple(commands), memory


async def _role(
    command: Command, author: str, pull: PullRequest, memory: Memory, outside: Outside
) -> tuple[str, Memory]:
    """The role of a commenter, looked up only where it decides something; ``unknown`` when that failed."""
    own = "author" if author.lower() == pull.author.lower() else "anyone"
    wanted = outside.settings.gate.roles.get(command.name, "maintainer")
    if _ROLE_ORDER.index(own) >= _ROLE_ORDER.index(wanted):
        return own, memory
    if author in memory.roles:
        return memory.roles[author], memory
    try:
        role = (await outside.forge.role(pull.repo, pull.number, author)).value
    except GateBotError as error:
        log.warning("%s#%d: could not look up the role of %s: %s", pull.repo, pull.number, author, error)
        return "unknown", memory
    return role, memory.with_(roles={**memory.roles, author: role})


async def _audit(commands: Sequence[CommandRequest], pull: PullRequest, outside: Outside) -> None:
    def write(connection: sa.Connection) -> None:
        for command in commands:
            detail = f"/{command.name} {command.arguments}".strip() + f" (note {command.note_id})"
            records.note(
                connection,
                records.AuditEntry(
                    outside.stamp(), f"{pull.repo}#{pull.number}", command.author, "command", command.role, detail
                ),
            )

    await outside.database.run(write)


async def _diagnose(case: Case, build: Build, pull: PullRequest, memory: Memory, outside: Outside) -> Memory:
    red = await look_at_build.read_red(case, build, outside)
    if red is None:
        return memory
    stages, tests, diagnosis = red.stages, red.tests, red.diagnosis
    if diagnosis is None:
        facts = DiagnosisFacts(build_number=build.number, complete=False)
        return memory.with_(diagnosis=facts, failed_stages=stages, failed_tests=tests)
    patches: dict[str, str] = {}
    if diagnosis.findings:
        files = await outside.changes_of(pull)
        patches = {file.path: file.patch for file in files if file.status != "deleted"}
        outside.keep_files(pull, tuple(patches))
    try:
        evidence = past_of(diagnosis, build, pull, outside)
        past = await look_at_build.or_none_again(evidence, again=case.red_since is not None)
    except RetryLater as error:
        log.warning("%s: what other builds tell cannot be read now: %s", case.key, error)
        return memory
    ways = await ways_to_changed_code(diagnosis, patches, pull, outside)
    judged = judge(diagnosis, patches, past or {}, outside.repairable, ways)
    stages = stages or diagnosis.failed_stages
    if not tests:
        tests = tuple(dict.fromkeys(test_id(f) for f in diagnosis.findings if f.tool == "pytest"))
    excerpt = tuple(line for piece in diagnosis.excerpt[:3] for line in piece.text[:20])
    facts = DiagnosisFacts(
        build_number=build.number,
        findings=judged,
        excerpt=excerpt,
        complete=not diagnosis.dropped,
        beyond=len(telling(diagnosis)) - len(judged),
    )
    return memory.with_(diagnosis=facts, failed_stages=stages, failed_tests=tests)


async def _may_push(pull: PullRequest, memory: Memory, outside: Outside) -> Memory:
    """Asked only when a repair is in sight, and a right that we have once an hour for all pull requests of a fork.

    A right that was taken away meanwhile costs nothing: the push is refused, and the fix becomes a patch.
    """
    in_sight = memory.diagnosis is not None and any(finding.repairable for finding in memory.diagnosis.findings)
    if not in_sight or not pull.head_repo or pull.head_repo in memory.may_push:  # no name: the fork was deleted
        return memory
    if outside.pushable.get(pull.head_repo, 0.0) > outside.stamp():
        return memory.with_(may_push={**memory.may_push, pull.head_repo: True})
    try:
        allowed = await outside.forge.may_push(pull.head_repo)
    except RetryLater:
        raise
    except GateBotError as error:
        log.warning("%s: may we push to %s? %s", f"{pull.repo}#{pull.number}", pull.head_repo, error)
        allowed = False
    if allowed:
        outside.believe_pushable(pull.head_repo)
    return memory.with_(may_push={**memory.may_push, pull.head_repo: allowed})


def _facts_of(pull: PullRequest, memory: Memory) -> PullRequestFacts:
    return PullRequestFacts(
        number=pull.number,
        repo=pull.repo,
        state=pull.state,
        author=pull.author,
        title=pull.title,
        body=pull.body,
        head_sha=pull.head_sha,
        head_ref=pull.head_ref,
        head_repo=pull.head_repo,
        base_ref=pull.base_ref,
        labels=pull.labels,
        draft=pull.draft,
        html_url=pull.html_url,
        head_at=memory.head_at,
    )
