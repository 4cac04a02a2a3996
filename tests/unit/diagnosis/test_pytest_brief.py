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
"""pytest runs that print little: one line a failure, or no report at all; the logs are made by the real pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bot.diagnosis import diagnose

TESTS = """
import pytest

def test_ok():
    pass

def test_sum():
    assert 1 + 1 == 3, "sums differ"

class TestBox:
    def test_key(self):
        {}["k"]

@pytest.fixture
def device():
    raise RuntimeError("no device")

def test_on_device(device):
    pass

@pytest.mark.parametrize("text", ["a b", "c::d"])
def test_text(text):
    assert text == ""
"""
NAMES = ["test_sum", "TestBox::test_key", "test_text[a b]", "test_text[c::d]"]


def found(folder: Path, *options: str) -> list[tuple[str, str, int, str]]:
    """Rule, test, line and message of what is found in the output of a real run."""
    (folder / "test_a.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", *options, "test_a.py"]
    log = subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout
    return [(one.rule, one.function, one.line, one.message) for one in diagnose([log]).findings]


@pytest.mark.parametrize("options", [("--tb=line",), ("-q", "--tb=line"), ("-v", "--tb=line")], ids=str)
def test_one_line_a_failure_names_test_and_place(options: tuple[str, ...], tmp_path: Path) -> None:
    told = found(tmp_path, *options)
    places = {test.removeprefix("test_a.py::"): line for _, test, line, _ in told}
    assert places == {
        "test_sum": 8,
        "TestBox::test_key": 12,
        "test_text[a b]": 23,
        "test_text[c::d]": 23,
        "test_on_device": 0,
    }
    assert {(rule, message) for rule, _, line, message in told if line in (8, 12)} == {
        ("AssertionError", "AssertionError: sums differ"),
        ("KeyError", "KeyError: 'k'"),
    }


def test_one_line_a_failure_without_names(tmp_path: Path) -> None:
    told = found(tmp_path, "--tb=line", "-rN")
    assert [line for rule, _, line, _ in told if rule != "fixture"] == [8, 12, 23, 23]


def test_verbose_run_without_a_report_names_the_tests(tmp_path: Path) -> None:
    told = found(tmp_path, "--no-summary", "-v")
    assert [test for rule, test, _, _ in told if rule == "failed"] == [f"test_a.py::{name}" for name in NAMES]
    assert [test for rule, test, _, _ in told if rule == "fixture"] == ["test_a.py::test_on_device"]


def test_run_without_a_report_names_the_file(tmp_path: Path) -> None:
    assert found(tmp_path, "--no-summary") == [("failed", "", 0, "4 failed, 1 error (the log holds no report)")]


def test_closing_line_alone_is_told() -> None:
    (one,) = diagnose([b"=== test session starts ===\n==== 1 error in 0.63s ====\n"]).findings
    assert (one.tool, one.message) == ("pytest", "1 error (the log holds no report)")


def test_passing_run_is_silent(tmp_path: Path) -> None:
    assert found(tmp_path, "--no-summary", "-v", "-k", "test_ok") == []
