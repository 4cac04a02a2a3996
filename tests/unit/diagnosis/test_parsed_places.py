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
"""Where a tool's own output says that something is wrong: place in the code, gravity, and the lines of the log.

The corpus compares rules, files and lines of code; here columns, severities and the span of evidence are held as well.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.diagnosis import diagnose

FIXTURES = Path(__file__).parents[2] / "fixtures" / "tool_output"

Row = tuple[str, str, int, int, str, int, int]
"""Rule, file, line, column, severity, first and last line of the log."""

OUTPUT: dict[str, tuple[Row, ...]] = {
    "clang_format": (
        ("clang-format", "bad.cc", 4, 14, "warning", 1, 3),
        ("clang-format", "bad.cc", 4, 15, "warning", 4, 6),
        ("clang-format", "bad.cc", 5, 4, "warning", 7, 9),
        ("clang-format", "bad.cc", 5, 7, "warning", 10, 12),
    ),
    "cmake_error": (("find_package", "CMakeLists.txt", 3, 0, "error", 7, 21),),
    "cmakelint": (
        ("readability/mixedcase", "CMakeLists.txt", 2, 0, "warning", 1, 1),
        ("readability/mixedcase", "CMakeLists.txt", 3, 0, "warning", 2, 2),
        ("whitespace/extra", "CMakeLists.txt", 3, 0, "warning", 3, 3),
    ),
    "codespell": (
        ("typo", "bad.py", 18, 0, "warning", 1, 1),
        ("typo", "bad.py", 18, 0, "warning", 2, 2),
        ("typo", "l1.txt", 1, 0, "warning", 5, 5),
    ),
    "cppcheck": (
        ("arrayIndexOutOfBounds", "cc.cpp", 2, 48, "error", 2, 4),
        ("memleak", "cc.cpp", 2, 70, "error", 5, 7),
        ("cstyleCast", "cc.cpp", 2, 20, "warning", 8, 10),
    ),
    "cpplint": (
        ("legal/copyright", "bad.cc", 0, 0, "warning", 1, 1),
        ("build/include_subdir", "bad.cc", 1, 0, "warning", 2, 2),
    ),
    "gcc": (
        ("fatal-error", "a.cc", 1, 10, "fatal", 1, 3),
        ("-fpermissive", "b.cc", 5, 49, "error", 5, 10),
        ("error", "b.cc", 5, 72, "error", 11, 13),
    ),
    "lizard_full": (("CCN", "bad.py", 3, 0, "warning", 16, 16),),
    "lizard_w": (("CCN", "bad.py", 3, 0, "warning", 1, 1),),
    "make": (
        ("undefined-symbol", "l.cc", 0, 0, "error", 2, 3),
        ("target", "CMakeFiles/l.dir/build.make", 97, 0, "error", 5, 5),
        ("-fpermissive", "b.cc", 5, 49, "error", 9, 14),
    ),
    "markdownlint_cli": (
        ("MD022", "a.md", 1, 0, "warning", 1, 1),
        ("MD022", "a.md", 2, 0, "warning", 2, 2),
        ("MD025", "a.md", 2, 0, "warning", 3, 3),
    ),
    "markdownlint_cli2": (("MD022", "a.md", 1, 0, "warning", 5, 5), ("MD022", "a.md", 2, 0, "warning", 6, 6)),
    "mdl": (("MD009", "a.md", 5, 0, "warning", 1, 1), ("MD012", "a.md", 4, 0, "warning", 2, 2)),
    "pylint_json2": (("C0301", "bad.py", 13, 1, "info", 3, 17), ("C0114", "bad.py", 1, 1, "info", 18, 32)),
    "pylint_parseable": (("E0001", "syn.py", 1, 0, "error", 2, 2), ("C0301", "bad.py", 13, 0, "info", 4, 4)),
    # pylint counts columns from 0
    "pylint_text": (("E0001", "syn.py", 1, 8, "error", 2, 2), ("C0301", "bad.py", 13, 1, "info", 4, 4)),
    "shellcheck_gcc": (
        ("SC2164", "a.sh", 2, 1, "warning", 1, 1),
        ("SC2086", "a.sh", 2, 4, "info", 2, 2),
        ("SC2168", "a.sh", 3, 1, "error", 3, 3),
    ),
    # the caret stands below the column
    "shellcheck_tty": (
        ("SC2164", "a.sh", 2, 1, "warning", 2, 4),
        ("SC2086", "a.sh", 2, 4, "info", 2, 5),
        ("SC2168", "a.sh", 3, 1, "error", 11, 13),
    ),
}

LINES: dict[str, Row] = {
    "src/a.cc:3: tab character found": ("tab", "src/a.cc", 3, 0, "warning", 2, 2),
    "src/a.py:7: non-UTF-8 byte at offset 12": ("utf8", "src/a.py", 7, 0, "error", 2, 2),
    "docs/a.md:5: dead link: https://x.example/gone": ("dead-link", "docs/a.md", 5, 0, "warning", 2, 2),
    "src/a.py:9: f: cyclomatic complexity = 19 (threshold 15)": ("CCN", "src/a.py", 9, 0, "warning", 2, 2),
    "src/a.cc:4: code does not match clang-format": ("clang-format", "src/a.cc", 4, 0, "warning", 2, 2),
    "docs/a.md:5:3 error MD009/no-trailing-spaces Trailing": ("MD009", "docs/a.md", 5, 3, "warning", 2, 2),
    "src/a.py:5:4: F0001: No module named x (fatal)": ("F0001", "src/a.py", 5, 5, "fatal", 2, 2),
}


def rows(log: bytes) -> list[Row]:
    return [
        (one.rule, one.file, one.line, one.column, one.severity.value, one.first_line, one.last_line)
        for one in diagnose([log]).findings
    ]


@pytest.mark.parametrize("name", sorted(OUTPUT))
def test_the_place_and_the_gravity_of_each_finding_and_its_lines_in_the_log(name: str) -> None:
    wanted = OUTPUT[name]
    assert rows((FIXTURES / f"{name}.txt").read_bytes())[: len(wanted)] == list(wanted)


@pytest.mark.parametrize("line", sorted(LINES))
def test_one_line_of_a_check_is_one_finding(line: str) -> None:
    assert rows(f"a line before\n{line}\na line behind\n".encode()) == [LINES[line]]
