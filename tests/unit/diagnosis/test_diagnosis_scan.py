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
from __future__ import annotations

from pathlib import Path

import pytest

from bot.diagnosis.engine import Diagnoser
from bot.diagnosis.scan import build_scanner
from bot.diagnosis.stages import TRIGGERS
from bot.diagnosis.tool import all_tools

PATTERNS = [*(trigger for tool in all_tools() for trigger in tool.triggers), *TRIGGERS]
CORPUS = sorted((Path(__file__).parents[2] / "diagnosis" / "corpus").glob("*.log"))


def lines_hit(engine: str, data: bytes) -> set[tuple[int, int]]:
    return {(data.count(b"\n", 0, at), index) for at, index in build_scanner(PATTERNS, engine=engine)(data)}


@pytest.mark.parametrize("path", CORPUS[::5], ids=lambda path: path.stem)
def test_both_engines_hit_the_same_lines(path: Path) -> None:
    data = path.read_bytes()
    found = lines_hit("re", data)
    assert found
    assert found == lines_hit("hyperscan", data)


@pytest.mark.parametrize("engine", ["re", "hyperscan"])
def test_hits_come_in_order_and_on_the_last_byte(engine: str) -> None:
    scan = build_scanner(("bb", "c"), engine=engine)
    assert scan(b"abb\nc\nxbb c\n") == [(2, 0), (4, 1), (8, 0), (10, 1)]
    assert scan(b"") == []


def test_findings_do_not_depend_on_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"".join(path.read_bytes() for path in CORPUS)
    fast = Diagnoser()
    slow = Diagnoser()
    slow._scan = build_scanner(PATTERNS, engine="re")
    for diagnoser in (fast, slow):
        diagnoser.feed(data)
    assert fast.close() == slow.close()


def test_registry_has_every_tool_once_with_names_of_its_own() -> None:
    names = [tool.name for tool in all_tools()]
    assert len(names) == len(set(names))
    assert {"pylint", "pytest", "gcc", "ascend", "msrun", "torchrun", "gtest", "git", "mdl"} <= set(names)
