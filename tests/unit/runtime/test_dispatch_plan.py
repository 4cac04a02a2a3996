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
"""Which cases wake up when: timers, settled events, and cases that back off from trouble."""

from __future__ import annotations

import sqlalchemy as sa

from bot.runtime import cases, inbox
from bot.runtime.database import Database
from bot.runtime.dispatcher import Plan, plan_wakeups
from bot.runtime.inbox import InboxRow
from bot.runtime.memory import Memory

REPO = "mindspore/hyper-parallel"
SETTLE = 2.0


def event(database: Database, number: int, at: float) -> None:
    row = InboxRow(repo=REPO, number=number, kind="nudge", event="{}", received_at=at)
    assert database.run_now(lambda c: inbox.put_now(c, row))


def rest(database: Database, number: int, *, wake_at: float | None, failures: int = 0, now: float = 0.0) -> None:
    def write(connection: sa.Connection) -> None:
        stored = cases.ensure(connection, REPO, number, now)
        assert cases.rest(
            connection, stored.case, Memory(), generation=stored.generation, wake_at=wake_at, failures=failures,
            last_error="", now=now,
        )  # fmt: skip

    database.run_now(write)


def plan(database: Database, now: float) -> Plan:
    return database.run_now(lambda c: plan_wakeups(c, now, SETTLE))


def due(database: Database, now: float) -> dict[int, int]:
    return {number: generation for _, number, generation in plan(database, now).due.values()}


async def test_nothing_to_do_and_nothing_to_wait_for(database: Database) -> None:
    assert due(database, 100.0) == {}
    assert plan(database, 100.0).next_at is None


async def test_a_timer_wakes_its_case_at_its_time_and_generation(database: Database) -> None:
    rest(database, 1, wake_at=50.0)
    rest(database, 2, wake_at=None)
    assert due(database, 49.9) == {}
    assert plan(database, 49.9).next_at == 50.0
    assert due(database, 50.0) == {1: 1}


async def test_an_event_waits_until_it_is_quiet_but_not_for_ever(database: Database) -> None:
    event(database, 1, 10.0)
    assert due(database, 11.9) == {}
    assert plan(database, 11.9).next_at == 12.0
    assert due(database, 12.0) == {1: 0}
    for second in range(11, 21):  # a steady rain
        event(database, 1, float(second))
    assert due(database, 19.9) == {}
    assert due(database, 20.0) == {1: 0}  # five times the quiet time after the first drop


async def test_an_event_wakes_a_case_before_its_timer(database: Database) -> None:
    rest(database, 1, wake_at=500.0)
    event(database, 1, 10.0)
    assert due(database, 12.0) == {1: 1}
    assert plan(database, 12.0).next_at == 500.0


async def test_a_case_in_trouble_backs_off_until_its_time_or_a_new_event(database: Database) -> None:
    event(database, 1, 10.0)
    rest(database, 1, wake_at=100.0, failures=2, now=20.0)
    assert due(database, 50.0) == {}
    assert plan(database, 50.0).next_at == 100.0
    assert due(database, 100.0) == {1: 1}
    event(database, 1, 60.0)
    assert due(database, 62.0) == {1: 1}


async def test_handled_events_wake_nobody(database: Database) -> None:
    event(database, 1, 10.0)
    database.run_now(lambda c: inbox.mark_handled(c, [row.row_id for row in inbox.waiting_rows(c, f"{REPO}#1")], 11.0))
    assert due(database, 50.0) == {}


async def test_thousands_of_cases_with_events_fit_into_statements(database: Database) -> None:
    def fill(connection: sa.Connection) -> None:
        for number in range(1, 2501):
            inbox.put_now(connection, InboxRow(repo=REPO, number=number, kind="nudge", event="{}", received_at=1.0))

    database.run_now(fill)
    assert len(due(database, 10.0)) == 2500
