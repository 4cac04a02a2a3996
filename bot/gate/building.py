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
"""Phase two: find the real build, wait for it, and judge it."""

from __future__ import annotations

from bot.gate.case import Case, Outcome, Phase
from bot.gate.facts import BuildFacts
from bot.gate.own import set_labels
from bot.gate.red import clear_review, red, remember_tests
from bot.gate.rounds import begin_round, end, try_again
from bot.gate.schedule import deadline
from bot.gate.step import Context, Step, changed, enter, event, older_than
from bot.gate.truth import Proof, passed_label_is_fresh, proof_of, round_build

# A build that cannot be found is looked for once more after this many seconds before it counts as lost.
_LOST_AFTER = 60


def starting(case: Case, ctx: Context) -> Step:
    """``/retest`` was written (or the job was started); the build that answers it is not there yet."""
    build = round_build(case, ctx.facts)
    if build is not None:
        return Step(_take_build(case, ctx, build))
    if not ctx.has(ctx.policy.labels.check_pass):
        return begin_round(event(case, ctx.now, "gate.event.pass_gone"), ctx, forced=case.forced)
    if ctx.facts.build_lost:
        return try_again(case, ctx, "lost", reason="gate.reason.build_lost")
    limits = ctx.policy.deadlines
    limit = limits.followed_start if case.followed and "followed" not in case.retriggers else limits.start
    if older_than(case.phase_since, ctx.now, limit):
        return try_again(case, ctx, "followed" if limit != limits.start else "stuck", reason="gate.reason.no_build")
    return Step(case, wake_at=deadline(case.phase_since or ctx.now, limit))


def building(case: Case, ctx: Context) -> Step:
    """A build of this round is known: poll it until it is finished, then judge it."""
    build = round_build(case, ctx.facts)
    if build is None or build.number < case.build_number or ctx.facts.build_lost:
        return _missing(case, ctx)
    if build.number > case.build_number:
        return Step(_take_build(case, ctx, build))
    case = changed(case, lost_since=None, build_url=build.url, build_result=build.result or "")
    match proof_of(build, ctx.facts.diagnosis, ctx.facts.pr.labels, ctx.policy):
        case Proof.RUNNING:
            if older_than(case.phase_since, ctx.now, ctx.policy.deadlines.build):
                return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.build_slow", build=build.number)
            return Step(case, wake_at=deadline(case.phase_since or ctx.now, ctx.policy.deadlines.build))
        case Proof.VOID:
            return try_again(case, ctx, "lost", reason="gate.reason.build_lost")
        case Proof.BYPASS:
            return _bypass(case, ctx, build)
        case Proof.GREEN:
            return _green(case, ctx, build)
        case Proof.RED:
            return red(case, ctx, build)


def labels(case: Case, ctx: Context) -> Step:
    """The build succeeded; success still needs both labels on the pull request."""
    names = ctx.policy.labels
    build = round_build(case, ctx.facts)
    if build is not None and build.number > case.build_number and case.round > 0:
        return Step(_take_build(case, ctx, build))
    if not ctx.has(names.check_pass):
        return begin_round(event(case, ctx.now, "gate.event.pass_gone"), ctx, forced=case.forced)
    adopted = case.round == 0
    if adopted and not ctx.has(names.passed):
        return begin_round(case, ctx)
    settled = not adopted or older_than(case.phase_since, ctx.now, ctx.policy.settle_seconds)
    if settled and ctx.has(names.passed) and passed_label_is_fresh(case, ctx.facts, ctx.policy):
        return end(case, ctx, Outcome.PASSED, "gate.reason.passed")
    if older_than(case.phase_since, ctx.now, ctx.policy.deadlines.labels):
        return try_again(case, ctx, "label", reason="gate.reason.label_missing", label=names.passed)
    limit = ctx.policy.settle_seconds if adopted else ctx.policy.deadlines.labels
    return Step(case, wake_at=deadline(case.phase_since or ctx.now, limit))


def _take_build(case: Case, ctx: Context, build: BuildFacts) -> Case:
    """This build answers the request; the polling schedule goes on counting from the request."""
    poll_since = case.poll_since
    taken = enter(
        case,
        Phase.BUILDING,
        ctx.now,
        build_number=build.number,
        build_url=build.url,
        build_result="",
        red_since=None,
        lost_since=None,
        pending_key="",
    )
    return event(changed(taken, poll_since=poll_since), ctx.now, "gate.event.build_started", build=build.number)


def _missing(case: Case, ctx: Context) -> Step:
    lost_since = case.lost_since or ctx.now
    if ctx.facts.build_lost or older_than(lost_since, ctx.now, _LOST_AFTER):
        return try_again(case, ctx, "lost", reason="gate.reason.build_lost")
    return Step(changed(case, lost_since=lost_since), wake_at=deadline(lost_since, _LOST_AFTER))


def _bypass(case: Case, ctx: Context, build: BuildFacts) -> Step:
    """It ran nothing. The second label may still come (a real lint-only run can be as short); a fresh check may not."""
    noted = event(case, ctx.now, "gate.event.bypass", build=build.number)
    if ctx.own:
        return try_again(noted, ctx, "bypass", reason="gate.reason.bypass", build=build.number)
    return Step(enter(noted, Phase.LABELS, ctx.now))  # which goes back to phase one where pr-check-pass is gone


def _green(case: Case, ctx: Context, build: BuildFacts) -> Step:
    names = ctx.policy.labels
    noted = remember_tests(event(case, ctx.now, "gate.event.build_green", build=build.number), build, ())
    noted = changed(noted, unresolved=())
    if not ctx.has(names.check_pass):
        return begin_round(event(noted, ctx.now, "gate.event.pass_gone"), ctx, forced=case.forced)
    resting = enter(noted, Phase.LABELS, ctx.now)
    cleared = clear_review(case, ctx, build)
    if not ctx.own:
        return Step(resting, cleared)
    actions = set_labels(resting, ctx, on=names.passed, off=(names.running, names.failed))
    if not actions:
        return Step(resting, cleared)
    return Step(changed(resting, pending_key=actions[-1].effect_key), (*cleared, *actions), again=True)
