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
"""The service without its HTTP surface: store, clients, engine, dispatcher, timers, started and stopped in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING

from bot.build_server import BuildServer
from bot.clock import Clock, SystemClock
from bot.config import Settings
from bot.errors import GateBotError, RetryLater
from bot.forge import Forge
from bot.gitcode.client import GitCodeClient
from bot.intake.events import StoredEvent
from bot.intake.grammar import DEFAULT_ALIASES, Grammar
from bot.runtime import cases, inbox
from bot.runtime.clients import make_builds, make_forge
from bot.runtime.database import Database
from bot.runtime.dispatcher import POLL_SECONDS, Dispatcher
from bot.runtime.inbox import InboxRow, InboxWriter
from bot.runtime.mend import make_repairer, repairable
from bot.runtime.metrics import Metrics
from bot.runtime.outside import Outside, Point, no_point
from bot.runtime.publish import make_reviewer
from bot.runtime.store_probe import StoreProbe

if TYPE_CHECKING:
    from bot.runtime.engine import Engine
    from bot.runtime.housekeeping import Housekeeping

log = logging.getLogger(__name__)

_LOGIN_RETRY_SECONDS = 15.0


class Service:
    """Everything that runs. It is the intake's inbox, too.

    Args:
        settings: What the operator chose.
        clock: The time; the machine's own by default.
        forge: A client of the forge; made from the settings by default.
        builds: A client of the build server; made from the settings by default.
        point: Called by name after every stored step (see ``bot.runtime.outside``).
        busy: Entered while real work goes on; lets a virtual clock stand still.
        poll_seconds: Longest wait between looks into the store; ``None`` looks only when told or due.
        timers: Whether this process sweeps and tidies by itself.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        forge: Forge | None = None,
        builds: BuildServer | None = None,
        point: Point = no_point,
        busy: Callable[[], AbstractContextManager[object]] = nullcontext,
        poll_seconds: float | None = POLL_SECONDS,
        timers: bool = True,
    ) -> None:
        self.settings = settings
        self.clock = clock or SystemClock()
        self.metrics = Metrics()
        self.database = Database(settings.storage.url)
        self.forge = forge or make_forge(settings, clock=self.clock, metrics=self.metrics)
        self.builds = builds or make_builds(settings, clock=self.clock)
        self.login = ""
        self._point = point
        self._busy = busy
        self._poll = poll_seconds
        self._timers = timers
        self._probe = StoreProbe(self.database)
        self._writer = InboxWriter(self.database, self._on_new)
        self._dispatcher: Dispatcher | None = None
        self._engine: Engine | None = None
        self._housekeeping: Housekeeping | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._up = asyncio.Event()
        self.last_trouble = "starting"
        self.died = ""

    async def start(self) -> None:
        """Open the store (from then on events are kept), then bring up the rest in the background.

        Raises:
            TellOperator: The store cannot be opened.
        """
        await asyncio.to_thread(self.database.create)
        self._spawn(self._bring_up(), "bring-up")

    async def wait_ready(self, seconds: float = 30.0) -> None:
        """Return when wake-ups are served."""
        await asyncio.wait_for(self._up.wait(), seconds)

    async def stop(self) -> None:
        """Stop in the reverse order; unfinished wake-ups go on at the next start."""
        if self._housekeeping:
            self._housekeeping.stop()
        if self._dispatcher:
            self._dispatcher.stop()
        if self._engine:
            await self._engine.stop(self.settings.server.shutdown_seconds)
        for task in list(self._tasks):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task
        await self.forge.close()
        await self.builds.close()
        await self.database.close()

    async def put(self, event: StoredEvent) -> bool:
        """The intake's inbox: durable when this returns; false for a duplicate."""
        keys = event.keys
        new = await self._writer.put(
            InboxRow(
                repo=event.event.repo,
                number=event.event.number,
                kind=event.event.kind,
                event=event.event.model_dump_json(),
                received_at=event.received_at.timestamp(),
                delivery_id=keys.delivery_id,
                body_uuid=keys.body_uuid,
                effect_key=keys.effect[:400],
            )
        )
        self._point(f"inbox {keys.effect}")
        return new

    @property
    def serving(self) -> bool:
        """Whether wake-ups are served."""
        return self._up.is_set()

    async def store_trouble(self) -> str:
        """Why events could not be kept just now; empty when they can."""
        return await self._probe.trouble()

    async def refresh_gauges(self) -> None:
        """Bring the gauges up to date, for whoever asks for metrics."""
        with suppress(RetryLater):
            counts, waiting = await self.database.run(lambda c: (cases.count_by_phase(c), len(inbox.waiting_keys(c))))
            self.metrics.cases.clear()
            for phase, count in counts.items():
                self.metrics.cases.labels(phase).set(count)
            self.metrics.waiting.set(waiting)
        if isinstance(self.forge, GitCodeClient):
            minute, hour = self.forge.transport.limiter.left()
            self.metrics.budget.labels("minute").set(minute)
            self.metrics.budget.labels("hour").set(hour)
        self.metrics.running.set(len(self._engine.running) if self._engine else 0)

    def idle(self) -> bool:
        """Whether no wake-up runs in this process."""
        return self._engine is None or not self._engine.running

    def notify(self) -> None:
        """Somebody wrote to the store behind our back."""
        if self._dispatcher:
            self._dispatcher.notify()

    def outside(self) -> Outside:
        """The world as wake-ups see it."""
        settings = self.settings
        grammar = Grammar.build({**DEFAULT_ALIASES, **settings.commands.aliases})
        return Outside(
            forge=self.forge,
            builds=self.builds,
            clock=self.clock,
            database=self.database,
            settings=settings,
            bot_login=self.login,
            job=settings.jenkins.job,
            repairer=make_repairer(settings, self.forge, busy=self._busy),
            reviewer=make_reviewer(),
            repairable=repairable,
            grammar=grammar,
            point=self._point,
            busy=self._busy,
        )

    def _on_new(self, _keys: set[str]) -> None:
        if self._dispatcher:
            self._dispatcher.notify()

    async def _bring_up(self) -> None:
        """Log in (again and again while the forge is away), then serve."""
        from bot.runtime.engine import Engine  # DBOS takes its time to load; the socket is open meanwhile

        while True:
            try:
                self.login = self.login or await self.forge.login()
                break
            except GateBotError as error:
                self.last_trouble = f"forge: {error}"
                log.error("cannot log in to the forge, next try in %.0f s: %s", _LOGIN_RETRY_SECONDS, error)
                await self.clock.sleep(_LOGIN_RETRY_SECONDS)
        outside = self.outside()
        self._dispatcher = Dispatcher(outside, poll_seconds=self._poll)
        self._engine = Engine(outside, self._ended)
        self._engine.start()
        self._spawn(self._dispatcher.run(self._engine), "dispatcher")
        if self._timers:
            from bot.runtime.housekeeping import Housekeeping

            self._housekeeping = Housekeeping(outside, self._engine)
            self._housekeeping.start()
        self._up.set()
        log.info("GateBot is ready as %s", self.login)

    def _ended(self, key: str, word: str) -> None:
        self.metrics.wakeups.labels(word).inc()
        if self._dispatcher:
            self._dispatcher.ended(key)

    def _spawn(self, work: object, name: str) -> None:
        task: asyncio.Task[None] = asyncio.create_task(work, name=name)  # type: ignore[arg-type]
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self.died = self.last_trouble = f"{task.get_name()}: {error}"
            self._up.clear()
            log.critical("%s died; the service is not ready any more", task.get_name(), exc_info=error)
