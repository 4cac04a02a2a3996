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
"""``gatebot demo`` as a user runs it."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from bot.demo.second import Review
from bot.demo.story import LineComment


async def test_the_demo_passes_and_says_so_to_programs_and_people() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot.cli", "demo", "--json", "--lang", "en",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    said = json.loads(out)
    assert said["passed"] is True
    assert said["labels"] == ["ci-pipeline-passed", "pr-check-pass"]
    assert said["report"].startswith("## GateBot: final report")
    assert said["counters"]["fix_commits"] == 1
    assert said["counters"]["builds"] == 2
    assert [step["who"] for step in said["story"][:3]] == ["dev-a", "gate-bot", "dev-a"]
    assert said["counters"]["gitcode_calls"] <= 25
    assert [comment["resolved"] for comment in said["line_comments"]] == [True, True, True]
    review = said["review"]
    assert sorted(review["resolved_by_the_first_push"]) == ["numeric/span.py:2", "numeric/span.py:6"]
    assert review["left_open_by_it"] == ["numeric/span.py:7"]
    assert "### Proposed fix" in review["sticky"]
    assert "betwen" in review["sticky"]


def line(place: str, *, resolved: bool) -> LineComment:
    return LineComment(place, "text", resolved)


@pytest.mark.parametrize(
    ("resolved", "passed", "wrong"),
    [
        ((2, 6), True, ""),
        ((2, 6), False, "demo.second.wrong_gate"),
        ((2,), True, "demo.second.wrong_second"),
        ((2, 7), True, "demo.second.wrong_second"),
        ((2, 6, 7), True, "demo.second.wrong_second"),
        ((), True, "demo.second.wrong_second"),
    ],
)
def test_the_second_act_is_right_only_when_exactly_the_two_are_resolved(
    resolved: tuple[int, ...], passed: bool, wrong: str
) -> None:
    def comments(done: tuple[int, ...]) -> tuple[LineComment, ...]:
        return tuple(line(f"numeric/span.py:{number}", resolved=number in done) for number in (7, 2, 6))

    assert Review(648, comments(()), "", comments(resolved), comments((2, 6, 7)), passed).wrong == wrong
    assert Review(648, comments(()), "", comments((2, 6)), comments((2, 6)), True).wrong == "demo.second.wrong_last"
    assert Review(648, comments((2,)), "", comments((2, 6)), comments((2, 6, 7)), True).wrong == (
        "demo.second.wrong_first"
    )
