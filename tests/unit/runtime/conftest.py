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
"""A store of its own for every test of the runtime, and an ordinary pull request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.forge import PullRequest
from bot.runtime.database import Database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """An empty SQLite store."""
    opened = Database(f"sqlite:///{tmp_path}/gatebot.sqlite")
    opened.create()
    yield opened
    await opened.close()


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 6, 12, tzinfo=UTC)


@pytest.fixture
def pull(now: datetime) -> PullRequest:
    """Open, checked, from a fork."""
    return PullRequest(
        repo="a/b",
        number=647,
        state="open",
        title="t",
        body="b",
        author="dev-a",
        head_sha="1" * 40,
        head_ref="topic",
        head_repo="dev-a/b",
        head_url="https://forge.example/dev-a/b.git",
        base_ref="master",
        base_sha="2" * 40,
        base_url="https://forge.example/a/b.git",
        labels=frozenset({"pr-check-pass"}),
        draft=False,
        html_url="",
        created_at=now,
        updated_at=now,
    )
