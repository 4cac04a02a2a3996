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
"""Scenarios of the gate's stage UT, which runs pytest; what is planted says what must be found."""

from __future__ import annotations

from tests.diagnosis.scenario import Expected as E
from tests.diagnosis.scenario import Scenario as S
from tests.diagnosis.scenarios_gate import DOC, UT, A, T, test

SCENARIOS = (
    S(
        "pytest-assert",
        {T: test("test_add", "assert 1 + 1 == 3") + test("test_fine", "assert True")},
        **UT,
        expected=(E("UT", "pytest", "AssertionError", T, 2, f"{T}::test_add", message="assert (1 + 1) == 3"),),
        cause=("pytest", "AssertionError"),
    ),
    S(
        "pytest-parameters",
        {
            T: "import pytest\n\n\n@pytest.mark.parametrize('x', ['a b::c', 'd - e', '[f] - g', ''])\n"
            + test("test_p", "assert x == 1", "x")
        },
        **UT,
        expected=tuple(
            E("UT", "pytest", "AssertionError", T, 6, f"{T}::test_p[{value}]")
            for value in ("a b::c", "d - e", "[f] - g", "")
        ),
        cause=("pytest", "AssertionError"),
    ),
    S(
        "pytest-fixture-error",
        {
            T: "import pytest\n\n\n@pytest.fixture\ndef broken():\n    raise RuntimeError('fx')\n\n\n"
            + test("test_uses", "pass", "broken")
        },
        **UT,
        expected=(E("UT", "pytest", "fixture", T, 6, f"{T}::test_uses", message="RuntimeError: fx"),),
        cause=("pytest", "fixture"),
    ),
    S(
        "pytest-teardown-error",
        {
            T: "import pytest\n\n\n@pytest.fixture\ndef late():\n    yield 1\n    raise OSError('close failed')\n\n\n"
            + test("test_uses", "assert late == 1", "late")
        },
        **UT,
        expected=(E("UT", "pytest", "fixture", T, 7, f"{T}::test_uses", message="OSError: close failed"),),
    ),
    S(
        "pytest-collection-own-module",
        {T: "import hyper_parallel.gone\n"},
        **UT,
        expected=(
            E(
                "UT",
                "pytest",
                "collection",
                T,
                1,
                T,
                message="ModuleNotFoundError: No module named 'hyper_parallel.gone'",
            ),
        ),
        cause=("pytest", "collection"),
    ),
    S(
        "pytest-collection-image-package",
        {T: "import torch_npu\n"},
        **UT,
        expected=(E("UT", "pytest", "collection", T, 1, T, "infrastructure"),),
        cause=("pytest", "collection"),
    ),
    S(
        "pytest-collection-syntax",
        {T: "def test_x(:\n    pass\n"},
        **UT,
        expected=(E("UT", "pytest", "collection", T, 1, T, message="SyntaxError: invalid syntax"),),
    ),
    S(
        "pytest-conftest",
        {"tests/conftest.py": "import not_there\n", T: test("test_a", "pass")},
        **UT,
        expected=(
            E(
                "UT",
                "pytest",
                "conftest",
                "tests/conftest.py",
                1,
                message="ModuleNotFoundError: No module named 'not_there'",
            ),
        ),
        cause=("pytest", "conftest"),
    ),
    S(
        "pytest-internal-error",
        {
            "tests/conftest.py": "def pytest_runtest_setup(item):\n    pass\n\n\n"
            "def pytest_runtest_protocol(item, nextitem):\n    raise KeyError('hook bug')\n",
            T: test("test_a", "pass"),
        },
        **UT,
        expected=(E("UT", "pytest", "internal-error", "tests/conftest.py", 6, message="KeyError: 'hook bug'"),),
        cause=("pytest", "internal-error"),
    ),
    S(
        "pytest-segfault",
        {T: "import ctypes\n\n\n" + test("test_null", "ctypes.string_at(0)")},
        **UT,
        expected=(E("UT", "pytest", "crash", T, 5, f"{T}::test_null"),),
        cause=("pytest", "crash"),
    ),
    S(
        "pytest-strict-xpass",
        {T: "import pytest\n\n\n@pytest.mark.xfail(strict=True)\n" + test("test_x", "assert True")},
        **UT,
        expected=(E("UT", "pytest", "xpass-strict", T, 0, f"{T}::test_x"),),
    ),
    S(
        "pytest-cut-message",
        {T: test("test_long", "raise ValueError('shape mismatch: ' + ', '.join(str(n) for n in range(60)))")},
        **UT,
        expected=(
            E(
                "UT",
                "pytest",
                "ValueError",
                T,
                2,
                f"{T}::test_long",
                message="ValueError: shape mismatch: " + ", ".join(map(str, range(60))),
            ),
        ),
    ),
    S(
        "pytest-class-and-lines",
        {T: "class TestC:\n    def test_m(self):\n        raise ValueError('first\\nsecond')\n"},
        **UT,
        expected=(E("UT", "pytest", "ValueError", T, 3, f"{T}::TestC::test_m", message="ValueError: first"),),
    ),
    S(
        "pytest-error-in-library",
        {
            A: DOC + "def scale(x):\n    return x / 0\n",
            "hyper_parallel/__init__.py": "",
            T: "from hyper_parallel.a import scale\n\n\n" + test("test_scale", "scale(3)"),
        },
        **UT,
        expected=(
            E(
                "UT",
                "pytest",
                "ZeroDivisionError",
                T,
                5,
                f"{T}::test_scale",
                message="ZeroDivisionError: division by zero",
            ),
        ),
    ),
    S(
        "pytest-chained",
        {
            T: test(
                "test_chain", "try:\n    {}['k']\nexcept KeyError as error:\n    raise RuntimeError('no k') from error"
            )
        },
        **UT,
        expected=(E("UT", "pytest", "RuntimeError", T, 5, f"{T}::test_chain", message="RuntimeError: no k"),),
    ),
    S(
        "pytest-same-message-many-tests",
        {T: "".join(test(f"test_{number}", "raise OSError('device 0 is busy')") for number in range(30))},
        **UT,
        expected=tuple(E("UT", "pytest", "OSError", T, 2 + 4 * number, f"{T}::test_{number}") for number in range(30)),
        cause=("pytest", "OSError"),
    ),
    S(
        "pytest-chinese",
        {T: "def test_形状():\n    assert '张量' == '标量', '形状不一致'\n"},
        **UT,
        expected=(E("UT", "pytest", "AssertionError", T, 2, f"{T}::test_形状", message="AssertionError: 形状不一致"),),
    ),
)
