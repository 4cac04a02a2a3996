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
"""Failure reports of tools that nobody ever heard of are found by their shape."""

from __future__ import annotations

import pytest

from bot.diagnosis import diagnose
from bot.diagnosis.general.choose import choose
from bot.diagnosis.general.detector import all_detectors
from bot.diagnosis.general.rarity import Rarity
from bot.diagnosis.general.regions import Region
from bot.diagnosis.general.steps import last_attempts

COURSE = [f"zork: case {number} of module {number % 7} went by in 0.{number} s" for number in range(300)]
AFTER = ["zork: writing cache", *COURSE[:40], 'The command "zork all" exited with 1.']

REPORTS = {
    "headed": ["<FAILED> quux", "FAIL: quux holds its water", "  seven buckets instead of six"],
    "numbered": ["  1) quux holds its water", "     seven buckets instead of six", "     quux.zk:12", "     quux.zk:3"],
    "marked": ["  ✘ quux holds its water", "     seven buckets instead of six"],
    "list": ["Failing modules:", "  quux", "  corge", "  grault"],
    "ends-in-failed": ["quux holds its water ... FAILED", "  seven buckets instead of six"],
    "error-at-place": ["src/quux.zk:12:3: error: bucket of type Sieve", "   12 | fill(sieve)", "      |      ^"],
    "exception": ["zork.BucketException: no bottom", "   in fill of quux", "   in main of quux"],
    "diff": ["--- a/quux.zk", "+++ b/quux.zk", "@@ -1,2 +1,2 @@", " fill", "-sieve", "+bucket"],
    "places-of-a-file": ["src/quux.zk", "  12:3  bucket is never emptied", "  14:1  sieve as bucket", "2 complaints"],
    "expected-actual": ["quux holds its water", "  expected: 6 buckets", "  actual:   7 buckets"],
}


def shown(lines: list[str]) -> set[int]:
    """Indexes of the lines in the excerpt."""
    excerpt = diagnose(["\n".join([*lines, ""]).encode()]).excerpt
    return {line - 1 for part in excerpt for line in range(part.first_line, part.last_line + 1)}


def places(lines: list[str], wanted: list[str]) -> set[int]:
    """Indexes of the last occurrence of the wanted lines."""
    return {len(lines) - 1 - lines[::-1].index(text) for text in wanted if text}


@pytest.mark.parametrize("shape", sorted(REPORTS))
def test_the_report_of_an_unknown_tool_is_shown(shape: str) -> None:
    """Output that goes on for forty lines stands between it and the end."""
    lines = [*COURSE, *REPORTS[shape], *AFTER]
    assert places(lines, REPORTS[shape]) <= shown(lines)


def test_what_every_attempt_prints_is_no_normal_course() -> None:
    """Only the last attempt of a retried command is shown."""
    report = ["quux: bucket has no bottom", "quux: water on the floor", "FAIL quux"]
    again = 'The command "zork all" failed. Retrying, {} of 3.'
    attempts = [*report, "", again.format(2), "", *report, "", again.format(3), ""]
    lines = ["$ zork all", *COURSE, *attempts, *report, "", 'The command "zork all" exited with 1.']
    assert places(lines, report) <= shown(lines)
    kept = last_attempts(lines)
    assert len(kept) == len(lines)
    assert [text for text in kept if text in report] == report


def test_a_failure_before_a_command_that_is_tried_again_is_shown() -> None:
    """The script failed in its tests and then tried to upload a report."""
    report = ["FAIL: quux holds its water", "  expected: 6 buckets", "  actual:   7 buckets"]
    again = 'The command "upload" failed. Retrying, {} of 3.'
    tries = ["upload: no such host", again.format(2), "upload: no such host", again.format(3), "upload: no such host"]
    lines = ["$ ./ci.sh", *COURSE, *report, *COURSE[:20], *tries, 'The command "./ci.sh" exited with 1.']
    assert places(lines, report) <= shown(lines)
    assert last_attempts(lines).count("upload: no such host") == 1


def test_a_line_that_passes_a_failure_on_does_not_explain_it() -> None:
    """More lines are shown when nothing but make's own complaint is recognised."""
    quiet = ["quux is not a bucket", "corge holds no water"]
    passed_on = ["make[1]: *** [all] Error 2", "make: *** [check] Error 2", 'The command "make" exited with 2.']
    lines = [*COURSE, *quiet, *COURSE[:12], *passed_on]
    assert places(lines, quiet) <= shown(lines)


