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
"""The whole repair on real git with real checkers."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.errors import RetryLater, TellOperator
from bot.gate.finding import Finding
from bot.repair.guard import judge, staged
from bot.repair.service import repair
from bot.repair.workspace import mirror_path, open_workspace

MODULE = b'''"""Helpers of the mesh."""
import os
import subprocess


def start(command):
    """Start teh command."""
    return subprocess.run(command)


VALUE = 1\x20\x20
END = 2'''
TEST = b'''"""Tests of the mesh."""
from src.mesh import start


def test_start_of_a_command():
    assert start(["true"]).returncode == 0
'''
FINDINGS = (
    Finding(tool="pylint", rule="W0611", stage="Check_Pylint", file="src/mesh.py", line=2, message="Unused import os"),
    Finding(
        tool="pylint",
        rule="W1510",
        file="hyper-parallel/src/mesh.py",
        line=8,
        column=12,
        message="'subprocess.run' used without explicitly defining the value for 'check'.",
    ),
    Finding(tool="codespell", rule="typo", file="src/mesh.py", line=7, message="teh ==> the"),
    Finding(tool="pylint", rule="C0303", file="src/mesh.py", line=11, message="Trailing whitespace"),
    Finding(tool="pylint", rule="C0304", file="src/mesh.py", line=12, message="Final newline missing"),
    Finding(
        tool="dt_design",
        rule="docstring-fields",
        function="test_start_of_a_command",
        message="[PYTHON] Function 'test_start_of_a_command' is missing: Feature:, Description:, Expectation:",
    ),
)
FILES = ("src/mesh.py", "tests/test_mesh.py")


@pytest.fixture
def forge(tmp_path: Path, kit: Any) -> Any:
    return kit.make_forge(tmp_path, {}, {"src/mesh.py": MODULE, "tests/test_mesh.py": TEST})


async def test_all_first_recipes_in_one_pushed_commit(forge: Any, kit: Any) -> None:
    task = forge.task(FINDINGS, FILES)
    outcome = await repair(task)
    assert [reason.plain("en") for _, reason in outcome.refused] == []
    assert outcome.status == "pushed"
    assert set(outcome.fixed) == set(FINDINGS)
    assert forge.tip("dev") == outcome.commit_sha
    assert kit.git(forge.origin, "rev-parse", "dev^") == task.head_sha
    assert (
        forge.show("dev", "src/mesh.py").decode()
        == '''"""Helpers of the mesh."""
import subprocess


def start(command):
    """Start the command."""
    return subprocess.run(command, check=False)


VALUE = 1
END = 2
'''
    )
    assert (
        forge.show("dev", "tests/test_mesh.py").decode()
        == '''"""Tests of the mesh."""
from src.mesh import start


def test_start_of_a_command():
    """
    Feature: Test start of a command.
    Description: Call start.
    Expectation: start(['true']).returncode == 0 holds.
    """
    assert start(["true"]).returncode == 0
'''
    )
    message = kit.git(forge.origin, "log", "-1", "--format=%B", "dev")
    assert message.startswith("fix(gate): Check_Pylint ")
    assert "Check_Codespell typo" in message
    assert "\n\nGateBot-Case: mindspore/hyper-parallel#647" in message
    assert (
        kit.git(forge.origin, "log", "-1", "--format=%an <%ae> %cn", "dev") == "gatebot <gatebot@example.com> gatebot"
    )
    assert {check.check for check in outcome.checks} == {"Check_Pylint", "Check_Codespell", "Check_DT_Design"}
    assert "+    return subprocess.run(command, check=False)" in outcome.patch


async def test_nothing_is_left_behind(forge: Any, kit: Any) -> None:
    task = forge.task(FINDINGS[:1], FILES)
    await repair(task)
    assert [path for path in (forge.state / "trees").rglob("*") if path.is_file()] == []
    assert kit.git(mirror_path(task), "worktree", "list").count("\n") == 0


async def test_a_second_run_after_a_lost_answer_pushes_nothing(forge: Any) -> None:
    task = forge.task(FINDINGS, FILES)
    first = await repair(task)
    again = await repair(task)
    assert again.status == "pushed"
    assert again.commit_sha == first.commit_sha
    assert set(again.fixed) == set(FINDINGS)
    assert again.patch == first.patch
    assert len(forge.log("dev")) == 3


async def test_a_moved_head_is_left_alone(forge: Any) -> None:
    task = forge.task(FINDINGS, FILES)
    newer = forge.commit({"src/other.py": b"X = 1\n"})
    forge.push("dev")
    outcome = await repair(task)
    assert outcome.status == "head-moved"
    assert forge.tip("dev") == newer


async def test_a_branch_put_back_by_its_author_is_left_alone(forge: Any, kit: Any) -> None:
    task = forge.task(FINDINGS[:1], FILES)
    kit.git(forge.clone, "reset", "--hard", "--quiet", "HEAD^")
    forge.push("dev", force=True)
    outcome = await repair(task)
    assert outcome.status == "head-moved"
    assert forge.tip("dev") == forge.tip("master")


async def test_propose_gives_a_patch_and_pushes_nothing(forge: Any) -> None:
    task = forge.task(FINDINGS[:1], FILES, mode="propose")
    outcome = await repair(task)
    assert outcome.status == "proposed"
    assert "-import os" in outcome.patch
    assert outcome.commit_sha == ""
    assert forge.tip("dev") == task.head_sha


async def test_a_refused_push_becomes_a_proposal(forge: Any) -> None:
    hook = forge.origin / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho protected branch >&2\nexit 1\n")
    hook.chmod(0o755)
    task = forge.task(FINDINGS[:1], FILES)
    outcome = await repair(task)
    assert outcome.status == "proposed"
    assert outcome.detail is not None
    assert outcome.detail.text_id == "no-push-right"
    assert forge.tip("dev") == task.head_sha


async def test_a_finding_of_an_older_build_is_refused(forge: Any) -> None:
    stale = replace(FINDINGS[0], line=3, message="Unused import sys")
    outcome = await repair(forge.task((stale,), FILES))
    assert outcome.status == "refused"
    assert [reason.text_id for _, reason in outcome.refused] == ["not-reproduced"]
    assert forge.log("dev") == ["feat: change", "feat: base"]


async def test_files_outside_the_pull_request_are_refused(forge: Any) -> None:
    outcome = await repair(forge.task(FINDINGS[:1], ("tests/test_mesh.py",)))
    assert [reason.text_id for _, reason in outcome.refused] == ["outside-pr"]


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", ".git/config", "src/../../x.py", ""])
async def test_hostile_paths_are_refused(forge: Any, path: str) -> None:
    finding = replace(FINDINGS[0], file=path)
    outcome = await repair(forge.task((finding,), (*FILES, path)))
    assert outcome.status == "refused"


async def test_a_link_is_never_followed(tmp_path: Path, kit: Any) -> None:
    secret = tmp_path / "secret.py"
    secret.write_bytes(MODULE)
    forge = kit.make_forge(tmp_path / "forge", {}, {"src/mesh.py": MODULE})
    os.symlink(secret, forge.clone / "src" / "link.py")
    forge.commit({})
    forge.push("dev")
    finding = replace(FINDINGS[0], file="src/link.py")
    outcome = await repair(forge.task((finding,), ("src/link.py",)))
    assert [reason.text_id for _, reason in outcome.refused] == ["not-a-plain-file"]
    assert secret.read_bytes() == MODULE


async def test_attributes_hooks_and_rcfile_of_the_pull_request_run_nothing(tmp_path: Path, kit: Any) -> None:
    canary = tmp_path / "canary"
    rcfile = f'[MASTER]\ninit-hook=\'open("{canary}", "w").close()\'\nload-plugins=evil\n'.encode()
    evil = f"open({str(canary)!r}, 'w').close()\n".encode()
    change = {
        ".gitattributes": b"* text eol=crlf filter=x diff=x working-tree-encoding=UTF-16\n",
        ".jenkins/rules/pylint/pylintrc": rcfile,
        "evil.py": evil,
        "pylint.py": evil,
        "json.py": evil,
        "codespell_lib.py": evil,
        "src/mesh.py": MODULE.replace(b"\n", b"\r\n"),
    }
    forge = kit.make_forge(tmp_path, {}, {})
    for name, content in change.items():
        (forge.clone / name).parent.mkdir(parents=True, exist_ok=True)
        (forge.clone / name).write_bytes(content)
    kit.git(
        forge.clone,
        "-c",
        "core.attributesFile=/dev/null",
        "update-index",
        "--add",
        "--cacheinfo",
        "100644," + kit.git(forge.clone, "hash-object", "-w", "--no-filters", "src/mesh.py") + ",src/mesh.py",
    )
    for name in change:
        if name != "src/mesh.py":
            blob = kit.git(forge.clone, "hash-object", "-w", "--no-filters", name)
            kit.git(forge.clone, "update-index", "--add", "--cacheinfo", f"100644,{blob},{name}")
    kit.git(forge.clone, "commit", "--quiet", "-m", "feat: hostile")
    forge.push("dev")
    outcome = await repair(forge.task(FINDINGS[:1], ("src/mesh.py",)))
    assert outcome.status == "pushed"
    assert not canary.exists()
    assert forge.show("dev", "src/mesh.py") == MODULE.replace(b"\n", b"\r\n").replace(b"import os\r\n", b"")


async def test_several_pull_requests_at_once(forge: Any, kit: Any) -> None:
    tasks = []
    for number in (1, 2, 3):
        kit.git(forge.clone, "checkout", "--quiet", "-B", f"dev{number}", "origin/dev")
        forge.commit({"src/mesh.py": MODULE + f"\nNUMBER = {number}\n".encode()})
        forge.push(f"dev{number}")
        tasks.append(
            forge.task(FINDINGS[:1], FILES, number=number, head_ref=f"dev{number}", head_sha=forge.tip(f"dev{number}"))
        )
    outcomes = await asyncio.gather(*(repair(task) for task in tasks))
    assert [outcome.status for outcome in outcomes] == ["pushed"] * 3
    assert [forge.tip(f"dev{number}") for number in (1, 2, 3)] == [outcome.commit_sha for outcome in outcomes]


def _until_checked_out(trees: Path) -> None:
    while not list(trees.glob("*/*/src/mesh.py")):
        time.sleep(0.01)


async def test_a_cancelled_repair_pushes_nothing_and_cleans_up(forge: Any) -> None:
    task = forge.task(FINDINGS, FILES)
    running = asyncio.create_task(repair(task))
    trees = forge.state / "trees"
    await asyncio.to_thread(_until_checked_out, trees)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert forge.tip("dev") == task.head_sha
    assert list(trees.glob("*/*")) == []


async def test_trees_of_a_dead_process_are_pruned(forge: Any, kit: Any) -> None:
    task = forge.task(FINDINGS[:1], FILES)
    await repair(forge.task(FINDINGS[:1], FILES, mode="propose"))
    mirror = mirror_path(task)
    stale = forge.state / "trees" / mirror.stem / "647-dead"
    kit.git(mirror, "worktree", "add", "--quiet", "--detach", str(stale), task.head_sha)
    stale.with_suffix(".lock").touch()
    with open_workspace(task) as workspace:
        assert not stale.exists()
        assert workspace.root.exists()
        listed = kit.git(mirror, "worktree", "list")
        assert "647-dead" not in listed
    assert list(stale.parent.iterdir()) == []


async def test_unreachable_and_loaded_urls(forge: Any) -> None:
    closed = "http://127.0.0.1:9/x.git"
    with pytest.raises(RetryLater):
        await repair(forge.task(FINDINGS[:1], FILES, clone_url=closed, push_url=closed))
    with pytest.raises(TellOperator) as told:
        await repair(forge.task(FINDINGS[:1], FILES, push_url="https://bot:hunter2@example.invalid/x.git"))
    assert "hunter2" not in str(told.value)


async def test_a_secret_of_the_service_never_leaves_in_a_repair(forge: Any) -> None:
    # The made-up docstring would quote the assertion, and with it the token that somebody put there.
    token = "hunter2-hunter2-hunter2"
    source = f'"""Doc."""\n\n\ndef test_a():\n    assert login("{token}")\n'.encode()
    forge.commit({"tests/test_token.py": source})
    forge.push("dev")
    finding = Finding(tool="dt_design", function="test_a", file="tests/test_token.py", message="missing: Feature")
    task = forge.task((finding,), ("tests/test_token.py",), known_secrets=lambda: (token,))
    outcome = await repair(task)
    assert outcome.status == "refused"
    assert [reason.text_id for _, reason in outcome.refused] == ["guard-secret"]
    assert outcome.patch == ""
    assert forge.tip("dev") == task.head_sha


async def test_pull_request_configuration_does_not_soften_the_checks(tmp_path: Path, kit: Any) -> None:
    change = {
        ".codespellrc": b"[codespell]\nskip = *\nwrite-changes =\n",
        "setup.cfg": b"[codespell]\nskip = *\n[pylint]\ndisable = all\n",
        ".pylintrc": b"[MASTER]\nignore=src\n",
        "pyproject.toml": b"[tool.pylint.main]\nignore = ['mesh.py']\n[tool.codespell]\nskip='*'\n",
        "src/mesh.py": MODULE,
    }
    forge = kit.make_forge(tmp_path, {}, change)
    outcome = await repair(forge.task(FINDINGS[:3], ("src/mesh.py",)))
    assert set(outcome.fixed) == set(FINDINGS[:3])


async def test_a_source_repository_we_may_not_see_still_gets_a_patch(forge: Any, kit: Any) -> None:
    head = forge.tip("dev")
    kit.git(forge.origin, "update-ref", "refs/merge-requests/647/head", head)
    hidden = (forge.origin.parent / "hidden.git").as_uri()
    task = forge.task(FINDINGS[:1], FILES, head_sha=head, push_url=hidden)
    kit.git(forge.origin, "update-ref", "-d", "refs/heads/dev")
    outcome = await repair(task)
    assert outcome.status == "proposed"
    assert outcome.detail is not None
    assert "对 GateBot 不可见" in outcome.detail.text()  # git is told the same as of a deleted one
    assert "-import os" in outcome.patch


def test_what_is_staged_is_judged_whatever_made_it(forge: Any, kit: Any) -> None:
    allowed = frozenset(FILES)

    def objections(plant: Any) -> set[str]:
        with open_workspace(forge.task((), FILES)) as workspace:
            plant(workspace.root)
            return {reason.text_id for reason in judge(staged(workspace), allowed)}

    assert objections(lambda root: None) == {"guard-empty"}
    assert objections(lambda root: (root / "src/mesh.py").write_bytes(MODULE.replace(b"\x20\x20\n", b"\n"))) == set()
    assert "guard-path" in objections(lambda root: (root / "src/new.py").write_text("X = 1\n"))
    assert "guard-mode" in objections(lambda root: (root / "src/mesh.py").unlink())
    assert "guard-path" in objections(lambda root: kit.git(root / "src", "init", "--quiet"))
    assert "guard-path" in objections(lambda root: (root / ".gitignore").write_text("src\n"))
    assert "read-only" in objections(lambda root: (root / "tests/test_mesh.py").write_bytes(b"X = 1\n"))


async def test_an_ignored_file_is_still_seen_by_the_guard(forge: Any) -> None:
    forge.commit({".gitignore": b"*.log\n"})
    forge.push("dev")
    with open_workspace(forge.task((), FILES)) as workspace:
        (workspace.root / "a.log").write_text("hidden\n")
        assert [change.path for change in staged(workspace)] == ["a.log"]
