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
"""Hit rate of the general extractor on made-up and real reports of many ecosystems in realistic CI logs.

``python -m benchmarks.diagnosis_general [--seeds N]`` prints a table and writes
``benchmarks/results/diagnosis_general.json``. A log is hit when every non-blank labelled line is shown.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

from bot.diagnosis import diagnose
from tests.diagnosis.general.logs import Labelled, labelled, read_cases

RESULTS = Path(__file__).parent / "results" / "diagnosis_general.json"


def judge(log: Labelled) -> tuple[bool, bool, int]:
    """Whether all labelled lines are shown, whether any is, and how many lines are shown."""
    shown = {line for part in diagnose([log.log]).excerpt for line in range(part.first_line, part.last_line + 1)}
    texts = log.log.decode().split("\n")
    wanted = {line for line in range(log.first_line, log.last_line + 1) if texts[line - 1].strip()}
    return wanted <= shown, bool(wanted & shown), len(shown)


def last_lines(log: Labelled, count: int) -> bool:
    """The trivial method: are the labelled lines among the last ``count`` lines?"""
    return log.first_line > log.log.count(b"\n") - count


def main(arguments: list[str] | None = None) -> int:
    """Judges every case in plain and hard surroundings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    report = {}
    for name, hard in (("plain", False), ("hard", True)):
        logs = [labelled(case, seed, hard=hard) for case in read_cases() for seed in range(1, options.seeds + 1)]
        judged = [judge(log) for log in logs]
        report[name] = {
            "logs": len(logs),
            "all_labelled_lines_shown": sum(whole for whole, _, _ in judged) / len(logs),
            "some_labelled_line_shown": sum(some for _, some, _ in judged) / len(logs),
            "median_lines_shown": statistics.median(shown for _, _, shown in judged),
            "baseline_last_40_lines": sum(last_lines(log, 40) for log in logs) / len(logs),
            "baseline_last_200_lines": sum(last_lines(log, 200) for log in logs) / len(logs),
            "missed": sorted({log.name for log, (whole, _, _) in zip(logs, judged, strict=True) if not whole}),
        }
        print(name, json.dumps(report[name], ensure_ascii=False))
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
