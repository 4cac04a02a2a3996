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
"""Finds pull requests whose web hook never came, and looks again at those whose news we may have missed."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

import sqlalchemy as sa

from bot.forge import Priority, PullRequest
from bot.runtime import cases
from bot.runtime.inbox import InboxRow, put_now
from bot.runtime.outside import Outside
from bot.runtime.tables import effects, inbox

log = logging.getLogger(__name__)

_HOOK_SECONDS = 30.0  # a hook that was sent has come by then
OVERLAP = timedelta(minutes=10)  # forge and service need not agree on the time


async def sweep(repo: str, since: datetime, outside: Outside) -> int:
    """Nudge the case of every open pull request that changed without our noticing.

    Args:
        repo: ``owner/name``.
        since: Only pull requests updated after this moment (less an overlap) are looked at, so that a first start does
            not adopt, and comment on, everything that lies open.
        outside: The world.

    Returns:
        How many cases were nudged.

    Raises:
        RetryLater: The forge or the store does not answer.
    """
    pulls = await outside.forge.open_pull_requests(repo, updated_after=since - OVERLAP, priority=Priority.SYNC)
    recent = [pull for pull in pulls if pull.updated_at is None or pull.updated_at >= since - OVERLAP]
    if not recent:
        return 0
    return await outside.database.run(lambda c: _nudge(c, recent, outside.stamp()))


def _nudge(connection: sa.Connection, pulls: list[PullRequest], now: float) -> int:
    nudged = 0
    for pull in pulls:
        stored = cases.load(connection, f"{pull.repo}#{pull.number}")
        if stored is not None and not _news(stored, pull) and not _unheard(connection, stored, pull):
            continue
        row = InboxRow(
            repo=pull.repo,
            number=pull.number,
            kind="nudge",
            event="{}",
            received_at=now,
            # The same state of a pull request is nudged once, however many replicas sweep.
            effect_key=f"sweep:{pull.repo}#{pull.number}:{pull.head_sha}:{pull.updated_at}",
        )
        nudged += put_now(connection, row)
    return nudged


def _news(stored: cases.StoredCase, pull: PullRequest) -> bool:
    """Whether the list shows something that the case does not know."""
    known = stored.memory.pr
    if known is None or known.head_sha != pull.head_sha or known.state != pull.state:
        return True
    return known.labels != pull.labels or known.title != pull.title or known.body != pull.body


def _unheard(connection: sa.Connection, stored: cases.StoredCase, pull: PullRequest) -> bool:
    """Whether the pull request changed well after the last thing we heard of it or wrote to it: a lost comment."""
    key = stored.case.key
    heard = connection.execute(sa.select(sa.func.max(inbox.c.received_at)).where(inbox.c.case_key == key)).scalar()
    wrote = connection.execute(sa.select(sa.func.max(effects.c.done_at)).where(effects.c.case_key == key)).scalar()
    read_at = stored.memory.comments_read_at
    latest = max(heard or 0.0, wrote or 0.0, read_at.timestamp() if read_at else 0.0)
    return pull.updated_at is not None and pull.updated_at.timestamp() > latest + _HOOK_SECONDS
