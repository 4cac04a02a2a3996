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
"""Builds of the sandbox Jenkins run the real tools on what was pushed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.build_server import Build
from bot.jenkins import JenkinsClient
from bot.sandbox.clock import VirtualClock
from bot.sandbox.jenkins import GateOptions, PullRequestTrigger, SandboxJenkins, Source

GOOD = '''"""Arithmetic."""


def add(left, right):
    """Return the sum of both."""
    return left + right
'''
BAD = GOOD.replace('"""Arithmetic."""\n', '"""Arithmetic."""\nimport os\n').replace("Return", "Recieve")
GOOD_TEST = '''"""Tests of arithmetic."""
from pkg.calc import add


def test_add():
    """
    Feature: addition
    Description: add two small numbers
    Expectation: their sum
    """
    assert add(1, 2) == 3
'''
BAD_TEST = GOOD_TEST.replace(
    '''"""
    Feature: addition
    Description: add two small numbers
    Expectation: their sum
    """''',
    '"""Adds."""',
)


async def start(client: JenkinsClient, clock: VirtualClock, **parameters: str) -> Build:
    """Start the job and return the finished build."""
    queue_id = await client.start(parameters)
    for _ in range(100):
        item = await client.queue_item(queue_id)
        if item.build_number:
            build = await client.build(item.build_number)
            if not build.running:
                return build
        await clock.sleep(60)
    raise AssertionError("the build never ended")


async def console(client: JenkinsClient, number: int) -> str:
    return b"".join([chunk async for chunk in client.console(number)]).decode()


async def test_three_planted_faults_make_a_red_build_and_their_repair_a_green_one(
    repository: Any, client: JenkinsClient, clock: VirtualClock
) -> None:
    head = repository.push(64, {"pkg/calc.py": BAD, "tests/test_calc.py": BAD_TEST})
    red = await start(client, clock, giteePullRequestIid="64")
    log = await console(client, red.number)
    assert (red.result, red.pull_request, red.head_sha) == ("FAILURE", 64, head)
    assert red.duration_ms == 603_000  # what it pretends, not the seconds it took
    assert "pkg/calc.py:2: [W0611(unused-import), ] Unused import os" in log
    assert "pkg/calc.py:6: Recieve ==> Receive" in log
    assert "[ERROR] Codespell error number: 1" in log
    assert "[PYTHON] Function 'test_add' is missing: Feature:, Description:, Expectation:" in log
    for stage in ("Check_Pylint", "Check_Codespell", "Check_DT_Design"):
        assert f"Execute project of {stage} is failed" in log
    assert "Execute project of UT is failed" not in log
    assert "\x1b" not in log
    assert str(repository.path.parent / "gate-") not in log
    failed = {stage.name for stage in await client.stages(red.number) if stage.status == "failed"}
    assert failed == {"Check_Pylint", "Check_Codespell", "Check_DT_Design"}

    repository.push(64, {"pkg/calc.py": GOOD, "tests/test_calc.py": GOOD_TEST})
    green = await start(client, clock, giteePullRequestIid="64")
    assert green.result == "SUCCESS"
    assert (await console(client, green.number)).endswith("Finished: SUCCESS\n")
    tests = await client.tests(green.number)
    assert tests is not None
    assert [(case.suite, case.name, case.status) for case in tests] == [("tests.test_calc", "test_add", "passed")]


async def test_failing_test_shows_in_log_and_report_with_its_age(
    repository: Any, client: JenkinsClient, clock: VirtualClock
) -> None:
    repository.push(7, {"pkg/calc.py": GOOD, "tests/test_calc.py": GOOD_TEST.replace("== 3", "== 4")})
    first = await start(client, clock, giteePullRequestIid="7")
    second = await start(client, clock, giteePullRequestIid="7")
    assert "FAILED tests/test_calc.py::test_add - assert 3 == 4" in await console(client, second.number)
    reports = [await client.tests(build.number) for build in (first, second)]
    ages = [(case.status, case.age, case.failed_since) for report in reports for case in report or []]
    assert ages == [("failed", 1, first.number), ("failed", 2, first.number)]


async def test_tab_utf8_complexity_and_conflict_are_found(
    repository: Any, client: JenkinsClient, clock: VirtualClock
) -> None:
    branches = "".join(f"    if left == {n}:\n        return {n}\n" for n in range(25))
    maze = f'"""Maze."""\n\n\ndef maze(left):\n    """Walk through."""\n{branches}    return left\n'
    repository.push(8, {"pkg/maze.py": maze, "doc.md": "a\tb\n", "run.sh": "echo hi\n"})
    (repository.path / "bad.txt").write_bytes("注释".encode("gbk"))
    log = await console(client, (await start(client, clock, giteePullRequestIid="8")).number)
    assert "doc.md:1: tab character found" in log
    assert "pkg/maze.py:4: warning: maze has 52 NLOC, 26 CCN" in log
    repository.git("checkout", "-q", "topic-8")
    repository.git("add", "bad.txt")
    repository.git("commit", "-q", "-m", "docs: notes")
    repository.git("update-ref", "refs/merge-requests/8/head", "HEAD")
    repository.git("checkout", "-q", "master")
    repository.commit("feat: other maze", {"pkg/maze.py": '"""Other."""\n'})
    build = await start(client, clock, giteePullRequestIid="8")
    log = await console(client, build.number)
    assert "CONFLICT (add/add): Merge conflict in pkg/maze.py" in log
    assert [(stage.name, stage.status) for stage in await client.stages(build.number)] == [("Checkout", "failed")]


async def test_bytes_that_are_no_utf8_are_named(repository: Any, client: JenkinsClient, clock: VirtualClock) -> None:
    (repository.path / "bad.txt").write_bytes(b"ok \xc4\xe3\n")
    repository.push(9, {"good.txt": "好\n"})
    log = await console(client, (await start(client, clock, giteePullRequestIid="9")).number)
    assert "bad.txt: non-UTF-8 byte at offset 3" in log
    assert "[ERROR] Utf8 error number: 1" in log


async def test_pull_request_that_does_not_exist_fails_at_the_checkout(
    client: JenkinsClient, clock: VirtualClock
) -> None:
    build = await start(client, clock, giteePullRequestIid="999")
    assert build.result == "FAILURE"
    assert "fatal: couldn't find remote ref refs/merge-requests/999/head" in await console(client, build.number)
    nothing = await start(client, clock, giteePullRequestIid="")
    assert nothing.result == "FAILURE"


async def test_head_that_was_asked_for_is_built_though_the_branch_moved_on(
    repository: Any, jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock
) -> None:
    old = repository.push(64, {"pkg/calc.py": GOOD})
    repository.push(64, {"pkg/calc.py": BAD})
    trigger = PullRequestTrigger(
        source=Source(64, repository.url, head_sha=old, source_branch="topic-64"), user="dev-a"
    )
    entry = jenkins.trigger_pull_request("Gate", trigger)
    await clock.sleep(700)
    assert entry.run is not None
    build = await client.build(entry.run.number)
    assert (build.result, build.head_sha) == ("SUCCESS", old)


async def test_code_docs_branch_runs_the_code_checks_only(
    repository: Any, jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock
) -> None:
    repository.push(5, {"tests/test_calc.py": "def test_x():\n    assert False\n"})
    source = Source(5, repository.url, source_branch="code_docs_sort")
    jenkins.trigger_pull_request("Gate", PullRequestTrigger(source=source))
    await clock.sleep(700)
    stages = [stage.name for stage in await client.stages(1)]
    assert "Check_Pylint" in stages
    assert "UT" not in stages


async def test_gate_runs_on_a_directory_from_the_command_line(repository: Any) -> None:
    repository.push(3, {"pkg/calc.py": BAD})
    repository.git("checkout", "-q", "topic-3")
    ran = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "bot.sandbox.jenkins.build", str(repository.path), "--base", "master"],
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr == b""
    assert b"pkg/calc.py:2: [W0611(unused-import), ] Unused import os" in ran.stdout
    assert str(repository.path).encode() not in ran.stdout
    assert b"pkg/__init__.py" not in ran.stdout  # unchanged against the base


async def test_hostile_file_names_are_only_names(repository: Any, client: JenkinsClient, clock: VirtualClock) -> None:
    names = ["--help.py", "-rf.py", "pkg/a b.py", "pkg/$(touch x).py", "pkg/测试.py", "pkg/new\nline.py"]
    head = repository.push(64, dict.fromkeys(names, BAD))
    (repository.path / "link.py").symlink_to("/etc/passwd")
    build = await start(client, clock, giteePullRequestIid="64")
    log = await console(client, build.number)
    assert build.head_sha == head
    for name in names[:5]:
        assert f"{name}:2: [W0611(unused-import), ] Unused import os" in log
        assert f"{name}:6: Recieve ==> Receive" in log
    assert "root:" not in log


async def until(reached: Callable[[], bool]) -> None:
    while not reached():  # noqa: ASYNC110 - another process is waited for
        await asyncio.sleep(0.05)


async def test_stopped_build_leaves_no_process_and_no_workspace_behind(
    repository: Any, jenkins: SandboxJenkins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    told = tmp_path / "pid"
    sleeper = f"import os, time, pathlib\ndef test_x():\n    pathlib.Path({str(told)!r}).write_text(str(os.getpid()))\n"
    repository.push(64, {"tests/test_slow.py": f"{sleeper}    time.sleep(600)\n"})
    entry = jenkins.trigger_pull_request("Gate", PullRequestTrigger(source=Source(64, repository.url)))
    await asyncio.wait_for(until(lambda: told.exists() and bool(told.read_text())), 60)
    assert jenkins.abort_pull_request("Gate", 64, "dev-a") == [1]
    assert entry.run is not None
    assert entry.run.task is not None
    await asyncio.wait([entry.run.task])
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)
    assert list(scratch.iterdir()) == []


async def test_test_that_never_ends_is_cut_off(
    repository: Any, jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock
) -> None:
    jenkins.change_job("Gate", gate=GateOptions(stages=("UT",), timeout=1.5))
    repository.push(64, {"tests/test_slow.py": "import time\ndef test_x():\n    time.sleep(600)\n"})
    build = await start(client, clock, giteePullRequestIid="64")
    assert build.result == "FAILURE"
    assert "script returned exit code 124" in await console(client, build.number)


async def test_names_in_the_log_may_begin_with_the_repository_and_complexity_take_the_gates_form(
    repository: Any, jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock
) -> None:
    jenkins.change_job("Gate", gate=GateOptions(path_prefix="hyper-parallel/", lizard_gate_form=True))
    branches = "".join(f"    if left == {n}:\n        return {n}\n" for n in range(25))
    repository.push(
        64, {"pkg/maze.py": f'"""M."""\nimport os\n\n\ndef maze(left):\n    """Walk."""\n{branches}    return 0\n'}
    )
    log = await console(client, (await start(client, clock, giteePullRequestIid="64")).number)
    assert "hyper-parallel/pkg/maze.py:2: [W0611(unused-import), ] Unused import os" in log
    assert "hyper-parallel/pkg/maze.py:5: maze: cyclomatic complexity = 26 (threshold 19)" in log


async def test_rules_of_the_repository_win(repository: Any, client: JenkinsClient, clock: VirtualClock) -> None:
    repository.commit(
        "chore: rules",
        {
            ".jenkins/rules/pylint/pylintrc": "[MESSAGES CONTROL]\ndisable=all\nenable=missing-final-newline\n",
            ".jenkins/rules/codespell/codespell.allow": "recieve\n",
        },
    )
    repository.push(64, {"pkg/calc.py": BAD.rstrip()})
    log = await console(client, (await start(client, clock, giteePullRequestIid="64")).number)
    assert "pkg/calc.py:7: [C0304(missing-final-newline), ] Final newline missing" in log
    assert "W0611" not in log
    assert "Codespell error" not in log
