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
"""Speed and memory on a 200 MB console log with 10,000 findings, and ``grep -cE`` with the same patterns beside it.

``python -m benchmarks.diagnosis_speed [--megabytes N] [--engine auto|re]`` prints a table and writes
``benchmarks/results/diagnosis_speed.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bot.diagnosis import Diagnoser
from bot.diagnosis.stages import TRIGGERS
from bot.diagnosis.tool import all_tools

RESULTS = Path(__file__).parent / "results" / "diagnosis_speed.json"
FINDINGS = 10_000
CHUNK = 1 << 16


def write_log(path: Path, megabytes: int, findings: int) -> int:
    """Writes a log as a long build prints it, with findings of several tools spread through it.

    Returns:
        The number of findings.
    """
    makers = (
        "hyper_parallel/core/m{0}.py:{0}: [W0611(unused-import), ] Unused import name_{0}",
        "docs/d{0}.md:{0}: teh{0} ==> the",
        "hyper_parallel/csrc/f{0}.cc:{0}:  Tab found; better to use spaces  [whitespace/tab] [1]",
        "src/f{0}.cc:{0}:12: error: 'name_{0}' was not declared in this scope",
        "FAILED tests/ut/test_m{0}.py::TestM::test_case[{0}] - AssertionError: assert {0} == 0",
    )
    noise = (
        "[ {0:>2}%] Building CXX object mindspore/ccsrc/CMakeFiles/core.dir/pass/file_{1}.cc.o",
        "[INFO] PARSE({1},python): [mindspore/ccsrc/pipeline/jit/parse_{1}.cc:88] Parse] begin {1}",
        "tests/ut/test_mesh.py::test_case_{1} PASSED                               [ {0:>2}%]",
        "-- Installing: /home/jenkins/workspace/Gate/output/include/core/header_{1}.h",
        "  Downloading package_{1}-1.{0}.0-py3-none-any.whl (12.{0} MB)",
    )
    wanted = megabytes * 1_000_000
    written = line = made = 0
    step = wanted / findings
    with path.open("wb", buffering=1 << 20) as stream:
        while written < wanted:
            text = noise[line % 5].format(line % 100, line)
            if made < findings and written >= made * step:
                text = makers[made % 5].format(made + 1)
                made += 1
            minute, second = divmod(line // 700 % 3600, 60)
            data = f"[2026-05-16T02:{minute:02d}:{second:02d}.{line % 1000:03d}Z] {text}\n".encode()
            stream.write(data)
            written += len(data)
            line += 1
    return made


def measure(path: Path) -> dict[str, float]:
    """Diagnoses the log in a process of its own, so that the peak memory is that of the diagnosis alone."""
    code = f"from benchmarks.diagnosis_speed import inside; inside({str(path)!r})"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return dict(json.loads(done.stdout))


def inside(path: str) -> None:
    """Runs in the measured process; prints the figures as JSON."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    diagnoser = Diagnoser()
    with open(path, "rb") as stream:
        while chunk := stream.read(CHUNK):
            diagnoser.feed(chunk)
    result = diagnoser.close()
    figures = {
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "peak_before_megabytes": before / 1024,
        "findings": len(result.findings),
        "causes": len(result.causes),
        "lines": result.lines,
    }
    print(json.dumps(figures))


def grep(path: Path) -> dict[str, float]:
    """``grep -cE`` with every pattern that the diagnosis scans for."""
    patterns = [*(trigger for tool in all_tools() for trigger in tool.triggers), *TRIGGERS]
    # the patterns are in the common subset, but POSIX knows neither non-capturing groups nor classes such as \d
    posix = [
        re.sub(r"\(\?:", "(", one).replace(r"\d", "[0-9]").replace("[^\\n]", ".").replace("\\n", "") for one in patterns
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
        listed.write("\n".join(posix) + "\n")
        listed.flush()
        wall = time.perf_counter()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = ["grep", "-cE", "-f", listed.name, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1:
        raise RuntimeError(done.stderr)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall_seconds": time.perf_counter() - wall, "cpu_seconds": used, "lines": int(done.stdout)}


def main(arguments: list[str] | None = None) -> int:
    """Measures and reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "console.log"
        planted = write_log(path, options.megabytes, FINDINGS)
        size = path.stat().st_size / 1e6
        ours, peer = measure(path), grep(path)
    report = {
        "megabytes": size,
        "planted_findings": planted,
        "diagnosis": {
            **ours,
            "megabytes_per_second": size / ours["wall_seconds"],
            "per_cpu_second": size / ours["cpu_seconds"],
        },
        "grep": {
            **peer,
            "megabytes_per_second": size / peer["wall_seconds"],
            "per_cpu_second": size / peer["cpu_seconds"],
        },
    }
    print(f"log {size:.0f} MB, {planted} findings planted, {ours['findings']} found, {ours['causes']} causes")
    for name in ("diagnosis", "grep"):
        row = report[name]
        print(f"{name:10} {row['megabytes_per_second']:7.1f} MB/s wall {row['per_cpu_second']:7.1f} MB/s of CPU time")  # type: ignore[index]
    print(f"peak memory {ours['peak_megabytes']:.0f} MB")
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")
    return 0 if ours["findings"] == planted else 1


if __name__ == "__main__":
    sys.exit(main())
