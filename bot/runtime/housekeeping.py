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
"""What each replica does on a timer (APScheduler): sweep, forget old rows, say that it lives, finish for the dead."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from apscheduler.schedulers.asyncio import AsyncIOScheduler  # type: ignore[import-untyped]

from bot.errors import GateBotError
from bot.runtime.database import insert_new
from bot.runtime.engine import Engine
from bot.runtime.outside import Outside
from bot.runtime.retention import forget_before
from bot.runtime.sweep import sweep
from bot.runtime.tables import inbox as inbox_table
from bot.runtime.tables import replicas

log = logging.getLogger(__name__)

BEAT_SECONDS = 5
ALIVE_SECONDS = 20.0
# Twelve beats missed: its process is gone, or cut off from the store, without which it cannot enter anything either.
GONE_SECONDS = 60.0
_TAKE_OVER_EVERY = 15
_WORKFLOWS_KEPT = timedelta(hours=6)  # an ended wake-up is of no further use; each holds the facts it saw


class Housekeeping:
    """The timers of one replica.

    Args:
        outside: The world.
        engine: Whose old records are deleted.
    """

    def __init__(self, outside: Outside, engine: Engine) -> None:
        self._outside = outside
        self._engine = engine
        self._swept_at: dict[str, datetime] = {}
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self.last_sweep = 0.0

    def start(self) -> None:
        """Set the timers; call inside the event loop."""
        settings = self._outside.settings.runtime
        kept = {"max_instances": 1, "coalesce": True, "misfire_grace_time": None}
        first = datetime.now(UTC) if settings.sweep_on_start else None
        again = {"next_run_time": first} if first else {}
        self._scheduler.add_job(self.sweep_all, "interval", minutes=settings.sweep_minutes, **kept, **again)
        self._scheduler.add_job(self.beat, "interval", seconds=BEAT_SECONDS, next_run_time=datetime.now(UTC), **kept)
        self._scheduler.add_job(self.take_over, "interval", seconds=_TAKE_OVER_EVERY, **kept)
        self._scheduler.add_job(self.forget, "interval", hours=1, **kept)
        self._scheduler.start()

    def stop(self) -> None:
        """Stop the timers."""
        self._scheduler.shutdown(wait=False)

    async def sweep_all(self) -> None:
        """Sweep every configured repository; trouble with one does not stop the others."""
        started = self._outside.clock.now()
        for repo in self._outside.settings.repositories:
            default = started - timedelta(minutes=self._outside.settings.runtime.sweep_minutes)
            try:
                nudged = await sweep(
                    repo, self._swept_at.get(repo) or await self._last_news(repo) or default, self._outside
                )
            except GateBotError as error:
                log.warning("sweep of %s: %s", repo, error)
                continue
            self._swept_at[repo] = started
            if nudged:
                log.info("sweep of %s: %d pull request(s) had news that no hook brought", repo, nudged)
        self.last_sweep = time.time()

    async def _last_news(self, repo: str) -> datetime | None:
        """After a restart: the newest event of a repository, since then hooks may have been missed."""

        def read(connection: sa.Connection) -> float | None:
            return connection.execute(
                sa.select(sa.func.max(inbox_table.c.received_at)).where(inbox_table.c.repo == repo)
            ).scalar()

        found = await self._outside.database.run(read)
        return datetime.fromtimestamp(found, UTC) if found else None

    async def beat(self) -> None:
        """Say that this replica lives, so that a command line hands its work over instead of doing it."""
        try:
            await self._outside.database.run(lambda c: _beat(c, self._outside.settings.runtime.replica))
        except GateBotError as error:
            log.warning("heartbeat: %s", error)

    async def take_over(self) -> None:
        """Finish what replicas left that are gone: crashed for good, or started again under another name."""
        since = time.time() - GONE_SECONDS
        try:
            living = await self._outside.database.run(lambda c: living_since(c, since))
            await self._engine.take_over(living, since)
        except Exception:  # the engine's own errors have no common type; the next turn comes soon
            log.exception("could not look after the wake-ups of replicas that are gone")

    async def forget(self) -> None:
        """Delete what ended long ago."""
        moment = self._outside.stamp() - self._outside.settings.storage.keep_days * 86400
        try:
            rows = await self._outside.database.run(lambda c: forget_before(c, moment))
            flows = await self._engine.forget_before(time.time() - _WORKFLOWS_KEPT.total_seconds())
            names = sa.delete(replicas).where(replicas.c.beat_at < time.time() - 86400)
            await self._outside.database.run(lambda c: c.execute(names).rowcount)
        except GateBotError as error:
            log.warning("housekeeping: %s", error)
            return
        if rows or flows:
            log.info("housekeeping: deleted %d row(s) and %d finished wake-up(s)", rows, flows)


def _beat(connection: sa.Connection, name: str) -> None:
    if not insert_new(replicas, connection, {"name": name, "beat_at": time.time()}):
        connection.execute(sa.update(replicas).where(replicas.c.name == name).values(beat_at=time.time()))


def living_since(connection: sa.Connection, moment: float) -> frozenset[str]:
    """Names of the replicas that said since ``moment`` (real Unix seconds) that they live."""
    return frozenset(connection.execute(sa.select(replicas.c.name).where(replicas.c.beat_at >= moment)).scalars())


def is_anyone_alive(connection: sa.Connection) -> bool:
    """Whether a service works on this store right now."""
    newest = connection.execute(sa.select(sa.func.max(replicas.c.beat_at))).scalar()
    return newest is not None and time.time() - newest < ALIVE_SECONDS
