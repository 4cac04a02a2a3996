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
"""Slash commands from the inbox and near misses: roles, and what each command does."""

from __future__ import annotations

from bot.gate.answers import hold
from bot.gate.case import Case, Outcome, Phase
from bot.gate.decision import CheapReview
from bot.gate.facts import CommandRequest, Suggestion
from bot.gate.replies import mark_handled, reply, reply_with, was_handled
from bot.gate.report import help_body
from bot.gate.rounds import begin_round, end, reopen
from bot.gate.step import Context, Step, key
from bot.texts import code

_RANK = {"anyone": 0, "author": 1, "collaborator": 2, "maintainer": 3}
# A command for the gate changes nothing while the gate is at work on this head.
_BUSY = frozenset({Phase.CHECKING, Phase.STARTING, Phase.BUILDING, Phase.LABELS, Phase.REPAIRING})


def take_commands(case: Case, ctx: Context) -> Step:
    """Carry out this wake-up's commands in the order they were typed, and answer near misses."""
    step = Step(case)
    for command in ctx.facts.commands:
        step = step.then(_take(step.case, ctx, command))
    for near in ctx.facts.suggestions:
        step = step.then(_suggest(step.case, ctx, near))
    return step


def _suggest(case: Case, ctx: Context, near: Suggestion) -> Step:
    if was_handled(case, near.note_id, "suggestion"):
        return Step(case)
    marked = mark_handled(case, near.note_id, "suggestion")
    return reply(marked, ctx, near.note_id, "gate.reply.did_you_mean", typed=code(near.typed), meant=code(near.meant))


def _take(case: Case, ctx: Context, command: CommandRequest) -> Step:
    if was_handled(case, command.note_id, command.name) or _is_for_the_robot(ctx, command):
        return Step(case)
    marked = mark_handled(case, command.note_id, command.name)
    wanted = ctx.policy.roles.get(command.name, "maintainer")
    allowed = _allowed(ctx, command, wanted)
    if allowed is None:
        return reply(marked, ctx, command.note_id, "gate.reply.role_unknown", command=code(f"/{command.name}"))
    if not allowed:
        role = ctx.text(f"gate.role.{wanted}")
        return reply(
            marked, ctx, command.note_id, "gate.reply.not_allowed", command=code(f"/{command.name}"), role=role
        )
    if ctx.facts.pr.state != "open" and command.name != "help":
        return reply(marked, ctx, command.note_id, "gate.reply.closed")
    return _carry_out(marked, ctx, command)


def _is_for_the_robot(ctx: Context, command: CommandRequest) -> bool:
    """The gate robot reads it as well; ``requests`` follows it there."""
    if ctx.own or ctx.facts.pr.state != "open":
        return False
    return any(
        request.note_id == command.note_id and request.name == command.name and not request.by_bot
        for request in ctx.facts.gate_requests
    )


def _allowed(ctx: Context, command: CommandRequest, wanted: str) -> bool | None:
    """Whether the role suffices; ``None`` when it could not be looked up and would have mattered."""
    if _RANK[wanted] == 0:
        return True
    rank = _RANK.get(command.role)
    if command.author == ctx.facts.pr.author and (rank is not None or wanted == "author"):
        rank = max(rank or 0, _RANK["author"])  # who wrote the pull request needs no look-up to be its author
    return None if rank is None else rank >= _RANK[wanted]


def _carry_out(case: Case, ctx: Context, command: CommandRequest) -> Step:
    match command.name:
        case "help":
            return reply_with(case, command.note_id, "help", help_body(ctx))
        case "review":
            effect = key(case, "cheap-review", command.note_id)
            return Step(case, (CheapReview(effect_key=effect, head_sha=case.head_sha, to_note=command.note_id),))
        case "diagnose" | "autofix":
            return Step(hold(case, ctx, command))
        case "stop":
            return _stop(case, ctx, command)
        case "check-pr":
            return _check(case, ctx, command)
        case "retest":
            return _retest(case, ctx, command)
        case _:
            return reply(case, ctx, command.note_id, "gate.reply.unknown", command=code(f"/{command.name}"))


def _stop(case: Case, ctx: Context, command: CommandRequest) -> Step:
    if case.phase is Phase.ENDED:
        return reply(case, ctx, command.note_id, "gate.reply.already_ended")
    answered = reply(case, ctx, command.note_id, "gate.reply.stopped")
    return answered.then(end(answered.case, ctx, Outcome.USER_INTERRUPT, "gate.reason.stopped", by=command.author))


def _check(case: Case, ctx: Context, command: CommandRequest) -> Step:
    if case.phase in _BUSY:
        return _busy(case, ctx, command)
    answered = reply(case, ctx, command.note_id, "gate.reply.check_started")
    return answered.then(_resume(answered.case, ctx))


def _retest(case: Case, ctx: Context, command: CommandRequest) -> Step:
    passed = ctx.policy.labels.check_pass
    if not ctx.has(passed):
        answered = reply(case, ctx, command.note_id, "gate.reply.too_early", label=code(passed))
        if case.phase in {Phase.CHECKING, Phase.REPAIRING}:
            return answered
        return answered.then(_resume(answered.case, ctx))
    if case.phase in _BUSY:
        return _busy(case, ctx, command)
    meaning = ctx.text(f"gate.retest.{ctx.policy.retest_meaning}")
    answered = reply(case, ctx, command.note_id, "gate.reply.retest_started", meaning=meaning)
    return answered.then(_resume(answered.case, ctx))


def _busy(case: Case, ctx: Context, command: CommandRequest) -> Step:
    return reply(case, ctx, command.note_id, "gate.reply.busy", state=ctx.text(f"gate.phase.{case.phase.value}"))


def _resume(case: Case, ctx: Context) -> Step:
    """A round because a person wants one; after an end it opens a new loop."""
    resumed = reopen(case, ctx, new_head=False) if case.phase is Phase.ENDED else case
    return begin_round(resumed, ctx, forced=True)
