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
"""Every made-up violation is fixed and proved by the real check, or refused with the right reason."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.repair.tools import ToolMissing, find_tool

_PATH = Path(__file__).parents[3] / "benchmarks" / "repair_table.py"


def _load() -> Any:
    spec = importlib.util.spec_from_file_location("repair_table", _PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["repair_table"] = module
    spec.loader.exec_module(module)
    return module


TABLE = _load()
GROUPS = sorted(path.stem for path in TABLE.VIOLATIONS.glob("*.yaml"))


def _installed(tool: str) -> bool:
    try:
        find_tool(tool)
    except ToolMissing:
        return False
    return True


@pytest.mark.parametrize("group", GROUPS)
def test_no_recipe_is_wrong(group: str) -> None:
    verdicts = TABLE.judge([case for case in TABLE.all_cases() if case.group == group])
    wrong = {verdict.case.label: verdict.detail for verdict in verdicts if verdict.outcome == "wrong"}
    assert wrong == {}
    # Where a checker is not installed nothing is edited, and the verdict names what is missing.
    missing = {verdict.detail for verdict in verdicts if verdict.outcome == "tool missing"}
    assert not any(_installed(tool) for tool in missing)
    assert {verdict.outcome for verdict in verdicts} <= {"fixed", "refused", "tool missing"}


def test_there_are_enough_cases_and_many_are_traps() -> None:
    cases = TABLE.all_cases()
    assert len(cases) >= 150
    assert len({case.label for case in cases}) == len(cases)
    assert sum(bool(case.refused) for case in cases) >= 100
    assert all((case.after is None) is bool(case.refused) for case in cases)
