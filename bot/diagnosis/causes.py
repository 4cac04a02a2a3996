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
"""From many findings to the few reasons: fold repeats, put what broke the rest first, mark what is only fallout.

Rules (fact sheet of the gate's logs): across ranks the earliest error that is not a time-out; compile errors before
what they broke; ``assert 256 == 0`` is never a cause when something inside is known.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from bot.diagnosis.model import Cause
from bot.diagnosis.templates import template
from bot.gate.finding import FailureClass, Finding, Severity

EVIDENCE_NOT_IN_CONSOLE = "evidence-not-in-console"

_COMPILE = frozenset({"gcc", "cmake"})
_BUILD = frozenset({"make", "ninja"})
_TESTS = frozenset({"pytest", "gtest", "python", "unittest"})
_DISTRIBUTED = frozenset({"torchrun", "msrun", "ascend", "mindspore", "hccl"})
_MACHINE = frozenset({"git", "pip", "disk", "memory", "agent", "network", "timeout"})
_LINTERS = frozenset(
    {
        *("pylint", "lizard", "codespell", "cpplint", "cppcheck", "clang-format", "cmakelint", "shellcheck"),
        *("markdownlint", "mdl", "dt_design", "tab", "utf8", "linklint", "scanoss"),
    }
)
# Codes that say "another rank was not there", not why (fact sheet 9.7).
_PYTEST_STOPS = frozenset({"conftest", "internal-error", "usage"})
_FALLOUT_RULES = frozenset({"EI0006", "EI0002", "507046", "507048", "107022", "507899", "hccl-timeout"})


def find_causes(findings: Sequence[Finding]) -> tuple[Cause, ...]:
    """Orders findings by how much they explain.

    Args:
        findings: Findings in the order of the log.

    Returns:
        One cause for each distinct message, most telling first; fallout behind what it follows from.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, finding in enumerate(findings):
        groups.setdefault(_key(finding), []).append(index)
    scene = _Scene(findings)
    judged = []
    for members in groups.values():
        finding = findings[members[0]]
        why, secondary = scene.judge(finding)
        cause = Cause(
            finding=finding,
            count=sum(findings[index].count for index in members),
            members=tuple(members),
            ranks=tuple(sorted({findings[index].rank for index in members if findings[index].rank >= 0})),
            why=why,
            secondary=secondary,
        )
        judged.append(((secondary, _tier(finding), finding.first_line), cause))
    judged.sort(key=lambda item: item[0])
    return tuple(_by_time([cause for _, cause in judged], findings))


def _by_time(causes: list[Cause], findings: Sequence[Finding]) -> list[Cause]:
    """Reorders what ranks reported by the clock: a launcher prints worker after worker, not in the order of events.

    A message without a time takes that of the last timed line of its rank before it; others keep their place.
    """
    latest: dict[int, str] = {}
    moments: dict[int, str] = {}
    for index, finding in enumerate(findings):
        if finding.time:
            latest[finding.rank] = finding.time.replace("_", "-").replace("T", "-").replace(" ", "-")
        if finding.rank >= 0 and finding.rank in latest:
            moments[index] = latest[finding.rank]
    ordered = list(causes)
    places: dict[tuple[bool, int], list[int]] = {}
    for place, cause in enumerate(causes):
        if cause.members[0] in moments:
            places.setdefault((cause.secondary, _tier(cause.finding)), []).append(place)
    for group in places.values():
        timed = sorted((causes[place] for place in group), key=lambda one: moments[one.members[0]])
        for place, cause in zip(group, timed, strict=True):
            ordered[place] = cause
    return ordered


def _key(finding: Finding) -> tuple[str, ...]:
    if finding.tool in _LINTERS:
        return (finding.stage, finding.tool, finding.rule, template(finding.message))
    return (finding.tool, finding.rule, template(finding.message))


def _tier(finding: Finding) -> int:
    """0 what stops everything after it, 1 what failed while running, 2 lint errors, 3 style, 4 hints."""
    if finding.confidence < 0.5:
        return 5
    if finding.tool in _LINTERS:
        return 2 if finding.severity in (Severity.FATAL, Severity.ERROR) else 3
    if finding.severity in (Severity.WARNING, Severity.INFO):
        return 4
    if finding.tool in _COMPILE or finding.tool in _MACHINE:
        return 0
    return 1


def is_timeout(finding: Finding) -> bool:
    """Whether a finding only says that something was waited for in vain."""
    return finding.rule in _FALLOUT_RULES or finding.rule == "timeout"


