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
"""Scenarios of further tools: run for real where this machine can, recorded lines where it cannot."""

from __future__ import annotations

from pathlib import Path

from tests.diagnosis.scenario import Expected as E
from tests.diagnosis.scenario import Scenario as S
from tests.diagnosis.scenario import Step

SAMPLES = Path(__file__).parents[1] / "fixtures" / "tool_output"
I, F, P, U = "infrastructure", "flake", "process", "unknown"  # noqa: E741
T = "tests/ut/test_a.py"
COMPILE = "Compile_CPU"


def sample(name: str) -> str:
    """A recorded output of a real tool."""
    return (SAMPLES / name).read_text(encoding="utf-8")


def check(tool: str, command: str) -> Step:
    """A check stage."""
    return Step(f"Check_{tool}", command)


SCENARIOS = (
    # pytest, outside the gate's own stage
    S(
        "pytest-timeout-signal",
        {T: "import time\n\n\ndef test_sleep():\n    time.sleep(30)\n"},
        steps=(Step("UT", f"pytest -q --timeout 1 --timeout-method signal {T}"),),
        expected=(E("UT", "pytest", "timeout", T, 5, f"{T}::test_sleep", F),),
        cause=("pytest", "timeout"),
    ),
    S(
        "pytest-timeout-thread",
        {T: "import time\n\n\ndef test_sleep():\n    time.sleep(30)\n"},
        steps=(Step("UT", f"pytest -q --timeout 1 --timeout-method thread {T}"),),
        expected=(E("UT", "pytest", "timeout", T, 5, f"{T}::test_sleep", F),),
        cause=("pytest", "timeout"),
    ),
    S(
        "pytest-xdist-crash",
        {T: "import ctypes\n\n\ndef test_null():\n    ctypes.string_at(0)\n\n\ndef test_ok():\n    pass\n"},
        steps=(Step("UT", f"pytest -q -n 1 {T}"),),
        expected=(E("UT", "pytest", "crash", T, 5, f"{T}::test_null"),),
        cause=("pytest", "crash"),
    ),
    S(
        "pytest-xdist-verbose",
        {T: "import pytest\n\n\n@pytest.mark.parametrize('n', range(6))\ndef test_n(n):\n    assert n != 4\n"},
        steps=(Step("UT", f"pytest -v -n 2 {T}"),),
        expected=(E("UT", "pytest", "AssertionError", T, 6, f"{T}::test_n[4]", message="assert 4 != 4"),),
    ),
    S(
        "pytest-not-found",
        {T: "def test_a():\n    pass\n"},
        steps=(Step("UT", f"pytest -q {T}::test_gone"),),
        expected=(E("UT", "pytest", "usage"),),
        cause=("pytest", "usage"),
    ),
    S(
        "pytest-coloured",
        {T: "def test_a():\n    assert {'a': 1} == {'a': 2}\n"},
        steps=(Step("UT", f"pytest --color=yes {T}"),),
        expected=(E("UT", "pytest", "AssertionError", T, 2, f"{T}::test_a"),),
    ),
    S(
        "pytest-two-sessions",
        {T: "def test_a():\n    assert 0, 'one'\n", "tests/st/test_a.py": "def test_a():\n    assert 0, 'two'\n"},
        steps=(Step("UT", f"pytest {T}"), Step("ST", "pytest tests/st")),
        expected=(
            E("UT", "pytest", "AssertionError", T, 2, f"{T}::test_a", message="AssertionError: one"),
            E("ST", "pytest", "AssertionError", "tests/st/test_a.py", 2, "tests/st/test_a.py::test_a"),
        ),
    ),
    S(
        "pytest-no-summary",
        {T: "def test_a():\n    assert 0, 'one'\n"},
        steps=(Step("UT", f"pytest --no-summary {T}"),),
        expected=(E("UT", "pytest", "failed", T, message="1 failed (the log holds no report)"),),
    ),
    S(
        "pytest-short-traceback",
        {T: "def helper():\n    raise LookupError('gone')\n\n\ndef test_a():\n    helper()\n"},
        steps=(Step("UT", f"pytest --tb=short {T}"),),
        expected=(E("UT", "pytest", "LookupError", T, 2, f"{T}::test_a", message="LookupError: gone"),),
    ),
    # checks
    S(
        "cpplint",
        {"x.cc": "// Copyright 2026\nint f(int x) {\n\tif(x) return (int)1.0;\n  return 0;\n}\n"},
        steps=(check("Cpplint", "cpplint --linelength=120 x.cc"),),
        expected=(
            E("Check_Cpplint", "cpplint", "whitespace/tab", "x.cc", 3),
            E("Check_Cpplint", "cpplint", "readability/braces", "x.cc", 3),
            E("Check_Cpplint", "cpplint", "readability/casting", "x.cc", 3),
        ),
    ),
    S(
        "cmakelint",
        {"CMakeLists.txt": "project(x)\nADD_EXECUTABLE (a a.cc)\nset(B 1) \n"},
        steps=(check("Cmakelint", "cmakelint CMakeLists.txt"),),
        expected=(
            E("Check_Cmakelint", "cmakelint", "readability/mixedcase", "CMakeLists.txt", 2),
            E("Check_Cmakelint", "cmakelint", "whitespace/extra", "CMakeLists.txt", 2),
            E("Check_Cmakelint", "cmakelint", "whitespace/eol", "CMakeLists.txt", 3),
        ),
    ),
    S(
        "gate-forms",
        steps=(
            Step(
                "Check_Cmakelint", recorded="hyper-parallel/CMakeLists.txt:7: [whitespace/eol] Line ends in whitespace"
            ),
            Step("Check_ClangFormat", recorded="hyper-parallel/csrc/x.cc:12: code does not match clang-format"),
            Step("Check_ShellCheck", recorded="In build.sh line 9:\nSC2086: Double quote to prevent globbing."),
            Step("Check_Linklint", recorded="docs/a.md:4: dead link: https://example.com/gone"),
            Step("Check_Scanoss", recorded="[ERROR] Scanoss error number: 2"),
        ),
        expected=(
            E("Check_Cmakelint", "cmakelint", "whitespace/eol", "CMakeLists.txt", 7),
            E("Check_ClangFormat", "clang-format", "clang-format", "csrc/x.cc", 12),
            E("Check_ShellCheck", "shellcheck", "SC2086", "build.sh", 9),
            E("Check_Linklint", "linklint", "dead-link", "docs/a.md", 4, failure_class=U),
            E("Check_Scanoss", "scanoss", "licence", failure_class=P),
        ),
    ),
    S(
        "clang-format",
        {"x.cc": "int f(int &x){\n  return 1;\n}\n"},
        steps=(check("ClangFormat", "clang-format --style=Google --dry-run -Werror x.cc"),),
        # one for each place where the formatter would insert or remove something: "&", ")", "{", the newline, the end
        expected=tuple(
            E(
                "Check_ClangFormat",
                "clang-format",
                "clang-format",
                "x.cc",
                line,
                message="code should be clang-formatted",
            )
            for line in (1, 1, 1, 1, 2)
        ),
    ),
    S(
        "cppcheck",
        {"x.cpp": "int main() {\n  int a[2];\n  a[2] = 1;\n  return a[0];\n}\n"},
        steps=(check("Cppcheck", "cppcheck --error-exitcode=1 x.cpp"),),
        expected=(E("Check_Cppcheck", "cppcheck", "arrayIndexOutOfBounds", "x.cpp", 3),),
    ),
    S(
        "shellcheck",
        {"a.sh": '#!/bin/bash\ncd $1\nfor f in $@; do rm "$f"; done\n'},
        steps=(check("ShellCheck", "shellcheck a.sh"),),
        expected=(
            E("Check_ShellCheck", "shellcheck", "SC2164", "a.sh", 2),
            E("Check_ShellCheck", "shellcheck", "SC2086", "a.sh", 2),
            E("Check_ShellCheck", "shellcheck", "SC2068", "a.sh", 3),
        ),
    ),
    S(
        "shellcheck-gcc",
        {"a.sh": "#!/bin/bash\ncd $1\n"},
        steps=(check("ShellCheck", "shellcheck -f gcc a.sh"),),
        expected=(
            E("Check_ShellCheck", "shellcheck", "SC2164", "a.sh", 2),
            E("Check_ShellCheck", "shellcheck", "SC2086", "a.sh", 2),
        ),
    ),
    S(
        "markdownlint-cli2",
        {"a.md": "# A\n\ntext\n# B\n"},
        steps=(check("Markdownlint", "markdownlint-cli2 a.md"),),
        expected=(
            E("Check_Markdownlint", "markdownlint", "MD022", "a.md", 4),
            E("Check_Markdownlint", "markdownlint", "MD025", "a.md", 4),
        ),
    ),
    S(
        "markdownlint-cli",
        steps=(Step("Check_Markdownlint", recorded=sample("markdownlint_cli.txt")),),
        expected=tuple(
            E("Check_Markdownlint", "markdownlint", rule, "a.md", line)
            for rule, line in (
                ("MD022", 1),
                ("MD022", 2),
                ("MD025", 2),
                ("MD012", 4),
                ("MD031", 6),
                ("MD040", 6),
                ("MD031", 8),
                ("MD032", 9),
            )
        ),
    ),
    S(
        "mdl",
        steps=(Step("Check_Markdownlint", recorded=sample("mdl.txt")),),
        expected=tuple(
            E("Check_Markdownlint", "mdl", rule, "a.md", line)
            for rule, line in (("MD009", 5), ("MD012", 4), ("MD022", 1), ("MD031", 6), ("MD031", 8), ("MD032", 9))
        ),
    ),
    S(
        "pylint-text-and-json",
        {"a.py": '"""Doc."""\nimport os\n', "b.py": '"""Doc."""\nimport sys\n'},
        steps=(check("Pylint", "pylint a.py; pylint --output-format=json2 b.py"),),
        expected=(E("Check_Pylint", "pylint", "W0611", "a.py", 2), E("Check_Pylint", "pylint", "W0611", "b.py", 2)),
    ),
    # version control, packages, machine
    S(
        "git-merge-conflict",
        steps=(
            Step(
                "Checkout",
                "git init -q -b master . && git config user.email a@example.com && git config user.name a && echo 1 > f"
                " && git add f && git commit -qm one && git checkout -qb side && echo 2 > f && git commit -qam two"
                " && git checkout -q master && echo 3 > f && git commit -qam three && git merge side",
            ),
        ),
        expected=(E("Checkout", "git", "merge-conflict", "f"),),
        cause=("git", "merge-conflict"),
    ),
    S(
        "git-server-down",
        steps=(Step("Checkout", "git clone http://127.0.0.1:9/x.git"),),
        expected=(E("Checkout", "git", "network", failure_class=I),),
        cause=("git", "network"),
    ),
    S(
        "git-missing-ref",
        steps=(
            Step(
                "Checkout", "git init -q --bare r.git && git init -q w && cd w && git fetch ../r.git refs/pull/7/head"
            ),
        ),
        expected=(E("Checkout", "git", "ref", failure_class=I),),
    ),
    S(
        "pip-index-down",
        steps=(Step("UT", "python -m pip install --no-index not-a-package==9.9"),),
        expected=(E("UT", "pip", "requirement", function="not-a-package==9.9", failure_class=I),),
    ),
    S(
        "pip-wrong-version",
        steps=(
            Step(
                "UT",
                recorded="ERROR: Could not find a version that satisfies the requirement numpy==99.0"
                " (from versions: 1.26.3, 1.26.4)\nERROR: No matching distribution found for numpy==99.0",
            ),
        ),
        expected=(E("UT", "pip", "requirement", function="numpy==99.0"),),
    ),
    S(
        "disk-full",
        steps=(Step(COMPILE, "cp /usr/bin/env /dev/full"),),
        expected=(E(COMPILE, "disk", "disk", failure_class=I),),
        cause=("disk", "disk"),
    ),
    S(
        "out-of-memory",
        {"m.py": "data = bytearray(1 << 40)\n"},
        steps=(Step("UT", "ulimit -v 2000000; python m.py"),),
        expected=(
            E("UT", "python", "MemoryError", "m.py", 1, failure_class=I),
            E("UT", "memory", "memory", failure_class=I),
        ),
        cause=("memory", "memory"),
    ),
    S(
        "killed",
        {"run.sh": "#!/bin/bash\nbash -c 'kill -9 $$'\necho after\nexit 137\n"},
        steps=(Step(COMPILE, "bash run.sh"),),
        expected=(E(COMPILE, "memory", "killed", failure_class=I),),
    ),
    S(
        "compiler-killed",
        steps=(
            Step(
                COMPILE,
                recorded="g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n"
                "make[2]: *** [CMakeFiles/x.dir/build.make:76: CMakeFiles/x.dir/a.cc.o] Error 1",
            ),
        ),
        expected=(
            E(COMPILE, "memory", "killed", failure_class=I),
            E(COMPILE, "make", "target", "CMakeFiles/x.dir/build.make", 76),
        ),
        cause=("memory", "killed"),
    ),
    S(
        "agent-lost",
        steps=(
            Step(
                "ST",
                recorded="running\nCannot contact agent-7: hudson.remoting.ChannelClosedException: Channel"
                " closed down or"
                ' "failed"',
            ),
        ),
        expected=(E("ST", "agent", "agent", failure_class=I),),
        cause=("agent", "agent"),
    ),
    S(
        "build-timed-out",
        steps=(Step("ST", recorded="running\nBuild timed out (after 120 minutes). Marking the build as aborted."),),
        expected=(E("ST", "timeout", "timeout", failure_class=F),),
        cause=("timeout", "timeout"),
    ),
    S(
        "progress-bars",
        {
            "p.py": "import sys\nfor n in range(101):\n    sys.stdout.write(f'\\r{n}% |{\"#\" * (n // 4):25}|')\n"
            "print('\\ra.py:1: teh ==> the')\nsys.exit(1)\n"
        },
        steps=(check("Codespell", "python p.py"),),
        expected=(E("Check_Codespell", "codespell", "typo", "a.py", 1),),
    ),
)
