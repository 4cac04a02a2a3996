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
"""``gatebot demo`` as a user runs it."""

from __future__ import annotations

import asyncio
import json
import sys


async def test_the_demo_passes_and_says_so_to_programs_and_people() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot.cli", "demo", "--json", "--lang", "en",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    said = json.loads(out)
    assert said["passed"] is True
    assert said["labels"] == ["ci-pipeline-passed", "pr-check-pass"]
    assert said["report"].startswith("## GateBot: final report")
    assert said["counters"]["fix_commits"] == 1
    assert said["counters"]["builds"] == 2
    assert [step["who"] for step in said["story"][:3]] == ["dev-a", "gate-bot", "dev-a"]
