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
"""The final report as data, and the bodies of our longer comments."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from pydantic import BaseModel, ConfigDict

from bot.gate.case import Case, Commit, Outcome, TimelineEntry, Unresolved
from bot.gate.facts import BuildFacts, DiagnosisFacts
from bot.gate.policy import Policy
from bot.gate.routing import Route, place, unresolved
from bot.gate.step import Context
from bot.gate.triage import explain
from bot.texts import Markup, code, fence, link, ready, render
from bot.texts.commands import COMMANDS

# A comment body of the forge is limited; a longer patch is shown in part and says so.
_PATCH_SHOWN = 30_000
_VERDICTS = ("pr", "unrelated", "infrastructure", "process")


class FinalReport(BaseModel):
    """What the report says at every exit; counters are there even when zero."""

    model_config = ConfigDict(frozen=True)
    repo: str
    number: int
    outcome: Outcome
    reason: str
    head_sha: str
    build_number: int
    build_result: str
    build_url: str
    wall_seconds: float
    timeline: tuple[TimelineEntry, ...]
    commits: tuple[Commit, ...]
    unresolved: tuple[Unresolved, ...]
    patch_attempts: int
    patch_ceiling: int
    flake_retests: int
    flake_ceiling: int
    comments_posted: int
    comment_outs: int = 0
    next_step: str


def build_report(case: Case, policy: Policy) -> FinalReport:
    """The report of an ended case.

    Raises:
        ValueError: The case has not ended.
    """
    if case.outcome is None:
        raise ValueError(f"For the final report, {case.key} should have ended, but got phase {case.phase}.")
    ended_at = case.phase_since or case.opened_at
    wall = (ended_at - case.opened_at).total_seconds() if ended_at and case.opened_at else 0.0
    return FinalReport(
        repo=case.repo,
        number=case.number,
        outcome=case.outcome,
        reason=render(case.reason, policy.language, **case.reason_values),
        head_sha=case.head_sha,
        build_number=case.build_number,
        build_result=case.build_result,
        build_url=case.build_url,
        wall_seconds=max(0.0, wall),
        timeline=case.timeline,
        commits=case.commits,
        unresolved=() if case.outcome is Outcome.PASSED else case.unresolved,
        patch_attempts=case.patch_attempts,
        patch_ceiling=policy.patch_ceiling,
        flake_retests=case.flake_retests,
        flake_ceiling=policy.flake_ceiling,
        comments_posted=case.comments_posted,
        next_step=render(f"report.next.{case.outcome.value}", policy.language),
    )


def final_body(case: Case, policy: Policy) -> Markup:
    """The final report as a section."""
    report = build_report(case, policy)
    lang = policy.language
    outcome = report.outcome.value
    meaning = render(f"report.meaning.{outcome}", lang)
    facts = [
        render("report.status", lang, outcome=outcome, meaning=meaning),
        render("report.reason", lang, reason=Markup(report.reason)),
        *_build_lines(case, lang),
        render("report.wall", lang, time=duration(report.wall_seconds, lang)),
    ]
    timeline = [
        render("report.event", lang, at=_moment(entry.at), what=render(entry.text_id, lang, **entry.values))
        for entry in report.timeline
    ]
    return _blocks(
        render("report.title.final", lang),
        _list(f"- {line}" for line in facts),
        render("report.heading.timeline", lang),
        _list(timeline) or render("report.none", lang),
        render("report.heading.commits", lang),
        _list(_commit_line(commit, lang) for commit in report.commits) or render("report.none", lang),
        render("report.heading.unresolved", lang),
        findings_table(report.unresolved, lang) or render("report.none", lang),
        render("report.heading.counters", lang),
        _counters(case, policy),
        render("report.heading.next", lang),
        render(f"report.next.{outcome}", lang),
    )


def summary_body(case: Case, policy: Policy) -> Markup:
    """The state of an open case as a section: state, findings, fix commits, counters, next step."""
    lang = policy.language
    facts = [
        render("report.state", lang, state=render(f"gate.phase.{case.phase.value}", lang)),
        *_build_lines(case, lang),
    ]
    table = findings_table(case.unresolved, lang)
    commits = _list(_commit_line(commit, lang) for commit in case.commits)
    return _blocks(
        render("report.title.summary", lang),
        _list(f"- {line}" for line in facts),
        *((render("report.heading.unresolved", lang), table) if table else ()),
        *((render("report.heading.commits", lang), commits) if commits else ()),
        render("report.heading.counters", lang),
        _counters(case, policy),
        render("report.heading.next", lang),
        render(f"report.next.phase.{case.phase.value}", lang),
    )


def template_body(case: Case, ctx: Context) -> Markup:
    """What the description lacks, in the robot's words where it spoke, else in the template room's."""
    if case.robot_reasons:
        items = [ctx.text("report.template.item", item=reason) for reason in case.robot_reasons]
        return _blocks(ctx.text("report.template.title"), ctx.text("report.template.robot"), _list(items))
    missing = ctx.facts.template.missing if ctx.facts.template else ()
    if not missing:
        return _blocks(ctx.text("report.template.title"), ctx.text("report.template.robot_silent"))
    items = [ctx.text("report.template.item", item=ready(item)) for item in missing]
    lead = ctx.text("report.template.missing", count=len(missing))
    return _blocks(ctx.text("report.template.title"), lead, _list(items))


def template_complete_body(ctx: Context) -> Markup:
    """The same section once nothing is missing."""
    return _blocks(ctx.text("report.template.title"), ctx.text("report.template.complete"))


def patch_body(case: Case, ctx: Context, patch: str) -> Markup:
    """A proposed fix; a patch too long for a comment says that it is cut."""
    text_id = "report.patch" if len(patch) <= _PATCH_SHOWN else "report.patch_cut"
    shown = fence(patch, info="diff", exact=True, limit=_PATCH_SHOWN)
    return ctx.text(text_id, head=code(case.head_sha[:12]), patch=shown)


def flake_evidence(case: Case, ctx: Context, build: BuildFacts, chosen: Route) -> Markup:
    """One comment for the maintainers: which tests, in which builds, and why the change is not to blame."""
    earlier = [
        number
        for number, tests in case.failed_tests_by_build.items()
        if number != build.number and set(tests) & set(chosen.shared_tests)
    ]
    builds = ", ".join([*(str(number) for number in sorted(earlier)), link(str(build.number), build.url)])
    items = [
        ctx.text("report.flake.item", name=code(test), why=_why(ctx, chosen, test)) for test in chosen.shared_tests[:20]
    ] or [
        ctx.text(
            "report.flake.item",
            name=code(place(item) or item.finding.stage or item.finding.tool),
            why=_explained(ctx, item.reasons) or item.finding.message,
        )
        for item in chosen.findings[:20]
    ]
    return _blocks(
        ctx.text("report.flake.title"),
        _list(items),
        ctx.text("report.flake.builds", builds=Markup(builds)),
        ctx.text("report.flake.question"),
    )


def retest_note(case: Case, ctx: Context, build: BuildFacts, chosen: Route) -> Markup:
    """Why a red build is simply run again: what failed, and the answers of triage."""
    items = [
        ctx.text(
            "report.flake.item",
            name=code(place(item) or item.finding.stage or item.finding.tool),
            why=_explained(ctx, item.reasons) or item.finding.message,
        )
        for item in chosen.findings[:20]
    ]
    title = ctx.text(
        "report.retest.title",
        build=link(str(build.number), build.url),
        count=case.flake_retests,
        most=ctx.policy.flake_ceiling,
    )
    return _blocks(title, _list(items))


def _why(ctx: Context, chosen: Route, test: str) -> Markup | str:
    """The reasons given for this test, else all of them."""
    named = [item for item in chosen.findings if item.finding.function == test] or list(chosen.findings)
    return _explained(ctx, tuple(reason for item in named for reason in item.reasons)) or "-"


def _explained(ctx: Context, reasons: tuple[str, ...]) -> Markup | str:
    """The answers of triage as sentences, each once."""
    sentences = [explain(reason, ctx.policy.language) for reason in dict.fromkeys(reasons)]
    return Markup(("；" if ctx.policy.language == "zh" else "; ").join(sentences))


def diagnosis_body(ctx: Context, build: BuildFacts, diagnosis: DiagnosisFacts) -> Markup:
    """The answer to ``/diagnose``: findings with verdicts and reasons, or the most telling lines of the log."""
    lang = ctx.policy.language
    rows = unresolved(diagnosis, ctx.policy.findings_shown)
    more = len(diagnosis.findings) + diagnosis.beyond - len(rows)
    reasons = [
        render("report.template.item", lang, item=explain(reason, lang))
        for reason in dict.fromkeys(reason for item in diagnosis.findings for reason in item.reasons)
    ][:10]
    nothing = (ctx.text("report.diagnosis.nothing"), fence("\n".join(diagnosis.excerpt[-40:]), limit=6000))
    return _blocks(
        ctx.text("report.diagnosis.title", build=link(str(build.number), build.url)),
        *((findings_table(rows, lang),) if rows else nothing),
        *((ctx.text("report.table.more", count=more),) if more > 0 else ()),
        *((ctx.text("report.diagnosis.why"), _list(reasons)) if reasons else ()),
        *(() if diagnosis.complete else (ctx.text("report.diagnosis.incomplete"),)),
    )


def help_body(ctx: Context) -> Markup:
    """The answer to ``/help``, from the registry of commands."""
    rows = [
        ctx.text(
            "report.help.row",
            usage=code(command.usage),
            what=ctx.text(command.text_id),
            role=ctx.text(f"gate.role.{ctx.policy.roles.get(command.name, 'maintainer')}"),
        )
        for command in COMMANDS
    ]
    table = _list([ctx.text("report.help.head"), Markup("|---|---|---|"), *rows])
    return _blocks(ctx.text("report.help.title"), table, ctx.text("report.help.note"))


def findings_table(items: tuple[Unresolved, ...], lang: str) -> Markup:
    """Findings as a table; empty text for none."""
    if not items:
        return Markup("")
    rows = [
        render(
            "report.table.row",
            lang,
            stage=item.stage or "-",
            rule=item.rule or "-",
            place=code(item.place) or "-",
            verdict=_verdict(item, lang),
            message=item.message or item.why or "-",
        )
        for item in items
    ]
    return _list([render("report.table.head", lang), Markup("|---|---|---|---|---|"), *rows])


def duration(seconds: float, lang: str) -> Markup:
    """A length of time in two units at most."""
    whole = int(seconds)
    if whole < 60:
        return render("report.seconds", lang, count=whole)
    if whole < 3600:
        return render("report.minutes", lang, count=whole // 60, rest=whole % 60)
    return render("report.hours", lang, count=whole // 3600, rest=whole % 3600 // 60)


def _verdict(item: Unresolved, lang: str) -> Markup:
    if item.verdict == "pr" and item.repairable:
        return render("report.verdict.pr_repairable", lang)
    return render(f"report.verdict.{item.verdict if item.verdict in _VERDICTS else 'unknown'}", lang)


def _build_lines(case: Case, lang: str) -> list[Markup]:
    head = render("report.head", lang, head=code(case.head_sha[:12]) or "-")
    if not case.build_number:
        return [render("report.build_none", lang), head]
    result = case.build_result or render("report.result.running", lang)
    shown = link(str(case.build_number), case.build_url)
    return [render("report.build", lang, build=shown, result=result), head]


def _commit_line(commit: Commit, lang: str) -> Markup:
    return render(
        "report.commit",
        lang,
        sha=code(commit.sha[:12]),
        subject=commit.subject,
        rules=", ".join(commit.rules) or "-",
        places=", ".join(commit.places) or "-",
    )


def _counters(case: Case, policy: Policy) -> Markup:
    return render(
        "report.counters",
        policy.language,
        patches=case.patch_attempts,
        patch_ceiling=policy.patch_ceiling,
        flakes=case.flake_retests,
        flake_ceiling=policy.flake_ceiling,
        comments=case.comments_posted,
        outs=0,
    )


def _moment(at: datetime) -> str:
    return (at if at.utcoffset() == timedelta() else at.astimezone(UTC)).strftime("%m-%d %H:%M:%S UTC")


def _list(lines: Iterable[str]) -> Markup:
    return Markup("\n".join(lines))


def _blocks(*parts: str) -> Markup:
    return Markup("\n\n".join(part for part in parts if part))
