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
"""Writes the plan document of an operator, with sharding rules found by experiment.

    python skills/dist-op-analysis/scripts/analyse.py tril nn.functional.softplus
    python skills/dist-op-analysis/scripts/analyse.py vander --sample 'randn(7), 3' --sample 'randn(6)' --no-ranks

Exit code: 0 all plans written · 1 some operator cannot be analysed · 2 wrong use.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
BAD = 3


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ops", nargs="+", metavar="OP", help="tril, linalg.inv, nn.functional.softplus …")
    parser.add_argument("--out", type=Path, default=Path("."), help="directory for {OpName}_dist_op_plan.md")
    parser.add_argument("--root", type=Path, default=HERE.parents[2], help="the repository (default: this one)")
    parser.add_argument("--entry", help="OpInfo entry, where it is not found by the name")
    parser.add_argument("--sample", action="append", default=[], metavar="ARGS", help="arguments of an own sample call")
    parser.add_argument("--no-ranks", action="store_true", help="leave out the measurement on two ranks")
    options = parser.parse_args(argv)
    if not (options.root / "hyper_parallel").is_dir():
        parser.error(f"--root should hold hyper_parallel, but got {options.root}")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.path[:0] = [str(HERE), str(options.root.resolve())]
    import torch

    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    bad = 0
    for name in options.ops:
        # Apart, because a kernel of the operator may end its process when it is given what does not fit.
        child = multiprocessing.get_context("fork").Process(target=_write, args=(name, options))
        child.start()
        child.join()
        if child.exitcode not in (0, BAD):
            print(f"{name}: its kernel ended the process (exit code {child.exitcode}) on some call", file=sys.stderr)
        bad += child.exitcode != 0
    return 1 if bad else 0


def _write(name: str, options: argparse.Namespace) -> None:
    """The plan of one operator; leaves the process with `BAD` where there can be none."""
    from op_analysis.document import file_name, render
    from op_analysis.on_ranks import measure, table
    from op_analysis.operators import operator
    from op_analysis.proposal import propose

    started = time.monotonic()
    try:
        plan = propose(operator(name, options.entry, options.sample))
    except ValueError as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(BAD)
    told = "" if options.no_ranks or not plan.operator.entry else table(measure(plan.operator.entry))
    path = options.out / file_name(plan.operator.name)
    path.write_text(render(plan, told), encoding="utf-8")
    family = f" {plan.family.name}" if plan.family else ""
    rules, seconds = len(plan.findings.schemas), time.monotonic() - started
    print(f"{name}: {plan.kind}{family}, {rules} rules, {len(plan.open)} open, {seconds:.1f} s -> {path}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
