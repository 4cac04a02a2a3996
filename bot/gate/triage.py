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
"""Triage of a failed test by the community's three questions. Pure: evidence in, verdict and reasons out.

Q1  Does the change touch what the test depends on at build or load time?
Q2  Does the test reach changed code, by its imports and what they load?
Q3  How did the same test fare lately without this change?

``unrelated`` needs no, no, and an answer to Q3. Where Q3 has no answer the verdict leans to the change: a wrong
"unrelated" would hide a fault, a wrong "pr" only asks a person. A test that fails without the change as well is the
target branch's (``broken_on_base``).
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass

from bot.texts import Markup, code, inline, render

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
    "*mark_utils.py",
    "*Dockerfile*",
    ".jenkins/*",
)
_PROSE = (".md", ".rst", ".txt", ".ipynb", ".png", ".svg")
_CHAIN_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Past:
    """How one test fared without this change: builds in which it passed, and in which it failed."""

    passed_in: tuple[int, ...] = ()
    failed_in: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about one failed test.

    Attributes:
        changed: Paths the pull request changes.
        test_file: Path of the test; empty when unknown.
        chain: Files from the test to changed code; empty when the import graph has no such path; ``None`` when the
            graph was not to be had.
        past: The same test without this change.
    """

    changed: tuple[str, ...]
    test_file: str = ""
    chain: tuple[str, ...] | None = None
    past: Past = Past()


@dataclass(frozen=True, slots=True)
class Verdict:
    """``pr`` or ``unrelated``, with one reason per question, in the form that :func:`explain` reads."""

    verdict: str
    reasons: tuple[str, ...]
    broken_on_base: bool = False


def judge_test(evidence: Evidence) -> Verdict:
    """The verdict on one failed test."""
    depends = load_time(evidence.changed, evidence.test_file)
    reached = _reached(evidence)
    past = evidence.past
    if past.passed_in:
        third = f"q3:passed #{max(past.passed_in)}"
    elif past.failed_in:
        third = f"q3:failed #{max(past.failed_in)}"
    else:
        third = "q3:unknown"
    broken = bool(past.failed_in) and not past.passed_in
    unrelated = not depends and reached is None and (bool(past.passed_in) or broken)
    first = f"q1:yes {depends[0]}" if depends else "q1:no"
    second = "q2:no" if reached is None else f"q2:yes {reached}".rstrip()
    return Verdict("unrelated" if unrelated else "pr", (first, second, third), unrelated and broken)


def load_time(changed: Iterable[str], test_file: str) -> list[str]:
    """Changed files on which the test depends before it runs; of ``conftest.py`` files only those above the test."""
    return sorted(path for path in changed if _is_build_file(path) or _is_conftest_of(path, test_file))


def is_product(path: str) -> bool:
    """A file that code may import or that is compiled: not prose, not a test."""
    parts = path.lower().split("/")
    if path.lower().endswith(_PROSE) or "docs" in parts:
        return False
    return not ("tests" in parts or "test" in parts or parts[-1].startswith("test_"))


def undecided(changed: tuple[str, ...], test_file: str) -> bool:
    """Whether only the import graph can answer: Q1 is no, and changed code exists that is not the test itself."""
    if not test_file or test_file in changed or load_time(changed, test_file):
        return False
    return any(not path.lower().endswith(_PROSE) for path in changed)


def explain(reason: str, language: str) -> Markup:
    """A reason as a sentence; one of another kind stands as it is."""
    question, _, rest = reason.partition(":")
    answer, _, detail = rest.partition(" ")
    names = {
        ("q1", "yes"): "triage.q1.yes",
        ("q1", "no"): "triage.q1.no",
        ("q2", "yes"): "triage.q2.yes" if detail else "triage.q2.maybe",
        ("q2", "no"): "triage.q2.no",
        ("q2", "file-in-diff"): "triage.q2.in_diff",
        ("q2", "file-not-in-diff"): "triage.q2.not_in_diff",
        ("q3", "passed"): "triage.q3.passed",
        ("q3", "failed"): "triage.q3.failed",
        ("q3", "unknown"): "triage.q3.unknown",
        ("class", "infrastructure"): "triage.infrastructure",
        ("class", "process"): "triage.process",
    }
    text_id = names.get((question, answer))
    if text_id is None:
        return inline(reason)
    if question == "q3" and detail:
        return render(text_id, language, build=detail.lstrip("#"))
    return render(text_id, language, detail=code(detail)) if detail else render(text_id, language)


def _reached(evidence: Evidence) -> str | None:
    """How the test reaches changed code, in words; ``None`` when it does not."""
    if evidence.test_file and evidence.test_file in evidence.changed:
        return evidence.test_file
    if evidence.chain is None:  # no graph: any changed product file counts
        return "" if any(is_product(path) for path in evidence.changed) else None
    if not evidence.chain:
        return None
    shown = evidence.chain
    if len(shown) > _CHAIN_SHOWN:
        shown = (*shown[:2], "…", *shown[-2:])
    return " → ".join(shown)


def _is_build_file(path: str) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in _BUILD_FILES)


def _is_conftest_of(path: str, test_file: str) -> bool:
    directory, _, name = path.rpartition("/")
    if name != "conftest.py":
        return False
    return not test_file or not directory or test_file.startswith(f"{directory}/")
