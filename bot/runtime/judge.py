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
"""Triage: whose fault each finding is, by the three questions, with the evidence for the answer. Pure.

Q1  Did the change touch what the build or the test depends on (build files, pins, images, the ``conftest.py`` chain)?
Q2  Does the failed item reach changed code?
Q3  Did the same test pass lately without this change?

``unrelated`` needs no, no, and passed. Where there is no answer to Q3 the verdict leans to the change, as the rules of
the gate do. Imports are not followed here: a test counts as reaching changed code when any product file changed.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.diagnosis import Diagnosis, match_path
from bot.gate.facts import JudgedFinding
from bot.gate.finding import FailureClass, Finding

_BUILD_FILES = (
    ".gitmodules",
    "*build.sh",
    "*CMakeLists.txt",
    "*.cmake",
    "*setup.py",
    "*setup.cfg",
    "*pyproject.toml",
    "*requirements*.txt",
    "*dependent_packages.yaml",
    "*conftest.py",
    "*mark_utils.py",
    "*Dockerfile*",
)
_TEST_TOOLS = frozenset({"pytest", "gtest", "ctest", "unittest", "msrun", "torchrun"})
MAX_FINDINGS = 300


@dataclass(frozen=True, slots=True)
class Past:
    """How one test fared without this change: builds in which it passed, and in which it failed."""

    passed_in: tuple[int, ...] = ()
    failed_in: tuple[int, ...] = ()


def judge(
    diagnosis: Diagnosis,
    patches: Mapping[str, str],
    past: Mapping[str, Past],
    repairable: Callable[[Finding], bool],
) -> tuple[JudgedFinding, ...]:
    """Judge the causes of a red build.

    Args:
        diagnosis: The log as read.
        patches: Path to diff of every file the pull request changes.
        past: Test id to its past, for tests that have one.
        repairable: Whether a recipe exists for a finding.
    """
    findings = _telling(diagnosis)
    return tuple(_judge_one(finding, patches, past, repairable) for finding in findings[:MAX_FINDINGS])


def _telling(diagnosis: Diagnosis) -> Sequence[Finding]:
    """All findings of the checks, and of the rest only what is not the consequence of something else."""
    secondary = {index for cause in diagnosis.causes if cause.secondary for index in cause.members}
    return [finding for index, finding in enumerate(diagnosis.findings) if index not in secondary]


def _judge_one(
    finding: Finding,
    patches: Mapping[str, str],
    past: Mapping[str, Past],
    repairable: Callable[[Finding], bool],
) -> JudgedFinding:
    placed = _place(finding, patches)
    in_diff = placed.file in patches
    if finding.failure_class is FailureClass.PROCESS:
        return JudgedFinding(finding=placed, verdict="process", reasons=("class:process",), in_diff=in_diff)
    if finding.failure_class is FailureClass.INFRASTRUCTURE:
        return JudgedFinding(
            finding=placed, verdict="infrastructure", reasons=("class:infrastructure",), in_diff=in_diff
        )
    if finding.tool not in _TEST_TOOLS and finding.failure_class is not FailureClass.FLAKE:
        reasons = ("q2:file-in-diff",) if in_diff else ("q2:file-not-in-diff",)
        return JudgedFinding(
            finding=placed, verdict="pr", reasons=reasons, in_diff=in_diff, repairable=in_diff and repairable(placed)
        )
    return _judge_test(placed, patches, past, in_diff, repairable)


def _judge_test(
    finding: Finding,
    patches: Mapping[str, str],
    past: Mapping[str, Past],
    in_diff: bool,
    repairable: Callable[[Finding], bool],
) -> JudgedFinding:
    depends = sorted(path for path in patches if _is_build_file(path))
    reaches = in_diff or any(_is_product(path) for path in patches)
    before = past.get(test_id(finding), Past())
    reasons = [
        f"q1:yes {depends[0]}" if depends else "q1:no",
        "q2:yes" if reaches else "q2:no",
    ]
    if before.passed_in:
        reasons.append(f"q3:passed #{max(before.passed_in)}")
    elif before.failed_in:
        reasons.append(f"q3:failed #{max(before.failed_in)}")
    else:
        reasons.append("q3:unknown")
    broken = bool(before.failed_in) and not before.passed_in
    unrelated = not depends and not reaches and (bool(before.passed_in) or broken)
    return JudgedFinding(
        finding=finding,
        verdict="unrelated" if unrelated else "pr",
        reasons=tuple(reasons),
        in_diff=in_diff,
        repairable=not unrelated and in_diff and repairable(finding),
        broken_on_base=unrelated and broken,
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
    name = finding.function.rpartition("::")[2].partition("[")[0]
    holders = [path for path, patch in patches.items() if f"def {name}(" in patch or f" {name}," in patch]
    return replace(finding, file=holders[0]) if len(holders) == 1 else finding


def _is_build_file(path: str) -> bool:
    return any(fnmatch.fnmatch(path, pattern) for pattern in _BUILD_FILES)


def _is_product(path: str) -> bool:
    """A file that code may import or that is compiled: not prose, not a test."""
    parts = path.lower().split("/")
    if path.lower().endswith((".md", ".rst", ".txt", ".ipynb")) or "docs" in parts:
        return False
    return not ("tests" in parts or "test" in parts or parts[-1].startswith("test_"))
