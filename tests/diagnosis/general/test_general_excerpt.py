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
"""The general extractor on made-up logs of many ecosystems: the labelled lines are inside what is shown."""

from __future__ import annotations

import importlib.util
import statistics
import sys
from pathlib import Path
from types import ModuleType

import pytest

from bot.diagnosis import diagnose


def _logs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("general_logs", Path(__file__).with_name("logs.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


LOGS = _logs()
CASES = LOGS.read_cases()


def test_many_ecosystems() -> None:
    assert len(CASES) >= 80
    assert len({case.name.split("-")[0] for case in CASES}) >= 30


@pytest.mark.parametrize("hard", [False, True], ids=["plain", "hard"])
def test_labelled_lines_are_shown(hard: bool) -> None:
    hits, sizes, missed = 0, [], []
    for case in CASES:
        log = LOGS.labelled(case, 1, hard=hard)
        shown = {line for part in diagnose([log.log]).excerpt for line in range(part.first_line, part.last_line + 1)}
        sizes.append(len(shown))
        texts = log.log.decode().split("\n")
        wanted = [line for line in range(log.first_line, log.last_line + 1) if texts[line - 1].strip()]
        if set(wanted) <= shown:
            hits += 1
        else:
            missed.append(case.name)
    assert hits / len(CASES) >= 0.9, missed
    assert statistics.median(sizes) <= 40
