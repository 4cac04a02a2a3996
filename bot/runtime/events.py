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
"""The events of a wake-up, read back from their rows and sorted by kind."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, TypeAdapter

from bot.intake.events import MergeRequestEvent, NoteEvent
from bot.runtime.inbox import InboxRow

_EVENT: TypeAdapter[MergeRequestEvent | NoteEvent] = TypeAdapter(MergeRequestEvent | NoteEvent)


class Order(BaseModel):
    """A command that came by the command line or the dashboard: whoever may use those is a maintainer."""

    model_config = ConfigDict(frozen=True)
    name: str
    arguments: str = ""
    author: str
    order_id: int  # negative, so that it never equals the id of a comment


class Events(BaseModel):
    """The events of a wake-up, sorted by kind."""

    model_config = ConfigDict(frozen=True)
    pulls: tuple[MergeRequestEvent, ...] = ()
    notes: tuple[tuple[NoteEvent, float], ...] = ()
    orders: tuple[tuple[Order, float], ...] = ()
    nudges: int = 0

    @property
    def any(self) -> bool:
        """Whether anything happened at all (else it is a timer that woke the case)."""
        return bool(self.pulls or self.notes or self.orders or self.nudges)


def sort_events(rows: Sequence[InboxRow]) -> Events:
    """The stored events in the intake's own types."""
    pulls: list[MergeRequestEvent] = []
    notes: list[tuple[NoteEvent, float]] = []
    orders: list[tuple[Order, float]] = []
    nudges = 0
    for row in rows:
        if row.kind == "order":
            orders.append((Order.model_validate_json(row.event), row.received_at))
        elif row.kind == "nudge":
            nudges += 1
        else:
            event = _EVENT.validate_json(row.event)
            if isinstance(event, NoteEvent):
                notes.append((event, row.received_at))
            else:
                pulls.append(event)
    return Events(pulls=tuple(pulls), notes=tuple(notes), orders=tuple(orders), nudges=nudges)
