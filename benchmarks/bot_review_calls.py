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
"""GitCode calls of a review of 40 findings on one head at the real rate limit, and of the next head with two fixed."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.bot_common import report
from bot.demo import files
from bot.demo.story import Stage
from bot.demo.world import AUTHOR, BOT, FORK, REPO, WorldOptions
from bot.gate.decision import PublishReview
from bot.gate.finding import Finding
from bot.runtime.act import bring_up_to_date, perform

PATH, COUNT, BUDGET = "numeric/many.py", 40, 34


def text(skipped: tuple[int, ...] = ()) -> str:
    """A file whose lines all differ, without some of them."""
    return '"""Many."""\n' + "".join(f"v{n} = {n}\n" for n in range(2, COUNT + 2) if n not in skipped)


def findings(skipped: tuple[int, ...] = ()) -> tuple[Finding, ...]:
    """One finding per line of :func:`text` after the first."""
    kept = [n for n in range(2, COUNT + 2) if n not in skipped]
    return tuple(
        Finding(tool="pylint", rule="W0612", file=PATH, line=line, message=f"Unused variable 'v{number}'")
        for line, number in enumerate(kept, start=2)
    )


async def review(stage: Stage, number: int, found: tuple[Finding, ...]) -> tuple[Counter[str], set[int]]:
    """Publish and count what the forge saw from us, the reading of the pull request included."""
    forge, outside = stage.world.forge, stage.server.service.outside()
    before = len(forge.calls(BOT))
    pull = await outside.forge.pull_request(REPO, number)
    action = PublishReview(effect_key=pull.head_sha, head_sha=pull.head_sha, build_number=1, findings=found)
    result = await perform(action, pull, outside)
    assert result.outcome == "done", result
    await bring_up_to_date(pull, pull.head_sha, outside)
    calls = forge.calls(BOT)[before:]
    kinds = Counter(f"{call.method} {re.sub(r'[0-9a-f]{40}|[0-9]+', '{n}', call.path)}" for call in calls)
    return kinds, {call.status for call in calls}


async def run() -> None:
    rows, result = [], {}
    with tempfile.TemporaryDirectory(prefix="bench-review-") as directory:
        options = WorldOptions(state=Path(directory), hooks=False)
        async with Stage(Path(directory), options=options) as stage, stage.clock.running():
            forge = stage.world.forge
            await forge.push(FORK, "topic", {PATH: text()}, author=AUTHOR, message="feat: many")
            pull = await forge.open_pull_request(
                REPO, author=AUTHOR, title="feat: many", body=files.COMPLETE_BODY, branch="topic", head_repo=FORK
            )
            fixed = (3, 9)
            for name, gone in (("40 findings, first head", ()), ("38 of them, next head", fixed)):
                if gone:
                    await forge.push(FORK, "topic", {PATH: text(gone)}, author=AUTHOR, message="fix: two")
                kinds, statuses = await review(stage, pull.number, findings(gone))
                rows += [(name, kind, count) for kind, count in kinds.most_common()]
                total = sum(kinds.values())
                rows.append((name, "all", f"{total} (budget {BUDGET}, 429: {'yes' if 429 in statuses else 'no'})"))
                result[name] = {"calls": total, "budget": BUDGET, "too_many": 429 in statuses, "by_route": dict(kinds)}
                assert total <= BUDGET
                assert 429 not in statuses
            threads = [thread for thread in forge.threads(REPO, pull.number) if thread.position is not None]
            resolved = [thread.notes[0].body.split("'")[1] for thread in threads if thread.resolved]
            assert resolved == [f"v{number}" for number in fixed], resolved
    report("bot_review_calls", ("review", "call", "count"), rows, result)


if __name__ == "__main__":
    asyncio.run(run())
