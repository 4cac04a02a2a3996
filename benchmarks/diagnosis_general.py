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
"""Hit rate of the general extractor on labelled failing logs of many ecosystems.

``python -m benchmarks.diagnosis_general [--seeds N]`` judges the reports of ``tests/diagnosis/general`` in made-up
surroundings and writes ``benchmarks/results/diagnosis_general.json``.

``python -m benchmarks.diagnosis_general --labelled FILE.jsonl [--part tune|held] [--misses]`` judges logs from
elsewhere, such as a public set: a line each with ``log`` (path, relative to the file's folder), ``first_line``,
``last_line`` (1-based, inclusive), ``name``, ``group`` and ``part``. Logs of the part ``held`` are to be scored only,
never read, so that the figure says how the extractor does on what it was not made for.

A log is hit when every non-blank labelled line is shown: in a range of ``excerpt`` or in the lines of a finding.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.diagnosis import Diagnosis, diagnose
from tests.diagnosis.general.logs import Labelled, labelled, read_cases

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one log was judged.

    Attributes:
        name: Name of the log.
        group: What the figures are broken down by.
        whole: Whether all labelled lines are shown.
        some: Whether any is.
        size: How many lines are shown.
        depth: How many labelled lines were missed.
    """

    name: str
    group: str
    whole: bool
    some: bool
    size: int
    depth: int


def shown_lines(diagnosis: Diagnosis) -> set[int]:
    """Lines of the input in the excerpt or in a finding."""
    parts = [(part.first_line, part.last_line) for part in diagnosis.excerpt]
    parts.extend((one.first_line, one.last_line) for one in diagnosis.findings if one.first_line)
    return {line for first, last in parts for line in range(first, last + 1)}


def judge(log: Labelled, group: str = "") -> Verdict:
    """Diagnoses one log and compares with its label."""
    shown = shown_lines(diagnose([log.log]))
    texts = log.log.decode("utf-8", "replace").split("\n")
    wanted = {line for line in range(log.first_line, log.last_line + 1) if texts[line - 1].strip()}
    return Verdict(log.name, group, wanted <= shown, bool(wanted & shown), len(shown), len(wanted - shown))


def last_lines(log: Labelled, count: int) -> bool:
    """The trivial method: are the labelled lines among the last ``count`` lines?"""
    return log.first_line > log.log.count(b"\n") - count


def summary(logs: Sequence[Labelled], judged: Sequence[Verdict]) -> dict[str, Any]:
    """Figures of a set of logs."""
    groups: dict[str, list[bool]] = {}
    for one in judged:
        groups.setdefault(one.group, []).append(one.whole)
    return {
        "logs": len(logs),
        "groups": len(groups),
        "all_labelled_lines_shown": round(statistics.mean(one.whole for one in judged), 4),
        "mean_over_groups": round(statistics.mean(statistics.mean(hits) for hits in groups.values()), 4),
        "some_labelled_line_shown": round(statistics.mean(one.some for one in judged), 4),
        "median_lines_shown": statistics.median(one.size for one in judged),
        "baseline_last_40_lines": round(statistics.mean(last_lines(log, 40) for log in logs), 4),
        "baseline_last_200_lines": round(statistics.mean(last_lines(log, 200) for log in logs), 4),
    }


def read_labelled(path: Path, part: str) -> Iterable[tuple[Labelled, str]]:
    """Logs of a label file, with their groups."""
    for text in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(text)
        if part and entry.get("part", part) != part:
            continue
        data = (path.parent / entry["log"]).read_bytes()
        yield Labelled(entry["name"], data, entry["first_line"], entry["last_line"]), entry.get("group", "")


def judge_elsewhere(path: Path, part: str, *, misses: bool) -> dict[str, Any]:
    """Judges logs from elsewhere; names of missed logs are only printed when asked for."""
    logs, judged = [], []
    for log, group in read_labelled(path, part):
        verdict = judge(log, group)
        judged.append(verdict)
        logs.append(log)
        if misses and not verdict.whole:
            print(f"missed {verdict.name}: {verdict.depth} lines of {log.first_line}-{log.last_line}")
    return summary(logs, judged)


def judge_own(seeds: int) -> dict[str, Any]:
    """Judges every case of the repository in plain and hard surroundings."""
    report = {}
    for name, hard in (("plain", False), ("hard", True)):
        logs = [labelled(case, seed, hard=hard) for case in read_cases() for seed in range(1, seeds + 1)]
        judged = [judge(log, log.name.removeprefix("real-").partition("-")[0]) for log in logs]
        report[name] = {**summary(logs, judged), "missed": sorted({one.name for one in judged if not one.whole})}
        print(name, json.dumps(report[name], ensure_ascii=False))
    return report


def main(arguments: list[str] | None = None) -> int:
    """Runs the chosen judgement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--labelled", type=Path)
    parser.add_argument("--part", default="")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--save", default="", help="name of the result file, without .json")
    options = parser.parse_args(arguments)
    if options.labelled:
        report = judge_elsewhere(options.labelled, options.part, misses=options.misses)
        print(options.part or "all", json.dumps(report))
    else:
        report = judge_own(options.seeds)
    save = options.save or ("" if options.labelled else "diagnosis_general")
    if save:
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / f"{save}.json").write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
