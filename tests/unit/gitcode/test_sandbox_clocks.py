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

import asyncio
import time

import pytest

from bot.sandbox.clock import ScaledClock, VirtualClock


async def test_advance_wakes_sleepers_in_order_and_at_their_own_time() -> None:
    clock, log = VirtualClock(), []

    async def sleeper(name: str, *spans: float) -> None:
        for span in spans:
            await clock.sleep(span)
            log.append((name, clock.monotonic()))

    tasks = [asyncio.create_task(sleeper("a", 10, 10)), asyncio.create_task(sleeper("b", 15))]
    await clock.advance(19)
    assert log == [("a", 10), ("b", 15)]
    assert clock.monotonic() == 19
    await clock.advance(1)
    assert log[-1] == ("a", 20)
    await asyncio.gather(*tasks)


async def test_running_moves_time_only_when_everyone_waits() -> None:
    clock = VirtualClock(grace=0.01)
    async with clock.running():
        before = time.monotonic()
        await clock.sleep(1800)
        assert clock.monotonic() == 1800
        assert time.monotonic() - before < 60  # half an hour did not really pass
        task = asyncio.create_task(clock.sleep(60))
        with clock.hold():
            await asyncio.sleep(0.1)
            assert clock.monotonic() == 1800
            assert not task.done()
        await task
        assert clock.monotonic() == 1860


async def test_a_task_that_holds_may_itself_sleep() -> None:
    clock = VirtualClock(grace=0.01)
    async with clock.running():
        with clock.hold():
            await clock.sleep(5)
    assert clock.monotonic() == 5


async def test_a_cancelled_sleep_does_not_move_the_time() -> None:
    clock = VirtualClock(grace=0.01)
    task = asyncio.create_task(clock.sleep(1000))
    await asyncio.sleep(0)
    task.cancel()
    async with clock.running():
        await clock.sleep(1)
    assert clock.monotonic() == 1
    assert clock.sleepers == 0


async def test_scaled_clocks_with_equal_arguments_agree() -> None:
    epoch = time.time() - 10
    one, two = ScaledClock(100.0, epoch), ScaledClock(100.0, epoch)
    assert abs((one.now() - two.now()).total_seconds()) < 5
    start = one.now()
    await one.sleep(5)
    assert (two.now() - start).total_seconds() >= 5


def test_bad_arguments_are_named() -> None:
    from datetime import datetime

    with pytest.raises(ValueError, match="aware"):
        VirtualClock(datetime(2026, 1, 1))
    with pytest.raises(ValueError, match="above 0"):
        ScaledClock(0)
