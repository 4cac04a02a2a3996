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
"""The audit trail: who asked for what, and what became of it. Append-only."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from bot.runtime.tables import audit


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
