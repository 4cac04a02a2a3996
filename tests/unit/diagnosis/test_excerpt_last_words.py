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
"""What a failing command says last is shown, however little it sounds like a failure."""

from __future__ import annotations

from bot.diagnosis import diagnose

PASSING = [f"  ✔ test of case {number} that survives an error" for number in range(200)]
COMPLAINTS = [
    "lib/app.js: line 1, col 10, Missing semicolon.",
    "lib/app.js: line 2, col 52, Missing semicolon.",
    "lib/app.js: line 4, col 1, Prefer const.",
    "",
    "3 errors",
]
PASSED_ON = [
    "npm ERR! code ELIFECYCLE",
    "npm ERR! errno 2",
    "npm ERR! acme@1.0.0 test: `run`",
    "npm ERR! Exit status 2",
    "npm ERR! A complete log of this run can be found in:",
    "npm ERR!     /home/travis/.npm/_logs/debug.log",
    "travis_time:end:0:start=1,finish=2,duration=3",
    'The command "npm test" exited with 1.',
    "",
    "Done. Your build exited with 1.",
]


def shown(lines: list[str]) -> set[int]:
    """Line numbers of the excerpt."""
    diagnosis = diagnose(["\n".join([*lines, ""]).encode()])
    return {line for part in diagnosis.excerpt for line in range(part.first_line, part.last_line + 1)}


def numbers(lines: list[str], wanted: list[str]) -> set[int]:
    """Where the non-blank wanted lines stand, counted from 1."""
    return {number for number, text in enumerate(lines, 1) if text and text in wanted}


def test_a_list_of_places_without_error_words_is_shown() -> None:
    """The list stands before what the package manager passes on."""
    lines = [*PASSING, *COMPLAINTS, *PASSED_ON]
    assert numbers(lines, COMPLAINTS) <= shown(lines)


def test_one_bracketed_error_in_passing_output_does_not_hide_it() -> None:
    """A passing test may print one such line; a compiler prints more."""
    lines = [*PASSING[:150], "[error] client disconnected", *PASSING[150:], *COMPLAINTS, *PASSED_ON]
    assert numbers(lines, COMPLAINTS) <= shown(lines)


def test_a_formatting_diff_at_the_end_is_shown() -> None:
    """A formatter in check mode prints nothing but a diff."""
    diff = ["diff a/b.go.orig a/b.go", "--- a/b.go.orig", "+++ a/b.go", "@@ -1,2 +1,2 @@", " package a", "-func x(){}"]
    lines = [*PASSING, *diff, "+func x() {}", 'The command "gofmt -d ." exited with 1.']
    assert numbers(lines, [*diff, "+func x() {}"]) <= shown(lines)


def test_numbers_of_passed_tests_are_no_device_codes() -> None:
    """107000 is a device error, and also the number of a test."""
    lines = [f"ok {number} - handles error {number % 7}" for number in range(106990, 107010)]
    assert not diagnose(["\n".join(lines).encode()]).findings
    assert diagnose([b"aclrtMalloc failed, error code is 107000\n"]).findings
