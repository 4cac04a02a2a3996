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
"""Rows of cases: loading, resting (compare-and-set on the generation) and finding those that are due."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from bot.errors import TellOperator
from bot.gate.case import Case
from bot.runtime.database import insert_new
from bot.runtime.memory import Memory
from bot.runtime.tables import cases

CASE_VERSION = Case.model_fields["version"].default


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A case with what the runtime knows about it."""

    case: Case
    memory: Memory
    generation: int
    wake_at: float | None
    failures: int
    last_error: str
    updated_at: float


def ensure(connection: sa.Connection, repo: str, number: int, now: float) -> StoredCase:
    """The stored case, created in its first phase when it is new."""
    fresh = Case(repo=repo, number=number)
    insert_new(
        cases,
        connection,
        {
            "key": fresh.key,
            "repo": repo,
            "number": number,
            "phase": fresh.phase.value,
            "state": fresh.model_dump_json(),
            "memory": Memory().model_dump_json(),
            "generation": 0,
            "failures": 0,
            "last_error": "",
            "opened_at": now,
            "updated_at": now,
        },
    )
    found = load(connection, fresh.key)
    assert found is not None, "the row was just made sure of"
    return found


def load(connection: sa.Connection, key: str) -> StoredCase | None:
    """The stored case.

    Raises:
        TellOperator: It was written by a newer release.
    """
    row = connection.execute(sa.select(cases).where(cases.c.key == key)).mappings().first()
    return None if row is None else _stored(row)


def rest(
    connection: sa.Connection,
    case: Case,
    memory: Memory,
    *,
    generation: int,
    wake_at: float | None,
    failures: int,
    last_error: str,
    now: float,
) -> bool:
    """Store the result of the wake-up that started at ``generation``; false when another one got there first."""
    return (
        connection.execute(
            sa.update(cases)
            .where(cases.c.key == case.key, cases.c.generation == generation)
            .values(
                phase=case.phase.value,
                outcome=case.outcome.value if case.outcome else None,
                state=case.model_dump_json(),
                memory=memory.model_dump_json(),
                generation=generation + 1,
                wake_at=wake_at,
                failures=failures,
                last_error=last_error[:2000],
                updated_at=now,
            )
        ).rowcount
        == 1
    )


def postpone(connection: sa.Connection, key: str, *, wake_at: float, message: str, now: float) -> None:
    """End a wake-up that could neither load nor rest: nothing of the case changes but when it is looked at again."""
    connection.execute(
        sa.update(cases)
        .where(cases.c.key == key)
        .values(
            generation=cases.c.generation + 1,
            failures=cases.c.failures + 1,
            wake_at=wake_at,
            last_error=message[:2000],
            updated_at=now,
        )
    )


@dataclass(frozen=True, slots=True)
class Slot:
    """What the dispatcher needs to know of a case."""

    repo: str
    number: int
    generation: int
    wake_at: float | None
    failures: int
    updated_at: float


def timetable(connection: sa.Connection, keys: list[str], now: float) -> dict[str, Slot]:
    """The cases of ``keys`` and those whose time has come, the longest waiting first."""
    found: dict[str, Slot] = {}
    columns = (
        cases.c.key,
        cases.c.repo,
        cases.c.number,
        cases.c.generation,
        cases.c.wake_at,
        cases.c.failures,
        cases.c.updated_at,
    )
    conditions = [cases.c.wake_at <= now]
    # A statement takes a limited number of parameters.
    conditions += [cases.c.key.in_(keys[start : start + 500]) for start in range(0, len(keys), 500)]
    for condition in conditions:
        for key, *values in connection.execute(sa.select(*columns).where(condition).order_by(cases.c.wake_at)):
            found.setdefault(key, Slot(*values))
    return found


def next_wake(connection: sa.Connection, *, after: float) -> float | None:
    """The earliest stored wake-up later than ``after``."""
    return connection.execute(sa.select(sa.func.min(cases.c.wake_at)).where(cases.c.wake_at > after)).scalar()


def listing(connection: sa.Connection, *, limit: int = 200, open_only: bool = False) -> list[StoredCase]:
    """Cases for the dashboard, the most recently changed first."""
    query = sa.select(cases).order_by(cases.c.updated_at.desc()).limit(limit)
    if open_only:
        query = query.where(cases.c.outcome.is_(None))
    return [_stored(row) for row in connection.execute(query).mappings()]


def count_by_phase(connection: sa.Connection) -> dict[str, int]:
    """How many cases rest in each phase."""
    found = connection.execute(sa.select(cases.c.phase, sa.func.count()).group_by(cases.c.phase))
    return {row[0]: row[1] for row in found}


def forget_ended_before(connection: sa.Connection, moment: float) -> list[str]:
    """Delete cases that ended and were not touched since ``moment``; their keys."""
    keys = [
        key
        for (key,) in connection.execute(
            sa.select(cases.c.key).where(cases.c.outcome.is_not(None), cases.c.updated_at < moment)
        )
    ]
    if keys:
        connection.execute(sa.delete(cases).where(cases.c.key.in_(keys)))
    return keys


def _stored(row: sa.RowMapping) -> StoredCase:
    case = Case.model_validate_json(row["state"])
    if case.version > CASE_VERSION:
        raise TellOperator(
            f"{row['key']} was stored by a newer release (case version {case.version}).", hint="cli.hint.newer_release"
        )
    return StoredCase(
        case=case,
        memory=Memory.model_validate_json(row["memory"]),
        generation=row["generation"],
        wake_at=row["wake_at"],
        failures=row["failures"],
        last_error=row["last_error"],
        updated_at=row["updated_at"],
    )
