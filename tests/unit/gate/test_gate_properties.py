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
"""The gate under random histories of a small world, and the invariants of the issue."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bot.gate.case import Case, Outcome, Phase
from bot.gate.decision import AddLabel, AnyAction, Decision, PostCommand, RemoveLabel, Repair, StartBuild
from bot.gate.facts import ActionResult, Facts
from bot.gate.machine import decide, new_case
from bot.gate.policy import Policy
from tests.unit.gate.gate_world import BOT, CI, NUMBER, PASS, REPO, ROBOT, World

MIXED = st.lists(
    st.tuples(
        st.sampled_from(
            ["green", "lint", "deep", "flake", "sticky", "infra", "process", "strange", "void", "lost", "never"]
        ),
        st.sampled_from([30, 90, 3000]),
    ),
    min_size=1,
    max_size=12,
)
# Histories that reach the ceilings are too rare by chance alone.
THEMES = (
    "lint",
    "lint lint green",
    "lint lint lint lint",
    "flake lint flake green",
    "flake " * 9,
    "infra " * 9,
    "lint sticky",
)
BUILDS = st.one_of(st.sampled_from(THEMES).map(lambda theme: [(kind, 90) for kind in theme.split()]), MIXED)
REPAIRED = ["pushed", "pushed", "pushed", "refused", "failed", "head-moved", "outside"]
REPAIRS = st.one_of(st.just([]), st.lists(st.sampled_from(REPAIRED), max_size=4))
COMMANDS = ["check-pr", "retest", "retest", "retest", "diagnose", "autofix", "review", "stop", "help"]
WEATHER = ["sleeps", "wakes", "slow", "fast", "incomplete", "complete", "complete", "deaf", "readable"]
WEATHER += ["draft", "ready", "refuses", "bypasses", "close", "open"]


class GateMachine(RuleBasedStateMachine):
    """Drives ``decide`` through the world, storing the case as JSON after every wake-up."""

    owner = "robot"

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.policy = Policy(owner=self.owner, robot_logins=(ROBOT,), rounds_per_day=9)  # type: ignore[arg-type]
        self.stored = new_case(REPO, NUMBER).model_dump_json()
        self.ledger: dict[str, str] = {}
        self.wake_at: datetime | None = None
        self.woken = False
        self.pushes_of_loop = 0
        self.checks_since_retest = 0
        self.friendly_end = False

    # --- what happens outside ---

    @initialize(plan=BUILDS, repairs=REPAIRS, silent=st.sampled_from([False] * 7 + [True]), friendly_end=st.booleans())
    def begin(self, plan: list[tuple[str, int]], repairs: list[str], silent: bool, friendly_end: bool) -> None:
        self.world.build_plan, self.world.repair_plan = list(plan), list(repairs)
        self.world.robot_alive = self.world.sets_labels and not silent
        self.friendly_end = friendly_end

    @rule(seconds=st.sampled_from([3, 25, 61, 400, 2000, 20000]))
    def time_passes(self, seconds: int) -> None:
        self.world.advance_to(self.world.now + timedelta(seconds=seconds))

    @rule(plan=BUILDS, repairs=REPAIRS)
    def plan(self, plan: list[tuple[str, int]], repairs: list[str]) -> None:
        self.world.build_plan, self.world.repair_plan = list(plan), list(repairs)

    @rule(back=st.booleans())
    def push(self, back: bool) -> None:
        self.world.push(self.world.heads[0] if back else "")

    @rule(what=st.sampled_from(WEATHER))
    def weather_changes(self, what: str) -> None:
        world = self.world
        world.robot_alive = (world.robot_alive or (what == "wakes" and world.sets_labels)) and what != "sleeps"
        world.delay = {"slow": 45, "fast": 5}.get(what, world.delay)
        if what in {"incomplete", "complete"}:
            world.complete = what == "complete"
            world.edits += 1
        world.log_readable = (world.log_readable and what != "deaf") or what == "readable"
        world.draft = (world.draft or what == "draft") and what != "ready"
        world.refuses = (world.refuses or what == "refuses") and what != "bypasses"
        if what in {"close", "open"}:
            world.state = "closed" if what == "close" else "open"

    @rule(
        name=st.sampled_from(COMMANDS),
        author=st.sampled_from(["dev-a", "stranger"]),
        role=st.sampled_from(["anyone", "author", "maintainer", "unknown"]),
        to_robot=st.booleans(),
    )
    def command(self, name: str, author: str, role: str, to_robot: bool) -> None:
        self.world.comment(name, author, role, to_robot=to_robot)

    # --- what the service does ---

    @rule(crash_after=st.integers(min_value=0, max_value=6), failing=st.sampled_from([False] * 5 + [True]))
    def wake_up(self, crash_after: int = 6, failing: bool = False) -> None:
        for _ in range(6):
            case = Case.model_validate_json(self.stored)
            facts = self.world.observe(case)
            decision = decide(case, facts, self.policy)
            assert decision == decide(case, facts, self.policy), "the same wake-up gives the same decision"
            # A crash between actions: the wake-up is replayed with the same facts, and the ledger skips what was done.
            assert not {a.effect_key for a in decision.actions} & set(self.ledger), "a used key would be swallowed"
            for action in decision.actions[:crash_after]:
                self.act(action, facts, failing=False)
            for action in decision.actions:
                self.act(action, facts, failing=failing)
            self.check(case, facts, decision)
            self.stored = decision.case.model_dump_json()
            self.wake_at, self.woken = decision.wake_at, True
            if not decision.again:
                return
        raise AssertionError("again and again without rest")

    @rule(times=st.integers(min_value=1, max_value=6))
    def timer(self, times: int = 1) -> None:
        for _ in range(times):
            if self.wake_at is not None:
                self.world.advance_to(self.wake_at)
                self.wake_up()

    def act(self, action: AnyAction, facts: Facts, *, failing: bool) -> None:
        content = action.model_dump_json()
        if action.effect_key in self.ledger:
            assert self.ledger[action.effect_key] == content, "one effect key, two contents"
            return
        self.ledger[action.effect_key] = content
        if failing and isinstance(action, PostCommand | StartBuild):
            self.world.results.append(
                ActionResult(effect_key=action.effect_key, kind=action.kind, outcome="failed", detail="500")
            )
            return
        match action:
            case PostCommand(command="/check-pr"):
                self.checks_since_retest += 1
                self.world.comment("check-pr", BOT)
            case PostCommand(command="/retest"):
                assert PASS in facts.pr.labels
                assert self.world.head in self.world.checked_heads or facts.pr.head_sha != self.world.head
                assert self.checks_since_retest > 0 or any(r.name == "check-pr" for r in self.world.requests)
                self.checks_since_retest = 0
                self.world.comment("retest", BOT)
            case StartBuild():
                assert PASS in facts.pr.labels
                assert facts.template is not None
                assert facts.template.complete
                self.world.on_trigger(None)
            case AddLabel(label=label):
                if label == CI:
                    assert self.truly_green(facts.pr.head_sha)
                self.world.labels.add(label)
                if label == PASS:
                    self.world.checked_heads.add(facts.pr.head_sha)
            case RemoveLabel(label=label):
                self.world.labels.discard(label)
            case Repair():
                self.repair(action)
            case _:
                pass

    def repair(self, action: Repair) -> None:
        outcome = self.world.repair_plan.pop(0) if self.world.repair_plan else "pushed"
        data = {"status": outcome}
        if outcome == "pushed" and action.head_sha == self.world.head and action.mode == "push":
            self.pushes_of_loop += 1
            sha = f"f{len(self.world.heads):039x}"
            self.world.push(sha)
            data = {"status": "pushed", "sha": sha, "subject": "fix(gate): Check_Pylint W0611"}
        elif outcome == "outside":
            data = {"status": "refused", "scope": "outside"}
        elif outcome == "pushed":
            data = {"status": "head-moved"}
        kind = "failed" if outcome == "failed" else "done"
        result = ActionResult(effect_key=action.effect_key, kind="repair", outcome=kind, data=data)
        self.world.results += [result, result]  # delivered twice: only the first may count

    # --- what must always hold ---

    def truly_green(self, head: str) -> bool:
        return any(
            b["head"] == head
            and b["kind"] == "green"
            and not b["running"]
            and (self.owner == "robot" or int(str(b["duration"])) >= 60_000)
            for b in self.world.builds
        )

    def check(self, before: Case, facts: Facts, decision: Decision) -> None:
        after = decision.case
        if after.outcome is Outcome.PASSED and before.outcome is not Outcome.PASSED:
            assert {PASS, CI} <= facts.pr.labels
            assert self.truly_green(facts.pr.head_sha)
        if after.patch_attempts == 0 and before.patch_attempts > 0 and before.outcome is not None:
            self.pushes_of_loop = 0
        assert after.head_sha == facts.pr.head_sha or facts.pr.state != "open"
        assert len({commit.sha for commit in after.commits}) == len(after.commits)
        assert after.patch_attempts <= self.policy.patch_ceiling
        assert self.pushes_of_loop <= self.policy.patch_ceiling
        assert after.flake_retests <= self.policy.flake_ceiling
        if after.flake_retests < before.flake_retests:
            assert after.head_sha != before.head_sha or before.outcome is Outcome.PASSED
        assert (after.phase is Phase.ENDED) == (after.outcome is not None)
        if after.phase is Phase.ENDED and not after.held:
            assert decision.wake_at is None
        else:
            assert decision.wake_at is not None
            assert decision.wake_at > facts.now
        assert len(after.rounds_at) <= self.policy.rounds_per_day

    @invariant()
    def stored_case_survives(self) -> None:
        assert Case.model_validate_json(self.stored).model_dump_json() == self.stored

    def teardown(self) -> None:
        """Left alone, every case ends, or rests where only a person can move it (a draft)."""
        if not self.woken:
            return
        self.world.draft, self.world.state = False, "open"
        if self.friendly_end and not self.world.complete:
            self.world.complete = True
            self.world.edits += 1
        self.wake_up()
        for _ in range(600):
            if self.wake_at is None:
                break
            self.timer()
        assert Case.model_validate_json(self.stored).phase is Phase.ENDED


class OwnGateMachine(GateMachine):
    """The same where GateBot owns the gate."""

    owner = "self"

    def __init__(self) -> None:
        super().__init__()
        self.world.robot_alive = self.world.sets_labels = False


_SETTINGS = settings(
    max_examples=100,
    report_multiple_bugs=False,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
TestRobotGate = GateMachine.TestCase
TestRobotGate.settings = _SETTINGS
TestOwnGate = OwnGateMachine.TestCase
TestOwnGate.settings = _SETTINGS
