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
"""A JUnit report as Jenkins shows it: with the history that tells a regression from an old failure."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

Suite = dict[str, Any]
_FAILED = ("FAILED", "REGRESSION")


def read_suites(xml: bytes) -> list[Suite]:
    """Suites and cases of the XML that pytest writes, still without history."""
    return [
        {
            "name": suite.get("name", ""),
            "duration": float(suite.get("time", 0)),
            "timestamp": suite.get("timestamp"),
            "cases": [_case(element) for element in suite.iter("testcase")],
        }
        for suite in ET.fromstring(xml).iter("testsuite")
    ]


def report_document(suites: list[Suite], history: list[tuple[int, list[Suite]]], number: int) -> dict[str, Any]:
    """``testReport``: counts, suites, and for each case its ``status``, ``age`` and ``failedSince``.

    Args:
        suites: Suites of this build, as :func:`read_suites` gives them.
        history: Number and suites of earlier builds with a report, newest first.
        number: This build's number.
    """
    failures = [(other, _failures(earlier)) for other, earlier in history]
    shown = [suite | {"cases": [_with_history(case, failures, number) for case in suite["cases"]]} for suite in suites]
    cases = [case for suite in shown for case in suite["cases"]]
    failed = sum(case["status"] in _FAILED for case in cases)
    skipped = sum(case["status"] == "SKIPPED" for case in cases)
    return {
        "_class": "hudson.tasks.junit.TestResult",
        "testActions": [],
        "duration": sum(suite["duration"] for suite in shown),
        "empty": not cases,
        "failCount": failed,
        "passCount": len(cases) - failed - skipped,
        "skipCount": skipped,
        "suites": shown,
    }


def _case(element: ET.Element) -> dict[str, Any]:
    problem = next((child for child in element if child.tag in ("failure", "error")), None)
    skipped = element.find("skipped")
    return {
        "_class": "hudson.tasks.junit.CaseResult",
        "className": element.get("classname", ""),
        "name": element.get("name", ""),
        "duration": float(element.get("time", 0)),
        "status": "SKIPPED" if skipped is not None else "FAILED" if problem is not None else "PASSED",
        "skipped": skipped is not None,
        "skippedMessage": skipped.get("message") if skipped is not None else None,
        "errorDetails": problem.get("message") if problem is not None else None,
        "errorStackTrace": problem.text if problem is not None else None,
        "age": 0,
        "failedSince": 0,
    }


def _failures(suites: list[Suite]) -> dict[tuple[str, str], bool]:
    return {(case["className"], case["name"]): case["status"] in _FAILED for suite in suites for case in suite["cases"]}


def _with_history(
    case: dict[str, Any], history: list[tuple[int, dict[tuple[str, str], bool]]], number: int
) -> dict[str, Any]:
    key = (case["className"], case["name"])
    failed_before = bool(history) and history[0][1].get(key, False)
    if case["status"] not in _FAILED:
        healed = case["status"] == "PASSED" and failed_before
        return case | {"status": "FIXED"} if healed else case
    since, age = number, 1
    for other, failures in history:
        if not failures.get(key, False):
            break
        since, age = other, age + 1
    # A case that failed in the build before is FAILED; one that is new in failing is a REGRESSION.
    return case | {"status": "FAILED" if failed_before else "REGRESSION", "age": age, "failedSince": since}
