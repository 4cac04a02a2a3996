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
"""Whose fault a red test is, in the whole loop: imports from git, other builds from the build server."""

from __future__ import annotations

from pathlib import Path

from bot.demo import files, story
from bot.demo.world import AUTHOR, BOT, REPO, WorldOptions
from bot.gate.case import Outcome
from tests.system.loop.conftest import Opener, Play

UNIT = ("UT",)
DOUBLE = "numeric/scale.py"
FLAKY = '''"""A test that fails while a file is there, and takes it away."""
from pathlib import Path

from numeric.scale import double

FLAG = Path({flag!r})


def test_sometimes():
    """
    Feature: scaling
    Description: double a number on a shaky machine
    Expectation: twice the number
    """
    shaky = FLAG.exists()
    FLAG.unlink(missing_ok=True)
    assert not shaky
    assert double(2) == 4
'''
BROKEN = FLAKY.replace("    assert not shaky\n", "    assert not FLAG.name\n")


async def open_on_master(p: Play, changed: dict[str, str], title: str) -> None:
    """A pull request from a branch that starts at the newest commit of the target branch."""
    branch = title.rpartition(" ")[2]
    await p.forge.push(REPO, branch, changed, author=AUTHOR, message=title)
    pull = await p.forge.open_pull_request(
        REPO, author=AUTHOR, title=title, body=files.COMPLETE_BODY, branch=branch, head_repo=REPO
    )
    p.number = pull.number


async def test_a_flake_that_passed_elsewhere_is_run_again(play: Opener, tmp_path: Path) -> None:
    flag = tmp_path / "shaky"
    async with play(stages=UNIT) as p:
        test = FLAKY.format(flag=str(flag))
        await p.forge.push(REPO, "master", {"tests/test_sometimes.py": test}, author=AUTHOR)
        await open_on_master(p, files.GOOD_FILES, "feat: first")
        assert (await p.until_ended()).outcome is Outcome.PASSED
        flag.touch()
        await open_on_master(p, files.GOOD_FILES, "feat: second")
        case = await p.until_ended()
        assert case.outcome is Outcome.PASSED
        assert case.flake_retests == 1
        (said,) = [body for body in p.said() if "正在重跑（第 1/5 次）" in body]
        assert "问题三：不含本 PR 时该测试通过" in said
        assert [run.final for run in p.stage.world.runs()] == ["SUCCESS", "FAILURE", "SUCCESS"]
        # The change does not touch what the test imports, and nothing of it was put on the change's lines.
        assert all(thread.position is None for thread in p.forge.threads(REPO, p.number))


async def test_the_same_failure_of_changed_code_is_the_changes(play: Opener, tmp_path: Path) -> None:
    flag = tmp_path / "shaky"
    async with play(stages=UNIT) as p:
        test = FLAKY.format(flag=str(flag))
        await p.forge.push(REPO, "master", {"tests/test_sometimes.py": test}, author=AUTHOR)
        await open_on_master(p, files.GOOD_FILES, "feat: first")
        assert (await p.until_ended()).outcome is Outcome.PASSED
        flag.touch()
        changed = (
            '"""Scaling."""\n\n\ndef double(value):\n    """Return twice the value."""\n    return value + value\n'
        )
        await open_on_master(p, {DOUBLE: changed}, "fix: scaling")
        case = await p.until_ended()
        assert case.outcome is Outcome.SCOPE_CREEP  # the fault is the change's, the test is not part of it
        assert [item.verdict for item in case.unresolved] == ["pr"]
        assert f"tests/test_sometimes.py → {DOUBLE}" in case.unresolved[0].why


async def test_what_fails_for_others_too_is_the_target_branchs(play: Opener, tmp_path: Path) -> None:
    async with play(stages=UNIT) as p:
        test = BROKEN.format(flag=str(tmp_path / "shaky"))
        await p.forge.push(REPO, "master", {"tests/test_sometimes.py": test}, author=AUTHOR)
        await open_on_master(p, files.GOOD_FILES, "feat: first")
        first = await p.until_ended()
        assert first.outcome is Outcome.SCOPE_CREEP  # nobody knows yet how the test fares elsewhere
        await open_on_master(p, files.GOOD_FILES, "feat: second")
        case = await p.until_ended()
        assert case.outcome is Outcome.STICKY_FLAKE
        (evidence,) = [body for body in p.said() if "问题三" in body]
        assert "test_sometimes" in evidence
        assert "问题一：否" in evidence
        assert "问题二：否" in evidence
        assert f"同样失败（构建 {p.stage.world.runs()[0].number}）" in evidence


async def test_the_demo_shows_line_comments_and_resolves_them(tmp_path: Path) -> None:
    async with story.Stage(tmp_path, options=WorldOptions(state=tmp_path)) as stage:
        ending = await story.play(stage, lambda _happening: None)
        forge = stage.world.forge
        threads = [thread for thread in forge.threads(REPO, ending.case.number) if thread.position is not None]
        assert ending.passed
        assert [thread.position.path for thread in threads if thread.position] == [
            "numeric/clamp.py",
            "numeric/clamp.py",
            "tests/test_clamp.py",
        ]
        assert all(thread.resolved for thread in threads)
        assert any("```suggestion" in thread.notes[0].body for thread in threads)
        notes = [note.body for note in forge.notes_by(REPO, ending.case.number, BOT)]
        assert sum("### 代码检查" in body for body in notes) == 1
        assert ending.calls <= 25
