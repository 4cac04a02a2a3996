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
"""A real gate build: check out a pull request, run the checks on what it changed, tell stage by stage what came out."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from bot.sandbox.jenkins.checkout import Source, Tree, changed_files, check_out
from bot.sandbox.jenkins.checks import CHECKS, Surroundings, Verdict
from bot.sandbox.jenkins.console import ConsoleLog, Writer, render
from bot.sandbox.jenkins.report import GateReport, StageReport

AGENT_WORKSPACE = "/home/jenkins/workspace/Gate"
AGENT_PYTHON = "/home/jenkins/python"
CHECKOUT = "Checkout"
_SLOWEST_FIRST = ("Check_Pylint", "UT")


@dataclass(frozen=True, slots=True)
class GateOptions:
    """How a gate build is run.

    Attributes:
        stages: Stages in console order.
        pytest_targets: What the stage ``UT`` gives to pytest.
        path_prefix: Put before file names in the log, such as ``hyper-parallel/``.
        lizard_gate_form: Complexity findings in the gate's recorded form.
        parallel: How many tools run at a time.
        timeout: Real seconds for one tool.
        agent_workspace: The directory that the log names instead of the real one.
    """

    stages: tuple[str, ...] = tuple(CHECKS)
    pytest_targets: tuple[str, ...] = ("tests",)
    path_prefix: str = ""
    lizard_gate_form: bool = False
    parallel: int = 2
    timeout: float = 300.0
    agent_workspace: str = AGENT_WORKSPACE


Publish = Callable[[StageReport], None]


async def build_pull_request(source: Source, options: GateOptions, publish: Publish = lambda stage: None) -> GateReport:
    """Build a pull request in a fresh workspace, which is removed afterwards.

    Args:
        source: What to build.
        options: How.
        publish: Called with every stage in console order, as early as that order allows.
    """
    with tempfile.TemporaryDirectory(prefix="gate-") as directory:
        root = Path(directory)
        workspace = root / "workspace"
        workspace.mkdir()
        began = time.monotonic()
        tree = await check_out(source, workspace)
        report = GateReport(head_sha=tree.head_sha)
        first = _stage(CHECKOUT, Verdict(tree.lines, bool(tree.code), tree.code), began, options, (workspace, root), ())
        report.stages.append(first)
        publish(first)
        if not tree.code:
            if source.source_branch.startswith("code_docs"):  # such branches run the code checks only
                options = replace(options, stages=tuple(name for name in options.stages if name.startswith("Check_")))
            await _run_checks(report, tree, workspace, root, options, publish)
        return report


async def build_directory(
    directory: Path, *, base: str = "", files: tuple[str, ...] | None = None, options: GateOptions | None = None
) -> GateReport:
    """Run the checks on a directory as it is.

    Args:
        directory: A git work tree, or any directory when ``files`` is given.
        base: Commit or branch the changed files are taken against; empty for every file git would track.
        files: The changed files themselves, relative to ``directory``, instead of asking git.
        options: How to run.
    """
    options = options or GateOptions()
    if files is None:
        files = await changed_files(directory, base)
    report = GateReport()
    with tempfile.TemporaryDirectory(prefix="gate-") as scratch:
        await _run_checks(report, Tree(files=files), directory, Path(scratch), options, lambda stage: None)
    return report


def gate_console(
    directory: Path,
    *,
    base: str = "",
    files: tuple[str, ...] | None = None,
    options: GateOptions | None = None,
    started: datetime = datetime(2026, 6, 12, 1, 0, tzinfo=UTC),
    seconds: float = 600.0,
) -> bytes:
    """Console log (as ``consoleText`` would give it) of a real gate run on a directory.

    Args:
        directory: See :func:`build_directory`.
        base: See :func:`build_directory`.
        files: See :func:`build_directory`.
        options: See :func:`build_directory`.
        started: Time stamp of the first line.
        seconds: Duration that the time stamps pretend.
    """
    report = asyncio.run(build_directory(directory, base=base, files=files, options=options))
    log = ConsoleLog()
    agent = (options or GateOptions()).agent_workspace
    render(Writer(log, started), report.stages, seconds=seconds, cause="Started by user dev-a", agent=agent)
    return log.clean()


async def _run_checks(
    report: GateReport, tree: Tree, workspace: Path, root: Path, options: GateOptions, publish: Publish
) -> None:
    scratch = root / "scratch"
    await asyncio.to_thread(scratch.mkdir)
    around = Surroundings(
        workspace=workspace,
        files=tree.files,
        scratch=scratch,
        pytest_targets=options.pytest_targets,
        lizard_gate_form=options.lizard_gate_form,
        timeout=options.timeout,
    )
    places = asyncio.Semaphore(options.parallel)

    async def one(name: str) -> tuple[StageReport, Verdict]:
        async with places:
            began = time.monotonic()
            verdict = await CHECKS[name](around)
            return _stage(name, verdict, began, options, (workspace, root), tree.files), verdict

    order = sorted(options.stages, key=lambda name: (name not in _SLOWEST_FIRST, options.stages.index(name)))
    async with asyncio.TaskGroup() as group:
        tasks = {name: group.create_task(one(name)) for name in order}
        for name in options.stages:
            stage, verdict = await tasks[name]
            if verdict.junit is not None:
                report.junit = await asyncio.to_thread(verdict.junit.read_bytes)
            report.stages.append(stage)
            publish(stage)


def _stage(
    name: str, verdict: Verdict, began: float, options: GateOptions, places: tuple[Path, ...], files: tuple[str, ...]
) -> StageReport:
    hidden = {str(form): options.agent_workspace for place in places for form in (place.resolve(), place.absolute())}
    hidden[sys.prefix] = AGENT_PYTHON
    lines = [_told(line, hidden, options, files) for line in verdict.lines]
    if verdict.failed:
        lines.append(f"ERROR: script returned exit code {verdict.code}")
        lines.append(f"Execute project of {name} is failed")
    status = "FAILED" if verdict.failed else "SUCCESS"
    return StageReport(name, status, tuple(lines), time.monotonic() - began, verdict.code)


def _told(line: str, hidden: dict[str, str], options: GateOptions, files: tuple[str, ...]) -> str:
    for path, name in hidden.items():
        line = line.replace(path, name)
    if options.path_prefix and line.partition(":")[0] in files:
        line = options.path_prefix + line
    return line