def test_a_range_grows_over_what_is_unlike_the_rest() -> None:
    """Two blank lines may stand between; the normal course, or more blank lines, end it."""
    block = ["<quux>", "", "", "  {sieve}", "=> water!", "", "", "", "[[corge]]"]
    course = [text for number in range(5) for text in (*COURSE[:20], *[f"corge {number}!"] * 20)]
    lines = [*course, *block, *course]
    rare = Rarity(lines)
    first = len(course)
    assert rare.widened(first + 3, first + 3, 20, 20) == (first, first + 4)
    assert rare.widened(first + 3, first + 3, 1, 1) == (first + 3, first + 4)


def test_names_of_passing_tests_do_not_head_a_list_of_failures() -> None:
    """Output of other tests goes on behind the report, and their names speak of failures."""
    report = ["not ok 38 - quux holds its water", "# buckets differ", "#     expected: 7", "#          got: 5"]
    names = [f"    {verb} {thing}" for verb in ("handles", "drops") for thing in ("failed request", "failure count")]
    passing = [
        text for name in names for text in (name, f"Quux::Corge{len(name)}", "  #fills", f"      ✓ {name.strip()}")
    ]
    lines = [*COURSE, *report, "", "make[1]: *** [check] Error 1", *passing, 'The command "zork all" exited with 1.']
    assert places(lines, report) <= shown(lines)
    heads = next(one for one in all_detectors() if one.name == "list-of-failures").start
    assert not [
        text for text in (*passing, "==> Uploading failed", "Failed examples:", "[ERROR] ") if heads.search(text)
    ]
    assert all(
        map(heads.search, ("  2 failing", "There was 1 error:", "== Failed tests ====", "Failing modules:", "FAILED"))
    )


def test_a_cause_that_only_points_elsewhere_does_not_explain_a_failure() -> None:
    """Gradle's headed advice names the task that failed; the assertion stands above it."""
    report = ["zork.SieveSpec > holds its water FAILED", "    Condition not satisfied:", "    sieve.water == 6"]
    advice = [
        "* What went wrong:",
        "Execution failed for task ':test'.",
        "> There were failing tests. See the report at: x",
    ]
    lines = [*COURSE, *report, "", *advice, "", "* Try:", "Run with --stacktrace", *COURSE[:60], AFTER[-1]]
    assert places(lines, report) <= shown(lines)
    best = diagnose(["\n".join([*lines, ""]).encode()]).excerpt[0]
    assert best.first_line <= len(COURSE) + 1
    assert best.why != "gradle"


def test_a_report_that_goes_on_is_not_cut_by_a_few_lines() -> None:
    """Lines beyond the budget are better than half an error; one that stands elsewhere is shown in part."""
    texts = ["course"] * 400
    end = Region(380, 399, 0.0, "end")
    first = Region(50, 69, 8.0, "rustc")
    near, far = Region(71, 88, 6.4, "list"), Region(200, 217, 6.4, "list")
    for second, whole in ((near, True), (far, False)):
        picked = choose([first, second], end, texts, Rarity(texts))
        lines = {line for one in picked for line in range(one.first, one.last + 1)}
        assert set(range(50, 70)) <= lines
        assert (set(range(second.first, second.last + 1)) <= lines) == whole
        assert second.first in lines


def test_what_only_sums_up_the_outcome_heads_no_report() -> None:
    """Such lines stand at the end of nearly every failed build and say nothing of its reason."""
    starts = {one.name: one.start for one in all_detectors() if one.name in ("headed-failure", "ends-in-failed")}
    sums = ["FAILED (failures=1)", "Failed 1/4 subtests", "# FAIL:  1", "[ERROR] Re-run Maven using the -X switch"]
    assert not [text for text in sums if starts["headed-failure"].search(text)]
    assert not [
        text for text in ("Finished: FAILURE", "Result: FAIL", "BUILD FAILED") if starts["ends-in-failed"].search(text)
    ]
    assert all(map(starts["headed-failure"].search, ("FAIL: quux", "--- FAIL: Quux (0.0s)", "ERROR: 12 buckets leak")))
    assert all(map(starts["ends-in-failed"].search, ("quux ... FAIL", "quux > corge FAILED", "bucket: FAIL")))


def test_the_list_of_failed_scenarios_is_shown_beside_the_step_that_failed() -> None:
    """Cucumber's list of names tells less than the step, and a reader wants both."""
    step = [
        "    When the sieve is filled # features/steps.rb:3",
        "      expected: 6 buckets",
        "           got: 7 buckets",
    ]
    names = ["Failing Scenarios:", "cucumber features/quux.feature:5 # Scenario: quux", "", "4 scenarios (1 failed)"]
    lines = [*COURSE, *step, "", *COURSE[:60], "", *names, AFTER[-1]]
    assert places(lines, [*step, *names[:2]]) <= shown(lines)


def test_names_of_shapes_are_told_apart() -> None:
    """The name is the reason that the reader is given."""
    names = [one.name for one in all_detectors()]
    assert len(names) == len(set(names))
