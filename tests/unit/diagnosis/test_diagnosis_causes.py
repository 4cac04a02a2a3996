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
from __future__ import annotations

from bot.diagnosis.causes import find_causes, merge_duplicates, notes_for
from bot.gate.finding import FailureClass, Finding, Severity


def test_same_message_is_one_cause_with_a_count() -> None:
    findings = [
        Finding("pytest", f"OSError: device {n} busy", rule="OSError", first_line=n, rank=n % 3) for n in range(9)
    ]
    (cause,) = find_causes(findings)
    assert cause.count == 9
    assert cause.members == tuple(range(9))
    assert cause.ranks == (0, 1, 2)


def test_compile_error_comes_before_what_it_broke() -> None:
    findings = [
        Finding("make", "*** [a.o] Error 1", rule="target", first_line=1),
        Finding("gcc", "'x' was not declared", rule="error", first_line=5),
        Finding("ld", "undefined reference to `x'", rule="undefined-symbol", first_line=9),
        Finding("ctest", "t: Not Run", rule="not-run", first_line=12),
    ]
    causes = find_causes(findings)
    assert causes[0].finding.tool == "gcc"
    assert [cause.secondary for cause in causes] == [False, True, True, True]


def test_a_linker_error_before_any_compile_error_stands_on_its_own() -> None:
    findings = [
        Finding("ld", "undefined reference to `x'", first_line=1),
        Finding("gcc", "bad", first_line=5),
        Finding("make", "*** [l] Error 1", first_line=2),
    ]
    assert {cause.finding.tool: cause.secondary for cause in find_causes(findings)} == {
        "ld": False,
        "gcc": False,
        "make": True,
    }


def test_earliest_error_that_is_not_a_timeout_leads_across_ranks() -> None:
    findings = [
        Finding("ascend", "link timeout", rule="EI0006", first_line=1, rank=0, time="2025-10-11-11:30:00.000"),
        Finding("mindspore", "late", rule="A", first_line=2, rank=1, time="2025-10-11-11:32:00.000"),
        Finding("mindspore", "early", rule="B", first_line=3, rank=2, time="2025-10-11 11:31:00.000"),
    ]
    causes = find_causes(findings)
    assert [cause.finding.message for cause in causes] == ["early", "late", "link timeout"]
    assert causes[-1].why == "timeout-of-another-rank"


def test_a_message_without_time_takes_that_of_its_rank() -> None:
    findings = [
        Finding("mindspore", "one", rule="A", first_line=1, rank=1, time="2025-10-11-11:32:00.000"),
        Finding("mindspore", "two", rule="B", first_line=2, rank=2, time="2025-10-11-11:31:00.000"),
        Finding("pytest", "three", rule="C", first_line=3, rank=2),
    ]
    assert [cause.finding.message for cause in find_causes(findings)] == ["two", "three", "one"]


def test_timeouts_on_every_rank_are_the_cause_when_nothing_else_is_known() -> None:
    findings = [Finding("ascend", "link timeout", rule="EI0006", first_line=n, rank=n) for n in range(1, 5)]
    (cause,) = find_causes(findings)
    assert not cause.secondary
    assert cause.ranks == (1, 2, 3, 4)


def test_a_wrapper_is_never_the_cause_when_the_inside_is_known() -> None:
    wrapper = Finding("pytest", "assert 256 == 0", rule="wrapped-exit", first_line=9)
    inner = Finding("pytest", "ValueError: x", rule="ValueError", first_line=2)
    assert [cause.finding for cause in find_causes([inner, wrapper])] == [inner, wrapper]
    assert find_causes([wrapper])[0].why == "evidence-not-in-console"
    assert notes_for([wrapper]) == ("evidence-not-in-console",)
    assert notes_for([inner, wrapper]) == ()


def test_a_lint_finding_does_not_explain_a_wrapper() -> None:
    wrapper = Finding("pytest", "assert 256 == 0", rule="wrapped-exit", first_line=9)
    lint = Finding("pylint", "Unused import os", rule="W0611", first_line=2, severity=Severity.WARNING)
    assert notes_for([lint, wrapper]) == ("evidence-not-in-console",)
    assert find_causes([lint, wrapper])[0].finding is wrapper


def test_machine_trouble_leads_and_style_comes_last() -> None:
    findings = [
        Finding("codespell", "teh ==> the", first_line=1, severity=Severity.WARNING),
        Finding("pytest", "assert 0", first_line=2),
        Finding("disk", "No space left on device", first_line=3, failure_class=FailureClass.INFRASTRUCTURE),
    ]
    assert [cause.finding.tool for cause in find_causes(findings)] == ["disk", "pytest", "codespell"]


def test_exact_repeats_are_folded_and_counted() -> None:
    one = Finding("gcc", "bad", file="a.cc", line=3, first_line=4, last_line=6)
    (kept,) = merge_duplicates([one, Finding("gcc", "bad", file="a.cc", line=3, first_line=40, last_line=42)])
    assert (kept.count, kept.first_line) == (2, 4)


def test_ranks_are_not_folded() -> None:
    assert len(merge_duplicates([Finding("python", "x", rank=0), Finding("python", "x", rank=1)])) == 2
