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
"""A red build: wait for its log to be read, publish what was found, and take the road that the findings call for."""

from __future__ import annotations

from typing import assert_never

from bot.gate.case import Case, Outcome, Phase
from bot.gate.decision import PublishReview, UpsertSticky
from bot.gate.facts import BuildFacts, DiagnosisFacts, JudgedFinding
from bot.gate.own import set_labels
from bot.gate.repairing import start_repair
from bot.gate.report import flake_evidence, retest_note
from bot.gate.rounds import begin_round, end
from bot.gate.routing import Road, Route, failed_tests, place, route, unresolved
from bot.gate.schedule import deadline
from bot.gate.step import Context, Step, changed, enter, event, key, older_than

# Builds whose failed tests are remembered per case.
_HISTORY = 10


def red(case: Case, ctx: Context, build: BuildFacts) -> Step:
    """Judge a red build of this round."""
    diagnosis = ctx.facts.diagnosis
    if diagnosis is None or diagnosis.build_number != build.number:
        return _unread(case, ctx, build)
    chosen = route(diagnosis, build, case, ctx.policy)
    judged = changed(
        remember_tests(case, build, failed_tests(build, diagnosis)),
        judged_build=build.number,
        unresolved=unresolved(diagnosis, ctx.policy.findings_shown),
    )
    if case.judged_build == build.number:  # a second try of the repair: everything else was done the first time
        return _take(judged, ctx, build, chosen)
    total = len(diagnosis.findings) + diagnosis.beyond
    judged = event(judged, ctx.now, "gate.event.build_red", build=build.number, count=total)
    if diagnosis.beyond:
        judged = event(judged, ctx.now, "gate.event.beyond", count=len(diagnosis.findings), beyond=diagnosis.beyond)
    step = Step(judged)
    if ctx.own:
        names = ctx.policy.labels
        step = step.acting(*set_labels(judged, ctx, on=names.failed, off=(names.running, names.passed)))
    step = step.acting(*_review(judged, ctx, build, diagnosis))
    return step.then(_take(judged, ctx, build, chosen))


def remember_tests(case: Case, build: BuildFacts, failed: tuple[str, ...]) -> Case:
    """Keep which tests failed in the newest builds; a green build counts with none."""
    history = {**case.failed_tests_by_build, build.number: failed}
    kept = sorted(history)[-_HISTORY:]
    return changed(case, failed_tests_by_build={number: history[number] for number in kept})


def _unread(case: Case, ctx: Context, build: BuildFacts) -> Step:
    red_since = case.red_since or ctx.now
    if older_than(red_since, ctx.now, ctx.policy.deadlines.diagnosis):
        return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.log_unreadable", build=build.number)
    waiting = changed(case, red_since=red_since, poll_since=red_since)
    return Step(waiting, wake_at=deadline(red_since, ctx.policy.deadlines.diagnosis))


def _review(case: Case, ctx: Context, build: BuildFacts, diagnosis: DiagnosisFacts) -> tuple[PublishReview, ...]:
    """Findings of the change itself go on its lines; once per build."""
    ours = tuple(item.finding for item in diagnosis.findings if item.verdict == "pr")
    if not ctx.policy.publish_review or not ours:
        return ()
    return (
        PublishReview(
            effect_key=key(case, "review", case.head_sha, f"build-{build.number}"),
            head_sha=case.head_sha,
            build_number=build.number,
            findings=ours,
        ),
    )


def clear_review(case: Case, ctx: Context, build: BuildFacts) -> tuple[PublishReview, ...]:
    """A green build has no finding left: comments that an earlier red one caused are resolved."""
    if not ctx.policy.publish_review or not case.judged_build:
        return ()
    effect = key(case, "review", case.head_sha, f"build-{build.number}")
    return (PublishReview(effect_key=effect, head_sha=case.head_sha, build_number=build.number, findings=()),)


def _take(case: Case, ctx: Context, build: BuildFacts, chosen: Route) -> Step:
    human = Outcome.NEEDS_HUMAN
    match chosen.road:
        case Road.REPAIR:
            return _mend(case, ctx, build, chosen)
        case Road.PATCH_CEILING:
            return end(case, ctx, Outcome.PATCH_CEILING, "gate.reason.patches", count=case.patch_attempts)
        case Road.DEEP:
            return end(case, ctx, human, "gate.reason.deep", items=_names(chosen.findings))
        case Road.SCOPE:
            return end(case, ctx, Outcome.SCOPE_CREEP, "gate.reason.scope", detail=_names(chosen.findings))
        case Road.PROCESS:
            return end(case, ctx, human, "gate.reason.process", items=_names(chosen.findings))
        case Road.NOTHING_FOUND:
            return end(case, ctx, human, "gate.reason.nothing_found", build=build.number)
        case Road.BROKEN_BASE:
            return _sticky(case, ctx, build, chosen, "gate.reason.broken_base")
        case Road.STICKY:
            return _sticky(case, ctx, build, chosen, "gate.reason.sticky")
        case Road.FLAKE_CEILING:
            return end(case, ctx, Outcome.FLAKE_CEILING, "gate.reason.flakes", count=case.flake_retests)
        case Road.RETEST:
            counted = changed(case, flake_retests=case.flake_retests + 1)
            noted = event(
                counted, ctx.now, "gate.event.flake_retest", count=counted.flake_retests, most=ctx.policy.flake_ceiling
            )
            said = UpsertSticky(
                effect_key=key(case, "sticky", "retest", case.head_sha, f"build-{build.number}"),
                marker="flake",
                body=retest_note(noted, ctx, build, chosen),
            )
            return Step(noted, (said,)).then(begin_round(noted, ctx, forced=case.forced))
        case _:
            assert_never(chosen.road)


def _mend(case: Case, ctx: Context, build: BuildFacts, chosen: Route) -> Step:
    if ctx.policy.repair_mode == "on-command":
        return Step(
            event(enter(case, Phase.OFFERED, ctx.now), ctx.now, "gate.event.offered", count=len(chosen.findings))
        )
    return start_repair(case, ctx, build.number, chosen.findings)


def _sticky(case: Case, ctx: Context, build: BuildFacts, chosen: Route, reason: str) -> Step:
    """One comment with the evidence for the maintainers, then the end: only they can mend their branch."""
    comment = UpsertSticky(
        effect_key=key(case, "sticky", "flake", case.head_sha, f"build-{build.number}"),
        marker="flake",
        body=flake_evidence(case, ctx, build, chosen),
    )
    items = ", ".join(chosen.shared_tests[:5]) or _names(chosen.findings)
    return end(case, ctx, Outcome.STICKY_FLAKE, reason, items=items).acting(comment)


def _names(findings: tuple[JudgedFinding, ...]) -> str:
    """The findings in short, for one sentence."""
    names = [" ".join(filter(None, (item.finding.stage, item.finding.rule, place(item)))) for item in findings]
    unique = list(dict.fromkeys(name or "?" for name in names))
    return ", ".join(unique[:5]) + (" …" if len(unique) > 5 else "")
