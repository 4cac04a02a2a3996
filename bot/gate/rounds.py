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
"""Starting a run through the gate, following one that a person started, trying again, and ending."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.gate.case import Case, Outcome, Phase
from bot.gate.decision import AnyAction, PostCommand, RemoveLabel
from bot.gate.step import Context, Step, changed, enter, event, key

_DAY = timedelta(hours=24)


def begin_round(
    case: Case, ctx: Context, *, asked_at: datetime | None = None, asked_note: int = 0, forced: bool = False
) -> Step:
    """Phase one: ask the robot for a check of the description, or follow a person who asked it.

    Args:
        case: The case in any phase.
        ctx: Facts and policy.
        asked_at: When a person asked the robot, by the forge's clock; ``None`` when we ask.
        asked_note: Id of that person's comment.
        forced: A person wants it: drafts and our own view of the template do not hold the round back.
    """
    recent = tuple(at for at in case.rounds_at if ctx.now - at < _DAY)
    if len(recent) >= ctx.policy.rounds_per_day:
        return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.budget", rounds=len(recent))
    seen = ctx.facts.build.number if ctx.facts.build else 0
    started = enter(
        case,
        Phase.CHECKING,
        ctx.now,
        outcome=None,
        reason="",
        reason_values={},
        round=case.round + 1,
        rounds_at=(*recent, ctx.now),
        request_at=asked_at or ctx.now,
        request_note=asked_note,
        followed=asked_at is not None,
        forced=forced,
        retest_at=None,
        build_floor=max(case.build_floor, case.build_number, seen),
        build_number=0,
        lost_since=None,
        pending_key="",
        robot_reasons=(),
    )
    if asked_at is not None:
        return Step(event(started, ctx.now, "gate.event.check_followed"))
    if ctx.own:
        return Step(started)
    action = PostCommand(effect_key=key(started, "check-pr", started.head_sha, started.round), command="/check-pr")
    started = changed(started, pending_key=action.effect_key)
    return Step(event(started, ctx.now, "gate.event.check_asked"), (action,))


def follow_retest(case: Case, ctx: Context, asked_at: datetime) -> Step:
    """Phase two as a person started it: wait for the build that answers the person's ``/retest``."""
    build = ctx.facts.build
    floor = max(case.build_floor, case.build_number)
    if build is not None and not (build.running and build.started_at >= asked_at):
        floor = max(floor, build.number)
    followed = enter(
        case,
        Phase.STARTING,
        ctx.now,
        outcome=None,
        reason="",
        reason_values={},
        round=case.round + 1,
        retest_at=asked_at,
        followed=True,
        build_floor=floor,
        build_number=0,
        lost_since=None,
        pending_key="",
    )
    return Step(event(followed, ctx.now, "gate.event.retest_followed"))


def try_again(case: Case, ctx: Context, why: str, *, at_most: int = 1, reason: str, **values: object) -> Step:
    """One more automatic round for this head, or the end where that was tried already.

    Args:
        case: The case.
        ctx: Facts and policy.
        why: Name of the trouble; each has its own count per head.
        at_most: How many second tries this trouble is worth.
        reason: Text id for the end.
        values: Fields of that text.
    """
    if case.retriggers.count(why) >= at_most:
        return end(case, ctx, Outcome.NEEDS_HUMAN, reason, **values)
    noted = event(case, ctx.now, f"gate.event.again_{why.replace('-', '_')}")
    return begin_round(changed(noted, retriggers=(*case.retriggers, why)), ctx, forced=case.forced)


def end(case: Case, ctx: Context, outcome: Outcome, reason: str, **values: object) -> Step:
    """A terminal state; the final report is written from it."""
    ended = enter(
        case,
        Phase.ENDED,
        ctx.now,
        outcome=outcome,
        reason=reason,
        reason_values={name: str(value) for name, value in values.items()},
        pending_key="",
        lost_since=None,
    )
    actions: tuple[AnyAction, ...] = ()
    running = ctx.policy.labels.running
    if ctx.own and ctx.has(running):
        actions = (RemoveLabel(effect_key=key(case, "label", f"-{running}", case.head_sha, case.round), label=running),)
    return Step(event(ended, ctx.now, "gate.event.ended", outcome=outcome.value), actions)


def reopen(case: Case, ctx: Context, *, new_head: bool) -> Case:
    """A new loop after an end.

    The ceilings start again only with a head that a person pushed after reading the report, or after a green end; a
    mere command does not buy further commits or retests.
    """
    reopened = changed(case, outcome=None, reason="", reason_values={}, opened_at=ctx.now, timeline=(), retriggers=())
    if new_head or case.outcome is Outcome.PASSED:
        return changed(reopened, patch_attempts=0, flake_retests=0)
    return reopened
