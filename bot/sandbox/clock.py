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
"""Clocks that let hours pass in a moment.

Two forms, for two needs:

* :class:`VirtualClock` stands still until it is told to go on, or until everyone who waits is waiting (``running``).
  It is for one process: the bot and both sandboxes share the one object.
* :class:`ScaledClock` is the machine's clock run faster. It needs no shared object: processes that are given the same
  ``epoch`` and ``speed`` agree on the time: the form for tests in which the daemon is a process of its own.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime, timedelta

from bot.clock import Clock, SystemClock

__all__ = ["Clock", "ScaledClock", "SystemClock", "VirtualClock"]

DEFAULT_START = datetime(2026, 6, 12, 1, 0, 0, tzinfo=UTC)
_TICKS = 3


class VirtualClock:
    """Time that moves only by :meth:`advance` or, inside :meth:`running`, when nobody has anything left to do.

    Args:
        start: The time of day at the beginning (aware).
        grace: Real seconds without any activity of this clock (a sleep begun, a hold taken or given back) after which
            :meth:`running` takes the world to be idle, seen at three moments in a row so that a loop that was blocked
            is not taken for an idle one. It covers work the clock cannot see: a request on its way through a socket, a
            task about to run. Work that takes longer, or runs in another thread, must :meth:`hold` the clock.
    """

    def __init__(self, start: datetime = DEFAULT_START, *, grace: float = 0.03) -> None:
        if start.tzinfo is None:
            raise ValueError("For VirtualClock, start should be an aware datetime, but got a naive one.")
        self._start = start
        self._elapsed = 0.0
        self._grace = grace
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._holds: dict[asyncio.Task[object] | None, int] = {}
        self._asleep: set[asyncio.Task[object] | None] = set()
        self._quiet_ticks = 0

    def now(self) -> datetime:
        """The virtual time of day."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Virtual seconds since the start."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until ``seconds`` of virtual time have passed. Holds of the same task are lifted meanwhile."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), future))
        task = asyncio.current_task()
        self._asleep.add(task)
        self._touch()
        try:
            await future
        finally:
            self._asleep.discard(task)
            self._touch()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep :meth:`running` from moving the time while real work goes on (a build, a git command, a request).

        While the very task that holds is itself in :meth:`sleep`, its hold does not count; a task that holds and waits
        for *another* task's sleep stops the time for good, so hold only around your own work.
        """
        task = _current_task()
        self._holds[task] = self._holds.get(task, 0) + 1
        self._touch()
        try:
            yield
        finally:
            self._holds[task] -= 1
            if not self._holds[task]:
                del self._holds[task]
            self._touch()

    async def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass: every sleeper due meanwhile wakes in order, at its own time, and may sleep again."""
        end = self._elapsed + seconds
        await _settle()
        while (due := self._next_due()) is not None and due <= end:
            self._wake_until(due)
            await _settle()
        self._elapsed = max(self._elapsed, end)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[VirtualClock]:
        """Move the time on by itself, to the next sleeper's moment, whenever nothing holds and nothing happens."""
        task = asyncio.create_task(self._run(), name="virtual-clock")
        try:
            yield self
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    @property
    def sleepers(self) -> int:
        """How many sleeps are waiting."""
        return sum(not future.done() for _, _, future in self._sleepers)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._grace / _TICKS)
            self._quiet_ticks += 1
            if self._quiet_ticks >= _TICKS and not self._is_held() and (due := self._next_due()) is not None:
                self._wake_until(due)

    def _is_held(self) -> bool:
        return any(task not in self._asleep for task in self._holds)

    def _next_due(self) -> float | None:
        while self._sleepers and self._sleepers[0][2].done():  # a cancelled sleep must not move the time
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    def _wake_until(self, moment: float) -> None:
        self._elapsed = max(self._elapsed, moment)
        while self._sleepers and self._sleepers[0][0] <= self._elapsed:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)
        self._touch()

    def _touch(self) -> None:
        self._quiet_ticks = 0


class ScaledClock:
    """The machine's clock, ``speed`` times as fast. Two of them with equal arguments agree, in whatever process.

    Args:
        speed: Virtual seconds per real second, above 0.
        epoch: Unix time (real seconds) at which virtual and real time were equal; give the same to every process.
    """

    def __init__(self, speed: float, epoch: float | None = None) -> None:
        if speed <= 0:
            raise ValueError(f"For ScaledClock, speed should be above 0, but got {speed}.")
        self.speed = speed
        self.epoch = time.time() if epoch is None else epoch

    def now(self) -> datetime:
        """The scaled time of day."""
        return datetime.fromtimestamp(self.epoch + (time.time() - self.epoch) * self.speed, UTC)

    def monotonic(self) -> float:
        """Scaled seconds of the machine's monotonic clock."""
        return time.monotonic() * self.speed

    async def sleep(self, seconds: float) -> None:
        """Wait ``seconds`` of scaled time."""
        await asyncio.sleep(max(0.0, seconds) / self.speed)


def _current_task() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # held from a thread without a loop
        return None


async def _settle(rounds: int = 20) -> None:
    """Let tasks that were just woken run until they wait again; enough for chains of plain awaits, not for I/O."""
    for _ in range(rounds):
        await asyncio.sleep(0)
