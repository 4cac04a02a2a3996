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
"""The text of line comments and of the summary. Pure; whatever a tool or a source line says is quoted harmlessly."""

from __future__ import annotations

from collections.abc import Sequence

from bot.gate.finding import Finding
from bot.review.fingerprint import mark
from bot.review.planner import Placed, ReviewPlan
from bot.review.suggest import suggestion
from bot.texts import Markup, catalogue, code, fence, render

_SUMMARY_ROWS = 60
_TESTS = frozenset({"pytest", "gtest", "ctest", "unittest", "msrun", "torchrun"})
_COMPILERS = frozenset({"gcc", "ld", "cmake", "make", "ninja"})
RULES_TOOL = "rules"
"""Tool name of findings that a path-scoped rule made; their message says what is wrong and how to mend it."""


def comment_body(item: Placed, source: str, language: str, *, hidden_mark: bool) -> str:
    """What is wrong, why the gate minds, how to mend it, a suggestion where the fix is certain, and the hidden mark.

    Args:
        item: The finding with its place.
        source: As in the mark.
        language: ``zh`` or ``en``.
        hidden_mark: Whether to write the mark at all.
    """
    finding = item.finding
    what, how = _advice(finding, language)
    parts = [render("review.head", language, rule=code(finding.rule or finding.tool), what=what)]
    if finding.tool != RULES_TOOL and finding.message:
        parts.append(render("review.said", language, message=code(finding.message)))
    if not item.line and finding.line:
        parts[0] = Markup(parts[0] + " " + render("review.line", language, line=finding.line))
    parts.append(render("review.why", language, why=render(f"review.why.{_family(finding)}", language)))
    if how:
        parts.append(render("review.how", language, how=how))
    fixed = suggestion(finding, item.text) if item.line else None
    if fixed is not None:
        parts.append(fence(fixed, info="suggestion", exact=True))
    if hidden_mark:
        parts.append(Markup(mark(source, item.name)))
    return "\n\n".join(parts)


def summary_body(
    plan: ReviewPlan, rest: Sequence[Placed], head_sha: str, language: str, *, missing: Sequence[str] = ()
) -> str:
    """The one comment that is edited in place.

    Args:
        plan: What was planned.
        rest: Findings that stand on no line, refused ones included.
        head_sha: The commit that was checked.
        language: ``zh`` or ``en``.
        missing: Tools that could not run.
    """
    refused = len(rest) - len(plan.summary_rest)
    total = len(plan.create) + len(plan.keep) + len(plan.summary_rest)
    parts = [
        render("review.title", language),
        render(
            "review.counts",
            language,
            head=code(head_sha[:12]),
            total=total,
            created=len(plan.create) - refused,
            kept=len(plan.keep),
            resolved=len(plan.resolve),
        ),
    ]
    if not total:
        parts.append(render("review.none", language))
    if rest:
        rows = [_row(item.finding, language) for item in rest[:_SUMMARY_ROWS]]
        if len(rest) > _SUMMARY_ROWS:
            rows.append(render("review.more", language, count=len(rest) - _SUMMARY_ROWS))
        parts.append(render("review.rest", language))
        parts.append(Markup("\n".join(rows)))
    if missing:
        parts.append(render("review.missing_tools", language, tools=", ".join(missing)))
    return "\n\n".join(parts)


def _row(finding: Finding, language: str) -> Markup:
    place = f"{finding.file}:{finding.line}" if finding.file and finding.line else finding.file or finding.function
    return render(
        "review.item",
        language,
        place=code(place),
        rule=code(finding.rule or finding.tool),
        message=finding.message,
    )


def _advice(finding: Finding, language: str) -> tuple[Markup | str, Markup | str]:
    if finding.tool == RULES_TOOL:
        return finding.message, ""
    rule = finding.rule.lower()
    known = f"review.what.{rule}" in catalogue()
    name = rule if rule != "general" and known else "general"
    return render(f"review.what.{name}", language), render(f"review.how.{name}", language)


def _family(finding: Finding) -> str:
    if finding.tool in _TESTS:
        return "tests"
    if finding.tool in _COMPILERS:
        return "compile"
    return finding.tool if f"review.why.{finding.tool}" in catalogue() else "other"
