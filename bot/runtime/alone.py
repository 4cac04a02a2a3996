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
"""One service for one SQLite store: a second one would take the first one's running wake-ups for left-over ones."""

from __future__ import annotations

import fcntl
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from bot.errors import TellOperator

log = logging.getLogger(__name__)


@contextmanager
def alone_on(url: str) -> Iterator[None]:
    """Hold the store for this process; the system lets go when the process ends, however it ends.

    Args:
        url: ``storage.url``. Only SQLite files are held: PostgreSQL is made for several replicas.

    Raises:
        TellOperator: Another service works on the same file, or the lock file cannot be made.
    """
    path = sa.make_url(url).database if url.startswith("sqlite") else None
    if not path or path == ":memory:":
        yield
        return
    lock = Path(f"{path}.lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        file = lock.open("a")
    except OSError as error:
        raise TellOperator(f"storage.url cannot be opened: {error}", hint="cli.hint.storage") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TellOperator(
                f"storage.url: another gatebot serve works on {path}; stop it first. Several replicas need PostgreSQL.",
                hint="cli.hint.one_service",
            ) from None
        except OSError as error:  # some network file systems have no locks
            log.warning("storage.url: %s cannot be locked (%s); see to it that only one service uses it", path, error)
        yield
