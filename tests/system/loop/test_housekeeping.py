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
"""What is deleted, and that a replica says that it lives."""

from __future__ import annotations

import time

from bot.gate.case import Outcome
from bot.runtime.engine import Engine
from bot.runtime.housekeeping import Housekeeping, is_anyone_alive
from tests.system.loop.conftest import Opener


async def test_records_of_ended_wakeups_are_deleted_and_the_service_goes_on(play: Opener) -> None:
    async with play() as p:
        await p.open()
        assert (await p.until_ended()).outcome is Outcome.PASSED
        engine = Engine.current
        assert engine is not None
        assert await engine.forget_before(time.time() - 3600) == 0
        assert await engine.forget_before(time.time() + 60) >= 4
        assert await engine.forget_before(time.time() + 60) == 0
        await p.say("dev-a", "/help")
        await p.until(lambda _case: any("/autofix" in body for body in p.said()), "the answer")


async def test_a_replica_that_beats_is_alive(play: Opener) -> None:
    async with play() as p:
        database = p.stage.server.service.database
        assert not await database.run(is_anyone_alive)
        engine = Engine.current
        assert engine is not None
        keeper = Housekeeping(p.stage.server.service.outside(), engine)
        await keeper.beat()
        await keeper.beat()
        assert await database.run(is_anyone_alive)
        await keeper.forget()
