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
"""Every parser, and the general extractor, against 1 MB of adversarial input: CPU time must stay within one second.

``python -m benchmarks.diagnosis_fuzz [--tool NAME] [--limit SECONDS]`` prints a table, writes
``benchmarks/results/diagnosis_fuzz.json`` and exits 1 when any input took longer. With ``--tool``, only that parser
(or ``general``) is measured, and only its row of the file is replaced.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bot.diagnosis.engine import Diagnoser
from bot.diagnosis.scan import build_scanner
from bot.diagnosis.tool import Tool, all_tools

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "diagnosis_fuzz.json"
SIZE = 1_000_000


def seeds(tool: Tool) -> list[str]:
    """Real lines that hold a trigger of the tool, out of the corpus and the recorded tool outputs."""
    scan = build_scanner(tool.triggers) if tool.triggers else None
    found: dict[str, None] = {}
    paths = [*ROOT.glob("tests/diagnosis/corpus/*.log"), *ROOT.glob("tests/fixtures/tool_output/*.txt")]
    for path in sorted(paths):
        data = path.read_bytes()
        for at, _ in scan(data) if scan else ():
            line = data[data.rfind(b"\n", 0, at) + 1 : data.find(b"\n", at) % (len(data) + 1)].decode(
                "utf-8", "replace"
            )
            if line.startswith("[20"):
                line = line.partition("] ")[2]
            found.setdefault(line)
    kept = list(found)
    return kept[:: max(1, len(kept) // 12)][:12]


def filled(line: str) -> str:
    """One megabyte of a line."""
    return (line + "\n") * max(1, SIZE // (len(line.encode()) + 1))


def attacks(lines: list[str], chance: random.Random) -> Iterator[tuple[str, str]]:
    """Names and texts of adversarial inputs made from real lines."""
    everything = "\n".join(lines)
    yield "all lines in turn", (everything + "\n") * max(1, SIZE // (len(everything.encode()) + 1))
    for number, line in enumerate(lines[:: max(1, len(lines) // 4)][:4]):
        yield f"line {number} repeated", filled(line)
        yield (
            f"line {number} numbered",
            "".join(f"{line} {count}\n" for count in range(SIZE // (len(line.encode()) + 8))),
        )
        half = len(line) // 2
        yield f"line {number} with a stretched middle", filled(line[:half] + " " * 4000 + line[half:])
        for char in (":", " ", "[", "0", ".", "a"):
            yield f"line {number} with {char!r} repeated", filled(line[:half] + char * 4000 + line[half:])
        yield f"line {number} on one endless line", line * max(1, SIZE // max(len(line), 1))
        yield f"line {number} with blank lines", (line + "\n" + "\n" * 60) * max(1, SIZE // (len(line) + 61))
        yield f"line {number} with indented lines", (line + "\n" + "    x\n" * 60) * max(1, SIZE // (len(line) + 360))
        words = line.split(" ")
        chance.shuffle(words)
        yield f"line {number} shuffled", filled(" ".join(words))


def seconds(text: str, tools: tuple[Tool, ...]) -> float:
    """CPU time of parsing a text."""
    data = text.encode("utf-8", "replace")[:SIZE]
    diagnoser = Diagnoser(tools=tools)
    began = time.process_time()
    for start in range(0, len(data), 65536):
        diagnoser.feed(data[start : start + 65536])
    diagnoser.read_rest()
    return time.process_time() - began


def general_seconds(text: str) -> float:
    """CPU time of the whole diagnosis without any tool parser."""
    diagnoser = Diagnoser(tools=())
    began = time.process_time()
    diagnoser.feed(text.encode("utf-8", "replace")[:SIZE])
    diagnoser.close()
    return time.process_time() - began


def main(arguments: list[str] | None = None) -> int:
    """Runs all attacks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", default="")
    parser.add_argument("--limit", type=float, default=1.0)
    options = parser.parse_args(arguments)
    general_seconds("x\n")  # load what is loaded once
    rows = []
    pool: list[str] = []
    for tool in all_tools():
        lines = seeds(tool)
        pool.extend(lines[:3])
        if not tool.triggers or (options.tool and tool.name != options.tool):
            continue
        seconds("x\n", (tool,))
        timed = [(seconds(text, (tool,)), name) for name, text in attacks(lines, random.Random(tool.name))]
        worst, name = max(timed, default=(0.0, "no seed"))
        rows.append({"parser": tool.name, "inputs": len(timed), "worst_seconds": round(worst, 3), "worst_input": name})
        print(f"{tool.name:14} {len(timed):4} inputs, worst {worst:6.3f} s  {name}")
    if options.tool in ("", "general"):
        timed = [(general_seconds(text), name) for name, text in attacks(pool, random.Random("general"))]
        worst, name = max(timed)
        rows.append({"parser": "general", "inputs": len(timed), "worst_seconds": round(worst, 3), "worst_input": name})
        print(f"{'general':14} {len(timed):4} inputs, worst {worst:6.3f} s  {name}")
    if options.tool and RESULTS.exists():
        measured = {row["parser"] for row in rows}
        old = json.loads(RESULTS.read_text())["parsers"]
        saved = [row for row in old if row["parser"] not in measured] + rows
    else:
        saved = rows
    if saved:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(
            json.dumps({"bytes": SIZE, "limit_seconds": options.limit, "parsers": saved}, indent=1) + "\n"
        )
    return 1 if any(row["worst_seconds"] > options.limit for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
