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
"""A build server that answers some questions with errors for ever: the case goes on, or ends and says why."""

from __future__ import annotations

import pytest

from bot.demo import files
from bot.gate.case import Outcome
from bot.sandbox.faults import Fault, Trouble
from tests.system.loop.conftest import Opener, Play

MISSPELT = {"numeric/clamp.py": files.GOOD_MODULE.replace("permitted", "permited")}


async def break_paths(p: Play, *paths: str) -> None:
    """Once the build runs, these paths of the build server are errors."""
    await p.until(lambda case: case.build_number > 0, "a build")
    for path in paths:
        fault = Fault(trouble=Trouble.ANSWER, method="GET", path=path, times=0, status=500)
        p.stage.world.jenkins.faults.add(fault)


@pytest.mark.parametrize("path", ["wfapi", "testReport"])
async def test_what_only_stands_beside_the_log_is_gone_without(play: Opener, path: str) -> None:
    async with play() as p:
        await p.open(changed=MISSPELT)
        await break_paths(p, path)
        case = await p.until_ended()
        assert case.outcome is Outcome.PASSED
        assert len(case.commits) == 1


async def test_a_log_that_cannot_be_read_ends_with_a_person(play: Opener) -> None:
    async with play() as p:
        await p.open(changed=MISSPELT)
        await break_paths(p, "consoleText", "progressiveText")
        case = await p.until_ended()
        assert (case.outcome, case.reason) == (Outcome.NEEDS_HUMAN, "gate.reason.log_unreadable")
        assert "3903" in p.said()[-1]
