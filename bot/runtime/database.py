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
"""One database handle for the tables of ``bot.runtime.tables``: SQLite by default, PostgreSQL by another URL.

All statements run outside the event loop. On SQLite a single thread writes, because the file has one writer anyway:
queueing in our own process is cheaper than fighting for its lock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from bot.errors import RetryLater, TellOperator
from bot.runtime import tables

T = TypeVar("T")

_POSTGRES_THREADS = 8


class Database:
    """Runs functions of a connection, each in one transaction of its own.

    Args:
        url: ``sqlite:///path``, ``sqlite://`` (memory, for dry runs) or ``postgresql://…``.

    Raises:
        TellOperator: The URL cannot be understood or its driver is missing.
    """

    def __init__(self, url: str) -> None:
        self.url = normal_url(url)
        self.is_sqlite = self.url.startswith("sqlite")
        try:
            self._engine = _open(self.url, is_sqlite=self.is_sqlite)
        except (SQLAlchemyError, ImportError, OSError) as error:
            raise TellOperator(f"storage.url cannot be opened: {error}", hint="cli.hint.storage") from error
        threads = 1 if self.is_sqlite else _POSTGRES_THREADS
        self._threads = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="gatebot-store")

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        """Run ``work`` in one transaction; it is committed (and on disk) when this returns.

        Raises:
            RetryLater: The database is away or locked; nothing of ``work`` was kept.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.run_now, work)

    def run_now(self, work: Callable[[sa.Connection], T]) -> T:
        """:meth:`run` for callers that are in a thread already."""
        try:
            with self._engine.begin() as connection:
                return work(connection)
        except sa.exc.IntegrityError:
            raise
        except DBAPIError as error:
            raise RetryLater(f"The store did not answer: {error.orig}") from error

    def create(self) -> None:
        """Create missing tables and check that an older release left a schema this one can read.

        Raises:
            TellOperator: The tables are of a newer release than this program.
        """
        self.run_now(_create)

    async def close(self) -> None:
        """Finish what is queued and let the file go."""
        await asyncio.to_thread(self._threads.shutdown, True)
        self._engine.dispose()


def insert_new(table: sa.Table, connection: sa.Connection, values: dict[str, Any]) -> bool:
    """Insert a row unless any of its unique columns is taken; true when it was inserted.

    The row is asked back (RETURNING), because what a driver counts for an insert that did nothing differs.
    """
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as pg_insert

        statement: sa.Executable = (
            pg_insert(table).values(**values).on_conflict_do_nothing().returning(*table.primary_key)
        )
    else:
        from sqlalchemy.dialects.sqlite import insert as sqlite_insert

        statement = sqlite_insert(table).values(**values).on_conflict_do_nothing().returning(*table.primary_key)
    return connection.execute(statement).first() is not None


def normal_url(url: str) -> str:
    """``postgres://`` and ``postgresql://`` mean the installed driver, psycopg 3; other URLs stay as they are."""
    for prefix in ("postgres://", "postgresql://"):
        if url.startswith(prefix):
            return "postgresql+psycopg://" + url.removeprefix(prefix)
    return url


def engine_url(url: str) -> str:
    """The URL of the workflow engine's own tables: the same PostgreSQL, or a second file beside the SQLite one.

    SQLite locks whole files, and the engine's polling must never delay the reply to a web hook.
    """
    if not url.startswith("sqlite:///"):
        return url
    path = Path(url.removeprefix("sqlite:///"))
    return f"sqlite:///{path.with_name(path.stem + '-workflows' + path.suffix)}"


def _open(url: str, *, is_sqlite: bool) -> sa.Engine:
    if not is_sqlite:
        return sa.create_engine(url, pool_size=_POSTGRES_THREADS, pool_pre_ping=True)
    path = sa.make_url(url).database
    if path and path != ":memory:":
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        engine = sa.create_engine(url)
    else:
        engine = sa.create_engine(url, poolclass=sa.pool.StaticPool, connect_args={"check_same_thread": False})
    sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")  # a reply to a web hook promises that its row survives a power cut
    connection.execute("PRAGMA busy_timeout=10000")


def _create(connection: sa.Connection) -> None:
    tables.metadata.create_all(connection)
    version = connection.execute(sa.select(tables.schema_info.c.version)).scalar()
    if version is None:
        insert_new(tables.schema_info, connection, {"version": tables.SCHEMA_VERSION})
    elif version > tables.SCHEMA_VERSION:
        raise TellOperator(
            f"storage.url holds tables of schema {version}, but this release knows only {tables.SCHEMA_VERSION}: "
            "start the newer release, or restore the backup made before it.",
            hint="cli.hint.newer_release",
        )
