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
"""Start-up time, memory and processor time at rest, and the restart with 1,000 open cases."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from benchmarks.bot_common import Daemon, report
from bot.gate.case import Phase
from bot.runtime import cases
from bot.runtime.database import Database
from bot.runtime.memory import Memory
from bot.sandbox.gitcode.sandbox import Sandbox

REPO = "mindspore/hyper-parallel"
REST_SECONDS = 20


async def measure(daemon: Daemon, rest: float) -> dict[str, float]:
    ready = await daemon.start()
    await asyncio.sleep(2.0)
    cpu = daemon.cpu_seconds()
    await asyncio.sleep(rest)
    figures = {
        "ready_s": round(ready, 2),
        "memory_mb": round(daemon.memory_mb(), 1),
        "cpu_at_rest_percent": round((daemon.cpu_seconds() - cpu) / rest * 100, 2),
    }
    await daemon.stop()
    return figures


def fill(daemon: Daemon, count: int, due_in: float) -> None:
    """Open cases in the middle of a build, as a running service would have left them."""
    database = Database(f"sqlite:///{daemon.database}")
    now = time.time()

    def write(connection: sa.Connection) -> None:
        for number in range(1, count + 1):
            stored = cases.ensure(connection, REPO, number, now)
            case = stored.case.model_copy(
                update={"phase": Phase.BUILDING, "head_sha": f"{number:040x}", "round": 1, "build_number": number}
            )
            cases.rest(
                connection,
                case,
                Memory(),
                generation=stored.generation,
                wake_at=now + due_in,
                failures=0,
                last_error="",
                now=now,
            )

    database.run_now(write)


async def run(rest: float, count: int) -> None:
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="bench-start-") as directory:
        root = Path(directory)
        async with Sandbox(root / "forge") as forge:
            forge.add_user("gate-bot")
            await forge.create_repo(REPO, files={"a.py": "x = 1\n"}, members={"gate-bot": 30})
            daemon = Daemon(root, forge_url=forge.api_url, repo=REPO)
            result["first start"] = await measure(daemon, rest)
            result["restart, empty"] = await measure(daemon, rest)
            await asyncio.to_thread(fill, daemon, count, 3600.0)
            result[f"restart, {count} open cases"] = await measure(daemon, rest)
            await asyncio.to_thread(fill, daemon, count, 0.0)
            result[f"restart, {count} open cases all due"] = await measure(daemon, rest)
    rows = [(name, *figures.values()) for name, figures in result.items()]
    report("bot_startup", ("case", "ready s", "memory MB", "cpu at rest %"), rows, result)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rest", type=float, default=REST_SECONDS)
    parser.add_argument("--cases", type=int, default=1000)
    options = parser.parse_args()
    asyncio.run(run(options.rest, options.cases))
