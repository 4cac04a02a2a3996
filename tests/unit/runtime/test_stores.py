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
"""Inbox, cases, ledger and records on a real SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.build_server import TestCase
from bot.errors import RetryLater, TellOperator
from bot.gate.case import Outcome, Phase
from bot.runtime import cases, flakes, inbox, ledger, tables
from bot.runtime.database import Database, engine_url, normal_url
from bot.runtime.inbox import InboxRow, InboxWriter
from bot.runtime.memory import Memory
from bot.runtime.retention import forget_before

REPO, KEY = "mindspore/hyper-parallel", "mindspore/hyper-parallel#647"


def row(**names: str) -> InboxRow:
    return InboxRow(repo=REPO, number=647, kind="nudge", event="{}", received_at=10.0, **names)


async def test_an_event_is_known_by_each_of_its_three_names(database: Database) -> None:
    writer = InboxWriter(database, lambda _keys: None)
    assert await writer.put(row(delivery_id="d1", body_uuid="u1", effect_key="e1"))
    assert not await writer.put(row(delivery_id="d1", body_uuid="u2", effect_key="e2"))
    assert not await writer.put(row(delivery_id="d2", body_uuid="u1", effect_key="e2"))
    assert not await writer.put(row(delivery_id="d2", body_uuid="u2", effect_key="e1"))
    assert await writer.put(row(delivery_id="d2", body_uuid="u2", effect_key="e2"))
    assert await writer.put(row(effect_key="e3"))
    assert await writer.put(row(effect_key="e4"))  # absent names are not equal names
    assert len(await database.run(lambda c: inbox.waiting_rows(c, KEY))) == 4


async def test_a_burst_is_stored_whole_and_its_duplicates_once(database: Database) -> None:
    news: list[set[str]] = []
    writer = InboxWriter(database, news.append)
    answers = await asyncio.gather(*(writer.put(row(effect_key=f"e{n % 50}")) for n in range(200)))
    assert sum(answers) == 50
    assert news
    assert all(keys == {KEY} for keys in news)
    assert len(await database.run(lambda c: inbox.waiting_rows(c, KEY))) == 50


async def test_an_answered_event_is_on_the_disk(database: Database, tmp_path: Path) -> None:
    await InboxWriter(database, lambda _keys: None).put(row(effect_key="e1"))
    with sqlite3.connect(tmp_path / "gatebot.sqlite") as other:
        assert other.execute("SELECT effect_key FROM gatebot_inbox").fetchall() == [("e1",)]
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other.close()
    assert await database.run(lambda c: c.execute(sa.text("PRAGMA synchronous")).scalar()) == 2


async def test_an_inbox_too_far_behind_refuses_instead_of_forgetting(database: Database) -> None:
    writer = InboxWriter(database, lambda _keys: None, limit=1)
    first = asyncio.create_task(writer.put(row(effect_key="e1")))
    await asyncio.sleep(0)
    with pytest.raises(RetryLater):
        await writer.put(row(effect_key="e2"))
    assert await first


async def test_a_store_that_is_away_is_told_to_every_sender(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path}/gatebot.sqlite")  # its tables were never made
    writer = InboxWriter(database, lambda _keys: None)
    answers = await asyncio.gather(*(writer.put(row(effect_key=f"e{n}")) for n in range(3)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [RetryLater] * 3
    database.create()
    assert await writer.put(row(effect_key="e0"))
    await database.close()


async def test_a_case_rests_only_from_the_generation_it_started_at(database: Database) -> None:
    stored = await database.run(lambda c: cases.ensure(c, REPO, 647, 5.0))
    moved = stored.case.model_copy(update={"phase": Phase.CHECKING, "head_sha": "abc"})

    def rest(connection: sa.Connection) -> bool:
        return cases.rest(connection, moved, Memory(), generation=0, wake_at=70.0, failures=0, last_error="", now=10.0)

    assert await database.run(rest)
    assert not await database.run(rest)
    again = await database.run(lambda c: cases.ensure(c, REPO, 647, 99.0))
    assert (again.case, again.generation, again.wake_at) == (moved, 1, 70.0)
    assert await database.run(lambda c: cases.next_wake(c, after=10.0)) == 70.0
    assert await database.run(lambda c: cases.next_wake(c, after=70.0)) is None
    assert list(await database.run(lambda c: cases.timetable(c, [], 69.0))) == []
    assert list(await database.run(lambda c: cases.timetable(c, [], 70.0))) == [KEY]


async def test_a_case_of_a_newer_release_is_not_guessed_at(database: Database) -> None:
    await database.run(lambda c: cases.ensure(c, REPO, 647, 5.0))
    newer = '{"version": 99, "repo": "mindspore/hyper-parallel", "number": 647}'
    await database.run(lambda c: c.execute(sa.update(tables.cases).values(state=newer)))
    with pytest.raises(TellOperator, match="newer release"):
        await database.run(lambda c: cases.load(c, KEY))


async def test_tables_of_a_newer_schema_are_left_alone(database: Database) -> None:
    await database.run(lambda c: c.execute(sa.update(tables.schema_info).values(version=99)))
    with pytest.raises(TellOperator, match="schema 99"):
        database.create()


async def test_an_effect_begins_once_and_stays_final(database: Database) -> None:
    first = await database.run(lambda c: ledger.begin(c, "k", KEY, "reply", 1.0))
    second = await database.run(lambda c: ledger.begin(c, "k", KEY, "reply", 2.0))
    assert (first.state, first.attempts, second.state, second.attempts) == ("started", 1, "started", 2)
    await database.run(lambda c: ledger.finish(c, "k", "done", 3.0, data={"note_id": "7"}))
    third = await database.run(lambda c: ledger.begin(c, "k", KEY, "reply", 4.0))
    assert third.final
    assert third.data == {"note_id": "7"}
    await database.run(lambda c: ledger.withdraw(c, "k"))  # what is final cannot be withdrawn
    assert (await database.run(lambda c: ledger.find(c, "k"))) == third


async def test_a_withdrawn_effect_was_never_begun(database: Database) -> None:
    await database.run(lambda c: ledger.begin(c, "k", KEY, "reply", 1.0))
    await database.run(lambda c: ledger.withdraw(c, "k"))
    assert await database.run(lambda c: ledger.find(c, "k")) is None
    assert (await database.run(lambda c: ledger.begin(c, "k", KEY, "reply", 2.0))).attempts == 1


async def test_a_flaky_test_is_one_that_did_both(database: Database) -> None:
    def build(number: int, *statuses: str) -> None:
        found = [TestCase(suite="st.test_a", name=f"test_{n}", status=status) for n, status in enumerate(statuses)]
        database.run_now(
            lambda c: flakes.keep_tests(
                c, "gate", number, found, repo=REPO, number=number, head_sha="abc", now=float(number)
            )
        )

    build(1, "passed", "failed", "failed")
    build(2, "failed", "failed", "passed")
    build(2, "passed", "passed", "passed")  # the same build told again changes nothing
    build(3, "passed", "failed", "failed")
    assert await database.run(lambda c: flakes.flaky(c, "gate")) == [
        ("st.test_a::test_2", 2, 3),
        ("st.test_a::test_0", 1, 3),
    ]
    found = await database.run(lambda c: flakes.history(c, "gate", "test_0"))
    assert [(record.build, record.status) for record in found] == [(3, "passed"), (2, "failed"), (1, "passed")]
    assert await database.run(lambda c: flakes.history(c, "gate", "est_0")) == []
    assert await database.run(lambda c: flakes.history(c, "gate", "test%0")) == []


async def test_retention_deletes_ended_cases_and_leaves_open_ones(database: Database) -> None:
    for number, outcome, at in ((1, None, 10.0), (2, Outcome.PASSED, 10.0), (3, Outcome.PASSED, 90.0)):
        stored = await database.run(lambda c, n=number: cases.ensure(c, REPO, n, 1.0))  # type: ignore[misc]
        ended = stored.case.model_copy(update={"outcome": outcome})
        await database.run(
            lambda c, e=ended, t=at: cases.rest(  # type: ignore[misc]
                c, e, Memory(), generation=0, wake_at=None, failures=0, last_error="", now=t
            )
        )
        await database.run(lambda c, e=ended: ledger.begin(c, f"{e.key}:x", e.key, "reply", 1.0))  # type: ignore[misc]
    assert await database.run(lambda c: forget_before(c, 50.0)) == 2
    left = await database.run(lambda c: {stored.case.number for stored in cases.listing(c)})
    assert left == {1, 3}
    assert await database.run(lambda c: ledger.find(c, f"{REPO}#2:x")) is None


def test_urls_of_postgresql_name_the_driver_and_sqlite_gets_a_second_file() -> None:
    assert normal_url("postgres://u:p@h/d") == "postgresql+psycopg://u:p@h/d"
    assert engine_url("sqlite:////var/lib/gatebot.sqlite") == "sqlite:////var/lib/gatebot-workflows.sqlite"
    assert engine_url("postgresql+psycopg://h/d") == "postgresql+psycopg://h/d"


def test_a_url_that_means_nothing_is_the_operators_business() -> None:
    with pytest.raises(TellOperator, match=r"storage\.url"):
        Database("nonsense")


def test_a_directory_that_cannot_be_made_is_the_operators_business(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(TellOperator, match=r"storage\.url cannot be opened: .*file"):
        Database(f"sqlite:///{tmp_path}/file/deeper/gatebot.sqlite")


@pytest.mark.parametrize(
    ("printed", "reported"),
    [
        ("tests/st/test_a.py::test_b", "tests.st.test_a::test_b"),
        ("tests/test_a.py::TestB::test_c[x/y::z-1]", "tests.test_a.TestB::test_c[x/y::z-1]"),
        ("suite::case", "suite::case"),
        ("tests/test_a.py", "tests/test_a.py"),
    ],
)
def test_the_id_that_pytest_prints_is_found_under_the_reports_name(printed: str, reported: str) -> None:
    assert flakes.report_id(printed) == reported
