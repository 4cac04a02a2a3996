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
"""What GateBot does when others, or it itself, are in trouble for long."""

from __future__ import annotations

import asyncio
import shutil

import pytest
import sqlalchemy as sa

from bot.demo import files
from bot.demo.world import AUTHOR, BOT, FORK, REPO
from bot.gate.case import Outcome
from bot.runtime import cases, inbox, ledger, records, tables
from bot.runtime.cases import StoredCase
from bot.sandbox.faults import Fault, Trouble
from bot.sandbox.gitcode import gitrepo
from tests.system.loop.conftest import Opener, Play

MISSPELT = {"numeric/clamp.py": files.GOOD_MODULE.replace("permitted", "permited")}


async def stored(p: Play) -> StoredCase:
    found = await p.stage.server.service.database.run(lambda c: cases.load(c, f"{REPO}#{p.number}"))
    assert found is not None
    return found


async def until_failures(p: Play, count: int) -> StoredCase:
    for _ in range(1200):
        found = await p.stage.server.service.database.run(lambda c: cases.load(c, f"{REPO}#{p.number}"))
        if found is not None and found.failures >= count and p.stage.server.service.idle():
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(f"never failed {count} times")


async def test_a_case_that_fails_again_and_again_is_parked_and_the_next_event_revives_it(play: Opener) -> None:
    async with play(runtime={"max_failures": 3}) as p:
        body = f'{{"error_message":"a proxy quotes token-{BOT}"}}'
        fault = Fault(trouble=Trouble.ANSWER, method="GET", path=r"/pulls/\d+$", times=0, status=500, body=body)
        p.forge.faults.add(fault)
        await p.open()
        parked = await until_failures(p, 3)
        assert "500 a proxy quotes ***" in parked.last_error
        assert parked.wake_at is not None
        database = p.stage.server.service.database
        assert await database.run(lambda c: inbox.waiting_rows(c, f"{REPO}#{p.number}")) == []
        trail = await database.run(lambda c: records.trail(c, f"{REPO}#{p.number}"))
        assert [(entry.what, entry.result) for entry in trail] == [("park", "failed")]
        p.forge.faults.clear()
        await p.say(AUTHOR, "/check-pr")
        assert (await p.until_ended()).outcome is Outcome.PASSED
        assert (await stored(p)).failures == 0


async def test_a_command_is_not_lost_while_the_forge_is_away(play: Opener) -> None:
    async with play(gate={"auto_start": False}) as p:
        await p.open()
        await p.until(lambda case: case.head_sha != "", "the first look")
        p.forge.faults.add(Fault(trouble=Trouble.ANSWER, method="GET", path=r"/pulls/\d+$", times=12, status=503))
        await p.say(AUTHOR, "/help")
        await until_failures(p, 1)
        await p.until(lambda _case: len(p.said()) == 1, "the answer, late")
        assert "/retest" in p.said()[0]
        assert (await stored(p)).failures == 0


async def test_comments_that_cannot_be_written_end_with_a_person(play: Opener) -> None:
    async with play(runtime={"max_failures": 2}) as p:
        p.forge.faults.add(Fault(trouble=Trouble.CUT, method="POST", path="/comments$", times=0))
        await p.open()
        case = await p.until_ended()
        assert case.outcome is Outcome.NEEDS_HUMAN
        assert p.said() == []


async def test_a_refused_comment_ends_with_the_reason(play: Opener) -> None:
    async with play() as p:
        body = f'{{"error_code":403,"error_message":"no right to comment with token-{BOT}"}}'
        p.forge.faults.add(Fault(trouble=Trouble.ANSWER, method="POST", path="/comments$", status=403, body=body))
        await p.open()
        case = await p.until_ended()
        assert case.outcome is Outcome.NEEDS_HUMAN
        assert "no right to comment" in p.said()[0]
        trail = await p.stage.server.service.database.run(lambda c: records.trail(c, f"{REPO}#{p.number}"))
        rows = await p.stage.server.service.database.run(lambda c: ledger.of_case(c, f"{REPO}#{p.number}"))
        kept = f"{case!r} {trail!r} {rows!r} {p.said()!r}"
        assert "no right to comment with" in kept
        assert f"token-{BOT}" not in kept  # a forge or a proxy may echo what was sent to it


async def test_a_case_of_a_newer_release_waits_and_does_not_spin(play: Opener) -> None:
    async with play() as p:
        await p.open()
        await p.until_ended()
        database = p.stage.server.service.database
        newer = '{"version": 99, "repo": "mindspore/hyper-parallel", "number": 647}'
        await database.run(lambda c: c.execute(sa.update(tables.cases).values(state=newer)))
        generation = await database.run(lambda c: c.execute(sa.select(tables.cases.c.generation)).scalar())
        await p.say(AUTHOR, "/retest")
        for _ in range(600):
            row = await database.run(lambda c: c.execute(sa.select(tables.cases)).mappings().one())
            if row["failures"]:
                break
            await asyncio.sleep(0.05)
        assert "newer release" in row["last_error"]
        assert row["state"] == newer
        await asyncio.sleep(1.0)
        row = await database.run(lambda c: c.execute(sa.select(tables.cases)).mappings().one())
        hours = (p.stage.clock.now().timestamp() - row["updated_at"]) / 3600
        assert row["generation"] - (generation or 0) <= 2 + hours + 10


@pytest.mark.parametrize("patience", [0.0, 30.0])
async def test_a_stop_in_the_middle_of_a_repair_neither_loses_nor_doubles_it(play: Opener, patience: float) -> None:
    async with play(server={"shutdown_seconds": patience}) as p:
        await p.open(changed=MISSPELT)
        database = p.stage.server.service.database
        for _ in range(2000):
            rows = await database.run(lambda c: ledger.of_case(c, f"{REPO}#{p.number}"))
            if any(row["kind"] == "repair" for row in rows):
                break
            await asyncio.sleep(0.02)
        await p.stage.restart()
        case = await p.until_ended()
        assert case.outcome is Outcome.PASSED
        branch = p.forge.pull(REPO, p.number).source_branch
        history = await gitrepo.commits(p.forge.world.repo(FORK).git_dir, branch, 5)
        assert [commit.author_name for commit in history[:2]] == [BOT, AUTHOR]
        assert p.commands() == ["/check-pr", "/retest", "/check-pr", "/retest"]


async def test_a_fork_that_is_deleted_while_its_build_runs_ends_with_what_to_do(play: Opener) -> None:
    async with play() as p:
        await p.open(changed=MISSPELT)
        await p.until(lambda case: case.build_number > 0, "a build")
        fork = p.forge.world.repos.pop(FORK)
        shutil.rmtree(fork.git_dir)
        case = await p.until_ended()
        assert case.outcome is Outcome.NEEDS_HUMAN
        report = p.said()[-1]
        assert "源分支已被删除" in report
        assert "git apply fix.patch" in report  # the forge itself still has the head
        assert "ls-remote" not in report
        await p.say(AUTHOR, "/autofix")
        await p.until(lambda case: case.repairs == 2 and case.outcome is not None, "the same answer")
        assert "ls-remote" not in "".join(p.said())
