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
"""Sweeps the OpInfo data base on gloo ranks, our library and PyTorch's DTensor side by side.

    python -m tests.conformance.sweep --mesh 2 --sizes even --subject ours,torch --out docs/conformance.md

Each entry's verdict is one line of a JSONL file, so a stopped run goes on where it was (``--resume FILE``); an entry
that hangs or crashes costs only itself.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import queue
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.entries import EntryName, all_entries
from tests.conformance.verdicts import crashed_verdict, entry_verdict, is_right, names_by_class, summary
from tests.ranks.pool import RankPool

ENTRY_TIMEOUT_S = 400.0
WARM_UP_TIMEOUT_S = 300.0
GROUP_TIMEOUT_S = 12.0

Verdicts = dict[str, dict[str, dict[str, Any]]]
"""Subject → entry → verdict."""


def choose(entries: list[EntryName], *, only: str = "", sample: str = "") -> list[EntryName]:
    """Keeps the entries named in ``only`` (comma separated) or a seeded draw ``SEED:COUNT``."""
    if only:
        wanted = set(only.split(","))
        entries = [entry for entry in entries if entry.full in wanted or entry.name in wanted]
    if sample:
        seed, count = (int(part) for part in sample.split(":"))
        entries = random.Random(seed).sample(entries, min(count, len(entries)))
    return entries


@dataclass(frozen=True)
class Setting:
    """What a run tries: ``even`` or ``uneven`` sizes, the mesh, the seed, and whether inputs come as pending sums."""

    sizes: str
    mesh: tuple[int, ...]
    seed: int = 0
    partial: bool = False

    @property
    def title(self) -> str:
        """The name of the run's section."""
        shape = "x".join(map(str, self.mesh))
        return f"Mesh {shape}, {self.sizes} sizes" + (", pending sums" if self.partial else "")


def try_entry(pool: RankPool, subject: str, entry: EntryName, setting: Setting) -> dict[str, Any]:
    """One entry on all ranks; ranks that fell out of step are started afresh.

    An entry without an answer is tried once more on fresh ranks, lest a busy machine count as ranks out of step.
    """
    for last in (False, True):
        if not pool.running:
            pool.run("tests.conformance.trial", "warm_up", timeout_s=WARM_UP_TIMEOUT_S)
        outcome = pool.attempt(
            "tests.conformance.trial",
            "run_entry",
            entry.name,
            entry.variant,
            subject,
            setting.sizes,
            setting.mesh,
            setting.seed,
            setting.partial,
            timeout_s=ENTRY_TIMEOUT_S,
        )
        desync = outcome.kind == "done" and any(answer["desync"] for answer in outcome.answers)
        if desync:
            pool.stop(kill=True)
        if last or not (desync or outcome.kind in ("hung", "crashed")):
            break
    return crashed_verdict(outcome.kind, outcome.detail) if outcome.kind != "done" else entry_verdict(outcome.answers)


class Sweep:
    """Runs entries for one subject in several pools at a time, and tells and logs each verdict as it comes.

    Args:
        setting: What to try.
        log: JSONL file to append to.
        jobs: Pools working at a time.
        tell: Print progress.
    """

    def __init__(self, setting: Setting, *, log: Path | None = None, jobs: int = 1, tell: bool = True) -> None:
        self._setting, self._log, self._jobs, self._tell = setting, log, jobs, tell
        self._lock = threading.Lock()
        self._started = time.monotonic()

    def run(self, subject: str, entries: list[EntryName], done: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """Verdicts by entry in the data base's order; ``done`` holds those of an earlier run and is not repeated."""
        verdicts = {entry.full: done[entry.full] for entry in entries if entry.full in done}
        todo: queue.SimpleQueue[EntryName] = queue.SimpleQueue()
        for entry in entries:
            if entry.full not in verdicts:
                todo.put(entry)

        def work() -> None:
            with RankPool(math.prod(self._setting.mesh), group_timeout_s=GROUP_TIMEOUT_S) as pool:
                while True:
                    try:
                        entry = todo.get_nowait()
                    except queue.Empty:
                        return
                    verdict = try_entry(pool, subject, entry, self._setting)
                    with self._lock:
                        verdicts[entry.full] = verdict
                        self._note(subject, entry, verdict, verdicts, len(entries))

        with ThreadPoolExecutor(self._jobs) as workers:
            for future in [workers.submit(work) for _ in range(self._jobs)]:
                future.result()
        return {entry.full: verdicts[entry.full] for entry in entries}

    def _note(self, subject: str, entry: EntryName, verdict: dict[str, Any], verdicts: Any, total: int) -> None:
        if self._log:
            with self._log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({"subject": subject, "entry": entry.full, **verdict}) + "\n")
        if self._tell:
            right = sum(map(is_right, verdicts.values()))
            mark = "" if is_right(verdict) else f"  {verdict['forward']}/{verdict['gradient']}"
            seconds = time.monotonic() - self._started
            print(f"[{seconds:6.0f} s] {subject} {len(verdicts)}/{total} right {right}: {entry.full}{mark}", flush=True)


