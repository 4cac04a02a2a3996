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
"""From nothing to a proved operator: analysis, scaffold and proof by the skills' scripts, with the time each took.

    python -m benchmarks.skills_new_op
    python -m benchmarks.skills_new_op --ops tril,linalg.inv --full --again

Works on a copy of the package from which the operators' rules (and those of their next of kin, so that the rule has to
be found and not borrowed) are taken away. CPU seconds are those of all child processes: on a busy machine they say more
than the wall clock. Every operator is kept as soon as it is done; a run that was cut off goes on with the others,
and with those that were not proved.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks.report import RESULTS, keep, table

ROOT = Path(__file__).parents[1]
NAME = "skills_new_op"
OPS: dict[str, tuple[str, ...]] = {
    # operator: rules that are taken away
    "tril": ("tril", "triu"),
    "linalg.inv": ("linalg_inv",),
    "cumsum": ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"),
    "nn.functional.mse_loss": ("mse_loss",),
    "logaddexp": ("logaddexp",),
}
STEP_S = 1500
_COPIED = (
    "hyper_parallel", "tests/hyper_parallel", "tests/unit/hyper_parallel", "tests/conformance", "tests/ranks",
    "tests/conftest.py", "benchmarks", "pyproject.toml",
)  # fmt: skip


def scratch(target: Path, root: Path = ROOT) -> Path:
    """A copy of what an operator needs: the package, its tests and the harness.

    Cases of the rules that are there stay behind: they ask for what was written by hand, such as carries in a scan.
    """
    for name in _COPIED:
        source, copy = root / name, target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "results", "case_*.py"))
        else:
            shutil.copy(source, copy)
    return target


def strip(tree: Path, names: Sequence[str]) -> list[str]:
    """Takes the entries of these operators out of a tree; those that were there."""
    found = []
    for path in sorted((tree / "hyper_parallel" / "ops" / "yaml").glob("*.yaml")):
        entries = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        gone = [name for name in names if name in entries]
        if gone:
            path.write_text(yaml.safe_dump({k: v for k, v in entries.items() if k not in gone}), encoding="utf-8")
            found += gone
    return found


def step(op: str, script: str, *arguments: str) -> tuple[int, str, float, float]:
    """Exit code (-1: no end in time), output, wall and CPU seconds of a script; what it says meanwhile is shown."""
    print(f"{op}: {Path(script).stem} …", file=sys.stderr, flush=True)
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, script, *arguments]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, timeout=STEP_S, check=False)
        code, told = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        code, told = -1, f"no end within {STEP_S} s"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return code, told, round(time.monotonic() - started, 1), round(cpu, 1)


def measure(op: str, away: Sequence[str], full: bool) -> dict[str, Any]:
    """One operator, from an empty plan to its table of proofs."""
    with tempfile.TemporaryDirectory(prefix="new-op-") as name:
        tree = scratch(Path(name) / "tree")
        strip(tree, away)
        plans = Path(name) / "plans"
        where = ["--root", str(tree)]
        analysis = step(op, "skills/dist-op-analysis/scripts/analyse.py", op, "--out", str(plans), "--no-ranks", *where)
        row: dict[str, Any] = {"analysis": analysis[2:], "told": analysis[1].strip()}
        plan = next(plans.glob("*_plan.md"), None) if plans.is_dir() else None
        if plan is None:
            return {**row, "result": "no plan"}
        new = step(op, "skills/dist-op-dev/scripts/new_op.py", str(plan), *where)
        row |= {"scaffold": new[2:], "open": [line[6:] for line in new[1].splitlines() if line.startswith("open: ")]}
        proof = step(op, "skills/dist-op-dev/scripts/check_op.py", str(plan), *where, *([] if full else ["--quick"]))
        return row | {"proof": proof[2:], "result": "not proved" if proof[0] else "proved", "table": proof[1]}


def source(full: bool) -> str:
    """What a measurement is of: the scripts, and how much they prove."""
    told = hashlib.sha256(repr(full).encode())
    for path in sorted((ROOT / "skills").glob("dist-op-*/scripts/**/*.py")):
        told.update(path.read_bytes())
    return told.hexdigest()[:12]


def kept(name: str) -> dict[str, Any]:
    """The figures of earlier runs by operator."""
    path = RESULTS / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["figures"] if path.exists() else {}
    return found


def main(argv: list[str] | None = None) -> int:
    """Takes the figures, prints them and keeps them; exit code 1 if an operator was not proved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", default=",".join(OPS), help="comma separated, from the list of this file")
    parser.add_argument("--full", action="store_true", help="all proofs: MindSpore and four sweeps instead of two")
    parser.add_argument("--again", action="store_true", help="measure also what was proved with these very scripts")
    options = parser.parse_args(argv)
    ops = options.ops.split(",")
    if unknown := sorted(set(ops) - set(OPS)):
        parser.error(f"--ops should be among {', '.join(OPS)}, but got {', '.join(unknown)}")
    now, figures = source(options.full), kept(NAME)
    for op in ops:
        old = figures.get(op, {})
        if options.again or (old.get("source"), old.get("result")) != (now, "proved"):
            figures[op] = {"source": now, **measure(op, OPS[op], options.full)}
            keep(NAME, figures)
            print(figures[op].get("table", figures[op]["told"]), flush=True)
    found = {op: figures[op] for op in ops}
    print(rendered(found), RESULTS / f"{NAME}.json", sep="\n")
    return 0 if all(row["result"] == "proved" for row in found.values()) else 1


def rendered(figures: dict[str, Any]) -> str:
    """The table of all operators, and what each leaves open."""
    rows = []
    for op, found in figures.items():
        times = [found.get(part, (0.0, 0.0)) for part in ("analysis", "scaffold", "proof")]
        wall, cpu = (sum(pair[i] for pair in times) for i in range(2))
        cells = [f"{w:.0f} / {c:.0f}" for w, c in times]
        rows.append([op, *cells, f"{wall:.0f} / {cpu:.0f}", found["result"], len(found.get("open", []))])
    head = ["operator", "analysis", "scaffold", "proof", "all (wall / CPU s)", "result", "open points"]
    return "\n".join([table(head, rows), *(f"- {op}: {p}" for op, row in figures.items() for p in row.get("open", []))])


if __name__ == "__main__":
    sys.exit(main())
