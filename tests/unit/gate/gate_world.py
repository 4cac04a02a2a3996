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
"""A small world of forge, gate robot and build server, for histories that no person would think of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.gate.case import Case
from bot.gate.facts import (
    ActionResult,
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
from bot.gate.wants import wants_diagnosis

REPO, NUMBER, BOT, ROBOT = "org/lib", 647, "gate-bot", "micro-compass"
START = datetime(2026, 6, 15, 8, tzinfo=UTC)
PASS, FAIL, CI, CI_FAIL = "pr-check-pass", "pr-check-fail", "ci-pipeline-passed", "ci-pipeline-failed"
LINT = Finding(tool="pylint", message="unused import", stage="Check_Pylint", rule="W0611", file="a.py", line=3)


def findings_of(kind: str, number: int) -> tuple[JudgedFinding, ...]:
    """What the log of a red build of this kind shows."""
    flake = Finding(tool="pytest", message="timeout", stage="UT", function=f"t.py::test_{number % 7}")
    same = Finding(tool="pytest", message="timeout", stage="UT", function="t.py::test_same")
    return {
        "lint": (JudgedFinding(finding=LINT, verdict="pr", repairable=True),),
        "deep": (JudgedFinding(finding=same, verdict="pr"),),
        "flake": (JudgedFinding(finding=flake, verdict="unrelated", reasons=("passes on master",)),),
        "sticky": (JudgedFinding(finding=same, verdict="unrelated"),),
        "infra": (JudgedFinding(finding=Finding(tool="git", message="no route"), verdict="infrastructure"),),
        "process": (JudgedFinding(finding=Finding(tool="scanoss", message="licence"), verdict="process"),),
        "strange": (JudgedFinding(finding=LINT, verdict="a new word"),),
        "nothing": (),
    }[kind]


class World:
    """Forge, gate robot and build server as one small model; things it does later lie in ``agenda``."""

    def __init__(self) -> None:
        self.now = START
        self.heads = ["a" * 40]
        self.state, self.draft, self.complete, self.edits = "open", False, True, 0
        self.labels: set[str] = set()
        self.notes: list[RobotNote] = []
        self.requests: list[GateRequest] = []
        self.inbox: list[CommandRequest] = []
        self.results: list[ActionResult] = []
        self.builds: list[dict[str, object]] = []
        self.agenda: list[tuple[datetime, int, str, object]] = []
        self.next_id = 100
        self.robot_alive = True
        self.refuses = True
        self.sets_labels = True
        self.delay = 5
        self.checked_heads: set[str] = set()
        self.build_plan: list[tuple[str, int]] = []
        self.repair_plan: list[str] = []
        self.log_readable = True

    @property
    def head(self) -> str:
        return self.heads[-1]

    def later(self, seconds: int, what: str, value: object = None) -> None:
        self.next_id += 1
        self.agenda.append((self.now + timedelta(seconds=seconds), self.next_id, what, value))

    def advance_to(self, moment: datetime) -> None:
        while self.agenda and min(self.agenda)[0] <= moment:
            entry = min(self.agenda, key=lambda item: item[:2])
            self.agenda.remove(entry)
            self.now = max(self.now, entry[0])
            getattr(self, f"on_{entry[2]}")(entry[3])
        self.now = max(self.now, moment)

    def comment(self, name: str, author: str, role: str = "author", *, to_robot: bool = True) -> None:
        self.next_id += 1
        if author != BOT:
            self.inbox.append(
                CommandRequest(name=name, arguments="", author=author, role=role, note_id=self.next_id, at=self.now)
            )
        if to_robot and name in {"check-pr", "retest"}:
            by_bot = author == BOT
            self.requests.append(
                GateRequest(name=name, author=author, note_id=self.next_id, at=self.now, by_bot=by_bot)
            )
            if self.robot_alive:
                self.later(self.delay, "check" if name == "check-pr" else "trigger")

    def push(self, sha: str = "") -> None:
        self.heads.append(sha or f"{len(self.heads):040x}")
        self.later(20, "drop", self.head)

    def on_drop(self, head: object) -> None:
        if self.sets_labels and head == self.head and self.head not in self.checked_heads:
            self.labels -= {PASS, CI}

    def on_check(self, _: object) -> None:
        if self.complete:
            self.checked_heads.add(self.head)
            self.labels = (self.labels - {FAIL}) | {PASS}
            return
        self.labels = (self.labels - {PASS}) | {FAIL}
        self._say("check_failed", ("Pull Request未关联issue",))

    def on_trigger(self, _: object) -> None:
        if PASS not in self.labels:
            if self.refuses:
                self._say("trigger_refused")
            else:
                self._build("SUCCESS", 17, bypass=True)
            return
        for build in self.builds:
            if build["running"]:
                build.update(running=False, result="ABORTED")
        self.labels -= {CI, CI_FAIL}
        kind, seconds = self.build_plan.pop(0) if self.build_plan else ("green", 900)
        if kind != "never":
            self._build(kind, seconds)

    def _build(self, kind: str, seconds: int, *, bypass: bool = False) -> None:
        number = len(self.builds) * 3 + 7
        build: dict[str, object] = {
            "number": number,
            "kind": kind,
            "head": self.head,
            "running": True,
            "result": None,
            "started": self.now,
            "duration": 0,
            "bypass": bypass,
        }
        self.builds.append(build)
        self.later(seconds, "finish", (number, seconds))

    def on_finish(self, value: object) -> None:
        number, seconds = value  # type: ignore[misc]
        build = next(b for b in self.builds if b["number"] == number)
        if not build["running"]:
            return
        kind = build["kind"]
        result = {"green": "SUCCESS", "SUCCESS": "SUCCESS", "void": "NOT_BUILT"}.get(str(kind), "FAILURE")
        build.update(running=False, result=result, duration=seconds * 1000)
        if kind == "lost":
            self.builds.remove(build)
        elif kind == "green" and self.sets_labels:
            self.later(30, "label", (CI, build["head"]))
        elif result == "FAILURE" and self.sets_labels:
            self.labels.add(CI_FAIL)

    def on_label(self, value: object) -> None:
        label, head = value  # type: ignore[misc]
        if head == self.head:
            self.labels.add(label)

    def _say(self, kind: str, reasons: tuple[str, ...] = ()) -> None:
        self.next_id += 1
        self.notes.append(RobotNote(kind=kind, at=self.now, note_id=self.next_id, reasons=reasons))

    def observe(self, case: Case) -> Facts:
        """The facts of one wake-up; the inbox and results are handed over once."""
        visible = [b for b in self.builds if b["result"] != "ABORTED"]
        newest = max(visible, key=lambda b: int(str(b["number"])), default=None)
        build = newest and BuildFacts(
            number=int(str(newest["number"])),
            url="https://ci.example.com/job/Gate/1/",
            result=newest["result"],  # type: ignore[arg-type]
            running=bool(newest["running"]),
            started_at=newest["started"],  # type: ignore[arg-type]
            duration_ms=int(str(newest["duration"])),
        )
        commands, results = tuple(self.inbox), tuple(self.results)
        self.inbox, self.results = [], []
        diagnosis = None
        if newest and self.log_readable and wants_diagnosis(case, build or None, commands):
            number = int(str(newest["number"]))
            found = findings_of(str(newest["kind"]), number)
            diagnosis = DiagnosisFacts(build_number=number, findings=found)
        missing = () if self.complete else ("缺少「修改原因」一节",)
        return Facts(
            now=self.now,
            bot_login=BOT,
            pr=PullRequestFacts(
                number=NUMBER,
                repo=REPO,
                state=self.state,
                author="dev-a",
                title="t",
                body=f"{self.complete}{self.edits}",
                head_sha=self.head,
                head_ref="topic",
                head_repo="dev-a/lib",
                base_ref="master",
                labels=frozenset(self.labels),
                draft=self.draft,
            ),
            template=TemplateVerdict(complete=self.complete, missing=missing),
            commands=commands,
            robot_notes=tuple(self.notes),
            gate_requests=tuple(self.requests),
            build=build or None,
            diagnosis=diagnosis,
            may_push=True,
            results=results,
        )
