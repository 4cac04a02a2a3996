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
"""No parser falls over, whatever it is fed; one fuzz test for each."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.diagnosis.engine import Diagnoser
from bot.diagnosis.scan import build_scanner
from bot.diagnosis.tool import Tool, all_tools

ROOT = Path(__file__).parents[2]
TOOLS = [tool for tool in all_tools() if tool.triggers]
LINES = sorted(
    {
        line.partition("] ")[2] if line.startswith("[20") else line
        for pattern in ("diagnosis/corpus/*.log", "fixtures/tool_output/*.txt")
        for path in ROOT.glob(pattern)
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
    }
)


def seeds(tool: Tool) -> list[str]:
    scan = build_scanner(tool.triggers, engine="re")
    found = [line for line in LINES if scan(line.encode())]
    return found[:: max(1, len(found) // 40)] or ["x"]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_parser_survives_mangled_output(tool: Tool) -> None:
    known = seeds(tool)
    piece = st.sampled_from(known)
    junk = st.text(alphabet=" :[](){}'\"`|_=-+*.\\/0123456789abEF\r\x1b\t;,é—", max_size=12)
    cut = st.tuples(piece, st.integers(0, 60), junk, piece).map(
        lambda part: part[0][: part[1]] + part[2] + part[3][part[1] :]
    )
    line = st.one_of(piece, cut, junk, st.sampled_from(LINES))

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(line, max_size=30))
    def check(lines: list[str]) -> None:
        data = "\n".join(lines).encode("utf-8", "replace")
        diagnoser = Diagnoser(tools=(tool,))
        diagnoser.feed(data)
        result = diagnoser.close()
        total = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        assert result.lines == total
        for finding in result.findings:
            assert 1 <= finding.first_line <= finding.last_line <= total
            assert finding.message
            assert finding.line >= 0
            assert len(finding.message) <= 1400
            assert len(finding.evidence) <= 61

    check()


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=40)), max_size=60))
def test_the_whole_survives_any_mixture(lines: list[str]) -> None:
    data = "\n".join(lines).encode("utf-8", "replace")
    diagnoser = Diagnoser()
    diagnoser.feed(data)
    result = diagnoser.close()
    shown = [line for part in result.excerpt for line in range(part.first_line, part.last_line + 1)]
    assert len(shown) == len(set(shown))
    assert all(1 <= line <= result.lines for line in shown)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_survived(data: bytes) -> None:
    diagnoser = Diagnoser()
    diagnoser.feed(data)
    assert diagnoser.close().lines == data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
