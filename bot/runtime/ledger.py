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
"""The ledger of effects: what was promised to happen once, whether it was begun, and what became of it.

A row is written *before* the call leaves (``started``) and again after the answer (``done``). A row found at
``started`` means that a crash or a time-out fell between the two: the effect may exist, so its mark is looked for
before the call is repeated.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import sqlalchemy as sa

from bot.runtime.database import insert_new
from bot.runtime.tables import effects, stickies

FINAL = frozenset({"done", "refused", "failed"})


@dataclass(frozen=True, slots=True)
class Effect:
    """One row of the ledger."""

    key: str
    state: str
    attempts: int
    detail: str = ""
    data: dict[str, str] = field(default_factory=dict)

    @property
    def final(self) -> bool:
        """Whether nothing is left to do for it."""
        return self.state in FINAL


def begin(connection: sa.Connection, key: str, case_key: str, kind: str, now: float) -> Effect:
    """Enter an effect before it is carried out, or count another attempt; a final row is returned unchanged."""
    values = {"key": key, "case_key": case_key, "kind": kind, "state": "started", "attempts": 1, "started_at": now}
    if insert_new(effects, connection, {**values, "detail": "", "data": "{}"}):
        return Effect(key, "started", 1)
    found = find(connection, key)
    assert found is not None, "a row that was refused as a duplicate exists"
    if found.final:
        return found
    connection.execute(sa.update(effects).where(effects.c.key == key).values(attempts=effects.c.attempts + 1))
    return Effect(key, "started", found.attempts + 1, found.detail, found.data)


def withdraw(connection: sa.Connection, key: str) -> None:
    """The call surely had no effect (it never left, or was answered with a plain error): as if never begun."""
    connection.execute(sa.delete(effects).where(effects.c.key == key, effects.c.state == "started"))


def finish(
    connection: sa.Connection, key: str, state: str, now: float, *, detail: str = "", data: dict[str, str] | None = None
) -> None:
    """Enter what became of an effect; ``state`` is one of :data:`FINAL`."""
    connection.execute(
        sa.update(effects)
        .where(effects.c.key == key)
        .values(state=state, done_at=now, detail=detail, data=json.dumps(data or {}, ensure_ascii=False))
    )


def find(connection: sa.Connection, key: str) -> Effect | None:
    """The row of an effect."""
    row = connection.execute(sa.select(effects).where(effects.c.key == key)).mappings().first()
    if row is None:
        return None
    return Effect(row["key"], row["state"], row["attempts"], row["detail"], json.loads(row["data"]))


def of_case(connection: sa.Connection, case_key: str) -> list[dict[str, object]]:
    """All effects of a case in the order they began, as plain rows for the dashboard."""
    found = connection.execute(
        sa.select(effects).where(effects.c.case_key == case_key).order_by(effects.c.started_at, effects.c.key)
    ).mappings()
    return [dict(row) for row in found]


def of_kind(connection: sa.Connection, case_key: str, kind: str) -> list[Effect]:
    """The effects of one kind that a case really had, in the order they began."""
    found = connection.execute(
        sa.select(effects)
        .where(effects.c.case_key == case_key, effects.c.kind == kind, effects.c.state == "done")
        .order_by(effects.c.started_at, effects.c.key)
    ).mappings()
    return [Effect(row["key"], row["state"], row["attempts"], row["detail"], json.loads(row["data"])) for row in found]


def left_open(connection: sa.Connection, case_key: str, kind: str) -> list[str]:
    """Keys of the effects of one kind that were begun and never settled."""
    query = sa.select(effects.c.key).where(
        effects.c.case_key == case_key, effects.c.kind == kind, effects.c.state == "started"
    )
    return list(connection.execute(query).scalars())


@dataclass(frozen=True, slots=True)
class Sticky:
    """The one comment of ours with a marker, and a digest of what it says now; an empty one: it is not what we sent."""

    note_id: int
    discussion_id: str
    digest: str


def sticky(connection: sa.Connection, case_key: str, marker: str) -> Sticky | None:
    """Where the comment with ``marker`` is."""
    row = (
        connection.execute(sa.select(stickies).where(stickies.c.case_key == case_key, stickies.c.marker == marker))
        .mappings()
        .first()
    )
    return Sticky(row["note_id"], row["discussion_id"], row["digest"]) if row else None


def keep_sticky(connection: sa.Connection, case_key: str, marker: str, value: Sticky) -> None:
    """Remember where the comment with ``marker`` is and what it says."""
    forget_sticky(connection, case_key, marker)
    connection.execute(
        sa.insert(stickies).values(
            case_key=case_key,
            marker=marker,
            note_id=value.note_id,
            discussion_id=value.discussion_id,
            digest=value.digest,
        )
    )


def forget_sticky(connection: sa.Connection, case_key: str, marker: str) -> None:
    """The comment is gone (somebody deleted it)."""
    connection.execute(sa.delete(stickies).where(stickies.c.case_key == case_key, stickies.c.marker == marker))
