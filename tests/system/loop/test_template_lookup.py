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
"""The template is found wherever a repository keeps it, with few calls."""

from __future__ import annotations

from collections.abc import Mapping

from bot.demo.world import BOT, MAINTAINER_LOGIN, REPO
from bot.runtime.find_template import find_template
from tests.system.loop.conftest import Opener, Play

BEST = ".gitcode/PULL_REQUEST_TEMPLATE.zh-CN.md"
CROWDED = {f"{name}/README.md": "x" for name in (".gitcode", ".gitee", ".atomgit", ".github", "docs")}
ODD = ".gitee/pull_request_template.zh-cn.md"

KEPT: tuple[tuple[Mapping[str, str], str, int], ...] = (
    ({BEST: "t", "docs/PULL_REQUEST_TEMPLATE.md": "d"}, BEST, 1),
    ({ODD: "t", "docs/PULL_REQUEST_TEMPLATE.md": "d"}, ODD, 4),
    ({"Pull_Request_Template.md": "t", ".github/PULL_REQUEST_TEMPLATE.md": "g"}, "Pull_Request_Template.md", 3),
    ({".GitHub/PULL_REQUEST_TEMPLATE.md": "t", "src/a.md": "s"}, ".GitHub/PULL_REQUEST_TEMPLATE.md", 4),
    ({"src/PULL_REQUEST_TEMPLATE.md": "s"}, "", 2),
    ({"docs/pull_request_template.en.md": "t"}, "docs/pull_request_template.en.md", 4),
    ({".gitcode/PULL_REQUEST_TEMPLATE.md/a.md": "a directory", "README.md": "r"}, "", 3),
    ({**CROWDED, ".atomgit/PULL_REQUEST_TEMPLATE.md": "t"}, ".atomgit/PULL_REQUEST_TEMPLATE.md", 6),
    ({**CROWDED, "PULL_REQUEST_TEMPLATE.md": "t"}, "PULL_REQUEST_TEMPLATE.md", 6),
    (CROWDED, "", 5),
    ({"README.md": "r"}, "", 2),
)


def reads(p: Play) -> int:
    """How often contents were asked for so far."""
    return len(p.forge.calls(BOT, path="/contents"))


async def test_every_spelling_is_found_within_six_calls_and_read_once_per_base_commit(play: Opener) -> None:
    async with play(hooks=False, robot=False) as p:
        number = await p.open()
        outside = p.stage.server.service.outside()
        pull = await outside.forge.pull_request(REPO, number)
        told = []
        for index, (files, _, _) in enumerate(KEPT):
            repo = f"owner/repo-{index}"
            await p.forge.create_repo(repo, files=files, members={BOT: 30})
            there = pull.model_copy(update={"repo": repo, "base_sha": "", "base_ref": "master"})
            before = reads(p)
            found = await find_template(there, outside)
            told.append((found.path, reads(p) - before))
            assert await find_template(there, outside) == found
            assert reads(p) - before == told[-1][1]
        assert told == [(path, calls) for _, path, calls in KEPT]


async def test_a_template_that_moved_is_found_again_and_its_new_place_is_tried_first(play: Opener) -> None:
    async with play(hooks=False, robot=False) as p:
        number = await p.open()
        outside = p.stage.server.service.outside()
        pull = await outside.forge.pull_request(REPO, number)
        repo = "owner/moving"
        await p.forge.create_repo(repo, files={ODD: "one"}, members={BOT: 30, MAINTAINER_LOGIN: 40})
        steps: tuple[dict[str, str | None], ...] = ({"README.md": "r"}, {ODD: None, "docs/a.md": "d", BEST: "two"}, {})
        told = []
        for index, changed in enumerate((*steps, steps[0])):
            sha = await p.forge.push(repo, "master", {**changed, "n": str(index)}, author=MAINTAINER_LOGIN)
            there = pull.model_copy(update={"repo": repo, "base_sha": sha, "base_ref": "master"})
            before = reads(p)
            found = await find_template(there, outside)
            told.append((found.path, found.text, reads(p) - before))
        assert told == [(ODD, "one", 4), (BEST, "two", 4), (BEST, "two", 1), (BEST, "two", 1)]
