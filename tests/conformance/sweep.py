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
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from tests.conformance.entries import EntryName, all_entries
from tests.conformance.verdicts import crashed_verdict, entry_verdict, is_right, names_by_class, summary
from tests.ranks.pool import RankPool

ENTRY_TIMEOUT_S = 40.0
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


def try_entry(
    pool: RankPool, subject: str, entry: EntryName, *, sizes: str, mesh: tuple[int, ...], seed: int
) -> dict[str, Any]:
    """One entry on all ranks; ranks that fell out of step are started afresh."""
    outcome = pool.attempt(
        "tests.conformance.trial",
        "run_entry",
        entry.name,
        entry.variant,
        subject,
        sizes,
        mesh,
        seed,
        timeout_s=ENTRY_TIMEOUT_S,
    )
    if outcome.kind != "done":
        return crashed_verdict(outcome.kind, outcome.detail)
    if any(answer["desync"] for answer in outcome.answers):
        pool.stop(kill=True)
    return entry_verdict(outcome.answers)


def sweep(
    subjects: list[str],
    entries: list[EntryName],
    *,
    sizes: str,
    mesh: tuple[int, ...],
    seed: int,
    log: Path | None,
    done: Verdicts,
    tell: bool = True,
) -> Verdicts:
    """Runs all subjects over all entries; ``done`` holds verdicts of an earlier run and is not repeated."""
    ranks = 1
    for size in mesh:
        ranks *= size
    verdicts: Verdicts = {subject: dict(done.get(subject, {})) for subject in subjects}
    started = time.monotonic()
    for subject in subjects:
        with RankPool(ranks, group_timeout_s=GROUP_TIMEOUT_S) as pool:
            for number, entry in enumerate(entries, 1):
                if entry.full in verdicts[subject]:
                    continue
                verdict = try_entry(pool, subject, entry, sizes=sizes, mesh=mesh, seed=seed)
                verdicts[subject][entry.full] = verdict
                if log:
                    with log.open("a", encoding="utf-8") as stream:
                        stream.write(json.dumps({"subject": subject, "entry": entry.full, **verdict}) + "\n")
                if tell:
                    right = sum(map(is_right, verdicts[subject].values()))
                    mark = "" if is_right(verdict) else f"  {verdict['forward']}/{verdict['gradient']}"
                    seconds = time.monotonic() - started
                    print(
                        f"[{seconds:6.0f} s] {subject} {number}/{len(entries)} right {right}: {entry.full}{mark}",
                        flush=True,
                    )
    return verdicts


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


def write_section(path: Path, title: str, section: str) -> None:
    """Replaces this run's section of the document and leaves the other runs' alone."""
    head = "# Conformance with OpInfo\n\nWritten by `python -m tests.conformance.sweep`; one section per run.\n"
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
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", type=Path, help="JSONL file that is read first and appended to")
    parser.add_argument("--out", type=Path, help="Markdown document whose section of this run is replaced")
    parser.add_argument("--json", type=Path, help="file for the verdicts")
    options = parser.parse_args(argv)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    mesh = tuple(int(size) for size in options.mesh.split("x"))
    subjects = options.subject.split(",")
    entries = choose(all_entries(), only=options.entries, sample=options.sample)
    done = read_log(options.resume) if options.resume else {}
    started = time.monotonic()
    verdicts = sweep(
        subjects, entries, sizes=options.sizes, mesh=mesh, seed=options.seed, log=options.resume, done=done
    )
    title = f"Mesh {options.mesh}, {options.sizes} sizes" + (f", sample {options.sample}" if options.sample else "")
    command = (
        f"python -m tests.conformance.sweep --mesh {options.mesh} --sizes {options.sizes} --subject {options.subject}"
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