class _Scene:
    """What else is in the log, asked for each finding."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        hard = [f for f in findings if f.severity in (Severity.FATAL, Severity.ERROR) and f.confidence >= 0.5]
        self._compile = min((f.first_line for f in hard if f.tool in _COMPILE), default=0)
        self._linked = min((f.first_line for f in hard if f.tool in _COMPILE | {"ld"}), default=0)
        self._registry = [f.message for f in hard if f.tool == "op_yaml"]
        self._gtest = any(f.tool == "gtest" for f in hard)
        self._real = any(_is_inner(f) for f in hard)
        self._distributed = any(f.rank >= 0 or f.tool in _DISTRIBUTED for f in hard)
        self._inner_of_torchrun = any(_is_inner(f) and f.tool != "torchrun" for f in hard)

    def judge(self, finding: Finding) -> tuple[str, bool]:
        """The code of the rule that applies, and whether the finding is fallout."""
        tool, rule = finding.tool, finding.rule
        if rule in ("wrapped-exit", "worker-exit"):
            return ("wrapper", True) if self._real else (EVIDENCE_NOT_IN_CONSOLE, False)
        if tool == "torchrun" and self._inner_of_torchrun:
            return "wrapper", True
        if tool in _BUILD and self._linked:
            return "broken-by-compile", True
        if tool == "ld" and 0 < self._compile < finding.first_line:
            return "broken-by-compile", True
        if tool == "ctest" and (self._gtest or (rule == "not-run" and self._linked)):
            return "repeats-inner", True
        if tool in _TESTS and _repeats(finding.message, self._registry):
            return "repeats-inner", True
        if is_timeout(finding) and self._distributed and self._real:
            return "timeout-of-another-rank", True
        if tool in _COMPILE:
            return "compile", False
        if finding.failure_class is FailureClass.INFRASTRUCTURE:
            return "infrastructure", False
        if rule == "stage-failed":
            return "unexplained-stage", False
        if is_timeout(finding):
            return "timeout", False
        return "first-error", False


def _repeats(message: str, said: Sequence[str]) -> bool:
    """Whether a test only tells again what was said; a summary line may be cut at the terminal's width."""
    words = message.removesuffix("...").partition(": ")[2]
    return any(one in message or (len(words) >= 30 and one.startswith(words)) for one in said)


def _is_inner(finding: Finding) -> bool:
    """Whether a finding can be what a wrapper or a time-out is the consequence of."""
    if finding.rule in ("wrapped-exit", "worker-exit", "stage-failed") or is_timeout(finding):
        return False
    return finding.tool in _TESTS | _DISTRIBUTED | _COMPILE | _MACHINE | {"ld"}


def merge_duplicates(findings: Sequence[Finding]) -> list[Finding]:
    """Folds findings that say exactly the same of the same place, and crash reports that name one test twice.

    Args:
        findings: Findings in any order.

    Returns:
        The findings in the order of the log, ``count`` raised where some were folded.
    """
    ordered = sorted(findings, key=lambda one: (one.first_line, one.last_line))
    kept: dict[tuple[object, ...], Finding] = {}
    for one in ordered:
        key: tuple[object, ...] = (
            one.stage,
            one.tool,
            one.rule,
            one.file,
            one.line,
            one.column,
            one.function,
            one.message,
            one.rank,
        )
        before = kept.get(key)
        kept[key] = one if before is None else replace(before, count=before.count + one.count)
    crashes = {one.function: key for key, one in kept.items() if one.rule == "crash" and one.severity is Severity.FATAL}
    for key, one in list(kept.items()):
        # xdist names the test of a dead worker again; the interpreter's own report tells more.
        if one.rule == "crash" and one.severity is Severity.ERROR and (fatal := _same_test(one.function, crashes)):
            kept[fatal] = replace(kept[fatal], function=one.function)
            del kept[key]
    return _without_echoes(list(kept.values()))


def _without_echoes(findings: list[Finding]) -> list[Finding]:
    """Drops nameless error lines that a fuller finding holds already, and "no tests ran" behind a real error."""
    named = [one for one in findings if one.tool == "pytest" and (one.function or one.rule in _PYTEST_STOPS)]
    spans = sorted((one.first_line, one.last_line) for one in named)
    starts = [first for first, _ in spans]
    kept = []
    for one in findings:
        if one.tool == "pytest" and not one.function and one.rule not in _PYTEST_STOPS:
            index = bisect_right(starts, one.first_line) - 1
            if (index >= 0 and spans[index][1] >= one.last_line) or (one.rule == "no-tests" and named):
                continue
        kept.append(one)
    return kept


def _same_test(test: str, crashes: dict[str, tuple[object, ...]]) -> tuple[object, ...] | None:
    if test in crashes:
        return crashes[test]
    path, _, name = test.partition("::")
    plain = name.rpartition("::")[2].partition("[")[0]
    return crashes.get(f"{path}::{plain}")


def notes_for(findings: Sequence[Finding]) -> tuple[str, ...]:
    """General remarks on a log as codes."""
    hard = [one for one in findings if one.severity in (Severity.FATAL, Severity.ERROR)]
    wrapped = any(one.rule in ("wrapped-exit", "worker-exit") for one in hard)
    return (EVIDENCE_NOT_IN_CONSOLE,) if wrapped and not any(_is_inner(one) for one in hard) else ()
