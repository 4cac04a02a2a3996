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
"""``/check-pr`` and ``/retest`` that a person wrote for the gate robot: followed, not repeated."""

from __future__ import annotations

from bot.gate.case import Case, Outcome, Phase
from bot.gate.facts import GateRequest, RobotNote
from bot.gate.replies import mark_handled, reply, was_handled
from bot.gate.rounds import begin_round, follow_retest, reopen, try_again
from bot.gate.step import Context, Step, changed
from bot.texts import code


def take_requests(case: Case, ctx: Context) -> Step:
    """Follow new requests in the order they were written, then look at what the robot refused."""
    if ctx.own or ctx.facts.pr.state != "open":
        return Step(case)
    step = Step(case)
    known = max(case.last_request_note, _stopped_by(case, ctx))
    for request in sorted(ctx.facts.gate_requests, key=lambda item: item.note_id):
        if request.note_id > known and _by_person(ctx, request):
            step = step.then(_follow(step.case, ctx, request))
    for note in sorted(ctx.facts.robot_notes, key=lambda item: item.note_id):
        if note.note_id > case.last_robot_note and note.kind == "trigger_refused":
            step = step.then(_refused(step.case, ctx, note))
    seen_requests = max((request.note_id for request in ctx.facts.gate_requests), default=0)
    seen_notes = max((note.note_id for note in ctx.facts.robot_notes), default=0)
    taken = changed(
        step.case,
        last_request_note=max(case.last_request_note, seen_requests),
        last_robot_note=max(case.last_robot_note, seen_notes),
    )
    return step.then(Step(taken))


def forget_requests(case: Case, ctx: Context) -> Case:
    """A push came in the same wake-up: requests from before it are void, and phase one starts anyway."""
    pushed_at = ctx.facts.pr.head_at
    void = [r.note_id for r in ctx.facts.gate_requests if pushed_at is None or r.at < pushed_at]
    return changed(case, last_request_note=max(case.last_request_note, *void, 0))


def _stopped_by(case: Case, ctx: Context) -> int:
    """The comment that stopped the case in this very wake-up: what was asked before it is not taken up again."""
    if case.outcome is not Outcome.USER_INTERRUPT:
        return 0
    return max((command.note_id for command in ctx.facts.commands if command.name == "stop"), default=0)


def _by_person(ctx: Context, request: GateRequest) -> bool:
    return not request.by_bot and request.author not in {ctx.facts.bot_login, *ctx.policy.robot_logins}


def _follow(case: Case, ctx: Context, request: GateRequest) -> Step:
    if request.name == "check-pr":
        return _follow_check(case, ctx, request)
    if request.name != "retest":
        return Step(case)
    if not ctx.has(ctx.policy.labels.check_pass):
        return _too_early(case, ctx, request)
    match case.phase:
        case Phase.REPAIRING:
            return Step(case)  # the repair's own push will void that build
        case Phase.CHECKING:
            return Step(changed(case, retest_at=request.at))
        case Phase.NEW | Phase.DRAFT:
            # The label may be left over from before we came, so the check is asked for and the build followed after it.
            begun = begin_round(case, ctx, forced=True)
            return begun.then(Step(changed(begun.case, retest_at=request.at))) if begun.case.outcome is None else begun
        case Phase.ENDED:
            return follow_retest(reopen(case, ctx, new_head=False), ctx, request.at)
        case _:
            return follow_retest(case, ctx, request.at)


def _follow_check(case: Case, ctx: Context, request: GateRequest) -> Step:
    if case.phase is Phase.CHECKING:
        return Step(changed(case, request_at=request.at, request_note=request.note_id))
    if case.outcome is Outcome.PASSED or case.phase in {
        Phase.STARTING,
        Phase.BUILDING,
        Phase.LABELS,
        Phase.REPAIRING,
    }:
        return Step(case)  # the labels will tell whether it changed anything
    resumed = reopen(case, ctx, new_head=False) if case.phase is Phase.ENDED else case
    return begin_round(resumed, ctx, asked_at=request.at, asked_note=request.note_id, forced=True)


def _too_early(case: Case, ctx: Context, request: GateRequest) -> Step:
    """The robot refuses it or runs a bypass build: say why, and start with phase one."""
    answered = _explain(case, ctx, request)
    if case.phase in {Phase.CHECKING, Phase.REPAIRING}:
        return answered
    resumed = reopen(answered.case, ctx, new_head=False) if case.phase is Phase.ENDED else answered.case
    return answered.then(begin_round(resumed, ctx, forced=True))


def _explain(case: Case, ctx: Context, request: GateRequest) -> Step:
    if was_handled(case, request.note_id, "early"):
        return Step(case)
    marked = mark_handled(case, request.note_id, "early")
    return reply(marked, ctx, request.note_id, "gate.reply.too_early", label=code(ctx.policy.labels.check_pass))


def _refused(case: Case, ctx: Context, note: RobotNote) -> Step:
    """The robot would not start the pipeline; whoever typed the ``/retest`` before it hears why."""
    before = [
        request for request in ctx.facts.gate_requests if request.name == "retest" and request.note_id < note.note_id
    ]
    asker = max(before, key=lambda request: request.note_id, default=None)
    step = Step(case)
    if asker is not None and _by_person(ctx, asker):
        step = _explain(case, ctx, asker)
    if case.phase is Phase.STARTING:
        return step.then(try_again(step.case, ctx, "refused", at_most=2, reason="gate.reason.refused"))
    return step
