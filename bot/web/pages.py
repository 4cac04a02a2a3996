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
"""The pages, as pure functions of stored data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from bot.gate.case import Case, Outcome
from bot.gate.policy import Policy
from bot.runtime.cases import StoredCase
from bot.runtime.flakes import TestRecord
from bot.runtime.records import AuditEntry
from bot.texts import plain
from bot.texts.commands import COMMANDS
from bot.web.html import Child, Html, join, link, table, tag

_BEIJING = timezone(timedelta(hours=8), "UTC+8")  # where the community works, and what the forge prints
_SHORT_SHA = 10


@dataclass(frozen=True, slots=True)
class View:
    """What every page needs: language, policy and the time."""

    language: str
    policy: Policy
    now: datetime

    def text(self, text_id: str, **values: object) -> str:
        """A sentence for HTML: values are put in unescaped, the page escapes the whole."""
        return plain(text_id, self.language, **values)


def page(view: View, title: str, *content: Child) -> str:
    """A whole document."""
    other = "en" if view.language == "zh" else "zh"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("link", rel="stylesheet", href="/style.css"),
    )
    menu = tag(
        "nav",
        link(f"/?lang={view.language}", view.text("web.cases")),
        link(f"/help?lang={view.language}", view.text("web.commands")),
        tag("a", "English" if other == "en" else "中文", href=f"?lang={other}"),
    )
    body = tag("body", menu, tag("h1", title), content, tag("footer", "GateBot"))
    return "<!DOCTYPE html>\n" + tag("html", head, body, lang="zh-CN" if view.language == "zh" else "en")


def index(view: View, stored: list[StoredCase], counts: dict[str, int], flaky: list[tuple[str, int, int]]) -> str:
    """All cases, the most recently changed first, and the tests that are known to be flaky."""
    summary = join(
        [tag("span", f"{_phase_name(view, phase)} {count}", class_="phase"), " "]
        for phase, count in sorted(counts.items())
    )
    if not stored:
        return page(view, view.text("web.title"), tag("p", view.text("web.no_cases"), class_="dim"))
    columns = ("case", "phase", "head", "build", "counters", "next", "changed")
    rows = [
        (
            link(f"/case/{one.case.repo}/{one.case.number}?lang={view.language}", one.case.key),
            _phase(view, one.case),
            tag("code", one.case.head_sha[:_SHORT_SHA]),
            link(one.case.build_url, f"#{one.case.build_number}") if one.case.build_number else "",
            _ratio(one.case.patch_attempts, view.policy.patch_ceiling)
            + " · "
            + _ratio(one.case.flake_retests, view.policy.flake_ceiling),
            _stamp(one.wake_at) if one.wake_at else view.text("web.never"),
            _stamp(one.updated_at),
        )
        for one in stored
    ]
    cases = table([view.text(f"web.column_{name}") for name in columns], rows)
    return page(view, view.text("web.title"), tag("p", summary), cases, _flaky(view, flaky))


def case_page(
    view: View,
    stored: StoredCase,
    effects: list[dict[str, object]],
    trail: list[AuditEntry],
    past: Mapping[str, list[TestRecord]],
) -> str:
    """One pull request: where it stands, what happened, how its failed tests fared before, what we did, who asked."""
    case = stored.case
    pull = stored.memory.pr
    counters = view.text(
        "web.counters",
        patches=case.patch_attempts,
        patch_ceiling=view.policy.patch_ceiling,
        flakes=case.flake_retests,
        flake_ceiling=view.policy.flake_ceiling,
        rounds=case.round,
        wakeups=stored.generation,
    )
    return page(
        view,
        case.key,
        tag(
            "p",
            _phase(view, case),
            " ",
            tag("code", case.head_sha[:_SHORT_SHA]),
            " ",
            pull and link(pull.html_url, pull.title),
        ),
        tag("p", counters),
        stored.last_error
        and tag("p", view.text("web.trouble", failures=stored.failures), tag("code", stored.last_error), class_="bad"),
        tag("h2", view.text("web.timeline")),
        _timeline(view, case),
        tag("h2", view.text("web.builds")),
        _builds(view, case),
        _findings(view, stored),
        _past(view, past),
        tag("h2", view.text("web.effects")),
        table(
            [view.text(f"web.column_{name}") for name in ("at", "what", "result", "detail")],
            [
                (_stamp(row["started_at"]), row["kind"], row["state"], f"{row['key']} {row['detail']}")
                for row in effects
            ],
        ),
        tag("h2", view.text("web.audit")),
        table(
            [view.text(f"web.column_{name}") for name in ("at", "who", "what", "result", "detail")],
            [(_stamp(entry.at), entry.who, entry.what, entry.result, entry.detail) for entry in trail],
        ),
    )


def help_page(view: View) -> str:
    """The commands with who may give them."""
    rows = [
        (
            tag("code", command.usage),
            view.text(command.text_id),
            view.text(f"web.role.{view.policy.roles.get(command.name, 'maintainer')}"),
        )
        for command in COMMANDS
    ]
    columns = [view.text(f"web.column_{name}") for name in ("command", "what", "role")]
    return page(view, view.text("web.commands"), table(columns, rows))


def not_found(view: View) -> str:
    """There is no such case."""
    return page(view, view.text("web.not_found"), link(f"/?lang={view.language}", view.text("web.back")))


def _timeline(view: View, case: Case) -> Html:
    if not case.timeline:
        return tag("p", view.text("web.no_timeline"), class_="dim")
    rows = [(_stamp(entry.at.timestamp()), view.text(entry.text_id, **entry.values)) for entry in case.timeline]
    return table([view.text("web.column_at"), view.text("web.column_what")], rows)


def _builds(view: View, case: Case) -> Html:
    numbers = sorted({*case.failed_tests_by_build, *([case.build_number] if case.build_number else [])}, reverse=True)
    if not numbers:
        return tag("p", view.text("web.no_builds"), class_="dim")
    rows = [
        (
            link(case.build_url, f"#{number}") if number == case.build_number else f"#{number}",
            case.build_result if number == case.build_number else "",
            ", ".join(case.failed_tests_by_build.get(number, ())),
        )
        for number in numbers
    ]
    return table([view.text(f"web.column_{name}") for name in ("build", "result", "test")], rows)


def _findings(view: View, stored: StoredCase) -> Child:
    diagnosis = stored.memory.diagnosis
    if diagnosis is None or not diagnosis.findings:
        return None
    rows = [
        (
            f"{judged.finding.file}:{judged.finding.line}" if judged.finding.line else judged.finding.file,
            judged.finding.rule or judged.finding.tool,
            judged.verdict,
            judged.finding.message,
        )
        for judged in diagnosis.findings[:100]
    ]
    columns = [view.text(f"web.column_{name}") for name in ("place", "rule", "verdict", "message")]
    return [tag("h2", view.text("web.findings"), f" #{diagnosis.build_number}"), table(columns, rows)]


def _past(view: View, past: Mapping[str, list[TestRecord]]) -> Child:
    """The recent results of the failed tests in builds of whatever pull request, the newest first."""
    if not past:
        return None
    rows = [
        (tag("code", test), ", ".join(f"#{record.build} {record.status}" for record in records))
        for test, records in past.items()
    ]
    columns = [view.text("web.column_test"), view.text("web.column_result")]
    return [tag("h2", view.text("web.history")), table(columns, rows)]


def _flaky(view: View, flaky: list[tuple[str, int, int]]) -> Child:
    if not flaky:
        return None
    rows = [(tag("code", test), f"{failures} / {runs}") for test, failures, runs in flaky]
    columns = [view.text("web.column_test"), view.text("web.column_failures")]
    return [tag("h2", view.text("web.flaky")), table(columns, rows)]


def _phase(view: View, case: Case) -> Html:
    kind = "phase"
    if case.outcome is not None:
        kind += " good" if case.outcome in (Outcome.PASSED, Outcome.CLOSED) else " bad"
        return tag("span", case.outcome.value, class_=kind)
    return tag("span", _phase_name(view, case.phase.value), class_=kind)


def _ratio(used: int, ceiling: int) -> str:
    return f"{used}/{ceiling}"


def _phase_name(view: View, phase: str) -> str:
    return view.text(f"web.phase.{phase}")


def _stamp(moment: object) -> str:
    if not isinstance(moment, int | float):
        return ""
    return datetime.fromtimestamp(moment, UTC).astimezone(_BEIJING).strftime("%Y-%m-%d %H:%M:%S")
