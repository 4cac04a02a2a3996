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
"""A pull request that gets another target branch is judged against that branch's template and built anew."""

from __future__ import annotations

from bot.demo.world import REPO
from bot.gate.case import Phase
from tests.system.loop.conftest import Opener

TEMPLATE = {".gitcode/PULL_REQUEST_TEMPLATE.zh-CN.md": "### 分支专有一节\n\n- **必填：**\n"}


async def test_another_target_branch_is_another_template(play: Opener) -> None:
    async with play() as p:
        tip = await p.forge.push(REPO, "r2.0", {"README.md": "# r2\n", **TEMPLATE}, author="keeper", message="docs: r2")
        await p.open()
        await p.until_ended()
        pull = p.forge.pull(REPO, p.number)
        pull.target_branch, pull.base_sha = "r2.0", tip
        await p.forge.edit_title(REPO, p.number, "feat: for the release")
        case = await p.until(lambda case: case.outcome is None and case.phase is Phase.DESCRIPTION, "a new check")
        assert case.base_ref == "r2.0"
        assert p.commands() == ["/check-pr", "/retest"]  # the robot is not asked while the description lacks something
        assert any("分支专有一节" in said for said in p.said())
