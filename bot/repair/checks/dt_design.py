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
"""The gate's test-design check: each test says its feature, description and expectation, each on a line of its own."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath
from typing import Final

from bot.gate.finding import Finding
from bot.repair.checks.base import Check, CheckContext, Observation

FIELDS: Final = ("Feature", "Description", "Expectation")
_CPP_TEST: Final = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")
_CPP_FILES: Final = (".cc", ".cpp", ".cxx")


def missing_fields(text: str) -> tuple[str, ...]:
    """Fields without a line ``Field:`` (exact case) and words behind it, in a docstring or a ``///`` block."""
    return tuple(field for field in FIELDS if not re.search(rf"^[ \t]*{field}:\s*\S", text, re.MULTILINE))


def python_tests(source: bytes) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Test functions and methods of a module.

    Raises:
        SyntaxError, ValueError: When the module cannot be parsed.
    """
    return [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]


def cpp_tests(text: str) -> list[tuple[int, str, str]]:
    """``(0-based line, Suite.Name, text of the /// block above)`` of each gtest case."""
    lines = text.splitlines()
    found = []
    for index, line in enumerate(lines):
        match = _CPP_TEST.match(line)
        if match is None:
            continue
        start = index
        while start > 0 and lines[start - 1].lstrip().startswith("///"):
            start -= 1
        block = "\n".join(row.lstrip().removeprefix("///") for row in lines[start:index])
        found.append((index, f"{match[1]}.{match[2]}", block))
    return found


def wants(path: str) -> bool:
    """Whether a file holds tests by its name or directory."""
    pure = PurePosixPath(path)
    if pure.suffix == ".py":
        return pure.name.startswith("test_") or pure.stem.endswith("_test")
    return pure.suffix in _CPP_FILES and ("test" in pure.stem or "tests" in pure.parts or "ut" in pure.parts)


def check_source(path: str, source: bytes) -> tuple[Observation, ...]:
    """Observations for one file; a module that cannot be parsed has none (another check says so)."""
    if not path.endswith(".py"):
        cases = [(line + 1, name, block) for line, name, block in cpp_tests(source.decode("utf-8", "replace"))]
        kind = "CPP"
    else:
        try:
            cases = [
                (node.lineno, node.name, ast.get_docstring(node, clean=False) or "") for node in python_tests(source)
            ]
        except (SyntaxError, ValueError):
            return ()
        kind = "PYTHON"
    found = []
    for line, name, text in cases:
        missing = missing_fields(text)
        if missing:
            words = ", ".join(f"{field}:" for field in missing)
            message = f"[{kind}] Function '{name}' is missing: {words}"
            found.append(Observation("Check_DT_Design", "dt-design", path, line, name, message))
    return tuple(found)


def _run(files: tuple[str, ...], context: CheckContext) -> tuple[Observation, ...]:
    return tuple(found for name in files for found in check_source(name, (context.root / name).read_bytes()))


def function_name(finding: Finding) -> str:
    """The test a finding speaks of, from its field or its message."""
    match = re.search(r"Function '([^']+)'", finding.message)
    return match[1] if match else finding.function.rpartition("::")[2]


def _shown(finding: Finding, observation: Observation) -> bool:
    return finding.file == observation.file and function_name(finding) in {
        observation.symbol,
        observation.symbol.rpartition(".")[2],
    }


CHECK: Final = Check(
    name="Check_DT_Design",
    wants=wants,
    run=_run,
    shown=_shown,
    command="DT_Design (Feature/Description/Expectation in every test)",
)
