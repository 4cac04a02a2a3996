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
"""``decide``: from a case and the facts of now to the next case, the actions, and the next wake-up. Pure and total.

Order within one wake-up: results of earlier actions, a push, labels, commands, requests to the robot, then the phases
until none of them moves on, then commands that waited for a log, then the comments that are edited in place. The rules
are in the modules named after the phases.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from bot.gate.answers import answer_held
from bot.gate.building import building, labels, starting
from bot.gate.case import Case, Outcome, Phase
from bot.gate.checking import checking
from bot.gate.commands import take_commands
from bot.gate.decision import Decision, PostCommand, Reply, UpsertSticky
from bot.gate.description import description, draft, incomplete, new
from bot.gate.facts import Facts
from bot.gate.policy import Policy
from bot.gate.repairing import offered, repairing
from bot.gate.report import final_body, summary_body, template_body, template_complete_body
from bot.gate.requests import forget_requests, take_requests
from bot.gate.rounds import reopen
from bot.gate.schedule import deadline, next_poll, not_before
from bot.gate.step import Context, Step, changed, key
from bot.gate.tracking import closed, new_head, open_case, take_results, track_labels, track_request
from bot.texts import Markup

# More moves than this within one wake-up would be a circle; the case then rests until the next one.
_MOST_MOVES = 12
_WAITS = "~"  # ends the digest of a section that nobody asked to be written yet


def ended(case: Case, ctx: Context) -> Step:
    """Nothing to do until somebody pushes, comments or reopens, or the robot takes back the check of a green end."""
    if case.outcome is not Outcome.PASSED or ctx.own or ctx.has(ctx.policy.labels.check_pass):
        return Step(case)
    refusals = [note for note in ctx.facts.robot_notes if note.kind == "check_failed"]
    newest = max(refusals, key=lambda note: (note.at, note.note_id), default=None)
    if newest is None or case.phase_since is None or newest.at <= case.phase_since:
        return Step(case)
    return incomplete(reopen(case, ctx, new_head=False), ctx, newest.reasons)


HANDLERS: dict[Phase, Callable[[Case, Context], Step]] = {
    Phase.NEW: new,
    Phase.DRAFT: draft,
    Phase.DESCRIPTION: description,
    Phase.CHECKING: checking,
    Phase.STARTING: starting,
    Phase.BUILDING: building,
    Phase.LABELS: labels,
    Phase.REPAIRING: repairing,
    Phase.OFFERED: offered,
    Phase.ENDED: ended,
}
# Phases in which the world changes by itself, so that looking is worth a call.
_POLLED = frozenset({Phase.CHECKING, Phase.STARTING, Phase.BUILDING, Phase.LABELS, Phase.REPAIRING})


def new_case(repo: str, number: int) -> Case:
    """A case that nothing is known about yet."""
    return Case(repo=repo, number=number)


def decide(case: Case, facts: Facts, policy: Policy) -> Decision:
    """What happens next.

    Args:
        case: The stored case; ``new_case`` for a pull request seen for the first time.
        facts: What was read just now. Commands, suggestions and results are those of this wake-up only.
        policy: The operator's choices.

    Returns:
        The case to store, actions in the order to carry them out, and the next wake-up. The same arguments always give
        the same decision, effect keys included, so that a wake-up may be replayed after a crash.
    """
    ctx = Context(facts, policy)
    step = _take_in(case, ctx)
    if facts.pr.state == "open":
        step = _move_on(step, ctx)
        step = step.then(answer_held(step.case, ctx))
    step = _with_comments(case, step, ctx)
    counted = changed(step.case, wakeups_in_phase=step.case.wakeups_in_phase + 1)
    return Decision(case=counted, actions=step.actions, wake_at=_wake_at(step, ctx), again=step.again)


def _take_in(case: Case, ctx: Context) -> Step:
    opened = track_request(track_labels(open_case(case, ctx), ctx), ctx)
    step = take_results(opened, ctx)
    over = closed(step.case, ctx)
    if over is not None:
        step = step.then(over)
        return step.then(take_commands(step.case, ctx))
    if step.case.outcome is Outcome.CLOSED:
        reopened = changed(step.case, outcome=None, reason="", reason_values={}, opened_at=ctx.now, timeline=())
        step = step.then(Step(changed(reopened, phase=Phase.NEW, phase_since=ctx.now, poll_since=ctx.now)))
    pushed = new_head(step.case, ctx)
    if pushed is not None:
        step = step.then(pushed)
        step = step.then(Step(forget_requests(step.case, ctx)))
    step = step.then(take_commands(step.case, ctx))
    return step.then(take_requests(step.case, ctx))


def _move_on(step: Step, ctx: Context) -> Step:
    for _ in range(_MOST_MOVES):
        before = step.case
        step = step.then(HANDLERS[before.phase](before, ctx))
        if step.case.phase is before.phase and step.case.round == before.round:
            break
    return step


def _with_comments(before: Case, step: Step, ctx: Context) -> Step:
    """Count comments, and bring the sections of the one that is edited in place up to date."""
    case = step.case
    plain = sum(isinstance(action, PostCommand | Reply) for action in step.actions)
    sections = [action.marker for action in step.actions if isinstance(action, UpsertSticky)]
    plain += 1 if sections and not case.sticky_digests else 0
    known = {**case.sticky_digests, **dict.fromkeys(sections, "")}
    step = replace(step, case=changed(case, comments_posted=case.comments_posted + plain, sticky_digests=known))
    if before.head_sha != case.head_sha and "patch" in known and "patch" not in sections:
        step = _upsert(step, "patch", Markup(""), only_if_exists=True, may_wait=True)  # it was for another head
    step = _template_comment(step, ctx)
    return _summary_comment(before, step, ctx)


def _template_comment(step: Step, ctx: Context) -> Step:
    case = step.case
    if case.phase is Phase.DESCRIPTION and (ctx.facts.template is not None or case.robot_reasons):
        return _upsert(step, "template", template_body(case, ctx))
    if case.phase is Phase.DESCRIPTION and "template" not in case.sticky_digests:
        return _upsert(step, "template", template_body(case, ctx))
    if "template" in case.sticky_digests and case.phase in {Phase.CHECKING, Phase.STARTING, Phase.BUILDING}:
        return _upsert(step, "template", template_complete_body(ctx), only_if_exists=True)
    return step


def _summary_comment(before: Case, step: Step, ctx: Context) -> Step:
    """Every edit costs calls, so it is asked for only by what people act on: a red build, an offer, the end.

    Whatever else changes goes out with the next write, so that what is written is always the present state.
    """
    case = step.case
    exists = "summary" in case.sticky_digests
    first = 0 if case.sticky_digests else 1
    if case.phase is Phase.ENDED:
        if before.phase is Phase.ENDED and before.phase_since == case.phase_since:
            return step  # the report tells how it ended; what people say or push later does not change it
        if case.outcome is Outcome.CLOSED and not exists:
            return step
        counted = changed(case, comments_posted=case.comments_posted + first)
        body = final_body(counted, ctx.policy)
        return _upsert(step, "summary", body, only_if_exists=case.outcome is Outcome.CLOSED)
    judged = case.judged_build != before.judged_build and case.judged_build > 0
    woken = before.outcome is not None and exists
    needed = judged or woken or case.phase is Phase.OFFERED
    if not needed and not exists:
        return step
    counted = changed(case, comments_posted=case.comments_posted + first)
    return _upsert(step, "summary", summary_body(counted, ctx.policy), only_if_exists=not needed, may_wait=not needed)


def _upsert(step: Step, marker: str, body: Markup, *, only_if_exists: bool = False, may_wait: bool = False) -> Step:
    case = step.case
    digest = hashlib.sha256(body.encode()).hexdigest()[:16]
    known = case.sticky_digests.get(marker, "")
    if known == digest or (may_wait and known == f"{digest}{_WAITS}"):
        return step
    action = UpsertSticky(
        effect_key=key(case, "sticky", marker, f"edit-{case.edits + 1}"),
        marker=marker,
        body=body,
        only_if_exists=only_if_exists,
        may_wait=may_wait,
    )
    first = not case.sticky_digests and not only_if_exists
    updated = changed(
        case,
        edits=case.edits + 1,
        sticky_digests={**case.sticky_digests, marker: digest + (_WAITS if may_wait else "")},
        comments_posted=case.comments_posted + (1 if first else 0),
    )
    return replace(step, case=updated, actions=(*step.actions, action))


def _wake_at(step: Step, ctx: Context) -> datetime | None:
    """The handler's own wish, the polling schedule and held commands: whichever comes first. Ended cases sleep."""
    case = step.case
    wishes: list[datetime] = [] if step.wake_at is None else [step.wake_at]
    if case.phase in _POLLED or case.held:
        wishes.append(next_poll(case.poll_since or ctx.now, ctx.now, ctx.policy.poll_seconds))
    if not wishes and case.phase is not Phase.ENDED:
        wishes.append(deadline(ctx.now, ctx.policy.deadlines.idle))
    return not_before(min(wishes), ctx.now) if wishes else None
