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
"""One pull request under glass: facts and cases with everything ordinary unless a test says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.gate.case import Case
from bot.gate.decision import Decision
from bot.gate.facts import (
    BuildFacts,
    CommandRequest,
    DiagnosisFacts,
    Facts,
    GateRequest,
    JudgedFinding,
    PullRequestFacts,
    RobotNote,
    TemplateVerdict,
)
from bot.gate.finding import Finding
from bot.gate.machine import decide, new_case
from bot.gate.policy import Policy

START = datetime(2026, 6, 15, 8, tzinfo=UTC)
HEAD = "a" * 40


class Glass:
    """Wakes one case again and again; keeps the clock, the case and the last decision."""

    def __init__(self) -> None:
        self.policy = Policy()
        self.now = START
        self.case: Case = new_case("org/lib", 647)
        self.pr: dict[str, Any] = {
            "number": 647,
            "repo": "org/lib",
            "state": "open",
            "author": "dev-a",
            "title": "t",
            "body": "b",
            "head_sha": HEAD,
            "head_ref": "topic",
            "head_repo": "dev-a/lib",
            "base_ref": "master",
            "labels": frozenset(),
        }
        self.complete = True
        self.notes: list[RobotNote] = []
        self.requests: list[GateRequest] = []
        self.note_id = 10
        self.last: Decision | None = None

    def wake(self, seconds: float = 0, **facts: Any) -> Decision:
        """One wake-up so many seconds later, with the given facts besides the ordinary ones."""
        self.now += timedelta(seconds=seconds)
        seen = {
            "now": self.now,
            "bot_login": "gate-bot",
            "pr": PullRequestFacts(**self.pr),
            "template": TemplateVerdict(complete=self.complete, missing=() if self.complete else ("缺少「描述」一节",)),
            "robot_notes": tuple(self.notes),
            "gate_requests": tuple(self.requests),
            "may_push": True,
            **facts,
        }
        self.last = decide(self.case, Facts(**seen), self.policy)
        self.case = Case.model_validate_json(self.last.case.model_dump_json())
        return self.last

    def labels(self, *names: str) -> None:
        self.pr["labels"] = frozenset(names)

    def robot(self, kind: str, *reasons: str) -> None:
        self.note_id += 1
        self.notes.append(RobotNote(kind=kind, at=self.now, note_id=self.note_id, reasons=reasons))

    def request(self, name: str, author: str = "dev-a") -> int:
        self.note_id += 1
        self.requests.append(
            GateRequest(name=name, author=author, note_id=self.note_id, at=self.now, by_bot=author == "gate-bot")
        )
        return self.note_id

    def command(self, name: str, author: str = "dev-a", role: str = "author") -> CommandRequest:
        self.note_id += 1
        return CommandRequest(name=name, arguments="", author=author, role=role, note_id=self.note_id, at=self.now)

    def build(self, result: str | None, seconds: int = 900, number: int = 41, **more: Any) -> BuildFacts:
        return BuildFacts(
            number=number,
            url=f"https://ci.example.com/job/Gate/{number}/",
            result=result,
            running=result is None,
            started_at=self.now,
            duration_ms=seconds * 1000 if result else 0,
            **more,
        )

    def to_building(self) -> None:
        """Through phase one to a running build 41."""
        self.wake()
        self.labels("pr-check-pass")
        self.wake(30)
        self.wake(30, build=self.build(None))

    def red(self, *judged: JudgedFinding, number: int = 41, **more: Any) -> Decision:
        """Build 41 fails, and its log shows this."""
        diagnosis = DiagnosisFacts(build_number=number, findings=judged)
        return self.wake(300, build=self.build("FAILURE", number=number, **more), diagnosis=diagnosis)

    def did(self) -> list[str]:
        """The last decision's actions in short."""
        assert self.last is not None
        shown = []
        for action in self.last.actions:
            detail = getattr(action, "command", "") or getattr(action, "label", "") or getattr(action, "marker", "")
            shown.append(f"{action.kind} {detail or getattr(action, 'mode', '')}".strip())
        return shown


@pytest.fixture
def glass() -> Glass:
    return Glass()


@pytest.fixture
def judged() -> Callable[..., JudgedFinding]:
    def make(verdict: str = "pr", **more: Any) -> JudgedFinding:
        finding = {"tool": "pylint", "message": "unused", "stage": "Check_Pylint", "rule": "W0611", "file": "a.py"}
        own = {"repairable", "in_diff", "broken_on_base", "reasons"}
        found = Finding(**{**finding, **{k: v for k, v in more.items() if k not in own}})
        return JudgedFinding(finding=found, verdict=verdict, **{k: v for k, v in more.items() if k in own})

    return make
