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
"""The gate's ``Check_DT_Design``: a test says in its docstring what it is for.

Every ``test_*`` function needs the lines ``Feature:``, ``Description:`` and ``Expectation:``, in exactly this spelling,
each at the start of a line of its own with something behind the colon.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

FIELDS = ("Feature", "Description", "Expectation")


@dataclass(frozen=True, slots=True)
class Missing:
    """A test function and the fields its docstring lacks."""

    function: str
    line: int
    fields: tuple[str, ...]

    def __str__(self) -> str:
        """The gate's own log line; it names no file."""
        return f"[PYTHON] Function '{self.function}' is missing: {', '.join(f'{name}:' for name in self.fields)}"


def is_test_file(path: str) -> bool:
    """Whether the gate takes a file for a Python test."""
    name = PurePosixPath(path).name
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def missing_fields(source: str) -> list[Missing]:
    """Test functions and methods of a module that lack a field, in source order.

    Raises:
        SyntaxError: The module does not parse; pylint and pytest say so too.
    """
    found = [
        Missing(node.name, node.lineno, lacking)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        if (lacking := _lacking(ast.get_docstring(node) or ""))
    ]
    return sorted(found, key=lambda missing: missing.line)


def _lacking(docstring: str) -> tuple[str, ...]:
    return tuple(name for name in FIELDS if not re.search(rf"^\s*{name}:\s*\S", docstring, re.MULTILINE))
