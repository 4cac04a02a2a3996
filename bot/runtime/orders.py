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
"""Commands from the command line: handed to the service that runs on this store, or carried out here when none does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from bot.clock import Clock, SystemClock
from bot.config import Settings, StorageSettings
from bot.errors import RetryLater
from bot.gate.case import Phase
from bot.runtime import cases, inbox, ledger
from bot.runtime.clients import make_builds, make_forge
from bot.runtime.events import Order
from bot.runtime.housekeeping import is_anyone_alive
from bot.runtime.inbox import InboxRow
from bot.runtime.service import Service
from bot.runtime.tables import inbox as inbox_table
from bot.runtime.wakeup import plain_steps, wake_up

_LOOK_EVERY = 0.3
Tell = Callable[[str, cases.StoredCase], None]


@dataclass(frozen=True, slots=True)
class Done:
    """What an order led to.

    Attributes:
        stored: The case afterwards.
        effects: What left for the outside meanwhile: rows of the ledger.
        by_service: Whether a running service did it.
    """

    stored: cases.StoredCase
    effects: list[dict[str, object]]
    by_service: bool

    @property
    def ok(self) -> bool:
        """Whether nothing was refused and the case is not in trouble."""
        return not self.stored.failures and all(effect["state"] == "done" for effect in self.effects)


async def order(
    settings: Settings,
    repo: str,
    number: int,
    name: str,
    *,
    author: str,
    watch: bool = False,
    show: Callable[[str], None] = print,
    tell: Tell = lambda _word, _case: None,
    clock: Clock | None = None,
    patience: float = 120.0,
) -> Done:
    """Give a command and wait for what comes of it.

    Args:
        settings: The settings; with ``dry_run`` nothing is stored and writes are only shown.
        repo: ``owner/name``.
        number: Number of the pull request.
        name: ``check-pr``, ``retest``, ``autofix`` …
        author: Who is noted in the audit trail.
        watch: Go on until the case ends.
        show: Shows a write in dry-run mode.
        tell: Told of the case after each wake-up.
        clock: The time.
        patience: Seconds to wait for a running service to take the order up.

    Raises:
        RetryLater: The forge, the build server or a running service does not answer.
        TellOperator: Settings are missing or refused.
    """
    clock = clock or SystemClock()
    if settings.dry_run:
        settings = settings.model_copy(update={"storage": _nowhere(settings.storage)})
    service = Service(
        settings,
        clock=clock,
        forge=make_forge(settings, clock=clock, show=show),
        builds=make_builds(settings, clock=clock, show=show),
        timers=False,
    )
    try:
        service.database.create()
        begun = time.time()
        row_key = await _enter(service, repo, number, name, author, clock)
        by_service = await service.database.run(is_anyone_alive)
        if by_service:
            await _wait_for_service(service, repo, number, row_key, patience, watch, tell)
        else:
            await _run_here(service, repo, number, watch, tell)
        stored, effects = await service.database.run(lambda c: _outcome(c, repo, number, begun))
        return Done(stored, effects, by_service)
    finally:
        await service.forge.close()
        await service.builds.close()
        await service.database.close()


def _nowhere(storage: StorageSettings) -> StorageSettings:
    """A store in memory: what is only tried leaves no trace."""
    return storage.model_copy(update={"url": "sqlite://"})


async def _enter(service: Service, repo: str, number: int, name: str, author: str, clock: Clock) -> str:
    stamp = int(time.time() * 1000)
    made = Order(name=name, author=author, order_id=-stamp)
    row = InboxRow(
        repo=repo,
        number=number,
        kind="order",
        event=made.model_dump_json(),
        received_at=clock.now().timestamp(),
        effect_key=f"order:{repo}#{number}:{name}:{stamp}",
    )
    await service.database.run(lambda c: inbox.put_now(c, row))
    return row.effect_key


async def _run_here(service: Service, repo: str, number: int, watch: bool, tell: Tell) -> None:
    service.login = await service.forge.login()
    outside = service.outside()
    while True:
        stored = await service.database.run(lambda c: cases.ensure(c, repo, number, outside.stamp()))
        word = await wake_up(repo, number, stored.generation, outside, plain_steps)
        stored = await service.database.run(lambda c: cases.ensure(c, repo, number, outside.stamp()))
        tell(word, stored)
        if word == "trouble" and not watch:
            raise RetryLater(stored.last_error)
        if not watch or stored.case.phase is Phase.ENDED or stored.wake_at is None:
            return
        await service.clock.sleep(max(0.0, stored.wake_at - outside.stamp()))


async def _wait_for_service(
    service: Service, repo: str, number: int, row_key: str, patience: float, watch: bool, tell: Tell
) -> None:
    until = time.monotonic() + patience
    seen = -1
    while True:
        handled, stored = await service.database.run(
            lambda c: (_is_handled(c, row_key), cases.load(c, f"{repo}#{number}"))
        )
        if stored is not None and stored.generation != seen:
            seen = stored.generation
            tell("rested", stored)
        if handled and stored is not None and (not watch or stored.case.phase is Phase.ENDED):
            return
        if not handled and time.monotonic() > until:
            raise RetryLater("The running service has not taken the order up; it is kept and will be carried out.")
        await asyncio.sleep(_LOOK_EVERY)


def _is_handled(connection: sa.Connection, row_key: str) -> bool:
    return (
        connection.execute(sa.select(inbox_table.c.handled_at).where(inbox_table.c.effect_key == row_key)).scalar()
        is not None
    )


def _outcome(
    connection: sa.Connection, repo: str, number: int, since: float
) -> tuple[cases.StoredCase, list[dict[str, object]]]:
    stored = cases.ensure(connection, repo, number, since)
    rows = ledger.of_case(connection, stored.case.key)
    return stored, [row for row in rows if float(str(row["started_at"])) >= since - 1.0]
