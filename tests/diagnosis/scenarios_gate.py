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
"""Scenarios of the gate's own stages; what is planted says what must be found."""

from __future__ import annotations

from tests.diagnosis.scenario import Expected as E
from tests.diagnosis.scenario import Scenario as S
from tests.diagnosis.scenario import Step

PYLINT, SPELL, LIZARD, DT = "Check_Pylint", "Check_Codespell", "Check_Lizard", "Check_DT_Design"
DOC = '"""A module."""\n'
FIELDS = '    """\n    Feature: a.\n    Description: b.\n    Expectation: c.\n    """\n'


def test(name: str, body: str, *arguments: str) -> str:
    """Source of a test function."""
    return f"def {name}({', '.join(arguments)}):\n" + "".join(f"    {line}\n" for line in body.split("\n")) + "\n\n"


def long_function(name: str, branches: int) -> str:
    """A function with a cyclomatic complexity of ``branches`` + 1."""
    lines = [f"def {name}(x):", '    """Doc."""']
    lines += [f"    if x == {number}:\n        x += {number}" for number in range(branches)]
    return "\n".join([*lines, "    return x", ""])


A = "hyper_parallel/a.py"
T = "tests/ut/test_a.py"
UT = {"gate": ("UT",)}

SCENARIOS = (
    S(
        "pylint-unused-import",
        {A: DOC + "import os\n"},
        (PYLINT,),
        expected=(E(PYLINT, "pylint", "W0611", A, 2, message="Unused import os"),),
        cause=("pylint", "W0611"),
    ),
    S(
        "pylint-many-rules",
        {
            A: DOC + "import os, sys\n\n\ndef f(a, b=[]):\n    try:\n        return undefined_name\n    except:\n   "
            "     return b\n",
            "hyper_parallel/b.py": DOC + "def g():\n    if 1 == 2:\n        return 1\n    else:\n        return 2\n",
        },
        (PYLINT,),
        expected=(
            E(PYLINT, "pylint", "C0410", A, 2, ""),
            E(PYLINT, "pylint", "W0611", A, 2, "", message="Unused import os"),
            E(PYLINT, "pylint", "W0611", A, 2, "", message="Unused import sys"),
            E(PYLINT, "pylint", "C0116", A, 5, "f"),
            E(PYLINT, "pylint", "W0102", A, 5, "f"),
            E(PYLINT, "pylint", "W0613", A, 5, "f", message="Unused argument 'a'"),
            E(PYLINT, "pylint", "E0602", A, 7, "f"),
            E(PYLINT, "pylint", "W0702", A, 8, "f"),
            E(PYLINT, "pylint", "C0116", "hyper_parallel/b.py", 2, "g"),
            E(PYLINT, "pylint", "R1705", "hyper_parallel/b.py", 3, "g"),
            E(PYLINT, "pylint", "R0133", "hyper_parallel/b.py", 3, "g"),
        ),
        cause=("pylint", "E0602"),
    ),
    S(
        "pylint-syntax-error",
        {A: DOC + "def f(:\n    pass\n"},
        (PYLINT,),
        expected=(E(PYLINT, "pylint", "E0001", A, 2),),
        cause=("pylint", "E0001"),
    ),
    S(
        "pylint-repo-prefix",
        {A: DOC + "import os\n"},
        (PYLINT,),
        expected=(E(PYLINT, "pylint", "W0611", A, 2),),
        cause=("pylint", "W0611"),
        options={"path_prefix": "hyper-parallel/"},
    ),
    S(
        "codespell",
        {"docs/guide.md": "Teh first line.\nWe recieve it.\n"},
        (SPELL,),
        expected=(
            E(SPELL, "codespell", "typo", "docs/guide.md", 1, message="Teh ==> The"),
            E(SPELL, "codespell", "typo", "docs/guide.md", 2, message="recieve ==> receive"),
        ),
        cause=("codespell", "typo"),
    ),
    S(
        "codespell-many-words",
        {"README.md": "An ane and a\nbellow.\nthere is fpr it\n"},
        (SPELL,),
        expected=(
            E(SPELL, "codespell", "typo", "README.md", 1, message="ane ==> and, one"),
            E(SPELL, "codespell", "typo", "README.md", 2, message="bellow ==> below"),
            E(SPELL, "codespell", "typo", "README.md", 3, message="fpr ==> for, far, fps"),
        ),
    ),
    S(
        "lizard-native",
        {A: DOC + long_function("busy", 24)},
        (LIZARD,),
        expected=(E(LIZARD, "lizard", "CCN", A, 2, "busy"),),
        cause=("lizard", "CCN"),
    ),
    S(
        "lizard-gate-form",
        {A: DOC + long_function("busy", 24)},
        (LIZARD,),
        expected=(E(LIZARD, "lizard", "CCN", A, 2, "busy"),),
        options={"lizard_gate_form": True},
    ),
    S(
        "lizard-length",
        {A: DOC + "def long(x):\n" + "".join(f"    x += {number}\n" for number in range(120)) + "    return x\n"},
        (LIZARD,),
        expected=(E(LIZARD, "lizard", "NLOC", A, 2, "long"),),
    ),
    S(
        "lizard-length-gate-form",
        {A: DOC + "def long(x):\n" + "".join(f"    x += {number}\n" for number in range(120)) + "    return x\n"},
        (LIZARD,),
        expected=(E(LIZARD, "lizard", "NLOC", A, 2, "long"),),
        options={"lizard_gate_form": True},
    ),
    S(
        "dt-design",
        {T: DOC + 'def test_one():\n    """Feature: x."""\n    assert True\n'},
        (DT,),
        expected=(
            E(
                DT,
                "dt_design",
                "docstring-fields",
                function="test_one",
                message="missing in the description of the test: Description, Expectation",
            ),
        ),
        cause=("dt_design", "docstring-fields"),
    ),
    S(
        "dt-design-several",
        {
            T: DOC + "def test_one():\n    pass\n\n\ndef test_two():\n" + FIELDS + "    pass\n",
            "tests/ut/test_b.py": DOC + "class TestB:\n    def test_three(self):\n        pass\n",
        },
        (DT,),
        expected=(
            E(DT, "dt_design", "docstring-fields", function="test_one"),
            E(DT, "dt_design", "docstring-fields", function="test_three"),
        ),
    ),
    S(
        "tab",
        {"hyper_parallel/c.cc": "int f() {\n\treturn 1;\n}\n", "build.sh": "if x; then\n\ty\n\tz\nfi\n"},
        ("Check_Tab",),
        expected=(
            E("Check_Tab", "tab", "tab", "hyper_parallel/c.cc", 2),
            E("Check_Tab", "tab", "tab", "build.sh", 2),
            E("Check_Tab", "tab", "tab", "build.sh", 3),
        ),
        cause=("tab", "tab"),
    ),
    S(
        "utf8-gbk",
        {"docs/zh.md": "标题\n".encode("gbk")},
        ("Check_Utf8",),
        expected=(E("Check_Utf8", "utf8", "utf8", "docs/zh.md", message="non-UTF-8 byte at offset 0"),),
        cause=("utf8", "utf8"),
    ),
    S(
        "wrapper-without-evidence",
        {T: "import os\n\n\n" + test("test_card", "ret = os.system('exit 1')\nassert ret == 0")},
        **UT,
        expected=(E("UT", "pytest", "wrapped-exit", T, 6, f"{T}::test_card"),),
        cause=("pytest", "wrapped-exit"),
        notes=("evidence-not-in-console",),
    ),
    S(
        "wrapper-with-inner-failure",
        {
            T: "import os\nimport sys\n\n\n"
            + test(
                "test_card",
                "ret = os.system(f'{sys.executable} -m pytest -p no:cacheprovider -s"
                " tests/inner_case.py')\nassert ret == 0",
            ),
            "tests/inner_case.py": test("test_inner", "assert [1, 2] == [1, 3]"),
        },
        **UT,
        expected=(
            E("UT", "pytest", "wrapped-exit", T, 7, f"{T}::test_card"),
            E("UT", "pytest", "AssertionError", "tests/inner_case.py", 2, "tests/inner_case.py::test_inner"),
        ),
        cause=("pytest", "AssertionError"),
    ),
    S(
        "wrapper-killed",
        {T: "import os\n\n\n" + test("test_card", "status = os.system('kill -9 $$')\nassert status == 0")},
        **UT,
        expected=(
            E(
                "UT",
                "pytest",
                "wrapped-exit",
                T,
                6,
                f"{T}::test_card",
                message="assert 9 == 0 (wait status: killed by signal 9)",
            ),
        ),
        notes=("evidence-not-in-console",),
    ),
    S(
        "three-planted-faults",
        {
            A: DOC + "import os\n# teh note\n",
            T: DOC + 'def test_one():\n    """Feature: a."""\n    assert True\n',
        },
        ("Check_DT_Design", PYLINT, SPELL, "UT"),
        expected=(
            E(DT, "dt_design", "docstring-fields", function="test_one"),
            E(PYLINT, "pylint", "W0611", A, 2),
            E(SPELL, "codespell", "typo", A, 3),
        ),
    ),
    S(
        "green",
        {A: DOC + "VALUE = 1\n", T: DOC + "def test_one():\n" + FIELDS + "    assert True\n"},
        ("Check_DT_Design", PYLINT, SPELL, LIZARD, "Check_Tab", "Check_Utf8", "UT"),
    ),
    S(
        "green-that-prints-errors",
        {
            T: "import logging\n\n\n"
            + test("test_path", "logging.error('connection refused')\nprint('ERROR: expected')")
            + test("test_other", "import traceback\ntry:\n    int('x')\nexcept ValueError:\n    traceback.print_exc()")
        },
        **UT,
    ),
    S(
        "all-stages-red",
        {
            A: DOC + "import os\n\n\n" + long_function("busy", 24),
            "docs/a.md": "teh\tend\n",
            "docs/b.md": b"\xb1\xea\xcc\xe2\n",
            T: DOC + "def test_one():\n    assert 0\n",
        },
        ("Check_DT_Design", PYLINT, SPELL, LIZARD, "Check_Tab", "Check_Utf8", "UT"),
        expected=(
            E(DT, "dt_design", "docstring-fields", function="test_one"),
            E(PYLINT, "pylint", "W0611", A, 2),
            E(PYLINT, "pylint", "R0912", A, 5, "busy"),
            E(SPELL, "codespell", "typo", "docs/a.md", 1),
            E(LIZARD, "lizard", "CCN", A, 5, "busy"),
            E("Check_Tab", "tab", "tab", "docs/a.md", 1),
            E("Check_Utf8", "utf8", "utf8", "docs/b.md"),
            E("UT", "pytest", "AssertionError", T, 3, f"{T}::test_one"),
        ),
        cause=("pytest", "AssertionError"),
    ),
    S(
        "crlf",
        {A: DOC + "import os\n"},
        (PYLINT,),
        expected=(E(PYLINT, "pylint", "W0611", A, 2),),
        change="crlf",
    ),
    S(
        "no-time-stamps",
        {A: DOC + "import os\n", T: test("test_add", "assert 1 == 3")},
        (PYLINT, "UT"),
        expected=(
            E(PYLINT, "pylint", "W0611", A, 2),
            E(PYLINT, "pylint", "C0305", T, 4),
            E(PYLINT, "pylint", "R0133", T, 2, "test_add"),
            E("UT", "pytest", "AssertionError", T, 2, f"{T}::test_add"),
        ),
        change="bare",
    ),
    S(
        "unknown-stage-fails-silently",
        steps=(Step("Smoke_Ascend", recorded="starting\nnothing to see"),),
        expected=(E("Smoke_Ascend", "gate", "stage-failed", failure_class="unknown"),),
        cause=("gate", "stage-failed"),
    ),
)
