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
"""Runs declarative cases by hand.

python -m tests.hyper_parallel.run --case 'roll_*' --ranks 4
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from typing import Any

from tests.hyper_parallel.case import chosen_cases
from tests.ranks.pool import RankPool

CASE_TIMEOUT_S = 120.0


def try_case(pool: RankPool, module: str, name: str, mesh_shape: tuple[int, ...]) -> tuple[int, list[str]]:
    """Combinations tried and failures of one case; ranks that can no longer be trusted are started afresh."""
    verdict = pool.attempt("tests.hyper_parallel.trial", "run_case", module, name, mesh_shape, timeout_s=CASE_TIMEOUT_S)
    if verdict.kind != "done":
        return 0, [f"{name} on {mesh_shape} {verdict.kind}\n{verdict.detail}"]
    answers: tuple[dict[str, Any], ...] = verdict.answers
    if any(answer["broken"] for answer in answers):
        pool.stop(kill=True)
    failures = [f"rank {rank}: {failure}" for rank, answer in enumerate(answers) for failure in answer["failures"]]
    return answers[0]["combinations"], failures


def main(argv: list[str] | None = None) -> int:
    """Entry point; exit code 1 when a case failed, 2 when none matched."""
    parser = argparse.ArgumentParser(prog="python -m tests.hyper_parallel.run", description=__doc__)
    parser.add_argument("--case", default="*", help="comma separated wildcards of case names")
    parser.add_argument("--ranks", type=int, default=0, help="only meshes of so many ranks")
    parser.add_argument("--quiet", action="store_true", help="only failures and the sum")
    options = parser.parse_args(argv)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    pools: dict[int, RankPool] = {}
    bad, ran = 0, 0
    for name, (module, case) in chosen_cases(options.case).items():
        for mesh_shape in case.meshes():
            ranks = math.prod(mesh_shape)
            if options.ranks and ranks != options.ranks:
                continue
            pool = pools.setdefault(ranks, RankPool(ranks))
            started = time.monotonic()
            count, failures = try_case(pool, module, name, mesh_shape)
            ran += 1
            bad += bool(failures)
            if failures or not options.quiet:
                shape = "x".join(map(str, mesh_shape))
                seconds = time.monotonic() - started
                print(f"{'FAIL' if failures else 'ok  '} {name} mesh {shape}: {count} placements, {seconds:.2f} s")
                for failure in failures:
                    print(f"     {failure}")
    for pool in pools.values():
        pool.stop()
    print(f"{ran} runs, {bad} failed")
    return 1 if bad else 0 if ran else 2


if __name__ == "__main__":
    sys.exit(main())
