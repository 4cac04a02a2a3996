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
    python -m benchmarks.skills_new_op --ops tril,linalg.inv --quick

Works on a copy of the package from which the operators' rules (and those of their next of kin, so that the rule has to
be found and not borrowed) are taken away. CPU seconds are those of all child processes: on a busy machine they say more
than the wall clock.
"""

from __future__ import annotations

import argparse
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

from benchmarks.report import keep, table

ROOT = Path(__file__).parents[1]
OPS: dict[str, tuple[str, ...]] = {
    # operator: rules that are taken away
    "tril": ("tril", "triu"),
    "linalg.inv": ("linalg_inv",),
    "cumsum": ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"),
    "nn.functional.mse_loss": ("mse_loss",),
    "logaddexp": ("logaddexp",),
}
_COPIED = (
    "hyper_parallel", "tests/hyper_parallel", "tests/unit/hyper_parallel", "tests/conformance", "tests/ranks",
    "tests/conftest.py", "benchmarks", "pyproject.toml",
)  # fmt: skip


def scratch(target: Path, root: Path = ROOT) -> Path:
    """A copy of what an operator needs: the package, its tests and the harness."""
    for name in _COPIED:
        source, copy = root / name, target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "results"))
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


def step(command: Sequence[str]) -> tuple[int, str, float, float]:
    """Exit code, output, wall seconds and CPU seconds of a command and all its children."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, cwd=ROOT, timeout=3600, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, done.stdout + done.stderr, time.monotonic() - started, cpu


def measure(op: str, away: Sequence[str], quick: bool) -> dict[str, Any]:
    """One operator, from an empty plan to its table of proofs."""
    with tempfile.TemporaryDirectory(prefix="new-op-") as name:
        tree = scratch(Path(name) / "tree")
        strip(tree, away)
        plans = Path(name) / "plans"
        where = ["--root", str(tree)]
        analysis = step(["skills/dist-op-analysis/scripts/analyse.py", op, "--out", str(plans), "--no-ranks", *where])
        row: dict[str, Any] = {"analysis": analysis[2:], "told": analysis[1].strip()}
        plan = next(plans.glob("*_plan.md"), None) if plans.is_dir() else None
        if plan is None:
            return {**row, "result": "no plan"}
        new = step(["skills/dist-op-dev/scripts/new_op.py", str(plan), *where])
        row |= {"scaffold": new[2:], "open": [line[6:] for line in new[1].splitlines() if line.startswith("open: ")]}
        proof = step(["skills/dist-op-dev/scripts/check_op.py", str(plan), *where, *(["--quick"] if quick else [])])
        row |= {"proof": proof[2:], "result": "proved" if proof[0] == 0 else "not proved", "table": proof[1]}
        return row


def main(argv: list[str] | None = None) -> int:
    """Takes the figures, prints them and keeps them; exit code 1 if an operator was not proved."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", default=",".join(OPS), help="comma separated, from the list of this file")
    parser.add_argument("--quick", action="store_true", help="fewer sweeps in the proof")
    options = parser.parse_args(argv)
    figures: dict[str, Any] = {}
    rows = []
    for op in options.ops.split(","):
        found = figures[op] = measure(op, OPS[op], options.quick)
        print(found.get("table", found["told"]), flush=True)
        times = [found.get(part, (0.0, 0.0)) for part in ("analysis", "scaffold", "proof")]
        wall, cpu = (sum(pair[i] for pair in times) for i in range(2))
        cells = [f"{w:.0f} / {c:.0f}" for w, c in times]
        rows.append([op, *cells, f"{wall:.0f} / {cpu:.0f}", found["result"], len(found.get("open", []))])
    print(table(["operator", "analysis", "scaffold", "proof", "all (wall / CPU s)", "result", "open points"], rows))
    for op, found in figures.items():
        for point in found.get("open", []):
            print(f"- {op}: {point}")
    print(keep("skills_new_op", figures))
    return 0 if all(found["result"] == "proved" for found in figures.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
