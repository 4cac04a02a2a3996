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
"""Where a red build leads. Pure judgement on judged findings; the community's table of routes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.gate.case import Case, Unresolved
from bot.gate.facts import BuildFacts, DiagnosisFacts, JudgedFinding
from bot.gate.policy import Policy


class Road(StrEnum):
    """The roads out of a red build."""

    REPAIR = "repair"
    PATCH_CEILING = "patch-ceiling"
    DEEP = "deep"
    SCOPE = "scope"
    PROCESS = "process"
    BROKEN_BASE = "broken-base"
    STICKY = "sticky"
    RETEST = "retest"
    FLAKE_CEILING = "flake-ceiling"
    NOTHING_FOUND = "nothing-found"


@dataclass(frozen=True, slots=True)
class Route:
    """A road, with the findings that decided it and the tests that two builds share."""

    road: Road
    findings: tuple[JudgedFinding, ...] = ()
    shared_tests: tuple[str, ...] = ()


def route(diagnosis: DiagnosisFacts, build: BuildFacts, case: Case, policy: Policy) -> Route:
    """Choose the road.

    Findings of the change itself come first: beside them unrelated ones are noise this round. One finding that nobody
    has a recipe for stops the whole repair, because a person must push anyway and a commit of ours would move the head
    under that person's hands.
    """
    ours = _with(diagnosis, "pr")
    if ours:
        return _own_failure(ours, case, policy)
    process = _with(diagnosis, "process")
    if process:
        return Route(Road.PROCESS, process)
    others = tuple(item for item in diagnosis.findings if item.verdict in {"unrelated", "infrastructure"})
    if not others or len(others) < len(diagnosis.findings):
        # A verdict that we do not know must not be taken for somebody else's fault.
        return Route(Road.NOTHING_FOUND, diagnosis.findings)
    broken = tuple(item for item in others if item.broken_on_base)
    if broken:
        return Route(Road.BROKEN_BASE, broken)
    shared = shared_tests(case, build, diagnosis)
    if shared:
        return Route(Road.STICKY, others, shared)
    if case.flake_retests >= policy.flake_ceiling:
        return Route(Road.FLAKE_CEILING, others)
    return Route(Road.RETEST, others)


def _own_failure(ours: tuple[JudgedFinding, ...], case: Case, policy: Policy) -> Route:
    deep = tuple(item for item in ours if not item.repairable and item.in_diff)
    if deep:
        return Route(Road.DEEP, deep)
    outside = tuple(item for item in ours if not item.in_diff)
    if outside:
        return Route(Road.SCOPE, outside)
    if case.patch_attempts >= policy.patch_ceiling and policy.repair_mode != "propose":
        return Route(Road.PATCH_CEILING, ours)
    return Route(Road.REPAIR, ours)


def _with(diagnosis: DiagnosisFacts, verdict: str) -> tuple[JudgedFinding, ...]:
    return tuple(item for item in diagnosis.findings if item.verdict == verdict)


def failed_tests(build: BuildFacts, diagnosis: DiagnosisFacts) -> tuple[str, ...]:
    """Tests that failed in a build: from its report, else from the findings that name one."""
    named = {item.finding.function for item in diagnosis.findings if item.finding.tool in {"pytest", "gtest", "ctest"}}
    return tuple(sorted((set(build.failed_tests) or named) - {""}))


def shared_tests(case: Case, build: BuildFacts, diagnosis: DiagnosisFacts) -> tuple[str, ...]:
    """Tests that failed in this build and in the build before it."""
    earlier = [number for number in case.failed_tests_by_build if number < build.number]
    if not earlier:
        return ()
    before = set(case.failed_tests_by_build[max(earlier)])
    return tuple(sorted(before & set(failed_tests(build, diagnosis))))


def unresolved(diagnosis: DiagnosisFacts, limit: int) -> tuple[Unresolved, ...]:
    """The findings as the report keeps them; those of the change itself first."""
    order = {"pr": 0, "process": 1, "unrelated": 2, "infrastructure": 3}
    ranked = sorted(diagnosis.findings, key=lambda item: order.get(item.verdict, 4))
    return tuple(
        Unresolved(
            stage=item.finding.stage,
            rule=item.finding.rule or item.finding.tool,
            place=place(item),
            verdict=item.verdict,
            message=item.finding.message[:300],
            why="; ".join(item.reasons)[:300],
            repairable=item.repairable,
        )
        for item in ranked[:limit]
    )


def place(item: JudgedFinding) -> str:
    """``file:line``, else what the finding names instead."""
    found = item.finding
    if found.file:
        return f"{found.file}:{found.line}" if found.line else found.file
    return found.function
