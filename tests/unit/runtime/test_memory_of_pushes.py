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
"""What the memory holds of the pull request after a repair."""

from __future__ import annotations

from datetime import datetime

import pytest

from bot.forge import PullRequest
from bot.gate.decision import Repair
from bot.gate.facts import ActionResult
from bot.runtime.memory import Memory


@pytest.mark.parametrize(
    ("status", "head"),
    [("pushed", "f" * 40), ("proposed", "1" * 40), ("refused", "1" * 40), ("head-moved", "1" * 40)],
)
def test_only_a_push_of_ours_moves_the_head_and_everything_is_read_again(
    pull: PullRequest, now: datetime, status: str, head: str
) -> None:
    action = Repair(effect_key="k", head_sha=pull.head_sha, build_number=1, mode="push", findings=())
    data = {"status": status, "sha": "f" * 40 if status == "pushed" else ""}
    result = ActionResult(effect_key="k", kind="repair", outcome="done", data=data)
    memory = Memory(pr=pull, pr_read_at=now).after((action,), (result,), bot_login="gate-bot", now=now)
    assert memory.pr is not None
    assert (memory.pr.head_sha, memory.pr.labels, memory.pr_read_at) == (head, pull.labels, None)
