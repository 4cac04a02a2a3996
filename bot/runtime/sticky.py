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
"""The one comment per pull request that is edited in place: its sections, and how they become its text.

A section is set whenever something is decided or found out; the comment is written once, at the end of a wake-up, and
only when a section that was set since asks for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

import sqlalchemy as sa

from bot.forge import Comment
from bot.gate.decision import UpsertSticky
from bot.runtime import ledger
from bot.runtime.markers import plain
from bot.runtime.tables import sections
from bot.texts import render

MARKER = "summary"
SECTIONS = ("summary", "template", "review", "patch", "flake")
"""In the order in which they stand in the comment: the gate, description, findings, repair, flakes."""

LONGEST = 60_000
"""Characters; the forge's limit is said to be 65,535, and a mark follows."""


class Urge(IntEnum):
    """How much a section wants the comment to be written."""

    NONE = 0
    WAIT = 1  # it goes out with the next write
    EDIT = 2  # the comment is edited for it, where there is one
    WRITE = 3  # it must be read: the comment is made anew where there is none


@dataclass(frozen=True, slots=True)
class Section:
    """One section as stored."""

    body: str
    urge: Urge


def render_sticky(bodies: Mapping[str, str], language: str, *, longest: int = LONGEST) -> str:
    """The comment's text. Pure.

    Args:
        bodies: Section to text; empty ones and unknown names are left out.
        language: ``zh`` or ``en``.
        longest: Most characters; the longest sections lose all but their first line until the rest fits.
    """
    parts = [bodies[name].strip() for name in SECTIONS if bodies.get(name, "").strip()]
    if not bodies.get("summary", "").strip():
        parts.insert(0, render("report.title.sticky", language))
    cut = render("report.cut", language)
    for _ in parts:
        if len("\n\n".join(parts)) <= longest:
            break
        index = max(range(len(parts)), key=lambda number: len(parts[number]))
        parts[index] = parts[index].partition("\n")[0][:200] + "\n\n" + cut
    return "\n\n".join(parts)


def digest(text: str) -> str:
    """Of a comment's text as the forge shows it: our mark, line ends and blanks at line ends do not count."""
    lines = [line.rstrip() for line in plain(text).strip().splitlines()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def put(connection: sa.Connection, case_key: str, action: UpsertSticky) -> bool:
    """Set a section; false when there is no comment that it could follow. The same text again asks for nothing."""
    known = read(connection, case_key)
    if action.only_if_exists and not known and ledger.sticky(connection, case_key, MARKER) is None:
        return False
    before = known.get(action.marker)
    wanted = Urge.WAIT if action.may_wait else Urge.EDIT if action.only_if_exists else Urge.WRITE
    urge = max(wanted, before.urge) if before else wanted
    if before is not None and before.body == action.body and before.urge is Urge.NONE:
        return True
    where = (sections.c.case_key == case_key, sections.c.section == action.marker)
    connection.execute(sa.delete(sections).where(*where))
    values = {"case_key": case_key, "section": action.marker, "body": action.body, "urge": int(urge)}
    connection.execute(sa.insert(sections).values(values))
    return True


def read(connection: sa.Connection, case_key: str) -> dict[str, Section]:
    """All sections of a case."""
    rows = connection.execute(sa.select(sections).where(sections.c.case_key == case_key)).mappings()
    return {row["section"]: Section(row["body"], Urge(row["urge"])) for row in rows}


def settle(connection: sa.Connection, case_key: str, urge: Urge = Urge.NONE) -> None:
    """No section asks for more than ``urge`` any longer."""
    query = sa.update(sections).where(sections.c.case_key == case_key, sections.c.urge > int(urge))
    connection.execute(query.values(urge=int(urge)))


def compare(connection: sa.Connection, case_key: str, listed: Iterable[Comment]) -> bool:
    """Whether the comment says, in a list of comments, what we sent; if not, it is written again by the next wake-up.

    The answer to an edit need not show the text, so the list that is read anyway is what proves it.
    """
    known = ledger.sticky(connection, case_key, MARKER)
    shown = [comment for comment in listed if known is not None and comment.note_id == known.note_id]
    if known is None or not shown or not known.digest or digest(shown[0].body) == known.digest:
        return True
    unlike = ledger.Sticky(known.note_id, known.discussion_id, "")
    ledger.keep_sticky(connection, case_key, MARKER, unlike)
    return False
