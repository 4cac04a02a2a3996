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
"""The flake history: which test did what in which build of a job, from test reports. Append-only."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from bot.build_server import TestCase
from bot.runtime.database import insert_new
from bot.runtime.tables import tests


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
    age: int = 0


def history(connection: sa.Connection, job: str, test: str, *, limit: int = 50) -> list[TestRecord]:
    """The newest results of one test, newest build first.

    Args:
        connection: The store.
        job: The gate job.
        test: The id as pytest prints it (``tests/test_a.py::TestB::test_c``), as a report has it
            (``tests.test_a.TestB::test_c``), or any suffix of that at a ``::`` border.
        limit: Most results.
    """
    names = dict.fromkeys((test, report_id(test)))
    wanted = [tests.c.test == name for name in names]
    wanted += [tests.c.test.like(f"%::{_escape(name)}", escape="\\") for name in names]
    found = connection.execute(
        sa.select(tests).where(tests.c.job == job, sa.or_(*wanted)).order_by(tests.c.build.desc()).limit(limit)
    ).mappings()
    return [
        TestRecord(row["build"], row["status"], row["number"], row["head_sha"], row["at"], row["age"]) for row in found
    ]


def known_builds(connection: sa.Connection, job: str, builds: list[int]) -> set[int]:
    """Those of the builds whose report was kept already."""
    rows = connection.execute(sa.select(tests.c.build).where(tests.c.job == job, tests.c.build.in_(builds)).distinct())
    return {build for (build,) in rows}


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


def report_id(test: str) -> str:
    """The id that a JUnit report gives to a pytest id: the file as a dotted module, then its classes, then the name."""
    plain, bracket, parameters = test.partition("[")
    file, *inner = plain.split("::")
    if not file.endswith(".py") or not inner:
        return test
    suite = ".".join([file.removesuffix(".py").replace("/", "."), *inner[:-1]])
    return f"{suite}::{inner[-1]}{bracket}{parameters}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
