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
"""Keeps the calls within GitCode's budget, the urgent ones first.

A sliding window, not a bucket that refills: a bucket of 45 that refills at 45 a minute lets nearly 90 calls into one
minute after a rest. Here no 60 s (and no hour), wherever it starts, holds more calls than allowed.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from bot.clock import Clock
from bot.errors import RetryLater
from bot.forge import Priority

MINUTE_S = 60.0
HOUR_S = 3600.0
PATIENCE_S = 120.0
"""A call that has waited this long may go before more urgent ones …"""
FAIR_EVERY = 5
"""… but only every so many turns: nobody starves, and a long backlog does not hold up an answer to a person either."""

_SHARE = {Priority.REPLY: 1.0, Priority.ACT: 0.95, Priority.OBSERVE: 0.9, Priority.SYNC: 0.7}
"""Part of a window that a priority may fill: a sweep never leaves an answer to a person without a slot."""


class Window:
    """The moments of the newest calls, and when the next one fits. Pure: time is handed in."""

    def __init__(self, limit: int, span: float) -> None:
        self.limit = limit
        self.span = span
        self._moments: deque[float] = deque(maxlen=limit)

    def record(self, moment: float) -> None:
        """Count a call."""
        self._moments.append(moment)

    def ready_at(self, share: float = 1.0) -> float:
        """The earliest moment at which a call fits that may fill ``share`` of the window."""
        allowed = max(1, int(self.limit * share))
        if len(self._moments) < allowed:
            return float("-inf")
        return self._moments[-allowed] + self.span

    def left(self, moment: float) -> int:
        """Calls that still fit at ``moment``."""
        return self.limit - sum(moment - past < self.span for past in self._moments)


@dataclass(eq=False)
class _Waiter:
    priority: Priority
    since: float
    order: int
    turn: asyncio.Future[None]


class Limiter:
    """Hands out turns. One object is shared by all tasks of a loop that use the same token.

    Args:
        clock: Measures and waits.
        per_minute: Calls in any 60 s.
        per_hour: Calls in any 3,600 s.
        longest_wait: Seconds; when no call fits for longer than this, nobody waits: see :meth:`turn`.
    """

    def __init__(self, clock: Clock, *, per_minute: int, per_hour: int, longest_wait: float = float("inf")) -> None:
        self._clock = clock
        self._longest_wait = longest_wait
        self._windows = (Window(per_minute, MINUTE_S), Window(per_hour, HOUR_S))
        self._waiters: list[_Waiter] = []
        self._order = itertools.count()
        self._paused_until = float("-inf")
        self._turns_since_fair = 0
        self._changed = asyncio.Event()
        self._dispatcher: asyncio.Task[None] | None = None

    async def turn(self, priority: Priority) -> None:
        """Return when a call of this priority may be sent; it is counted from then.

        Raises:
            RetryLater: No call fits for longer than ``longest_wait``; ``delay`` says how long.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(_Waiter(priority, self._clock.monotonic(), next(self._order), future))
        self._changed.set()
        if self._dispatcher is None or self._dispatcher.done():
            self._dispatcher = asyncio.create_task(self._dispatch(), name="gitcode-limiter")
        await future

    def pause(self, seconds: float) -> None:
        """Let nobody call for ``seconds``: the forge said so."""
        self._paused_until = max(self._paused_until, self._clock.monotonic() + seconds)
        self._changed.set()

    def left(self) -> tuple[int, int]:
        """Calls left in the running minute and hour."""
        now = self._clock.monotonic()
        minute, hour = self._windows
        return minute.left(now), hour.left(now)

    @property
    def waiting(self) -> int:
        """Calls that wait for their turn."""
        return sum(not waiter.turn.done() for waiter in self._waiters)

    async def close(self) -> None:
        """Give up: everyone who waits is cancelled."""
        for waiter in self._waiters:
            waiter.turn.cancel()
        if self._dispatcher is not None:
            self._dispatcher.cancel()
            with suppress(asyncio.CancelledError):
                await self._dispatcher

    async def _dispatch(self) -> None:
        try:
            while True:
                self._waiters = [waiter for waiter in self._waiters if not waiter.turn.done()]
                if not self._waiters:
                    return
                now = self._clock.monotonic()
                chosen, share, fair = self._choose(now)
                ready = self._ready_at(share)
                if ready <= now:
                    for window in self._windows:
                        window.record(now)
                    self._turns_since_fair = 0 if fair else self._turns_since_fair + 1
                    chosen.turn.set_result(None)
                elif ready - now > self._longest_wait:
                    text = f"GitCode's call budget is used up for the next {ready - now:.0f} s"
                    chosen.turn.set_exception(RetryLater(text, delay=ready - now))
                else:
                    patience_ends = self._waiters[0].since + PATIENCE_S
                    await self._wait((min(ready, patience_ends) if patience_ends > now else ready) - now)
        except Exception as error:  # a bug here must not leave callers waiting for ever
            for waiter in self._waiters:
                if not waiter.turn.done():
                    waiter.turn.set_exception(error)
            raise

    def _choose(self, now: float) -> tuple[_Waiter, float, bool]:
        """Whose turn it is, the part of the windows they may fill, and whether it is for having waited long."""
        oldest = self._waiters[0]
        if now - oldest.since >= PATIENCE_S and self._turns_since_fair >= FAIR_EVERY:
            return oldest, 1.0, True
        best = min(self._waiters, key=lambda waiter: (waiter.priority, waiter.order))
        return best, _SHARE[best.priority], False

    def _ready_at(self, share: float) -> float:
        return max(self._paused_until, *(window.ready_at(share) for window in self._windows))

    async def _wait(self, seconds: float) -> None:
        """Wait, but no longer than until something changes."""
        self._changed.clear()
        seconds = max(seconds, 0.001)  # rounding must not make it wait for nothing, over and over
        tasks = [asyncio.create_task(self._clock.sleep(seconds)), asyncio.create_task(self._changed.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