def read_log(path: Path) -> Verdicts:
    """Verdicts of an earlier, stopped run; a line cut short by the stop is passed over."""
    verdicts: Verdicts = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            verdicts.setdefault(record.pop("subject"), {})[record.pop("entry")] = record
    return verdicts


def render(title: str, command: str, verdicts: Verdicts) -> str:
    """The Markdown section of one run: a table of figures and the lists of what is not right."""
    subjects = list(verdicts)
    figures = {subject: summary(verdicts[subject]) for subject in subjects}
    lines = [
        f"## {title}",
        "",
        f"`{command}`",
        "",
        "| | " + " | ".join(subjects) + " |",
        "|---|" + "---|" * len(subjects),
    ]
    for key in figures[subjects[0]]:
        lines.append(f"| {key} | " + " | ".join(str(figures[subject][key]) for subject in subjects) + " |")
    for subject in subjects:
        lines += ["", f"### Not right: {subject}", ""]
        classes = names_by_class(verdicts[subject])
        lines += [f"- **{kind}** ({len(names)}): {', '.join(names)}" for kind, names in classes.items()] or [
            "- nothing"
        ]
    return "\n".join([*lines, ""])


_HEAD = """# Conformance with OpInfo

Written by `python -m tests.conformance.sweep`; one section per run, with the command that ran it.

The entries are those of `torch.testing`'s data base that have CPU float32, its first 6 samples each, on gloo ranks.
Every combination of R and Shard(d) per tensor input is tried, up to 40 (then all-replicated and a seeded draw); with
`--partial` floating inputs also come as pending sums, as terms that differ between the ranks. Forward is right if
reported shape, full shape, dtype and values (rtol 1e-3, atol 1e-4, NaN equal) agree with one device; gradients by the
cotangent cos(0, 1, 2, …) are judged only where the forward was right. The worse rank counts, and an entry is right only
if all its combinations are: one wrong value makes it silently wrong, ranks that go different ways make it a desync.
"""


def write_section(path: Path, title: str, section: str) -> None:
    """Replaces this run's section of the document and leaves the other runs' alone."""
    head = _HEAD
    old = path.read_text(encoding="utf-8") if path.exists() else head
    parts = old.split("\n## ")
    kept = [parts[0].rstrip("\n")] + [
        "## " + part.rstrip("\n") for part in parts[1:] if not part.startswith(title + "\n")
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join([*kept, section.rstrip("\n")]) + "\n", encoding="utf-8")


def main(argv: list[str] | None = None) -> int:
    """Entry point; the exit code is 1 when our library was silently wrong or out of step."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.sweep", description=__doc__)
    parser.add_argument("--mesh", default="2", help="sizes of the mesh axes, such as 2, 3 or 2x2")
    parser.add_argument("--sizes", choices=("even", "uneven"), default="even")
    parser.add_argument("--subject", default="ours,torch", help="comma separated: ours, torch")
    parser.add_argument("--entries", default="", help="comma separated entry names")
    parser.add_argument("--sample", default="", help="SEED:COUNT, a seeded draw of entries")
    parser.add_argument("--partial", action="store_true", help="floating inputs also as pending sums")
    parser.add_argument("--jobs", type=int, default=1, help="pools of ranks working at a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", type=Path, help="JSONL file that is read first and appended to")
    parser.add_argument("--out", type=Path, help="Markdown document whose section of this run is replaced")
    parser.add_argument("--json", type=Path, help="file for the verdicts")
    options = parser.parse_args(argv)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    setting = Setting(
        options.sizes, tuple(int(size) for size in options.mesh.split("x")), options.seed, options.partial
    )
    entries = choose(all_entries(), only=options.entries, sample=options.sample)
    done = read_log(options.resume) if options.resume else {}
    started = time.monotonic()
    runner = Sweep(setting, log=options.resume, jobs=options.jobs)
    verdicts = {subject: runner.run(subject, entries, done.get(subject, {})) for subject in options.subject.split(",")}
    title = setting.title + (f", sample {options.sample}" if options.sample else "")
    command = (
        f"python -m tests.conformance.sweep --mesh {options.mesh} --sizes {options.sizes} --subject {options.subject}"
        + (" --partial" if options.partial else "")
    )
    section = render(title, command, verdicts)
    print(section)
    print(f"{time.monotonic() - started:.0f} s")
    if options.out:
        write_section(options.out, title, section)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(verdicts, indent=1), encoding="utf-8")
    ours = summary(verdicts["ours"]) if "ours" in verdicts else {}
    bad = ours.get("silently wrong", 0) + ours.get("desync or crash", 0) + ours.get("gradient wrong", 0)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
