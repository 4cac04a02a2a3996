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
"""Building blocks of a decision: what a handler returns, and the small changes of a case that many handlers make."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from bot.gate.case import Case, Phase, TimelineEntry
from bot.gate.decision import AnyAction
from bot.gate.facts import Facts
from bot.gate.policy import Policy
from bot.texts import Markup, render

# Newest entries kept per case, so that a stored case cannot grow without end.
_TIMELINE_KEPT = 60


@dataclass(frozen=True, slots=True)
class Context:
    """What a handler may know besides the case."""

    facts: Facts
    policy: Policy

    @property
    def now(self) -> datetime:
        """The present."""
        return self.facts.now

    @property
    def own(self) -> bool:
        """Whether GateBot itself is the gate's owner."""
        return self.policy.owner == "self"

    def has(self, label: str) -> bool:
        """Whether the pull request carries a label now."""
        return label in self.facts.pr.labels

    def text(self, text_id: str, **values: object) -> Markup:
        """A sentence in the language of the policy."""
        return render(text_id, self.policy.language, **values)


@dataclass(frozen=True, slots=True)
class Step:
    """What one handler did: the changed case, its actions in order, and the earliest wake-up it wants."""

    case: Case
    actions: tuple[AnyAction, ...] = ()
    wake_at: datetime | None = None
    again: bool = False

    def then(self, later: Step) -> Step:
        """This step followed by another one, which worked on this one's case; its wish for a wake-up counts if any."""
        wake_at = later.wake_at or self.wake_at
        return Step(later.case, self.actions + later.actions, wake_at, self.again or later.again)

    def acting(self, *actions: AnyAction) -> Step:
        """The same with more actions."""
        return replace(self, actions=self.actions + actions)


def changed(case: Case, **values: Any) -> Case:
    """A copy with some fields changed."""
    return case.model_copy(update=values)


def key(case: Case, kind: str, *parts: object) -> str:
    """An effect key: the pull request, the kind of effect, and what makes this effect differ from the others."""
    return ":".join([case.key, kind, *(str(part) for part in parts)])


def enter(case: Case, phase: Phase, now: datetime, **values: Any) -> Case:
    """Move to a phase; the clock of the phase starts now."""
    return changed(case, phase=phase, phase_since=now, wakeups_in_phase=0, poll_since=now, **values)


def event(case: Case, now: datetime, text_id: str, **values: object) -> Case:
    """Note a key event for the final report."""
    entry = TimelineEntry(at=now, text_id=text_id, values={name: str(value) for name, value in values.items()})
    return changed(case, timeline=(*case.timeline, entry)[-_TIMELINE_KEPT:])


def since(moment: datetime | None, now: datetime) -> timedelta:
    """Time gone by since a moment; none at all where it is unknown or lies ahead."""
    return max(now - moment, timedelta()) if moment is not None else timedelta()


def older_than(moment: datetime | None, now: datetime, seconds: int) -> bool:
    """Whether at least so many seconds have gone by since a moment."""
    return moment is not None and now - moment >= timedelta(seconds=seconds)
