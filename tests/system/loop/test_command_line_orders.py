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
"""``gatebot check-pr|retest|autofix|diagnose`` as a process of its own, against the sandboxes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from bot.demo import files
from bot.demo.world import BOT, REPO
from bot.gate.case import Outcome, Phase
from tests.system.loop.conftest import Opener, Play

MISSPELT = {"numeric/clamp.py": files.GOOD_MODULE.replace("permitted", "permited")}


async def gatebot(p: Play, directory: Path, *words: str) -> tuple[int, str, str]:
    """Run the program with the stage's settings; exit code, standard output, standard error."""
    settings = p.stage.world.settings()
    config = directory / "cli.yaml"
    config.write_text(
        json.dumps(
            {
                "repositories": [REPO],
                "gitcode": {"api_url": settings.gitcode.api_url},
                "jenkins": {"url": settings.jenkins.url, "job": settings.jenkins.job},
                "storage": {"url": settings.storage.url, "work_dir": str(directory / "cli-work")},
            }
        ),
        encoding="utf-8",
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot.cli", "--config", str(config), *words,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "GATEBOT_GITCODE_TOKEN": f"token-{BOT}"},
    )  # fmt: skip
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def test_a_dry_run_shows_the_calls_and_makes_none(play: Opener, tmp_path: Path) -> None:
    async with play(hooks=False) as p:
        number = await p.open()
        code, out, err = await gatebot(p, tmp_path, "check-pr", f"#{number}", "--dry-run")
        assert code == 0, err
        assert f"[dry-run] POST {p.forge.api_url}/repos/{REPO}/pulls/{number}/comments" in out
        assert '"/check-pr"' in out
        assert p.said() == []
        assert {call.method for call in p.forge.calls(BOT)} == {"GET"}
        assert await p.case() is None  # the service's store knows nothing of it


async def test_without_a_service_the_step_is_done_here(play: Opener, tmp_path: Path) -> None:
    async with play(hooks=False) as p:
        number = await p.open()
        url = f"https://gitcode.com/{REPO}/merge_requests/{number}"
        code, out, err = await gatebot(p, tmp_path, "retest", url, "--json")
        assert code == 0, err
        said = json.loads(out)
        assert (said["case"], said["phase"], said["by_service"]) == (f"{REPO}#{number}", "checking", False)
        assert [effect["kind"] for effect in said["effects"]] == ["reply", "post_command"]
        assert "pr-check-pass" in said["effects"][0]["detail"]  # the answer is shown here, not on the pull request
        assert p.said() == ["/check-pr"]
        assert p.commands() == ["/check-pr"]


async def test_a_running_service_takes_the_order_up(play: Opener, tmp_path: Path) -> None:
    async with play(gate={"repair_mode": "on-command"}, timers=True) as p:
        number = await p.open(changed=MISSPELT)
        await p.until(lambda case: case.phase is Phase.OFFERED, "the offer")
        asked = asyncio.create_task(gatebot(p, tmp_path, "autofix", str(number), "--json"))
        while not asked.done():  # the stage's service looks into its store only when it is told to
            p.stage.server.service.notify()
            await asyncio.sleep(0.2)
        code, out, err = await asked
        assert code == 0, err
        assert json.loads(out)["by_service"] is True
        assert (await p.until_ended()).outcome is Outcome.PASSED


async def test_diagnose_fetches_the_log_of_the_newest_failed_build(play: Opener, tmp_path: Path) -> None:
    async with play(gate={"repair_mode": "on-command"}) as p:
        number = await p.open(changed=MISSPELT)
        await p.until(lambda case: case.phase is Phase.OFFERED, "the red build")
        code, out, err = await gatebot(p, tmp_path, "diagnose", str(number), "--json")
        assert code == 0, err
        assert [finding["rule"] for finding in json.loads(out)["findings"]] == ["typo"]
        code, _, err = await gatebot(p, tmp_path, "diagnose", "9999")
        assert (code, "没有找到" in err) == (1, True)


async def test_a_forge_that_is_away_ends_with_3(play: Opener, tmp_path: Path) -> None:
    async with play(hooks=False) as p:
        number = await p.open()
        await p.forge.stop()
        code, _, err = await gatebot(p, tmp_path, "check-pr", str(number))
        assert code == 3, err
        assert "cannot connect" in err
