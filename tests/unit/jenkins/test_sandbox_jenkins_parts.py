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
"""Pure parts of the sandbox Jenkins."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.sandbox.jenkins.console import PROGRESSIVE_LINES, ConsoleLog, Writer, render, schedule
from bot.sandbox.jenkins.dt_design import is_test_file, missing_fields
from bot.sandbox.jenkins.junit import read_suites, report_document
from bot.sandbox.jenkins.report import StageReport
from bot.sandbox.jenkins.tree import TreeSyntaxError, apply_tree, parse_tree

DOCUMENT = {
    "_class": "Job",
    "name": "Gate",
    "builds": [
        {"_class": "Run", "number": n, "url": f"u{n}", "actions": [{}, {"_class": "C", "causes": [{"text": "x"}]}]}
        for n in range(9, 0, -1)
    ],
}


def test_tree_picks_properties_and_keeps_empty_objects() -> None:
    shown = apply_tree(DOCUMENT, parse_tree("builds[number,actions[causes[text]]]{0,1}"))
    actions = [{}, {"_class": "C", "causes": [{"text": "x"}]}]
    assert shown == {"_class": "Job", "builds": [{"_class": "Run", "number": 9, "actions": actions}]}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("builds[number]{2,4}", [7, 6]),
        ("builds[number]{7,}", [2, 1]),
        ("builds[number]{,2}", [9, 8]),
        ("builds[number]{3}", [6]),
        ("builds[*]{0,1}", [9]),
    ],
)
def test_tree_ranges_are_inclusive_then_exclusive(text: str, numbers: list[int]) -> None:
    assert [build["number"] for build in apply_tree(DOCUMENT, parse_tree(text))["builds"]] == numbers


@pytest.mark.parametrize("text", ["builds[number", "builds]", "a,,b", "builds[number]{x}", "[a]", "a!"])
def test_tree_that_does_not_parse_is_refused(text: str) -> None:
    with pytest.raises(TreeSyntaxError):
        parse_tree(text)


def test_dt_design_wants_exact_keys_on_lines_of_their_own() -> None:
    source = '''
def test_good():
    """
    Feature: sort
    Description: sorts a list
    Expectation: sorted
    """

def test_bare():
    pass

class TestC:
    async def test_method(self):
        """feature: wrong case

        Description: Expectation: on one line
        """

def helper():
    pass
'''
    assert [str(missing) for missing in missing_fields(source)] == [
        "[PYTHON] Function 'test_bare' is missing: Feature:, Description:, Expectation:",
        "[PYTHON] Function 'test_method' is missing: Feature:, Expectation:",
    ]
    assert is_test_file("tests/ut/test_a.py")
    assert not is_test_file("tests/helper.py")


def _log(lines: int) -> ConsoleLog:
    log = ConsoleLog()
    for index in range(lines):
        log.append(f"line {index}", float(index), note=True)
    return log


def test_live_log_keeps_notes_and_the_clean_one_does_not() -> None:
    log = _log(3)
    assert b"\x1b[8mha:" in log.progressive(0, 9, finished=True).body
    assert log.clean() == b"line 0\nline 1\nline 2\n"
    assert log.clean(0.5) == b"line 0\n"


def test_live_log_loses_lines_beyond_ten_thousand_while_it_runs() -> None:
    log = _log(PROGRESSIVE_LINES + 5)
    answer = log.progressive(0, 1e9, finished=False)
    assert answer.body.count(b"\n") == PROGRESSIVE_LINES
    assert answer.size == len(log.raw())
    assert answer.more
    assert log.progressive(0, 1e9, finished=True).body == log.raw()


def test_live_log_of_older_servers_ends_in_mid_line_and_start_beyond_the_end_begins_anew() -> None:
    log = _log(3)
    cut = log.progressive(0, 9, finished=False, cut_lines=True)
    assert not cut.body.endswith(b"\n")
    assert cut.size == len(cut.body)
    assert log.progressive(10**6, 9, finished=False).body == log.raw()
    assert log.progressive(0, -1, finished=False) == type(cut)(b"", 0, True)


def test_stages_fill_the_duration_one_after_the_other() -> None:
    spans = schedule([StageReport("a", "SUCCESS", seconds=1), StageReport("b", "FAILED", seconds=3)], 100)
    assert spans[0].end == spans[1].begin
    assert spans[-1].end == pytest.approx(98)
    assert (spans[1].end - spans[1].begin) == pytest.approx(3 * (spans[0].end - spans[0].begin))


def test_rendered_log_has_the_shape_of_a_pipeline() -> None:
    log = ConsoleLog()
    stages = [StageReport("Check_Tab", "FAILED", ("a.py:1: tab character found",))]
    render(Writer(log, datetime(2026, 5, 16, 2, 0, tzinfo=UTC)), stages, seconds=100, cause="Started", agent="/ws")
    lines = log.clean().decode().splitlines()
    assert lines[0] == "Started"
    assert "[Pipeline] { (Check_Tab)" in lines
    assert "[2026-05-16T02:00:50.000Z] a.py:1: tab character found" in lines
    assert lines[-1] == "Finished: FAILURE"


JUNIT = b"""<testsuites><testsuite name="pytest" time="0.5">
<testcase classname="t" name="old" time="0.1"><failure message="m">trace</failure></testcase>
<testcase classname="t" name="new" time="0.1"><error message="e">trace</error></testcase>
<testcase classname="t" name="healed" time="0.1"/><testcase classname="t" name="fine" time="0.1"/>
<testcase classname="t" name="off" time="0"><skipped message="why"/></testcase></testsuite></testsuites>"""


def test_junit_history_tells_regression_failed_and_fixed() -> None:
    now = read_suites(JUNIT)
    before = read_suites(
        b'<testsuite name="pytest"><testcase classname="t" name="old"><failure/></testcase>'
        b'<testcase classname="t" name="healed"><failure/></testcase></testsuite>'
    )
    report = report_document(now, [(4, before), (3, before), (1, [])], 5)
    shown = {case["name"]: (case["status"], case["age"], case["failedSince"]) for case in report["suites"][0]["cases"]}
    assert shown == {
        "old": ("FAILED", 3, 3),
        "new": ("REGRESSION", 1, 5),
        "healed": ("FIXED", 0, 0),
        "fine": ("PASSED", 0, 0),
        "off": ("SKIPPED", 0, 0),
    }
    assert (report["failCount"], report["passCount"], report["skipCount"]) == (2, 2, 1)
