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
"""Taking in what changed outside: the pull request's state, labels, a new head, and what became of our actions."""

from __future__ import annotations

import hashlib
from datetime import datetime

from bot.gate.case import Case, Outcome, Phase
from bot.gate.decision import AnyAction, RemoveLabel
from bot.gate.facts import ActionResult, Facts
from bot.gate.repairing import after_repair
from bot.gate.rounds import end, reopen, try_again
from bot.gate.step import Context, Step, changed, enter, event, key


def body_digest(body: str) -> str:
    """Short digest of a description; line ends and trailing blanks do not count."""
    lines = "\n".join(line.rstrip() for line in body.replace("\r\n", "\n").split("\n")).strip()
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def open_case(case: Case, ctx: Context) -> Case:
    """First sight: comments from before are history, not orders."""
    if case.opened_at is not None:
        return case if case.base_ref else changed(case, base_ref=ctx.facts.pr.base_ref)
    asked_now = {command.note_id for command in ctx.facts.commands}
    head_at = ctx.facts.pr.head_at
    history = [
        request.note_id
        for request in ctx.facts.gate_requests
        if request.note_id not in asked_now and (head_at is None or request.at < head_at)
    ]
    newer = [r.note_id for r in ctx.facts.gate_requests if r.note_id not in set(history)]
    return changed(
        case,
        opened_at=ctx.now,
        phase_since=ctx.now,
        poll_since=ctx.now,
        head_sha=ctx.facts.pr.head_sha,
        base_ref=ctx.facts.pr.base_ref,
        head_since=head_at or ctx.now,
        last_request_note=max((note for note in history if not newer or note < min(newer)), default=0),
        last_robot_note=max((note.note_id for note in ctx.facts.robot_notes), default=0),
    )


def track_labels(case: Case, ctx: Context) -> Case:
    """Remember since when each gate label has been there without a gap.

    A gap that only hooks saw counts against what is older than the head, and no further: a hook that comes late must
    not make an answer to an earlier request on the same head look like one to the newest.
    """
    names = ctx.policy.labels
    watched = {names.check_pass, names.check_fail, names.running, names.passed, names.failed, names.checking}

    def since(name: str) -> datetime:
        known = case.label_since.get(name, ctx.now)
        of_old_head = case.head_since is not None and known < case.head_since
        return ctx.now if of_old_head and name in ctx.facts.label_gaps else known

    present = watched & ctx.facts.pr.labels
    return changed(case, label_since={name: since(name) for name in sorted(present)})


def track_request(case: Case, ctx: Context) -> Case:
    """Find our own ``/check-pr`` among the comments: its time and id are the forge's, as the robot's are."""
    if case.phase is not Phase.CHECKING or case.followed or case.request_note:
        return case
    ours = [
        request
        for request in ctx.facts.gate_requests
        if request.by_bot and request.name == "check-pr" and request.note_id > case.last_request_note
    ]
    if not ours:
        return case
    newest = max(ours, key=lambda request: request.note_id)
    return changed(case, request_at=newest.at, request_note=newest.note_id)


def closed(case: Case, ctx: Context) -> Step | None:
    """The end of a pull request that was closed or merged; ``None`` while it is open."""
    if ctx.facts.pr.state == "open":
        return None
    if case.outcome is Outcome.CLOSED:
        return Step(case)
    reason = "gate.reason.merged" if ctx.facts.pr.state == "merged" else "gate.reason.closed"
    return end(case, ctx, Outcome.CLOSED, reason)


def take_results(case: Case, ctx: Context) -> Step:
    """Look at what became of our actions: repairs always matter, others only when they failed."""
    step = Step(case)
    for result in ctx.facts.results:
        if result.kind == "repair":
            step = step.then(after_repair(step.case, ctx, result))
        elif result.effect_key == step.case.pending_key and step.case.pending_key:
            step = step.then(_after_write(changed(step.case, pending_key=""), ctx, result))
    return step


def _after_write(case: Case, ctx: Context, result: ActionResult) -> Step:
    if result.outcome == "done":
        return Step(case)
    if result.outcome == "refused":
        return end(case, ctx, Outcome.NEEDS_HUMAN, "gate.reason.write_refused", detail=result.detail)
    return try_again(case, ctx, "write-failed", at_most=3, reason="gate.reason.write_failed", detail=result.detail)


def new_head(case: Case, ctx: Context) -> Step | None:
    """A push voids the phase: back to phase one on the new head. ``None`` when the head is the one we know.

    So does another target branch: its template and its code are what the description and the builds are judged against.
    """
    sha, base = ctx.facts.pr.head_sha, ctx.facts.pr.base_ref or case.base_ref
    pushed = sha != case.head_sha
    if not pushed and base == case.base_ref:
        return None
    ours = any(commit.sha == sha for commit in case.commits)
    moved = changed(
        case,
        head_sha=sha,
        base_ref=base,
        pushes=case.pushes + 1,
        head_since=ctx.facts.pr.head_at or ctx.now,
        build_number=0,
        build_url="",
        build_result="",
        build_floor=max(case.build_floor, case.build_number, _newest_build(ctx.facts)),
        retest_at=None,
        request_note=0,
        lost_since=None,
        pending_key="",
        forced=False,
        unresolved=(),
        flake_retests=0,
        retriggers=(),
    )
    if case.outcome is Outcome.USER_INTERRUPT:
        return Step(moved)
    if case.outcome is not None:
        moved = reopen(moved, ctx, new_head=pushed)
    if base != case.base_ref:
        moved = event(moved, ctx.now, "gate.event.retargeted", base=base)
    elif case.outcome is None and not ours:
        moved = event(moved, ctx.now, "gate.event.head_moved", sha=sha[:12])
    return Step(enter(moved, Phase.NEW, ctx.now), _drop_own_labels(moved, ctx))


def _newest_build(facts: Facts) -> int:
    return facts.build.number if facts.build else 0


def _drop_own_labels(case: Case, ctx: Context) -> tuple[AnyAction, ...]:
    """Where the labels are ours, those of the old head are lies about the new one; ``running`` ends by itself."""
    if not ctx.own:
        return ()
    names = ctx.policy.labels
    stale = [name for name in (names.passed, names.failed) if ctx.has(name)]
    return tuple(
        RemoveLabel(effect_key=key(case, "label", f"-{name}", case.head_sha, f"push-{case.pushes}"), label=name)
        for name in stale
    )
