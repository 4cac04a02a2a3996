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
"""Asking for a repair, waiting for it, and what its result means."""

from __future__ import annotations

from bot.gate.case import Case, Commit, Outcome, Phase
from bot.gate.decision import Repair, UpsertSticky
from bot.gate.facts import ActionResult, JudgedFinding
from bot.gate.report import patch_body
from bot.gate.rounds import end
from bot.gate.schedule import deadline
from bot.gate.step import Context, Step, changed, enter, event, key, older_than


def start_repair(case: Case, ctx: Context, build_number: int, findings: tuple[JudgedFinding, ...]) -> Step:
    """Ask for the findings to be mended: by a commit where that is allowed, else as a patch.

    A push counts as a patch attempt when it is asked for, so that a crash can never make a third commit of two; it is
    given back when nothing was pushed.
    """
    push = ctx.policy.repair_mode != "propose" and ctx.facts.may_push
    if push and case.patch_attempts >= ctx.policy.patch_ceiling:
        return end(case, ctx, Outcome.PATCH_CEILING, "gate.reason.patches", count=case.patch_attempts)
    number = case.repairs + 1
    action = Repair(
        effect_key=key(case, "repair", case.head_sha, number),
        head_sha=case.head_sha,
        build_number=build_number,
        mode="push" if push else "propose",
        findings=tuple(item.finding for item in findings),
    )
    asked = enter(
        case,
        Phase.REPAIRING,
        ctx.now,
        outcome=None,
        reason="",
        reason_values={},
        repairs=number,
        repair_counted=push,
        patch_attempts=case.patch_attempts + (1 if push else 0),
        pending_key=action.effect_key,
    )
    noted = event(asked, ctx.now, "gate.event.repair_asked", count=len(findings), build=build_number)
    return Step(noted, (action,), again=True)


def repairing(case: Case, ctx: Context) -> Step:
    """A repair runs, or its commit is not visible on the pull request yet."""
    if older_than(case.phase_since, ctx.now, ctx.policy.deadlines.repair):
        return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.repair_slow")
    return Step(case, wake_at=deadline(case.phase_since or ctx.now, ctx.policy.deadlines.repair))


def offered(case: Case, ctx: Context) -> Step:
    """The findings can be mended, but a person must say so."""
    if older_than(case.phase_since, ctx.now, ctx.policy.deadlines.offer):
        return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.offer_expired")
    return Step(case, wake_at=deadline(case.phase_since or ctx.now, ctx.policy.deadlines.offer))


def after_repair(case: Case, ctx: Context, result: ActionResult) -> Step:
    """What a repair's result means; a result that comes late still counts its commit."""
    if not _is_news(case, result):
        return Step(case)
    waiting = case.phase is Phase.REPAIRING and result.effect_key == case.pending_key
    status = result.data.get("status", "pushed" if result.outcome == "done" and result.data.get("sha") else "")
    settled = changed(case, repair_counted=False, pending_key="" if waiting else case.pending_key)
    if status == "pushed":
        return Step(_record_commit(settled, ctx, result))
    if case.repair_counted:
        settled = changed(settled, patch_attempts=max(0, settled.patch_attempts - 1))
    if not waiting:
        return Step(settled)
    if status == "proposed":
        return _proposed(settled, ctx, result)
    if status == "head-moved":
        return Step(settled)  # the new head is on its way; the repair deadline guards the wait
    return _not_repaired(settled, ctx, result)


def _is_news(case: Case, result: ActionResult) -> bool:
    """Results are delivered again after a crash: only the newest repair's first result counts."""
    newest = case.repairs > 0 and result.effect_key.endswith(f":{case.repairs}")
    return newest and (case.repair_counted or result.effect_key == case.pending_key)


def _record_commit(case: Case, ctx: Context, result: ActionResult) -> Case:
    commit = Commit(
        sha=result.data.get("sha", ""),
        subject=result.data.get("subject", ""),
        rules=_lines(result.data.get("rules", "")),
        places=_lines(result.data.get("places", "")),
    )
    recorded = changed(case, commits=(*case.commits, commit))
    return event(recorded, ctx.now, "gate.event.pushed", sha=commit.sha[:12], subject=commit.subject)


def _proposed(case: Case, ctx: Context, result: ActionResult) -> Step:
    patch = UpsertSticky(
        effect_key=key(case, "sticky", "patch", case.head_sha, case.repairs),
        marker="patch",
        body=patch_body(case, ctx, result.data.get("patch", "")),
    )
    why = result.data.get("why", "").rstrip("。. ")
    if why:
        return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.proposed_because", why=why).acting(patch)
    return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.proposed").acting(patch)


def _not_repaired(case: Case, ctx: Context, result: ActionResult) -> Step:
    why = (result.data.get("reason") or result.detail).rstrip("。. ")
    if result.outcome == "failed":
        if "repair-failed" in case.retriggers:
            return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.repair_failed", detail=why)
        # Back to the judgement of the same build, which asks for the repair once more under a new key.
        return Step(
            enter(
                event(case, ctx.now, "gate.event.again_repair_failed"),
                Phase.BUILDING,
                ctx.now,
                retriggers=(*case.retriggers, "repair-failed"),
            )
        )
    if result.data.get("scope") == "gone":
        return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.source_gone", why=why)
    if result.data.get("scope") == "outside":
        return end(case, ctx, Outcome.SCOPE_CREEP, "gate.reason.scope", detail=why)
    return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.repair_refused", detail=why)


def _lines(value: str) -> tuple[str, ...]:
    return tuple(filter(None, value.split("\n")))
