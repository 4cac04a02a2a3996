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
"""Commands that need a build's log: ``/diagnose`` and ``/autofix``. They may have to wait until it has been read."""

from __future__ import annotations

from bot.gate.case import Case, Phase
from bot.gate.facts import BuildFacts, CommandRequest, DiagnosisFacts
from bot.gate.repairing import start_repair
from bot.gate.replies import reply, reply_with
from bot.gate.report import diagnosis_body
from bot.gate.rounds import reopen
from bot.gate.step import Context, Step, changed, older_than
from bot.gate.truth import is_red, round_build
from bot.texts import link


def hold(case: Case, ctx: Context, command: CommandRequest) -> Case:
    """Put a command aside until the log is read; its own waiting time starts now."""
    return changed(case, held=(*case.held, command.model_copy(update={"at": ctx.now})))


def answer_held(case: Case, ctx: Context) -> Step:
    """Answer every held command that can be answered now, in order."""
    step = Step(changed(case, held=()))
    for command in case.held:
        answered = _answer(step.case, ctx, command)
        if answered is None and older_than(command.at, ctx.now, ctx.policy.deadlines.held):
            answered = reply(step.case, ctx, command.note_id, "gate.reply.log_unreadable")
        if answered is None:
            answered = Step(changed(step.case, held=(*step.case.held, command)))
        step = step.then(answered)
    return step


def _answer(case: Case, ctx: Context, command: CommandRequest) -> Step | None:
    """The answer, or ``None`` while it must wait."""
    build = ctx.facts.build
    note = command.note_id
    if build is None:
        return reply(case, ctx, note, "gate.reply.no_build")
    if build.running or build.result is None:
        return reply(case, ctx, note, "gate.reply.build_running", build=link(str(build.number), build.url))
    if not is_red(build):
        shown = link(str(build.number), build.url)
        return reply(case, ctx, note, "gate.reply.nothing_red", build=shown, result=build.result)
    diagnosis = ctx.facts.diagnosis
    if diagnosis is not None and diagnosis.build_number != build.number:
        diagnosis = None
    if command.name == "diagnose":
        if diagnosis is None:
            return None
        return reply_with(case, note, "diagnosis", diagnosis_body(ctx, build, diagnosis))
    return _autofix(case, ctx, note, build, diagnosis)


def _autofix(case: Case, ctx: Context, note: int, build: BuildFacts, diagnosis: DiagnosisFacts | None) -> Step | None:
    if case.phase in {Phase.CHECKING, Phase.STARTING, Phase.REPAIRING}:
        return reply(case, ctx, note, "gate.reply.busy", state=ctx.text(f"gate.phase.{case.phase.value}"))
    if round_build(case, ctx.facts) is None:
        return reply(case, ctx, note, "gate.reply.autofix_outdated", build=link(str(build.number), build.url))
    if diagnosis is None or case.phase is Phase.BUILDING:
        return None
    mendable = tuple(item for item in diagnosis.findings if item.verdict == "pr" and item.repairable and item.in_diff)
    if not mendable:
        return reply(case, ctx, note, "gate.reply.autofix_nothing", build=link(str(build.number), build.url))
    pushes = ctx.policy.repair_mode != "propose" and ctx.facts.may_push
    if pushes and case.patch_attempts >= ctx.policy.patch_ceiling:
        return reply(case, ctx, note, "gate.reply.autofix_ceiling", count=case.patch_attempts)
    answered = reply(case, ctx, note, "gate.reply.autofix_started", count=len(mendable))
    resumed = reopen(answered.case, ctx, new_head=False) if case.outcome is not None else answered.case
    return answered.then(start_repair(resumed, ctx, build.number, mendable))
