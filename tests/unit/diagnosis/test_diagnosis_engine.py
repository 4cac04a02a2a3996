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

import itertools
from pathlib import Path

import pytest

from bot.diagnosis import Diagnoser, GreenTemplates, diagnose, match_path, repo_path
from bot.diagnosis.engine import MAX_FINDINGS
from bot.gate.finding import FailureClass

FIXTURES = Path(__file__).parents[2] / "fixtures" / "tool_output"


def test_empty_log() -> None:
    for chunks in ([], [b""], [b"\n"]):
        result = diagnose(chunks)
        assert result.findings == ()
        assert result.causes == ()
    assert diagnose([b"\n"]).lines == 1


def test_line_numbers_count_lines_of_the_input_far_into_a_log() -> None:
    noise = b"building something quite unremarkable here\n" * 100_000
    log = noise + b"a.py:3: [W0611(unused-import), ] Unused import os\n" + noise + b"b.py:4: teh ==> the\n"
    assert [(one.tool, one.first_line) for one in diagnose([log]).findings] == [
        ("pylint", 100_001),
        ("codespell", 200_002),
    ]


def test_a_block_across_two_internal_blocks_is_read_whole() -> None:
    fixture = (FIXTURES / "cmake_error.txt").read_bytes()
    for size in range(1 << 20, (1 << 20) + 1200, 97):
        padding = b"x" * 63 + b"\n"
        log = padding * (size // 64) + fixture
        (finding,) = diagnose([log]).findings
        assert finding.last_line - finding.first_line == 14


def test_findings_beyond_the_limit_are_counted() -> None:
    line = "a.py:{}: teh ==> the\n"
    log = "".join(line.format(number) for number in range(1, MAX_FINDINGS + 11)).encode()
    result = diagnose([log])
    assert len(result.findings) == MAX_FINDINGS
    assert result.dropped == 10


def test_failed_stages_in_the_order_of_the_log() -> None:
    log = b"Execute project of UT is failed\nExecute project of Check_Tab is failed\nExecute project of UT is failed\n"
    result = diagnose([log])
    assert result.failed_stages == ("UT", "Check_Tab")
    assert [(one.stage, one.rule) for one in result.findings] == [("UT", "stage-failed"), ("Check_Tab", "stage-failed")]
    assert result.confidence < 0.5


def test_stage_without_pipeline_lines_comes_from_the_tool_or_from_what_failed_next() -> None:
    log = (
        b"a.py:3: [W0611(unused-import), ] Unused import os\nExecute project of Check_Pylint is failed\n"
        b"FAILED tests/st/test_a.py::test_a - assert 0\n1 failed in 0.10s\nExecute project of Smoke_CPU is failed\n"
    )
    assert [one.stage for one in diagnose([log]).findings] == ["Check_Pylint", "Smoke_CPU"]


def test_licence_scan_is_a_matter_of_process() -> None:
    (finding,) = diagnose([b"Execute project of Check_Scanoss is failed\n"]).findings
    assert finding.failure_class is FailureClass.PROCESS


def test_what_green_builds_print_too_is_not_shown_first() -> None:
    chatter = b"error: cannot reach telemetry host 10.0.0.%d\n"
    green = GreenTemplates()
    green.learn([(chatter % 7).decode().rstrip()])
    log = b"start\n" * 30 + b"widget broke: unexpected state 7\n" + b"working\n" * 30 + chatter % 9 + b"end\n" * 20
    with_green = diagnose([log], green=green)
    first = with_green.excerpt[0]
    assert first.first_line <= 31 <= first.last_line


def test_excerpt_ranges_do_not_overlap_and_hold_their_lines() -> None:
    log = (FIXTURES / "pytest_fail.txt").read_bytes()
    parts = sorted(diagnose([log]).excerpt, key=lambda part: part.first_line)
    assert all(one.last_line < two.first_line for one, two in itertools.pairwise(parts))
    assert all(len(part.text) == part.last_line - part.first_line + 1 for part in parts)


def test_feed_and_close_equal_diagnose() -> None:
    log = (FIXTURES / "make.txt").read_bytes()
    diagnoser = Diagnoser()
    for start in range(0, len(log), 13):
        diagnoser.feed(log[start : start + 13])
    assert diagnoser.close() == diagnose([log])


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("/home/jenkins/workspace/Gate/hyper_parallel/a.py", "hyper_parallel/a.py"),
        ("/home/jenkins/workspace/Gate/hyper-parallel/tests/a.py", "tests/a.py"),
        ("hyper-parallel/tests/a.py", "tests/a.py"),
        ("./a.py", "a.py"),
        ("src\\a.cc", "src/a.cc"),
        ("/usr/include/c++/12/vector", "/usr/include/c++/12/vector"),
    ],
)
def test_repo_path(path: str, inside: str) -> None:
    assert repo_path(path) == inside


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("core/a.py", "hyper_parallel/core/a.py"),
        ("x/docs/b.md", "docs/b.md"),
        ("hyper-parallel/docs/b.md", "docs/b.md"),
        ("c.py", ""),
        ("init.py", ""),
        ("gone.py", ""),
    ],
)
def test_match_path(path: str, found: str) -> None:
    assert match_path(path, ["hyper_parallel/core/a.py", "docs/b.md", "a/c.py", "b/c.py", "src/__init.py"]) == found
