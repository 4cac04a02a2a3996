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
"""Recipes on odd text: never an exception, never an edit that the guard cannot prove, never a second edit."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.gate.finding import Finding
from bot.repair.guard_proof import holds_for_read_only, proves
from bot.repair.plan import Step, take
from bot.repair.reason import Reason
from bot.repair.recipes.base import Scene
from bot.repair.recipes.registry import RECIPES, recipe_for

_PATH = Path(__file__).parents[3] / "benchmarks" / "repair_table.py"
_SPEC = importlib.util.spec_from_file_location("repair_table_for_fuzz", _PATH)
assert _SPEC is not None
assert _SPEC.loader is not None
TABLE: Any = importlib.util.module_from_spec(_SPEC)
sys.modules["repair_table_for_fuzz"] = TABLE
_SPEC.loader.exec_module(TABLE)

# Recipes that start a tool are tried by the table; here only the pure ones, thousands of times.
_TOOLS = {"clang-format", "shellcheck", "line-too-long"}
CASES = [
    case
    for case in TABLE.all_cases()
    if (recipe := recipe_for(case.finding)) is not None
    and recipe.name not in _TOOLS
    and not recipe.name.startswith("markdown-MD")
]
_SNIPPETS = st.sampled_from(
    [
        b"\t",
        b"\r\n",
        b"\n",
        b'"""',
        b"'",
        b"#",
        b"\\\n",
        b"(",
        b")",
        b"import os\n",
        b"x = 1; ",
        b"\xef\xbb\xbf",
        b"\xff",
        b"\x00",
        "网格".encode(),
        "网格".encode("gbk"),
        b"f'{x}'",
        b"# noqa",
        b"    ",
        b"async ",
        b"@x\n",
        b"lambda: ",
        b"if x:\n",
        b"/*",
        b"\x0c",
    ]
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(CASES), st.lists(st.tuples(st.integers(0, 400), _SNIPPETS), max_size=4), st.integers(-2, 30))
def test_mutated_violations(case: Any, inserts: list[tuple[int, bytes]], shift: int) -> None:
    content = case.before
    for at, snippet in inserts:
        at = min(at, len(content))
        content = content[:at] + snippet + content[at:]
    finding = replace(case.finding, line=max(0, case.finding.line + (shift if shift < 3 else 0)))
    recipe = recipe_for(finding)
    assert recipe is not None
    scene = Scene(finding.file, TABLE.DictTree({**case.files, finding.file: content}), case.rules, None, year=2026)
    step = Step(recipe, finding.file, (finding,))
    result = take(step, content, scene)
    if isinstance(result, Reason):
        assert result.text("zh")
        return
    assert any(proves(nature, content, result, finding.file) for nature in recipe.natures)
    if "tests/" in finding.file:
        assert holds_for_read_only(content, result, finding.file)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(RECIPES), st.binary(max_size=300), st.text(max_size=80), st.integers(0, 12))
def test_arbitrary_bytes(recipe: Any, content: bytes, message: str, line: int) -> None:
    if recipe.name in _TOOLS or recipe.name.startswith("markdown-MD"):
        return
    path = "src/m.py" if recipe.check in {"Check_Pylint", "Check_Annotations"} else "src/a.cc"
    rule = sorted(recipe.rules)[0] if recipe.rules else ""
    finding = Finding(tool=sorted(recipe.tools)[0], rule=rule, file=path, line=line, message=message)
    scene = Scene(path, TABLE.DictTree({path: content}), {}, None, year=2026)
    result = take(Step(recipe, path, (finding,)), content, scene)
    assert isinstance(result, bytes | Reason)
