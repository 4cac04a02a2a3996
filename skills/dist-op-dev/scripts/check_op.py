#!/usr/bin/env python3
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
"""Proves operators: unit tests, cases on ranks, conformance entries, bytes, MindSpore; one table, one exit code.

    python skills/dist-op-dev/scripts/check_op.py Tril_dist_op_plan.md

Exit code: 0 all right · 1 something is wrong · 2 wrong use.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TIMEOUT_S = 900
UNIT = "tests/unit/hyper_parallel"


@dataclass(frozen=True)
class Step:
    """One proof: what ran, whether it succeeded, the line that says so."""

    name: str
    passed: bool
    told: str
    seconds: float
    log: str


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path, nargs="+", help="plan documents whose operators are written already")
    parser.add_argument("--root", type=Path, default=HERE.parents[2], help="the repository (default: this one)")
    parser.add_argument(
        "--quick", action="store_true", help="leave out MindSpore and the sweeps over 2x2 and pending sums"
    )
    parser.add_argument("--stem", help="name of the files, if new_op.py was given one")
    parser.add_argument("--outside", type=Path, help="the directory that new_op.py was given")
    parser.add_argument("--out", type=Path, help="directory for {OpName}_report.md beside the printed table")
    options = parser.parse_args(argv)
    if not (options.root / "hyper_parallel").is_dir():
        parser.error(f"--root should hold hyper_parallel, but got {options.root}")
    root = options.root.resolve()
    sys.path[:0] = [str(HERE), str(HERE.parents[1] / "dist-op-analysis" / "scripts"), str(root)]
    from op_analysis.document import file_name, read
    from op_dev.tests_text import report_arguments

    good = True
    for path in options.plan:
        try:
            plan = read(path)
        except (OSError, ValueError) as error:
            print(f"check_op: {error}", file=sys.stderr)
            return 1
        unit = f"test_parallel_{options.stem or plan['name'].replace('.', '_')}.py"
        home = options.outside.resolve() if options.outside else None
        proofs = commands(plan, report_arguments(plan), (home or root / UNIT) / unit, options.quick)
        if home is not None:
            # The cases on ranks are the repository's own; OpInfo's samples prove the rest.
            proofs = [proof for proof in proofs if proof[0] not in ("ST", "MindSpore")]
        steps: list[Step] = []
        for name, command in proofs:
            steps.append(run(name, command, root, home))
            told = f"{plan['name']}: {name} {steps[-1].told} ({steps[-1].seconds:.0f} s)"
            print(f"[{len(steps)}/{len(proofs)}] {told}", file=sys.stderr, flush=True)
            if not steps[-1].passed:
                break  # the later proofs cost more and would say the same
        good = good and all(step.passed for step in steps)
        told = render(plan["name"], steps, plan["open"])
        print(told, flush=True)
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            report = options.out / file_name(plan["name"]).replace("_dist_op_plan", "_report")
            report.write_text(told, encoding="utf-8")
    return 0 if good else 1


def commands(plan: dict[str, Any], told: list[str], unit: Path, quick: bool) -> list[tuple[str, list[str]]]:
    """The proofs of one operator, in the order in which they fail fastest."""
    plain = plan["name"].replace(".", "_")
    python = [sys.executable, "-m"]
    found = [("UT", [*python, "pytest", "-q", "-c", "pyproject.toml", "-p", "no:cacheprovider", str(unit)])]
    found.append(("ST", [*python, "tests.hyper_parallel.run", "--quiet", "--case", f"{plain}_ops_*"]))
    if plan["entry"]:
        sweep = [*python, "tests.conformance.sweep", "--subject", "ours", "--entries", plan["entry"].replace("@", ".")]
        settings = [["--mesh", "2", "--sizes", "even"], ["--mesh", "3", "--sizes", "uneven"]]
        if not quick:
            settings += [["--mesh", "2x2", "--sizes", "uneven"], ["--mesh", "2", "--sizes", "uneven", "--partial"]]
        found += [(f"OpInfo {' '.join(s for s in setting if s[0] != '-')}", [*sweep, *setting]) for setting in settings]
    if told:
        found.append(("bytes", [*python, "op_dev.traffic", plan["name"], *told]))
    if not quick and importlib.util.find_spec("mindspore") is not None:
        # What MindSpore has no function or kernel for is written down, so that it is known from then on.
        shared = [*python, "tests.hyper_parallel.mindspore.shared", "--case", f"{plain}_ops_*", "--write"]
        found.append(("MindSpore", shared))
    return found


def run(name: str, command: list[str], root: Path, outside: Path | None = None) -> Step:
    """One proof in a process of its own, which also knows the rules of a directory `outside`."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(HERE)]), "OMP_NUM_THREADS": "1"}
    if outside is not None:
        env |= {"HYPER_PARALLEL_OPS_YAML_DIR": str(outside), "HYPER_PARALLEL_OPS_PYTHON_PATH": str(outside)}
    started = time.monotonic()
    try:
        done = subprocess.run(
            command, cwd=root, env=env, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        code, log = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        code, log = -1, f"no end within {error.timeout} s"
    told = summary(name, log)
    return Step(name, code == 0 and passes(name, log), told, time.monotonic() - started, log)


def passes(name: str, log: str) -> bool:
    """What the exit code does not say: an entry that was really tried and is right throughout."""
    if name.startswith("OpInfo"):
        right = re.search(r"^\| forward and gradient right \| (\d+) \|$", log, re.MULTILINE)
        tried = re.search(r"^\| testable \| (\d+) \|$", log, re.MULTILINE)
        return right is not None and tried is not None and int(right[1]) == int(tried[1]) > 0
    return True


def summary(name: str, log: str) -> str:
    """The one line worth reading."""
    lines = [line for line in log.splitlines() if line.strip()]
    if name.startswith("OpInfo"):
        found = dict(re.findall(r"^\| ([a-z -]+) \| (\d+) \|$", log, re.MULTILINE))
        return f"{found.get('forward and gradient right', '?')}/{found.get('testable', '?')} entries, " + (
            f"{found.get('combinations ok', '?')} placements right, {found.get('combinations wrong', '?')} wrong"
        )
    counts = re.findall(r"'(right|of these placed otherwise|absent|wrong)': (\d+)", log) if name == "MindSpore" else []
    if counts:
        return ", ".join(f"{count} {word.removeprefix('of these ')}" for word, count in counts)
    return lines[-1] if lines else "no output"


def render(name: str, steps: list[Step], todo: list[str]) -> str:
    """The table, what the plan leaves open, and the end of what failed."""
    lines = [f"## {name}", "", "| 步骤 | 结果 | 说明 | 秒 |", "|---|---|---|---|"]
    for step in steps:
        lines.append(f"| {step.name} | {'通过' if step.passed else '失败'} | {step.told} | {step.seconds:.1f} |")
    lines += ["", *(f"- [待确认] {point}" for point in todo)] if todo else []
    for step in steps:
        if not step.passed:
            lines += ["", f"### {step.name}", "", "```text", *step.log.splitlines()[-30:], "```"]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
