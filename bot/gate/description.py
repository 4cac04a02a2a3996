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
"""Phase one until the check is asked for: new heads, drafts, and descriptions that lack something."""

from __future__ import annotations

from datetime import datetime

from bot.gate.case import Case, Outcome, Phase
from bot.gate.own import set_labels
from bot.gate.rounds import begin_round, end
from bot.gate.schedule import deadline
from bot.gate.step import Context, Step, changed, enter, event, older_than
from bot.gate.tracking import body_digest


def new(case: Case, ctx: Context) -> Step:
    """A pull request or a head that nothing was done about yet."""
    names = ctx.policy.labels
    untouched = case.round == 0 and case.pushes == 0  # labels from before a push or another target prove nothing
    if untouched and ctx.has(names.check_pass) and ctx.has(names.passed) and not ctx.facts.pr.draft:
        return Step(enter(case, Phase.LABELS, ctx.now))  # green before we came; LABELS watches whether it stays so
    if ctx.facts.pr.draft and not ctx.policy.draft_runs_gate:
        return Step(enter(case, Phase.DRAFT, ctx.now))
    if not ctx.policy.auto_start:
        return Step(case, wake_at=deadline(ctx.now, ctx.policy.deadlines.idle))
    if _held_back(ctx):
        return incomplete(case, ctx)
    return begin_round(case, ctx)


def draft(case: Case, ctx: Context) -> Step:
    """Not ready for review: nothing runs, but a person's command does."""
    if not ctx.facts.pr.draft:
        return Step(enter(case, Phase.NEW, ctx.now))
    return Step(case, wake_at=deadline(ctx.now, ctx.policy.deadlines.idle))


def incomplete(case: Case, ctx: Context, reasons: tuple[str, ...] = ()) -> Step:
    """Rest until the author edits the description.

    Args:
        case: The case.
        ctx: Facts and policy.
        reasons: What the gate robot said is missing; empty where our own check found it.
    """
    resting = enter(
        case,
        Phase.DESCRIPTION,
        ctx.now,
        checked_digest=body_digest(ctx.facts.pr.body),
        robot_reasons=reasons,
        pending_key="",
    )
    count = len(reasons) or (len(ctx.facts.template.missing) if ctx.facts.template else 0)
    noted = event(resting, ctx.now, "gate.event.description_missing", count=count)
    if not ctx.own:
        return Step(noted)
    names = ctx.policy.labels
    return Step(noted, set_labels(noted, ctx, on=names.check_fail, off=(names.check_pass, names.running)))


def description(case: Case, ctx: Context) -> Step:
    """The description is incomplete; its edit, or the robot's own approval, moves the case on."""
    digest = body_digest(ctx.facts.pr.body)
    if digest != case.checked_digest:
        if _held_back(ctx):
            return Step(changed(case, checked_digest=digest, robot_reasons=()), wake_at=_idle(case, ctx))
        return begin_round(changed(case, robot_reasons=()), ctx)
    approved_at = case.label_since.get(ctx.policy.labels.check_pass)
    if not ctx.own and approved_at is not None and approved_at > (case.phase_since or ctx.now):
        return begin_round(case, ctx, asked_at=approved_at, forced=True)
    complete = ctx.facts.template is not None and ctx.facts.template.complete
    # The robot's label stands against our own view of the template: asking again would only be refused again.
    refused = bool(case.robot_reasons) or (not ctx.own and ctx.has(ctx.policy.labels.check_fail))
    if not complete or refused:
        if older_than(case.phase_since, ctx.now, ctx.policy.deadlines.description):
            return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.description_stale")
        return Step(case, wake_at=_idle(case, ctx))
    return begin_round(case, ctx)  # the same text is complete now: the template itself was changed


def _held_back(ctx: Context) -> bool:
    verdict = ctx.facts.template
    return verdict is not None and not verdict.complete and (ctx.own or ctx.policy.hold_incomplete)


def _idle(case: Case, ctx: Context) -> datetime:
    return min(
        deadline(ctx.now, ctx.policy.deadlines.idle),
        deadline(case.phase_since or ctx.now, ctx.policy.deadlines.description),
    )
