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
"""Import time of ``hyper_parallel`` over torch's own, each in fresh processes, the best of several.

python -m benchmarks.dtensor_import
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.report import keep, table

ROUNDS = 7
_RULES = "from hyper_parallel.platform.torch.intercept import registry; registry().names()"
_CLOCKED = "import time; s = time.perf_counter(); {what}; print(time.perf_counter() - s)"


def _once(what: str) -> float:
    code = _CLOCKED.format(what=what)
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Takes the figures, prints them and keeps them."""
    base = "import torch, torch.distributed"
    wanted = {
        "torch": base,
        "torch.distributed.tensor over torch": f"{base}, torch.distributed.tensor",
        "hyper_parallel over torch": f"{base}, hyper_parallel",
        # The package loads its parts when they are first asked for, so the import alone says little.
        "hyper_parallel with backend and rules over torch": f"{base}, hyper_parallel as hp; hp.DTensor; {_RULES}",
    }
    took: dict[str, list[float]] = {name: [] for name in wanted}
    for _ in range(ROUNDS):  # in turn, so that a busy moment hits all alike
        for name, what in wanted.items():
            took[name].append(_once(what))
    best = {name: min(values) for name, values in took.items()}
    figures = {name: value - (best["torch"] if "over" in name else 0.0) for name, value in best.items()}
    print(table(["import", "seconds"], list(figures.items())))
    print(keep("dtensor_import", figures))


if __name__ == "__main__":
    main()
