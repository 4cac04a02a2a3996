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
"""Makes corpus logs: plants faults, runs the real tools on them, and writes what a gate build would print."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.sandbox.jenkins.console import ConsoleLog, Writer, render
from bot.sandbox.jenkins.gate import AGENT_PYTHON, AGENT_WORKSPACE, GateOptions, build_directory
from bot.sandbox.jenkins.report import StageReport

STARTED = datetime(2026, 6, 12, 1, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Expected:
    """A finding that the log must yield; fields that are None are not looked at."""

    stage: str
    tool: str
    rule: str
    file: str = ""
    line: int = 0
    function: str | None = None
    failure_class: str = "code"
    rank: int = -1
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A stage that runs commands of its own: shell text, or recorded lines for what no machine at hand can run."""

    stage: str
    command: str = ""
    recorded: str = ""
    fails: bool = True


@dataclass(frozen=True, slots=True)
class Scenario:
    """One log.

    Attributes:
        name: File name of the log.
        files: What to plant, by path.
        gate: Stages of the real gate to run.
        steps: Further stages, after those.
        expected: All findings, in any order.
        cause: Tool and rule of the first cause; empty when there is none.
        notes: Remarks that the diagnosis must make.
        options: Further options of the gate.
        change: How the finished log is changed: ``crlf``, ``bare`` (no time stamps), ``branches``.
    """

    name: str
    files: dict[str, str | bytes] = field(default_factory=dict)
    gate: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    expected: tuple[Expected, ...] = ()
    cause: tuple[str, str] | None = None
    notes: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    change: str = ""


def make_log(scenario: Scenario) -> bytes:
    """Runs the tools of a scenario and returns the console log."""
    with tempfile.TemporaryDirectory(prefix="corpus-") as directory:
        root = Path(directory)
        for name, content in scenario.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        stages: list[StageReport] = []
        if scenario.gate:
            options = GateOptions(stages=scenario.gate, **scenario.options)
            report = asyncio.run(build_directory(root, files=tuple(sorted(scenario.files)), options=options))
            stages.extend(report.stages)
        stages.extend(_run(step, root) for step in scenario.steps)
        log = ConsoleLog()
        writer = Writer(log, STARTED, timestamps=scenario.change != "bare")
        render(writer, stages, seconds=600.0, cause="Started by user dev-a", agent=AGENT_WORKSPACE)
        text = log.clean()
        return text.replace(b"\n", b"\r\n") if scenario.change == "crlf" else text


def _run(step: Step, root: Path) -> StageReport:
    output = step.recorded.strip("\n")
    code = 1
    if step.command:
        environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin:/usr/local/bin",
            "HOME": str(root),
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "TERM": "dumb",
            "PYTHONPATH": str(root),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PYTEST_ADDOPTS": "-p no:cacheprovider",
        }
        ran = subprocess.run(
            ["bash", "-c", step.command],
            cwd=root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=240,
            check=False,
        )
        output = ran.stdout.decode("utf-8", "replace").rstrip("\n")
        code = ran.returncode
        if (code != 0) != step.fails:
            raise RuntimeError(
                f"For stage {step.stage}, exit code should mean {step.fails=}, but got {code}:\n{output}"
            )
    for real, shown in ((str(root), AGENT_WORKSPACE), (sys.prefix, AGENT_PYTHON), (sys.base_prefix, AGENT_PYTHON)):
        output = output.replace(real, shown)
    lines = output.split("\n")
    if step.fails:
        lines += [f"ERROR: script returned exit code {code}", f"Execute project of {step.stage} is failed"]
    return StageReport(step.stage, "FAILED" if step.fails else "SUCCESS", tuple(lines), 1.0, code if step.fails else 0)
