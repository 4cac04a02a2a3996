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
"""Whether the store takes what a web hook brings: found out by writing, for a full disk still answers questions."""

from __future__ import annotations

import asyncio
import secrets
import time

import sqlalchemy as sa

from bot.errors import RetryLater
from bot.runtime.database import Database, insert_new
from bot.runtime.tables import probe

_GOOD_FOR_SECONDS = 2.0  # whoever asks more often gets the last answer: questions must not keep the disk from the hooks
_PATIENCE_SECONDS = 5.0
_CHARACTERS = 65_536  # more than most events hold
_ROW = "readyz"


class StoreProbe:
    """Writes one row over and over, at most every two seconds however often it is asked.

    Args:
        database: The store.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = asyncio.Lock()
        self._asked_at = float("-inf")
        self._trouble = ""

    async def trouble(self) -> str:
        """Why events could not be kept just now; empty when they can."""
        async with self._lock:
            if time.monotonic() - self._asked_at >= _GOOD_FOR_SECONDS:
                self._trouble = await self._ask()
                self._asked_at = time.monotonic()
            return self._trouble

    async def _ask(self) -> str:
        try:
            await asyncio.wait_for(self._database.run(_write), _PATIENCE_SECONDS)
        except (RetryLater, TimeoutError) as error:
            return f"store: {str(error) or f'no answer within {_PATIENCE_SECONDS:.0f} s'}"
        return ""


def _write(connection: sa.Connection) -> None:
    # Random, because SQLite leaves alone the pages that an update would not change, and PostgreSQL packs what repeats.
    values = {"written_at": time.time(), "filling": secrets.token_hex(_CHARACTERS // 2)}
    if not insert_new(probe, connection, {"name": _ROW, **values}):
        connection.execute(sa.update(probe).where(probe.c.name == _ROW).values(**values))
