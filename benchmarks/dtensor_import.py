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
"""Import time of ``hyper_parallel`` over torch's own, each in fresh processes.

python -m benchmarks.dtensor_import
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from benchmarks.report import keep, table

ROUNDS = 7
_CLOCKED = "import time; s = time.perf_counter(); {what}; print(time.perf_counter() - s)"


def _seconds(what: str) -> float:
    code = _CLOCKED.format(what=what)
    took = [
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
        for _ in range(ROUNDS)
    ]
    return statistics.median(took)


def main() -> None:
    """Takes the figures, prints them and keeps them."""
    torch_s = _seconds("import torch, torch.distributed")
    figures = {
        "torch": torch_s,
        "torch.distributed.tensor over torch": _seconds("import torch, torch.distributed.tensor") - torch_s,
        "hyper_parallel over torch": _seconds("import torch, torch.distributed, hyper_parallel") - torch_s,
    }
    print(table(["import", "seconds"], list(figures.items())))
    print(keep("dtensor_import", figures))


if __name__ == "__main__":
    main()
