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
"""Phase one: the check was asked for, and its answer decides."""

from __future__ import annotations

from datetime import datetime

from bot.gate.case import Case, Outcome, Phase
from bot.gate.decision import PostCommand, StartBuild
from bot.gate.description import incomplete
from bot.gate.facts import RobotNote
from bot.gate.own import set_labels
from bot.gate.rounds import end, try_again
from bot.gate.schedule import deadline
from bot.gate.step import Context, Step, changed, enter, event, key, older_than, since
from bot.gate.tracking import body_digest
from bot.gate.truth import label_since, round_build


def checking(case: Case, ctx: Context) -> Step:
    """Wait for ``pr-check-pass``; only a fresh one opens phase two."""
    if ctx.own:
        return _checking_ourselves(case, ctx)
    names = ctx.policy.labels
    refusal = _refusal(case, ctx)
    if ctx.has(names.check_pass):
        approved_at = label_since(case, ctx.facts, names.check_pass)
        if refusal is not None and (approved_at is None or refusal.at > approved_at):
            return incomplete(case, ctx, refusal.reasons)
        if _settled(case, ctx, approved_at):
            return start(case, ctx)
        return Step(case, wake_at=deadline(case.phase_since or ctx.now, ctx.policy.settle_seconds))
    if refusal is not None:
        return incomplete(case, ctx, refusal.reasons)
    failed_at = label_since(case, ctx.facts, names.check_fail)
    if failed_at is not None and _settled(case, ctx, failed_at):
        return incomplete(case, ctx)
    if older_than(case.phase_since, ctx.now, ctx.policy.deadlines.check):
        return try_again(case, ctx, "check-silent", reason="gate.reason.check_silent")
    return Step(case, wake_at=deadline(case.phase_since or ctx.now, ctx.policy.deadlines.check))


def _refusal(case: Case, ctx: Context) -> RobotNote | None:
    """The robot's newest "not passed" that answers this round's request; older ones stay on the page for ever."""

    def answers(note: RobotNote) -> bool:
        if note.kind != "check_failed":
            return False
        if case.request_note:
            return note.note_id > case.request_note
        return case.request_at is not None and note.at > case.request_at

    return max(filter(answers, ctx.facts.robot_notes), key=lambda note: (note.at, note.note_id), default=None)


def _settled(case: Case, ctx: Context, label_at: datetime | None) -> bool:
    """A label counts when it came after the request, or when it outlived the request long enough without objection.

    It never counts in the very wake-up that asked: the check needs time to take a stale label away.
    """
    if case.phase_since is None or ctx.now <= case.phase_since:
        return case.followed and label_at is not None and case.request_at is not None and label_at >= case.request_at
    if label_at is not None and case.request_at is not None and label_at > case.request_at:
        return True
    return since(case.phase_since, ctx.now) >= ctx.policy.settle


def start(case: Case, ctx: Context) -> Step:
    """Phase two: write ``/retest``, unless a person's ``/retest`` or a running build of this head does it already."""
    passed = event(case, ctx.now, "gate.event.check_passed")
    running = round_build(passed, ctx.facts)
    followed = passed.retest_at is not None or (running is not None and running.running)
    started = enter(
        passed,
        Phase.STARTING,
        ctx.now,
        retest_at=passed.retest_at or ctx.now,
        followed=followed,
        pending_key="",
    )
    if followed:
        return Step(event(started, ctx.now, "gate.event.retest_followed"))
    if ctx.facts.build is not None:
        started = changed(started, build_floor=max(started.build_floor, ctx.facts.build.number))
    action = PostCommand(effect_key=key(started, "retest", started.head_sha, started.round), command="/retest")
    started = changed(started, pending_key=action.effect_key)
    return Step(event(started, ctx.now, "gate.event.retest_asked"), (action,))


def _checking_ourselves(case: Case, ctx: Context) -> Step:
    verdict = ctx.facts.template
    names = ctx.policy.labels
    if verdict is None:
        if older_than(case.phase_since, ctx.now, ctx.policy.deadlines.check):
            return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.check_unreadable")
        return Step(case, wake_at=deadline(case.phase_since or ctx.now, ctx.policy.deadlines.check))
    if not verdict.complete:
        return incomplete(case, ctx)
    judged = changed(case, checked_digest=body_digest(ctx.facts.pr.body))
    if ctx.has(names.check_pass):
        return _start_ourselves(judged, ctx)
    labels = set_labels(judged, ctx, on=names.check_pass, off=(names.check_fail,))
    if judged.pending_key == labels[-1].effect_key:  # put on already, but not to be seen yet
        if older_than(case.phase_since, ctx.now, ctx.policy.deadlines.check):
            return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.label_missing", label=names.check_pass)
        return Step(judged, wake_at=deadline(case.phase_since or ctx.now, ctx.policy.deadlines.check))
    return Step(changed(judged, pending_key=labels[-1].effect_key), labels, again=True)


def _start_ourselves(case: Case, ctx: Context) -> Step:
    names = ctx.policy.labels
    passed = event(case, ctx.now, "gate.event.check_passed")
    seen = ctx.facts.build.number if ctx.facts.build else 0
    action = StartBuild(effect_key=key(passed, "start", passed.head_sha, passed.round), head_sha=passed.head_sha)
    started = enter(
        passed,
        Phase.STARTING,
        ctx.now,
        retest_at=ctx.now,
        build_floor=max(passed.build_floor, seen),
        pending_key=action.effect_key,
    )
    labels = set_labels(passed, ctx, on=names.running, off=(names.passed, names.failed))
    return Step(event(started, ctx.now, "gate.event.retest_asked"), (action, *labels))
