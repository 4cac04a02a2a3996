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
"""Decides which cases wake up now: those whose stored time has come, and those with events that have settled.

All it knows is in the store, so it may die at any moment and another one goes on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import sqlalchemy as sa

from bot.errors import RetryLater
from bot.runtime import cases, inbox
from bot.runtime.engine import Engine
from bot.runtime.outside import Outside

log = logging.getLogger(__name__)

POLL_SECONDS = 5.0  # another replica or a command line may have written to the store behind our back
LONGEST_SETTLING = 5  # times settle_seconds: a case under a steady rain of events wakes all the same


class Dispatcher:
    """The loop that asks the engine for wake-ups.

    Args:
        outside: The world.
        poll_seconds: Longest wait between looks into the store, by the injected clock; ``None`` looks only when a timer
            is due or somebody notifies, for a virtual clock that must not be moved by a mere look.
    """

    def __init__(self, outside: Outside, *, poll_seconds: float | None = POLL_SECONDS) -> None:
        self._outside = outside
        self._poll = poll_seconds
        self._news = asyncio.Event()
        self._asked: dict[str, int] = {}
        self._stopping = False
        self._starts: set[asyncio.Task[None]] = set()

    def notify(self, _keys: object = None) -> None:
        """Something changed in the store: look now."""
        self._news.set()

    def ended(self, key: str) -> None:
        """A wake-up of this process ended."""
        self._asked.pop(key, None)
        self._news.set()

    def stop(self) -> None:
        """Ask for no more wake-ups."""
        self._stopping = True
        self._news.set()

    async def run(self, engine: Engine, beat: Callable[[], None] | None = None) -> None:
        """Serve until :meth:`stop`."""
        while not self._stopping:
            self._news.clear()
            wait: float | None = self._poll
            try:
                wait = await self._serve(engine)
            except RetryLater as error:
                log.warning("dispatcher: %s", error)
            if beat:
                beat()
            await self._pause(wait)
        for task in self._starts:
            with suppress(Exception):
                await task

    async def _serve(self, engine: Engine) -> float | None:
        """Start what is due; seconds until the next look, ``None`` for none."""
        now = self._outside.stamp()
        plan = await self._outside.database.run(
            lambda c: plan_wakeups(c, now, self._outside.settings.runtime.settle_seconds)
        )
        free = self._outside.settings.runtime.parallel_cases - len(engine.running | set(self._asked))
        for key, (repo, number, generation) in plan.due.items():
            if self._stopping or free <= 0:
                break
            if key in engine.running or self._asked.get(key) == generation:
                continue
            free -= 1
            self._asked[key] = generation
            task = asyncio.create_task(self._ask(engine, key, repo, number, generation), name=f"ask {key}")
            self._starts.add(task)
            task.add_done_callback(self._starts.discard)
        if plan.next_at is None:
            return self._poll
        until_due = max(0.0, plan.next_at - now)
        return until_due if self._poll is None else min(self._poll, until_due)

    async def _ask(self, engine: Engine, key: str, repo: str, number: int, generation: int) -> None:
        try:
            await engine.ask(repo, number, generation)
        except Exception:
            log.exception("%s: the wake-up could not be started", key)
        finally:
            if key not in engine.running:  # carried elsewhere: ask again only after a pause, in case nobody does
                asyncio.get_running_loop().call_later(self._poll or POLL_SECONDS, self.ended, key)

    async def _pause(self, seconds: float | None) -> None:
        """Wait for the clock or for news, whichever comes first."""
        tasks: set[asyncio.Task[Any]] = {asyncio.create_task(self._news.wait())}
        if seconds is not None:
            tasks.add(asyncio.create_task(self._outside.clock.sleep(seconds), name="dispatcher-pause"))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class Plan:
    """``due``: case key to (repo, number, generation). ``next_at``: when something else will be due, if ever."""

    __slots__ = ("due", "next_at")

    def __init__(self) -> None:
        self.due: dict[str, tuple[str, int, int]] = {}
        self.next_at: float | None = None

    def at(self, moment: float) -> None:
        """There is something to do at ``moment``."""
        self.next_at = moment if self.next_at is None else min(self.next_at, moment)


def plan_wakeups(connection: sa.Connection, now: float, settle: float) -> Plan:
    """Which cases wake up now, and when the next one will.

    Args:
        connection: The store.
        now: Unix seconds of the clock.
        settle: Quiet seconds after an event before its case wakes; under a steady rain of events it wakes all the same.
    """
    plan = Plan()
    waiting = inbox.waiting_keys(connection)
    known = cases.timetable(connection, list(waiting), now)
    for key, (repo, number, oldest, newest) in waiting.items():
        row = known.get(key)
        generation = row.generation if row else 0
        if row and row.failures and row.wake_at is not None and row.wake_at > now and row.updated_at >= newest:
            plan.at(row.wake_at)  # it is backing off from trouble, and these events were there before
            continue
        ready = min(newest + settle, oldest + LONGEST_SETTLING * settle)
        if ready <= now:
            plan.due[key] = (repo, number, generation)
        else:
            plan.at(ready)
    for key, row in known.items():
        if row.wake_at is not None and row.wake_at <= now:
            plan.due.setdefault(key, (row.repo, row.number, row.generation))
    upcoming = cases.next_wake(connection, after=now)
    if upcoming is not None:
        plan.at(upcoming)
    return plan
