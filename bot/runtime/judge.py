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
"""Judges the causes of a red build: the findings of checks by their file, failed tests by the three questions. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from bot.diagnosis import Diagnosis, match_path
from bot.diagnosis.tools.op_yaml import yaml_of
from bot.gate.facts import JudgedFinding
from bot.gate.finding import FailureClass, Finding
from bot.gate.triage import Evidence, Past, judge_test

Reach = Mapping[str, "tuple[str, ...] | None"]
"""Test file to the way from it to changed code, as ``bot.gate.imports.reach`` tells it."""

_TEST_TOOLS = frozenset({"pytest", "gtest", "ctest", "unittest", "msrun", "torchrun"})
MAX_FINDINGS = 300


def judge(
    diagnosis: Diagnosis,
    patches: Mapping[str, str],
    past: Mapping[str, Past],
    repairable: Callable[[Finding], bool],
    reach: Reach | None = None,
) -> tuple[JudgedFinding, ...]:
    """Judge the causes of a red build.

    Args:
        diagnosis: The log as read.
        patches: Path to diff of every file the pull request changes.
        past: Test id to its past, for tests that have one.
        repairable: Whether a recipe exists for a finding.
        reach: Ways from test files to changed code, where they were looked for.
    """
    found = telling(diagnosis)[:MAX_FINDINGS]
    return tuple(_judge_one(finding, patches, past, repairable, reach or {}) for finding in found)


def failed_test_files(diagnosis: Diagnosis, patches: Mapping[str, str]) -> tuple[str, ...]:
    """The files of the failed tests, as far as the findings tell."""
    tests = (finding for finding in telling(diagnosis)[:MAX_FINDINGS] if _is_test(finding))
    return tuple(dict.fromkeys(path for test in tests if (path := test_file(_place(test, patches)))))


def test_file(finding: Finding) -> str:
    """The file of a failed test: of its id, which names it surely, else where it failed."""
    path = finding.function.partition("::")[0]
    return path if path.endswith(".py") else finding.file


def _is_test(finding: Finding) -> bool:
    plain = finding.failure_class not in {FailureClass.PROCESS, FailureClass.INFRASTRUCTURE}
    return plain and (finding.tool in _TEST_TOOLS or finding.failure_class is FailureClass.FLAKE)


def telling(diagnosis: Diagnosis) -> Sequence[Finding]:
    """All findings of the checks, and of the rest only what is not the consequence of something else."""
    secondary = {index for cause in diagnosis.causes if cause.secondary for index in cause.members}
    return [finding for index, finding in enumerate(diagnosis.findings) if index not in secondary]


def _judge_one(
    finding: Finding,
    patches: Mapping[str, str],
    past: Mapping[str, Past],
    repairable: Callable[[Finding], bool],
    reach: Reach,
) -> JudgedFinding:
    placed = _place(finding, patches)
    in_diff = placed.file in patches
    if finding.failure_class in {FailureClass.PROCESS, FailureClass.INFRASTRUCTURE}:
        verdict = finding.failure_class.value
        return JudgedFinding(finding=placed, verdict=verdict, reasons=(f"class:{verdict}",), in_diff=in_diff)
    if not _is_test(finding):
        reasons = ("q2:file-in-diff",) if in_diff else ("q2:file-not-in-diff",)
        return JudgedFinding(
            finding=placed, verdict="pr", reasons=reasons, in_diff=in_diff, repairable=in_diff and repairable(placed)
        )
    path = test_file(placed)
    found = judge_test(Evidence(tuple(patches), path, reach.get(path), past.get(test_id(finding), Past())))
    ours = found.verdict == "pr"
    return JudgedFinding(
        finding=placed,
        verdict=found.verdict,
        reasons=found.reasons,
        in_diff=in_diff,
        repairable=ours and in_diff and repairable(placed),
        broken_on_base=found.broken_on_base,
    )


def test_id(finding: Finding) -> str:
    """The name under which a test's history is kept."""
    return finding.function or finding.file


def _place(finding: Finding, patches: Mapping[str, str]) -> Finding:
    """The finding with the file as the pull request names it; a nameless one is sought by its function in the diff."""
    if finding.file:
        matched = match_path(finding.file, patches)
        return replace(finding, file=matched) if matched else finding
    if not finding.function:
        return finding
    if finding.tool == "op_yaml":
        return replace(finding, file=yaml_of(finding, patches))
    name = finding.function.rpartition("::")[2].partition("[")[0]
    holders = [path for path, patch in patches.items() if f"def {name}(" in patch or f" {name}," in patch]
    return replace(finding, file=holders[0]) if len(holders) == 1 else finding
