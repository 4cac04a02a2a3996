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
"""Where no tool's parser speaks, what green builds of the job print too is no evidence of the failure."""

from __future__ import annotations

import pytest

from bot.demo.world import JOB
from bot.diagnosis import Diagnosis
from bot.runtime.look_at_build import read_log
from bot.sandbox.faults import Fault, Trouble
from tests.system.loop.conftest import Opener, Play

NOISE = (
    "warming the cache",
    "error: optional accelerator not found, going on without ({} ms)",
    "ERROR: telemetry endpoint refused the connection",
    *(f"step {number} of the assembly" for number in range(60)),
)
CAUSE = "the widget assembly gave up: plate 7 is bent"


def build(p: Play, result: str, took: int, *, seconds: float = 600.0) -> int:
    lines = [line.format(took) for line in NOISE]
    if result == "FAILURE":
        lines += [CAUSE, "script returned exit code 3"]
    return p.stage.world.jenkins.add_past_build(JOB, pull_request=9, result=result, seconds=seconds, lines=lines).number


async def diagnosed(p: Play) -> list[str]:
    """Build a red one and give the lines that its diagnosis shows."""
    found = await read_log(build(p, "FAILURE", 31), p.stage.server.service.outside())
    assert isinstance(found, Diagnosis)
    assert not found.findings
    return [line for piece in found.excerpt for line in piece.text]


async def test_what_the_last_green_build_prints_too_is_not_shown(play: Opener) -> None:
    async with play() as p:
        build(p, "SUCCESS", 12)
        shown = await diagnosed(p)
        assert CAUSE in shown
        assert not [line for line in shown if "accelerator" in line or "telemetry" in line]


@pytest.mark.parametrize("seconds", [None, 17.0], ids=["no green build", "a bypass build"])
async def test_without_a_real_green_build_nothing_is_left_out(play: Opener, seconds: float | None) -> None:
    async with play() as p:
        if seconds:
            build(p, "SUCCESS", 12, seconds=seconds)
        assert [line for line in await diagnosed(p) if "accelerator" in line]


async def test_a_green_log_that_cannot_be_read_is_gone_without(play: Opener) -> None:
    async with play() as p:
        number = build(p, "SUCCESS", 12)
        fault = Fault(trouble=Trouble.ANSWER, method="GET", path=f"/{number}/consoleText", times=0, status=500)
        p.stage.world.jenkins.faults.add(fault)
        assert [line for line in await diagnosed(p) if "accelerator" in line]
