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

import hypothesis.strategies as st
from hypothesis import given, settings

from bot.errors import RetryLater
from bot.forge import Priority
from bot.gitcode.limiter import FAIR_EVERY, Limiter
from bot.sandbox.clock import VirtualClock

priorities = st.sampled_from(list(Priority))
arrivals = st.lists(st.tuples(st.floats(0, 40), priorities), min_size=1, max_size=60)


async def run(limiter: Limiter, clock: VirtualClock, plan: list[tuple[float, Priority]]) -> list[tuple[float, int]]:
    """Let callers arrive after the given pauses; return when each got its turn, and its index."""
    turns: list[tuple[float, int]] = []

    async def caller(index: int, priority: Priority) -> None:
        await limiter.turn(priority)
        turns.append((clock.monotonic(), index))

    tasks = []
    for index, (pause, priority) in enumerate(plan):
        await clock.advance(pause)
        tasks.append(asyncio.create_task(caller(index, priority)))
    while not all(task.done() for task in tasks):
        await clock.advance(10)
    await asyncio.gather(*tasks)
    await limiter.close()
    return turns


def most_in(moments: list[float], span: float) -> int:
    """The largest number of moments in any half-open window of this span."""
    return max(sum(start <= moment < start + span for moment in moments) for start in moments)


@given(arrivals, st.integers(1, 6), st.integers(6, 20))
@settings(max_examples=40, deadline=None)
def test_no_window_ever_holds_more_than_its_limit(plan: list[tuple[float, Priority]], minute: int, hour: int) -> None:
    async def scenario() -> None:
        clock = VirtualClock()
        turns = await run(Limiter(clock, per_minute=minute, per_hour=hour), clock, plan)
        moments = [moment for moment, _ in turns]
        assert len(moments) == len(plan)
        assert most_in(moments, 60) <= minute
        assert most_in(moments, 3600) <= hour

    asyncio.run(scenario())


async def test_the_documented_budget_holds_under_a_flood() -> None:
    clock = VirtualClock()
    limiter = Limiter(clock, per_minute=45, per_hour=3_800)
    turns = await run(limiter, clock, [(0.0, Priority.REPLY)] * 200)
    moments = [moment for moment, _ in turns]
    assert most_in(moments, 60) == 45
    assert moments[:45] == [0.0] * 45
    assert moments[45] == 60.0


async def test_urgent_calls_go_first_and_equals_in_order_of_arrival() -> None:
    clock = VirtualClock()
    limiter = Limiter(clock, per_minute=1, per_hour=100)
    await limiter.turn(Priority.REPLY)
    plan = [Priority.SYNC, Priority.ACT, Priority.OBSERVE, Priority.REPLY, Priority.ACT]
    order = [index for _, index in await run(limiter, clock, [(0.0, priority) for priority in plan])]
    assert order == [3, 1, 4, 2, 0]


async def test_a_stream_of_urgent_calls_starves_nobody() -> None:
    clock = VirtualClock()
    limiter = Limiter(clock, per_minute=6, per_hour=1_000)
    plan = [(0.0, Priority.REPLY)] * 6 + [(0.0, Priority.SYNC)] + [(5.0, Priority.REPLY)] * 100
    turns = await run(limiter, clock, plan)
    moment = next(moment for moment, index in turns if index == 6)
    assert moment <= 120 + 10 * (FAIR_EVERY + 1)  # patience, then six turns of ten seconds each


async def test_a_long_backlog_does_not_hold_up_an_answer() -> None:
    clock = VirtualClock()
    limiter = Limiter(clock, per_minute=6, per_hour=1_000)
    plan = [(0.0, Priority.SYNC)] * 60 + [(300.0, Priority.REPLY)]
    moments = {index: moment for moment, index in await run(limiter, clock, plan)}
    assert moments[60] - 300 <= 20
    assert len(moments) == 61


async def test_a_sweep_leaves_slots_for_an_answer() -> None:
    clock = VirtualClock()
    limiter = Limiter(clock, per_minute=10, per_hour=1_000)
    turns = await run(limiter, clock, [(0.0, Priority.SYNC)] * 10 + [(1.0, Priority.REPLY)])
    moments = {index: moment for moment, index in turns}
    assert moments[10] == 1.0
    assert sum(moment < 30 for index, moment in moments.items() if index < 10) == 7


async def test_a_pause_stops_everyone() -> None:
    clock = VirtualClock()
    limiter = Limiter(clock, per_minute=45, per_hour=3_800)
    limiter.pause(17)
    turns = await run(limiter, clock, [(0.0, Priority.REPLY)])
    assert turns == [(17.0, 0)]


async def test_who_gives_up_takes_no_slot() -> None:
    clock = VirtualClock()
    limiter = Limiter(clock, per_minute=1, per_hour=100)
    await limiter.turn(Priority.ACT)
    waiting = asyncio.create_task(limiter.turn(Priority.REPLY))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    turns = await run(limiter, clock, [(0.0, Priority.SYNC)])
    assert turns == [(60.0, 0)]
    assert limiter.waiting == 0


async def test_left_counts_down_and_recovers() -> None:
    clock = VirtualClock()
    limiter = Limiter(clock, per_minute=3, per_hour=5)
    await limiter.turn(Priority.REPLY)
    await limiter.turn(Priority.REPLY)
    assert limiter.left() == (1, 3)
    await clock.advance(60)
    assert limiter.left() == (3, 3)
    await clock.advance(3540)
    assert limiter.left() == (3, 5)
    await limiter.close()


async def test_close_lets_go_of_everyone() -> None:
    clock = VirtualClock()
    limiter = Limiter(clock, per_minute=1, per_hour=1)
    await limiter.turn(Priority.REPLY)
    waiting = asyncio.create_task(limiter.turn(Priority.REPLY))
    await asyncio.sleep(0)
    await limiter.close()
    results = await asyncio.gather(waiting, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)


async def test_nobody_waits_out_an_hour() -> None:
    clock = VirtualClock()
    limiter = Limiter(clock, per_minute=10, per_hour=2, longest_wait=90)
    await limiter.turn(Priority.REPLY)
    await clock.advance(3_000)
    await limiter.turn(Priority.REPLY)
    results = await asyncio.gather(*(limiter.turn(Priority.REPLY) for _ in range(3)), return_exceptions=True)
    assert [(type(result), result.delay) for result in results] == [(RetryLater, 600)] * 3  # type: ignore[union-attr]
    await clock.advance(550)
    limiter.pause(20)
    assert await run(limiter, clock, [(0.0, Priority.REPLY)]) == [(3_600.0, 0)]
