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
"""The durable inbox: an event is a row before its sender is answered, and it stays until a wake-up has handled it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from bot.errors import RetryLater
from bot.runtime.database import Database, insert_new
from bot.runtime.tables import inbox


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxRow:
    """One event as stored. ``event`` is the JSON text of the intake's event model; empty names count as absent."""

    repo: str
    number: int
    kind: str
    event: str
    received_at: float
    delivery_id: str = ""
    body_uuid: str = ""
    effect_key: str = ""
    row_id: int = 0

    @property
    def case_key(self) -> str:
        """``owner/repo#number``."""
        return f"{self.repo}#{self.number}"


@dataclass(slots=True)
class _Waiting:
    row: InboxRow
    answer: asyncio.Future[bool]


class InboxWriter:
    """Writes rows in groups: whatever arrived while the disk was busy shares the next transaction.

    One flush to disk takes longer than a hundred inserts, so this is what keeps the replies to a burst of hooks quick
    without answering any of them before its row is safe.

    Args:
        database: Where the rows go.
        on_new: Called in the event loop with the case keys of every group that brought something new.
        limit: Events that may wait for the disk at once; more are refused, so that the sender comes again.
    """

    def __init__(self, database: Database, on_new: Callable[[set[str]], None], *, limit: int = 5000) -> None:
        self._database = database
        self._on_new = on_new
        self._limit = limit
        self._waiting: list[_Waiting] = []
        self._task: asyncio.Task[None] | None = None

    async def put(self, row: InboxRow) -> bool:
        """Store an event; false when its delivery id, body uuid or effect is known already.

        Raises:
            RetryLater: The store is away or too far behind; the event was not kept.
        """
        if len(self._waiting) >= self._limit:
            raise RetryLater(f"The inbox is {self._limit} events behind its disk.")
        waiting = _Waiting(row, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write(), name="inbox-writer")
        return await waiting.answer

    async def _write(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting, []
            try:
                new = await self._database.run(lambda connection, group=group: _insert(connection, group))  # type: ignore[misc]
            except Exception as error:  # whatever it was, every sender must hear of it
                for waiting in group:
                    if not waiting.answer.done():
                        waiting.answer.set_exception(error)
                continue
            for waiting, is_new in zip(group, new, strict=True):
                if not waiting.answer.done():
                    waiting.answer.set_result(is_new)
            fresh = {waiting.row.case_key for waiting, is_new in zip(group, new, strict=True) if is_new}
            if fresh:
                self._on_new(fresh)


def _insert(connection: sa.Connection, group: list[_Waiting]) -> list[bool]:
    return [insert_new(inbox, connection, _values(waiting.row)) for waiting in group]


def _values(row: InboxRow) -> dict[str, object]:
    return {
        "received_at": row.received_at,
        "delivery_id": row.delivery_id or None,
        "body_uuid": row.body_uuid or None,
        "effect_key": row.effect_key or None,
        "case_key": row.case_key,
        "repo": row.repo,
        "number": row.number,
        "kind": row.kind,
        "event": row.event,
    }


def put_now(connection: sa.Connection, row: InboxRow) -> bool:
    """Store one event inside the caller's transaction; false when it is known already."""
    return insert_new(inbox, connection, _values(row))


def waiting_rows(connection: sa.Connection, case_key: str) -> list[InboxRow]:
    """Events of a case that no wake-up has handled yet, oldest first."""
    found = connection.execute(
        sa.select(inbox)
        .where(inbox.c.case_key == case_key, inbox.c.handled_at.is_(None))
        .order_by(inbox.c.id)
        .limit(500)
    )
    return [_row(record) for record in found]


def waiting_keys(connection: sa.Connection) -> dict[str, tuple[str, int, float, float]]:
    """Cases with unhandled events: key to (repo, number, time of the oldest event, time of the newest)."""
    found = connection.execute(
        sa.select(
            inbox.c.case_key,
            inbox.c.repo,
            inbox.c.number,
            sa.func.min(inbox.c.received_at),
            sa.func.max(inbox.c.received_at),
        )
        .where(inbox.c.handled_at.is_(None))
        .group_by(inbox.c.case_key, inbox.c.repo, inbox.c.number)
    )
    return {key: (repo, number, oldest, newest) for key, repo, number, oldest, newest in found}


def mark_handled(connection: sa.Connection, row_ids: list[int], now: float) -> None:
    """The wake-up that is about to rest has seen these events."""
    if row_ids:
        connection.execute(sa.update(inbox).where(inbox.c.id.in_(row_ids)).values(handled_at=now))


def forget_before(connection: sa.Connection, moment: float) -> int:
    """Delete handled events older than ``moment``; the number of rows deleted."""
    return connection.execute(
        sa.delete(inbox).where(inbox.c.handled_at.is_not(None), inbox.c.received_at < moment)
    ).rowcount


def _row(record: sa.Row[tuple[object, ...]]) -> InboxRow:
    values = record._mapping
    return InboxRow(
        row_id=values["id"],
        repo=values["repo"],
        number=values["number"],
        kind=values["kind"],
        event=values["event"],
        received_at=values["received_at"],
        delivery_id=values["delivery_id"] or "",
        body_uuid=values["body_uuid"] or "",
        effect_key=values["effect_key"] or "",
    )
