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
"""Writes the generated tables of `docs/backends.md`: public names by backend, routed functions, primitives, overhead.

python -m benchmarks.mindspore_backends            # rewrites the tables
python -m benchmarks.mindspore_backends --check    # exit code 1 if they are out of date
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "backends.md"
OVERHEAD = ROOT / "benchmarks" / "results" / "mindspore_overhead.json"


def _works(platform: Any, name: str) -> bool:
    try:
        platform.public(name)
    except AttributeError:
        return False
    return True


def names_table() -> str:
    """Every public name and the backends that have it."""
    import hyper_parallel as hp
    from hyper_parallel.platform import get_platform

    torch, mindspore = get_platform("torch"), get_platform("mindspore")
    lines = ["| name | PyTorch | MindSpore |", "|---|---|---|"]
    for name in hp.__all__:
        own = name in hp._OF_PLATFORM
        marks = [("yes" if not own or _works(p, name) else "no") for p in (torch, mindspore)]
        lines.append(f"| `{name}` | {marks[0]} | {marks[1]} |")
    members = {n: _members(p.dtensor) for n, p in (("torch", torch), ("mindspore", mindspore))}
    for name in sorted(members["torch"] | members["mindspore"]):
        marks = ["yes" if name in members[n] else "no" for n in ("torch", "mindspore")]
        lines.append(f"| `DTensor.{name}` | {marks[0]} | {marks[1]} |")
    return "\n".join(lines)


MEMBERS = [
    "from_local",
    "to_local",
    "redistribute",
    "full_tensor",
    "reduce_partial",
    "layout",
    "device_mesh",
    "placements",
    "local_shape",
    "shape",
    "ndim",
    "dtype",
    "numel",
    "T",
    "mT",
    "register_hook",
    "__getitem__",
    "__setitem__",
    "__deepcopy__",
    "__reduce_ex__",
]


def _members(kind: type) -> set[str]:
    return {name for name in MEMBERS if hasattr(kind, name)}


def routes_table() -> str:
    """Functions computed by a way round on the CPU."""
    from hyper_parallel.platform.mindspore.routes import REFUSED, ROUTES

    return ", ".join(f"`{name}`" for name in sorted(ROUTES.keys() - REFUSED))


def primitives_table() -> str:
    """Primitives by their name in the rule book."""
    from hyper_parallel.platform.mindspore import vocabulary

    by_name: dict[str, list[str]] = {}
    for primitive, entry in vocabulary.entries().items():
        by_name.setdefault(entry.name, []).append(primitive)
    rows = [f"| `{name}` | {', '.join(found)} |" for name, found in sorted(by_name.items())]
    return "\n".join(["| rule | primitives |", "|---|---|", *rows])


def overhead_table() -> str:
    """Microseconds of the last run of `benchmarks.mindspore_overhead`."""
    found = json.loads(OVERHEAD.read_text(encoding="utf-8")) if OVERHEAD.exists() else {}
    modes = [mode for mode in ("blocking", "default") if mode in found]
    lines = ["| µs per call | " + " | ".join(modes) + " |", "|---|" + "---|" * len(modes)]
    for name in found.get("blocking", {}):
        lines.append(f"| {name} | " + " | ".join(str(found[mode].get(name, "")) for mode in modes) + " |")
    return "\n".join(lines)


TABLES = {"names": names_table, "routes": routes_table, "primitives": primitives_table, "overhead": overhead_table}


def rewritten(text: str) -> str:
    """The document with every table between its markers made anew."""
    for name, make in TABLES.items():
        start, end = f"<!-- {name} -->", f"<!-- end {name} -->"
        before, _, rest = text.partition(start)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"For {DOCUMENT.name}, the markers of {name} should be there, but got none.")
        text = f"{before}{start}\n\n{make()}\n\n{end}{after}"
    return text


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mindspore_backends", description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(argv)
    old = DOCUMENT.read_text(encoding="utf-8")
    new = rewritten(old)
    if options.check:
        return 0 if new == old else 1
    DOCUMENT.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
