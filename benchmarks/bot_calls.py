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
"""GitCode calls of a green loop and of a red-fix-green loop, counted at the forge for the bot's token."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.bot_common import report
from bot.demo import files
from bot.demo.story import Stage, play
from bot.demo.world import AUTHOR, BOT, FORK, REPO, WorldOptions
from bot.gate.case import Case, Outcome
from bot.sandbox.gitcode.gate import Recorded

# The red loop is the demo's with three line comments, each of which costs a call to write and one to resolve.
BUDGET = {
    "green": 12,
    "red-fix-green": 25,
    "red-fix-green, the contributor's next": 25,
    "red-fix-green without line comments": 25,
}
NEXT = "red-fix-green, the contributor's next"


async def green(stage: Stage) -> Case:
    """A faultless pull request, to its end."""
    forge = stage.world.forge
    async with stage.clock.running():
        await forge.push(FORK, "topic", files.GOOD_FILES, author=AUTHOR, message="feat: add clamp")
        pull = await forge.open_pull_request(
            REPO, author=AUTHOR, title="feat: add clamp", body=files.COMPLETE_BODY, branch="topic", head_repo=FORK
        )
        while True:
            case = await stage.case(pull.number)
            if case is not None and case.outcome is not None and stage.server.service.idle():
                return case
            await asyncio.sleep(0.05)


async def red_fix_green(stage: Stage) -> Case:
    """The demo's story."""
    return (await play(stage, lambda _happening: None)).case


def counted(name: str, calls: Sequence[Recorded], rows: list[tuple[str, str, object]]) -> dict[str, Any]:
    """The result of one loop; its lines of the table are added. Logging in is a call of the start, not of a loop."""
    kinds = Counter(f"{call.method} {_route(call.path)}" for call in calls)
    rows += [(name, kind, count) for kind, count in kinds.most_common()]
    start = kinds["GET /user"]
    rows.append((name, "all", f"{len(calls)}, {start} of them at the start (budget {BUDGET[name]})"))
    return {"calls": len(calls), "at_start": start, "budget": BUDGET[name], "by_route": dict(kinds.most_common())}


async def run() -> None:
    rows: list[tuple[str, str, object]] = []
    result: dict[str, dict[str, Any]] = {}
    for name, act, reviewed in (
        ("green", green, True),
        ("red-fix-green", red_fix_green, True),
        ("red-fix-green without line comments", red_fix_green, False),
    ):
        again = name == "red-fix-green"
        with tempfile.TemporaryDirectory(prefix="bench-calls-") as directory:
            options = WorldOptions(state=Path(directory), gate={"publish_review": reviewed})
            async with Stage(Path(directory), options=options) as stage:
                case = await act(stage)
                assert case.outcome is Outcome.PASSED, case
                calls = stage.world.forge.calls(BOT)
                result[name] = counted(name, calls, rows)
                if again:  # what is known of the fork and of the target branch need not be asked again
                    case = (await play(stage, lambda _happening: None, branch="feat-next")).case
                    assert case.outcome is Outcome.PASSED, case
                    result[NEXT] = counted(NEXT, stage.world.forge.calls(BOT)[len(calls) :], rows)
    report("bot_calls", ("loop", "call", "count"), rows, result)
    assert all(result[name]["calls"] <= BUDGET[name] for name in BUDGET)


def _route(path: str) -> str:
    short = path.partition("/repos/mindspore/hyper-parallel")[2] or path.partition("/api/v5")[2]
    return re.sub(r"/contents/.*", "/contents/{path}", re.sub(r"/(?:[0-9a-f]{40}|\d+)", "/{n}", short))


if __name__ == "__main__":
    asyncio.run(run())
