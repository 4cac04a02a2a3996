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
"""Runs wake-ups as DBOS workflows: recorded step by step, continued after a crash, serial per pull request.

A wake-up's workflow id holds the case and its generation, and a generation ends only when the wake-up rests. Asking
twice for the same wake-up, in one process or in two replicas, is therefore asking for the same workflow.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from dbos import DBOS, DBOSConfig, SetWorkflowID

from bot.runtime import cases
from bot.runtime.database import engine_url
from bot.runtime.masking import secrets_of, without
from bot.runtime.outside import Outside
from bot.runtime.recovery import check_recovery, recover
from bot.runtime.wakeup import wake_up

log = logging.getLogger(__name__)

# Workflows of other releases are continued too: their recorded parts are JSON with a case version.
APPLICATION_VERSION = "gatebot-1"
_FAULT_SECONDS = 3600.0
_FORGET_AT_ONCE = 500
_ENDED = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")


async def _recorded(name: str, work: Callable[[], Coroutine[Any, Any, str]]) -> str:
    async def step() -> str:  # DBOS looks whether it was given a coroutine function, which a lambda is not
        return await work()

    return await DBOS.run_step_async({"name": name}, step)


@DBOS.workflow(name="wake-up", max_recovery_attempts=None)
async def _wake_up_workflow(repo: str, number: int, generation: int) -> str:
    engine = Engine.current
    if engine is None:  # recovered before the engine stands: it comes again with the next start
        raise RuntimeError("GateBot's engine is not running")
    return await engine.carry(repo, number, generation)


class Engine:
    """Starts wake-ups and knows which of them run in this process. One per process, as DBOS is.

    Args:
        outside: The world, handed to every wake-up.
        on_end: Called in the event loop with the case key and how it went whenever a wake-up of this process has ended.
    """

    current: Engine | None = None

    def __init__(self, outside: Outside, on_end: Callable[[str, str], None]) -> None:
        self._outside = outside
        self._on_end = on_end
        self._running: dict[str, asyncio.Event] = {}
        self._begun: dict[str, asyncio.Event] = {}

    @property
    def running(self) -> frozenset[str]:
        """Keys of the cases whose wake-up runs in this process."""
        return frozenset(self._running)

    def start(self) -> None:
        """Open the engine's own tables and continue what an earlier process left unfinished. Call inside the loop.

        Raises:
            TellOperator: The installed DBOS cannot do what the engine needs.
        """
        check_recovery()
        settings = self._outside.settings
        config: DBOSConfig = {
            "name": "gatebot",
            "system_database_url": engine_url(self._outside.database.url),
            "application_version": APPLICATION_VERSION,
            "executor_id": settings.runtime.replica,
            "max_executor_threads": 16,
            "log_level": "ERROR",
            "use_listen_notify": False,
            "scheduler_polling_interval_sec": 3600.0,
        }
        Engine.current = self
        logging.getLogger("dbos").setLevel(logging.ERROR)  # it warns of every wake-up that it continues
        DBOS(config=config)
        DBOS.launch()

    async def carry(self, repo: str, number: int, generation: int) -> str:
        """The body of the workflow: one wake-up, with this process' book-keeping around it."""
        key = f"{repo}#{number}"
        ended = self._running.setdefault(key, asyncio.Event())
        word = "interrupted"
        try:
            if begun := self._begun.get(key):
                begun.set()
            word = await wake_up(repo, number, generation, self._outside, _recorded)
            log.debug("%s: wake-up %d %s", key, generation, word)
            return word
        except Exception as error:  # it could not even load or rest: say so, and do not try again at once
            word = "fault"
            log.exception("%s: wake-up %d could not be carried out", key, generation)
            await self._postpone(key, f"{type(error).__name__}: {error}")
            return word
        finally:
            self._running.pop(key, None)
            ended.set()
            self._on_end(key, word)

    async def _postpone(self, key: str, message: str) -> None:
        now = self._outside.stamp()
        shown = without(secrets_of(self._outside.settings), message)
        await self._outside.database.run(
            lambda c: cases.postpone(c, key, wake_at=now + _FAULT_SECONDS, message=shown, now=now)
        )

    async def ask(self, repo: str, number: int, generation: int) -> None:
        """Start a wake-up unless it runs already, here or elsewhere; returns once it has begun."""
        key = f"{repo}#{number}"
        begun = self._begun[key] = asyncio.Event()
        try:
            with self._outside.busy():
                with SetWorkflowID(await self._free_id(key, generation)):
                    await DBOS.start_workflow_async(_wake_up_workflow, repo, number, generation)
                try:
                    await asyncio.wait_for(begun.wait(), 2.0)
                except TimeoutError:
                    log.debug("%s: wake-up %d is carried by another process or by recovery", key, generation)
        finally:
            self._begun.pop(key, None)

    async def _free_id(self, key: str, generation: int) -> str:
        """The wake-up's workflow id. A workflow that ended without a rest (a fault of ours) leaves its id used up."""
        for attempt in range(100):
            name = f"{key}@{generation}" + (f".{attempt}" if attempt else "")
            status = await DBOS.get_workflow_status_async(name)
            if status is None or status.status not in _ENDED:
                return name
        raise RuntimeError(f"{key}: 100 wake-ups of generation {generation} ended without a rest")

    async def stop(self, seconds: float) -> None:
        """Wait at most so long for running wake-ups, then let go; what is unfinished goes on at the next start."""
        waiting = [event.wait() for event in self._running.values()]
        if waiting:
            try:
                await asyncio.wait_for(asyncio.gather(*waiting), seconds)
            except TimeoutError:
                log.warning("%d wake-up(s) were cut short and will go on at the next start", len(self._running))
        with ThreadPoolExecutor(max_workers=1) as own:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(own, DBOS.destroy)
        loop.set_default_executor(ThreadPoolExecutor())  # DBOS had put in one of its own, which is closed now
        Engine.current = None

    async def take_over(self, living: frozenset[str], quiet_since: float) -> tuple[str, ...]:
        """Continue the unfinished wake-ups of processes that are gone, whatever they were called.

        The engine hands each of them to exactly one living process, so that several may ask at once.

        Args:
            living: Names of the processes that live.
            quiet_since: A wake-up that was begun or picked up later than this (real Unix seconds) is left alone: its
                process may be too young to be known.

        Returns:
            The names of the processes that were given up.
        """
        pending = await DBOS.list_workflows_async(status="PENDING", load_input=False, load_output=False)
        known = living | {self._outside.settings.runtime.replica}
        old = [flow for flow in pending if (flow.updated_at or 0) < quiet_since * 1000]
        gone = sorted({flow.executor_id for flow in old if flow.executor_id and flow.executor_id not in known})
        if gone:
            log.warning("wake-ups of %s, which gave no sign of life, are continued by others", ", ".join(gone))
            await asyncio.to_thread(recover, gone)
        return tuple(gone)

    async def forget_before(self, moment: float) -> int:
        """Delete the engine's records of wake-ups that ended before ``moment`` (real Unix seconds); how many."""
        until = datetime.fromtimestamp(moment, UTC).isoformat()
        deleted = 0
        while True:
            ended = await DBOS.list_workflows_async(
                status=["SUCCESS", "ERROR", "CANCELLED"],
                end_time=until,
                limit=_FORGET_AT_ONCE,
                load_input=False,
                load_output=False,
            )
            if ended:
                await DBOS.delete_workflows_async([workflow.workflow_id for workflow in ended])
            deleted += len(ended)
            if len(ended) < _FORGET_AT_ONCE:
                return deleted
