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
"""Triage: whose fault a finding is, with the evidence for the answer."""

from __future__ import annotations

import pytest

from bot.diagnosis import Cause, Diagnosis
from bot.gate.finding import FailureClass, Finding
from bot.gate.triage import Past
from bot.runtime.judge import judge

LINT = Finding(tool="pylint", message="Unused import os", stage="Check_Pylint", rule="W0611", file="pkg/a.py", line=2)
TEST = Finding(tool="pytest", message="assert 3 == 4", file="tests/test_a.py", function="tests/test_a.py::test_add")
PRODUCT = {"pkg/a.py": "+import os\n"}
DOCS = {"docs/a.md": "+text\n"}


def verdict(finding: Finding, patches: dict[str, str], past: Past | None = None) -> tuple[str, bool, bool]:
    history = {finding.function: past} if past else {}
    judged = judge(Diagnosis(findings=(finding,)), patches, history, lambda f: f.rule == "W0611")[0]
    return judged.verdict, judged.in_diff, judged.repairable


def test_a_check_on_a_changed_file_is_the_changes_fault_and_may_be_mended() -> None:
    assert verdict(LINT, PRODUCT) == ("pr", True, True)


def test_a_check_on_another_file_is_not_mended() -> None:
    assert verdict(LINT, {"pkg/b.py": "+x\n"}) == ("pr", False, False)


def test_a_path_with_the_repositorys_name_is_found_in_the_diff() -> None:
    finding = Finding(tool="pylint", message="x", rule="W0611", file="hyper-parallel/pkg/a.py", line=2)
    judged = judge(Diagnosis(findings=(finding,)), PRODUCT, {}, lambda _f: True)[0]
    assert judged.finding.file == "pkg/a.py"


def test_a_finding_without_a_file_is_sought_by_its_function() -> None:
    finding = Finding(tool="dt_design", message="missing", function="test_x")
    patches = {"tests/test_a.py": "+def test_x():\n", "tests/test_b.py": "+def test_xy():\n"}
    assert judge(Diagnosis(findings=(finding,)), patches, {}, lambda _f: True)[0].finding.file == "tests/test_a.py"


@pytest.mark.parametrize(
    ("patches", "past", "expected"),
    [
        (PRODUCT, Past(passed_in=(7,)), "pr"),  # Q2: product code changed
        (DOCS, None, "pr"),  # Q3: nobody knows
        (DOCS, Past(passed_in=(7,), failed_in=(8,)), "unrelated"),
        (DOCS, Past(failed_in=(8,)), "unrelated"),  # broken without this change, too
        ({**DOCS, "requirements.txt": "+x\n"}, Past(passed_in=(7,)), "pr"),  # Q1: pins changed
        ({**DOCS, "tests/conftest.py": "+x\n"}, Past(passed_in=(7,)), "pr"),
        ({"tests/test_a.py": "+x\n"}, Past(passed_in=(7,)), "pr"),  # its own file changed
        ({"tests/test_b.py": "+x\n"}, Past(passed_in=(7,)), "unrelated"),
    ],
)
def test_a_failed_test_is_unrelated_only_with_all_three_answers(
    patches: dict[str, str], past: Past | None, expected: str
) -> None:
    assert verdict(TEST, patches, past)[0] == expected


def test_the_evidence_stands_beside_the_verdict() -> None:
    judged = judge(Diagnosis(findings=(TEST,)), DOCS, {TEST.function: Past(failed_in=(8, 9))}, lambda _f: False)[0]
    assert judged.reasons == ("q1:no", "q2:no", "q3:failed #9")
    assert judged.broken_on_base


@pytest.mark.parametrize(
    ("failure_class", "expected"), [(FailureClass.INFRASTRUCTURE, "infrastructure"), (FailureClass.PROCESS, "process")]
)
def test_trouble_of_the_machine_or_the_process_is_named_so(failure_class: FailureClass, expected: str) -> None:
    finding = Finding(tool="git", message="Could not resolve host", failure_class=failure_class)
    assert verdict(finding, PRODUCT)[0] == expected


def test_the_consequence_of_another_error_is_not_judged() -> None:
    first = Finding(tool="gcc", message="fatal error: nope.h", file="a.cc", line=1)
    second = Finding(tool="make", message="Error 1")
    causes = (Cause(first, members=(0,)), Cause(second, members=(1,), secondary=True))
    judged = judge(Diagnosis(findings=(first, second), causes=causes), {"a.cc": "+x\n"}, {}, lambda _f: False)
    assert [one.finding.tool for one in judged] == ["gcc"]
