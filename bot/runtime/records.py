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
"""Two append-only records: who asked for what (audit), and which test did what in which build (flake history)."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from bot.build_server import TestCase
from bot.runtime.database import insert_new
from bot.runtime.tables import audit, tests


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who asked, what was done, with which result."""

    at: float
    case_key: str
    who: str
    what: str
    result: str
    detail: str = ""


def note(connection: sa.Connection, entry: AuditEntry) -> None:
    """Append to the audit trail."""
    connection.execute(
        sa.insert(audit).values(
            at=entry.at,
            case_key=entry.case_key,
            who=entry.who,
            what=entry.what,
            result=entry.result,
            detail=entry.detail[:4000],
        )
    )


def trail(connection: sa.Connection, case_key: str, *, limit: int = 200) -> list[AuditEntry]:
    """The newest audit entries of a case, newest first."""
    found = connection.execute(
        sa.select(audit).where(audit.c.case_key == case_key).order_by(audit.c.id.desc()).limit(limit)
    ).mappings()
    return [
        AuditEntry(row["at"], row["case_key"], row["who"], row["what"], row["result"], row["detail"]) for row in found
    ]


def keep_tests(
    connection: sa.Connection,
    job: str,
    build: int,
    cases: list[TestCase],
    *,
    repo: str,
    number: int,
    head_sha: str,
    now: float,
) -> None:
    """Remember every test of a finished build; a build that is known already changes nothing."""
    for case in cases:
        insert_new(
            tests,
            connection,
            {
                "job": job,
                "build": build,
                "test": f"{case.suite}::{case.name}"[:500],
                "status": case.status,
                "repo": repo,
                "number": number,
                "head_sha": head_sha,
                "age": case.age,
                "at": now,
            },
        )


@dataclass(frozen=True, slots=True)
class TestRecord:
    """How a test fared in one build."""

    __test__ = False

    build: int
    status: str
    number: int
    head_sha: str
    at: float


def history(connection: sa.Connection, job: str, test: str, *, limit: int = 50) -> list[TestRecord]:
    """The newest results of one test, newest build first; ``test`` may be any suffix of its id at a ``::`` border."""
    found = connection.execute(
        sa.select(tests)
        .where(tests.c.job == job, sa.or_(tests.c.test == test, tests.c.test.like(f"%::{_escape(test)}", escape="\\")))
        .order_by(tests.c.build.desc())
        .limit(limit)
    ).mappings()
    return [TestRecord(row["build"], row["status"], row["number"], row["head_sha"], row["at"]) for row in found]


def flaky(connection: sa.Connection, job: str, *, limit: int = 20) -> list[tuple[str, int, int]]:
    """Tests that both passed and failed: (test, failures, runs), the most often failing first."""
    failed = sa.func.sum(sa.case((tests.c.status == "failed", 1), else_=0))
    passed = sa.func.sum(sa.case((tests.c.status == "passed", 1), else_=0))
    found = connection.execute(
        sa.select(tests.c.test, failed, sa.func.count())
        .where(tests.c.job == job)
        .group_by(tests.c.test)
        .having(failed > 0, passed > 0)
        .order_by(failed.desc(), tests.c.test)
        .limit(limit)
    )
    return [(test, int(failures), runs) for test, failures, runs in found]


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
