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
"""Sweeps the functions of `mint` on MindSpore ranks; what MindSpore itself computes rightly on one CPU is the measure.

    python -m tests.conformance.mindspore_sweep --mesh 2 --sizes uneven --out docs/conformance-mindspore.md

A function counts as testable if some OpInfo sample of it gives torch's values on one device, by `mint` itself or by the
backend's way round a missing kernel. A stopped run goes on where it was (`--resume FILE`); a hang costs one function.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from tests.conformance.verdicts import crashed_verdict, entry_verdict, is_right, names_by_class, summary
from tests.hyper_parallel.mindspore.pool import MindSporePool

ENTRY_TIMEOUT_S = 300.0
Verdict = dict[str, Any]


def try_entry(pool: MindSporePool, name: str, sizes: str, mesh: tuple[int, ...], seed: int, limit: int) -> Verdict:
    """One function on all ranks; ranks that fell out of step are started afresh."""
    outcome = pool.attempt(
        "tests.conformance.mindspore_trial", "run_entry", name, sizes, mesh, seed, limit, timeout_s=ENTRY_TIMEOUT_S
    )
    if outcome.kind != "done":
        return crashed_verdict(outcome.kind, outcome.detail)
    if any(answer["desync"] for answer in outcome.answers):
        pool.stop(kill=True)
    return entry_verdict(outcome.answers)


def read_log(path: Path | None) -> dict[str, Verdict]:
    """Verdicts of an earlier, stopped run."""
    found: dict[str, Verdict] = {}
    if path is not None and path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            found[record.pop("entry")] = record
    return found


def render(title: str, command: str, verdicts: dict[str, Verdict]) -> str:
    """The Markdown section of one run."""
    figures = summary(verdicts)
    single = [name for name, v in verdicts.items() if v["forward"] == "untested"]
    share = 100 * figures["forward and gradient right"] / max(figures["testable"], 1)
    lines = [f"## {title}", "", f"`{command}`", "", "| | MindSpore |", "|---|---|"]
    lines.append(f"| functions with samples | {len(verdicts)} |")
    lines += [f"| {key} | {value} |" for key, value in figures.items()]
    lines += [f"| share right | {share:.1f} % |", "", "### Not right", ""]
    classes = names_by_class(verdicts)
    lines += [f"- **{kind}** ({len(names)}): {', '.join(names)}" for kind, names in classes.items()] or ["- nothing"]
    lines += ["", "### Not tested: no right result on one CPU", "", ", ".join(sorted(single)) or "none", ""]
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Entry point; exit code 1 when something was silently wrong, out of step or crashed."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.mindspore_sweep", description=__doc__)
    parser.add_argument("--mesh", default="2")
    parser.add_argument("--sizes", choices=("even", "uneven"), default="even")
    parser.add_argument("--entries", default="", help="comma separated function names, such as add,nn.functional.relu")
    parser.add_argument("--limit", type=int, default=20, help="placements tried per sample at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(argv)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("GLOG_v", "4")
    from tests.conformance.mindspore_entries import RANDOM, all_names, opinfos
    from tests.conformance.sweep import write_section

    mesh = tuple(int(n) for n in options.mesh.split("x"))
    names = [n for n in all_names() if n not in RANDOM and opinfos(n)]
    if options.entries:
        names = [
            n for n in names if n in options.entries.split(",") or n.rpartition(".")[2] in options.entries.split(",")
        ]
    verdicts = read_log(options.resume)
    ranks = 1
    for size in mesh:
        ranks *= size
    started = time.monotonic()
    with MindSporePool(ranks) as pool:
        for number, name in enumerate(names, 1):
            if name in verdicts:
                continue
            verdict = verdicts[name] = try_entry(pool, name, options.sizes, mesh, options.seed, options.limit)
            if options.resume:
                with options.resume.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps({"entry": name, **verdict}) + "\n")
            note = (
                "" if is_right(verdict) else f"  {verdict['forward']}/{verdict['gradient']} {verdict['examples'][:1]}"
            )
            print(f"[{time.monotonic() - started:6.0f} s] {number}/{len(names)} {name}{note}", flush=True)
    title = f"Mesh {options.mesh}, {options.sizes} sizes"
    command = f"python -m tests.conformance.mindspore_sweep --mesh {options.mesh} --sizes {options.sizes}"
    command += f" --limit {options.limit}"
    section = render(title, command, verdicts)
    print(section)
    if options.out:
        write_section(options.out, title, section)
    figures = summary(verdicts)
    return 1 if figures["silently wrong"] + figures["desync or crash"] + figures["gradient wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
