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
"""Line comments against the local forge, over real HTTP and real git."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.demo import files
from bot.demo.world import AUTHOR, BOT, REPO
from bot.errors import RetryLater
from bot.forge import PullRequest
from bot.gate.case import Outcome, Phase
from bot.gate.decision import PublishReview
from bot.gate.facts import ActionResult
from bot.gate.finding import Finding
from bot.runtime import ledger
from bot.runtime.act import bring_up_to_date, perform
from bot.runtime.outside import Outside
from bot.sandbox.faults import Fault, Trouble
from bot.sandbox.gitcode.state import Thread
from tests.system.loop.conftest import Opener, Play

PATH = "numeric/many.py"


def many(count: int) -> dict[str, str]:
    """A file with so many lines, each of them different."""
    return {PATH: '"""Many."""\n' + "".join(f"v{n} = {n}\n" for n in range(2, count + 2))}


def finding(line: int, rule: str = "W0612", path: str = PATH) -> Finding:
    return Finding(tool="pylint", rule=rule, file=path, line=line, message=f"Unused variable 'v{line}'")


class Desk:
    """A pull request that GateBot itself leaves alone, and reviews published on it by hand."""

    def __init__(self, p: Play, outside: Outside, pull: PullRequest) -> None:
        self.p, self.outside, self.pull = p, outside, pull

    @classmethod
    async def at(cls, p: Play, changed: dict[str, str]) -> Desk:
        await p.open(changed=changed)
        outside = p.stage.server.service.outside()
        return cls(p, outside, await outside.forge.pull_request(REPO, p.number))

    async def publish(self, key: str, *findings: Finding) -> ActionResult:
        action = PublishReview(effect_key=key, head_sha=self.pull.head_sha, build_number=1, findings=findings)
        result = await perform(action, self.pull, self.outside)
        await bring_up_to_date(self.pull, key, self.outside)
        return result

    async def push(self, changed: dict[str, str]) -> None:
        """A new head, as the next wake-up would read it."""
        await self.p.push(changed)
        self.pull = await self.outside.forge.pull_request(REPO, self.p.number)

    def threads(self) -> list[Thread]:
        """Comments of ours on lines and files."""
        return [thread for thread in self.p.forge.threads(REPO, self.p.number) if thread.position is not None]

    def summaries(self) -> list[str]:
        return [body for body in self.p.said() if "### 代码检查" in body]


async def test_forty_findings_cost_at_most_thirty_four_calls_at_the_real_rate(play: Opener) -> None:
    async with play(hooks=False) as p:
        before = len(p.forge.calls(BOT))
        desk = await Desk.at(p, many(40))
        result = await desk.publish("r1", *(finding(line) for line in range(2, 42)))
        calls = p.forge.calls(BOT)[before:]
        assert p.forge.actions.options.calls_per_minute == 50
        assert {call.status for call in calls} <= {200, 201}
        assert len(calls) <= 34, [f"{call.method} {call.path}" for call in calls]
        assert result.data == {"total": "40", "created": "30", "kept": "0", "resolved": "0", "rest": "10"}
        places = [(t.position.path, t.position.line, t.position.detached) for t in desk.threads() if t.position]
        assert places == [(PATH, line, False) for line in range(2, 32)]
        (summary,) = desk.summaries()
        assert summary.count("\n- ") == 10


async def test_a_push_that_fixes_two_of_three_resolves_exactly_those_two(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p, many(6))
        await desk.publish("r1", finding(2), finding(4), finding(6))
        text = many(6)[PATH].replace("v2 = 2\n", "").replace("v6 = 6\n", "print(6)\n")
        await desk.push({PATH: text})
        result = await desk.publish("r2", replace(finding(4), line=3))
        assert result.data["created"] == "0"
        assert [thread.resolved for thread in desk.threads()] == [True, False, True]
        (summary,) = desk.summaries()
        assert "沿用 1 条，解决 2 条" in summary


async def test_what_comes_back_is_commented_again(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p, many(6))
        await desk.publish("r1", finding(2))
        await desk.push({PATH: many(6)[PATH].replace("v2 = 2\n", "")})
        await desk.publish("r2")
        await desk.push(many(6))
        await desk.publish("r3", finding(2))
        assert [thread.resolved for thread in desk.threads()] == [True, False]


async def test_rule_files_that_no_checker_reads_are_told_to_whoever_asked(play: Opener) -> None:
    async with play(gate={"auto_start": False}) as p:
        rcfile = {".jenkins/rules/pylint/pylintrc": "[MAIN\nmax-line-length=\n"}
        await p.forge.push(REPO, "master", rcfile, author=AUTHOR)
        await p.open()
        await p.say(AUTHOR, "/review")
        await p.until(lambda _case: any("快速检查没有完成" in body for body in p.said()), "the answer")
        assert any("pylintrc" in body for body in p.said())


async def test_a_thread_in_which_a_person_answered_is_left_open(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p, many(6))
        await desk.publish("r1", finding(2), finding(4))
        await p.forge.reply_as(REPO, p.number, desk.threads()[0].id, AUTHOR, "为什么？")
        await desk.push({PATH: '"""Many."""\n'})
        await desk.publish("r2")
        assert [thread.resolved for thread in desk.threads()] == [False, True]


async def test_a_refused_line_falls_back_and_the_others_stand(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p, many(6))
        refusal = '{"error_code":400,"error_message":"diff failed to be generated due to invalid params"}'
        p.forge.faults.add(
            Fault(trouble=Trouble.ANSWER, method="POST", path="/comments$", nth=2, status=400, body=refusal),
            Fault(trouble=Trouble.ANSWER, method="POST", path="/comments$", nth=4, times=2, status=400, body=refusal),
        )
        result = await desk.publish("r1", *(finding(line) for line in (2, 3, 4, 5)))
        assert p.forge.faults.unspent() == []
        lines = [thread.position.line for thread in desk.threads() if thread.position]
        assert lines == [2, 0, 5]
        assert result.data["created"] == "3"
        (summary,) = desk.summaries()
        assert f"`{PATH}:4`" in summary


async def test_an_answer_that_was_lost_writes_no_comment_twice(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p, many(6))
        p.forge.faults.add(Fault(trouble=Trouble.AFTER_CUT, method="POST", path="/comments$", nth=2))
        with pytest.raises(RetryLater):
            await desk.publish("r1", finding(2), finding(3), finding(4))
        await desk.publish("r1", finding(2), finding(3), finding(4))
        assert [thread.position.line for thread in desk.threads() if thread.position] == [2, 3, 4]
        assert len(desk.summaries()) == 1


async def test_a_resolve_that_a_dying_life_left_begun_is_settled_by_the_next_review(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p, many(6))
        await desk.publish("r1", finding(2), finding(4), finding(6))
        first = desk.pull.head_sha
        await desk.push({PATH: '"""Many."""\n'})
        threads = [thread.id for thread in desk.threads()]
        keys = [
            f"{REPO}#{p.number}:resolve:{head}:{thread}" for thread in threads for head in (first, desk.pull.head_sha)
        ]
        begun = [
            keys[1],
            keys[2],
        ]  # of the first thread by a life that had just resolved it; of the second by another head
        for key in begun:
            await desk.outside.database.run(
                lambda c, k=key: ledger.begin(c, k, f"{REPO}#{p.number}", "resolve_thread", 0.0)
            )
        await desk.outside.forge.resolve(REPO, p.number, threads[0])
        resolved = len(p.forge.calls(BOT, method="PUT"))
        await desk.publish("r2")
        assert all(thread.resolved for thread in desk.threads())
        assert len(p.forge.calls(BOT, method="PUT")) == resolved + 2
        rows = await desk.outside.database.run(lambda c: ledger.of_case(c, f"{REPO}#{p.number}"))
        states = {str(row["key"]): (row["state"], row["detail"]) for row in rows if row["kind"] == "resolve_thread"}
        assert states == {
            keys[1]: ("done", "found after an interruption"),
            keys[2]: ("failed", "overtaken by a later head"),
            keys[3]: ("done", ""),
            keys[5]: ("done", ""),
        }


async def test_a_moved_head_gets_no_comment_for_the_old_one(play: Opener) -> None:
    async with play(hooks=False) as p:
        desk = await Desk.at(p, many(6))
        action = PublishReview(effect_key="r1", head_sha="0" * 40, build_number=1, findings=(finding(2),))
        assert (await perform(action, desk.pull, desk.outside)).detail == "the head has moved"
        assert desk.threads() == []


async def test_in_the_loop_findings_stand_on_lines_and_a_green_build_clears_them(play: Opener) -> None:
    stages = ("Check_Pylint", "Check_Codespell", "Check_DT_Design")
    async with play(gate={"repair_mode": "on-command"}, stages=stages) as p:
        await p.open(changed=files.FAULTY_FILES)
        first = await p.until(lambda case: case.phase is Phase.OFFERED, "the findings")
        threads = [thread for thread in p.forge.threads(REPO, p.number) if thread.position is not None]
        assert len(threads) == 3
        assert all("**怎么改**" in thread.notes[0].body for thread in threads)
        half = {**files.FAULTY_FILES, "numeric/clamp.py": files.GOOD_MODULE}
        await p.push(half)
        await p.until(lambda case: case.phase is Phase.OFFERED and case.head_sha != first.head_sha, "the rest")
        open_ones = [thread for thread in threads if not thread.resolved]
        assert [thread.position.path for thread in open_ones if thread.position] == ["tests/test_clamp.py"]
        await p.push(files.GOOD_FILES)
        assert (await p.until_ended()).outcome is Outcome.PASSED
        assert all(thread.resolved for thread in threads)
        assert len([body for body in p.said() if "### 代码检查" in body]) == 1


async def test_review_on_command_checks_the_changed_lines_without_a_build(play: Opener) -> None:
    body = '    """Return it."""\n    return lambda x: func(x, get_rank())\n'
    text = f'"""Sorting."""\n\n\ndef get_expand_impl(func):\n{body}'
    async with play(gate={"auto_start": False}) as p:
        await p.open(changed={"hyper_parallel/sort.py": text, "numeric/clamp.py": files.FAULTY_MODULE})
        await p.say(AUTHOR, "/review")
        await p.until(lambda _case: any("快速检查完成" in body for body in p.said()), "the answer")
        threads = [thread for thread in p.forge.threads(REPO, p.number) if thread.position is not None]
        said = {
            (t.position.path, t.position.line, t.notes[0].body.split("`")[1]) for t in threads if t.position is not None
        }
        assert said == {
            ("numeric/clamp.py", 2, "W0611"),
            ("numeric/clamp.py", 6, "typo"),
            ("hyper_parallel/sort.py", 6, "E0602"),
            ("hyper_parallel/sort.py", 6, "rank-in-hot-closure"),
        }
        assert p.stage.world.runs() == []
        assert p.commands() == []
        count = len(threads)
        await p.say(AUTHOR, "/review")
        await p.until(lambda _case: sum("快速检查完成" in body for body in p.said()) == 2, "the second answer")
        assert len([t for t in p.forge.threads(REPO, p.number) if t.position is not None]) == count


async def test_review_ignores_what_the_pull_request_says_about_checking(play: Opener) -> None:
    branches = "".join(f"    if value == {n}:\n        return {n}\n" for n in range(25))
    changed = {
        "numeric/deep.py": f'"""Deep."""\n\n\ndef deep(value):\n    """Look teh value up."""\n{branches}    return 0\n',
        "whitelizer.txt": "deep\nnumeric/deep.py:deep\n",
        "setup.cfg": "[codespell]\nignore-words-list = teh\n[pylint.MAIN]\ndisable = all\n",
        "pylintrc": "[MAIN]\ndisable=all\n",
        "numeric/-x.py": "import os\n",
        "numeric/brok en.py": "def (:\n",
    }
    async with play(gate={"auto_start": False}) as p:
        await p.open(changed=changed)
        await p.say(AUTHOR, "/review")
        await p.until(lambda _case: any("快速检查" in body for body in p.said()), "the answer")
        threads = [thread for thread in p.forge.threads(REPO, p.number) if thread.position is not None]
        said = {(t.position.path, t.notes[0].body.split("`")[1]) for t in threads if t.position is not None}
        assert {("numeric/deep.py", "CCN"), ("numeric/deep.py", "typo"), ("numeric/brok en.py", "E0001")} <= said
        assert ("numeric/-x.py", "W0611") in said


async def test_rules_of_the_target_branch_count_and_those_of_the_pull_request_do_not(play: Opener) -> None:
    rule = (
        "rules:\n  - id: {id}\n    paths: ['**/*.py']\n    check: pattern\n    parameters: {{regex: 'return'}}\n"
        "    message: {{zh: 甲, en: A}}\n"
    )
    async with play(gate={"auto_start": False}) as p:
        await p.forge.push(REPO, "master", {".gatebot/rules/a.yaml": rule.format(id="of-target")}, author=AUTHOR)
        await p.forge.push(REPO, "master", {".gatebot/rules/b.yaml": "rules: 3\n"}, author=AUTHOR)
        changed = {**files.GOOD_FILES, ".gatebot/rules/c.yaml": rule.format(id="of-pull")}
        await p.open(changed=changed)
        await p.say(AUTHOR, "/review")
        await p.until(lambda _case: any("快速检查完成" in body for body in p.said()), "the answer")
        text = "\n".join(p.said())
        assert "`of-target`" in text
        assert "`of-pull`" not in text
        assert "b.yaml" in text
