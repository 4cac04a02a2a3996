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
"""Every log of the corpus yields exactly the findings that its scenario planted, and the right first cause."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.diagnosis import Diagnosis, diagnose
from bot.gate.finding import Finding

CORPUS = Path(__file__).parent / "corpus"
LOGS = sorted(CORPUS.glob("*.log"), key=lambda path: path.name)
FIELDS = ("stage", "tool", "rule", "file", "line", "function", "failure_class", "rank", "message")


def fits(finding: Finding, wanted: dict[str, Any]) -> bool:
    return all(wanted[name] is None or getattr(finding, name) == wanted[name] for name in FIELDS)


def compare(diagnosis: Diagnosis, wanted: list[dict[str, Any]]) -> tuple[list[Finding], list[dict[str, Any]]]:
    """Findings that nobody expects, and expectations that nothing meets; strict expectations choose first."""
    left = list(diagnosis.findings)
    missing = []
    for one in sorted(wanted, key=lambda item: sum(item[name] is None for name in FIELDS)):
        match = next((finding for finding in left if fits(finding, one)), None)
        if match is None:
            missing.append(one)
        else:
            left.remove(match)
    return left, missing


def test_the_corpus_is_large_enough() -> None:
    assert len(LOGS) >= 60
    assert all(path.with_suffix(".json").is_file() for path in LOGS)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_findings_of_a_log(path: Path) -> None:
    wanted = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    diagnosis = diagnose([path.read_bytes()])
    unexpected, missing = compare(diagnosis, wanted["findings"])
    assert not unexpected
    assert not missing
    lines = path.read_bytes().count(b"\n")
    assert diagnosis.lines == lines
    assert all(1 <= one.first_line <= one.last_line <= lines for one in diagnosis.findings)
    assert list(diagnosis.notes) == wanted["notes"]
    if wanted["cause"]:
        first = diagnosis.causes[0]
        assert [first.finding.tool, first.finding.rule] == wanted["cause"]
        assert not first.secondary


@pytest.mark.parametrize("size", [7, 4096])
@pytest.mark.parametrize("path", LOGS[::8], ids=lambda path: path.stem)
def test_chunk_borders_change_nothing(path: Path, size: int) -> None:
    data = path.read_bytes()
    whole = diagnose([data])
    assert diagnose(data[start : start + size] for start in range(0, len(data), size)) == whole
