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
"""Which placements of an operator need no communication, and what the others cost.

    python -m hyper_parallel.report softmax
    python -m hyper_parallel.report 'torch.roll(x, 1, 0)' --shape 64x48 --mesh 4
    python -m hyper_parallel.report 'x @ y' --shape 64x48 --shape 48x32 --mesh 2x2

An operator is given by its name, or as a call on x, y, z (of the given shapes), words, image, kernel and heads. The
call is carried out for every rank of the mesh, without a network, under every placement; the bytes are those it sends.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import math
from collections.abc import Sequence
from typing import Any

from hyper_parallel.placements import Replicate, Shard

MAX_CHOICES = 64
_BACKEND = "hyper_parallel.platform.torch.dry_run"


def _sizes(text: str) -> tuple[int, ...]:
    """``64x48`` → (64, 48)."""
    try:
        found = tuple(int(part) for part in text.split("x"))
    except ValueError:
        found = ()
    if not found or min(found) < 1:
        raise argparse.ArgumentTypeError(f"should be whole numbers from 1 joined by x, such as 64x48, but got {text!r}")
    return found


def spell(places: Sequence[Any]) -> str:
    """Placements in short: ``S(0)`` or, on several axes, ``S(0),R``."""
    return ",".join(
        "R" if isinstance(place, Replicate) else f"S({place.dim})" if isinstance(place, Shard) else "P"
        for place in places
    )


def choices_of(options: dict[str, list[Any]], limit: int = MAX_CHOICES) -> tuple[list[dict[str, Any]], int]:
    """Placements by tensor for every trial, and how many there would be without the limit; plain ones come first."""
    total = math.prod(len(option) for option in options.values())
    ranked = sorted(
        itertools.islice(itertools.product(*options.values()), 100_000),
        key=lambda choice: sum(spell(places).count("P") for places in choice),
    )
    return [dict(zip(options, choice, strict=True)) for choice in ranked[:limit]], total


def explain(op: str, shapes: Sequence[Sequence[int]], mesh_shape: tuple[int, ...]) -> str:
    """The table of one operator.

    Raises:
        ValueError: the operator is unknown, or no placement can be tried.
    """
    dry: Any = importlib.import_module(_BACKEND)
    values = dry.inputs(shapes)
    call = dry.find_call(op, values)
    names = dry.used_names(call, values)
    if not names:
        raise ValueError(f"For report, the call should use one of {sorted(values)}, but got {call!r}.")
    options = {name: dry.options_of(values[name], len(mesh_shape)) for name in names}
    choices, total = choices_of(options)
    rows = list(zip(choices, dry.count(call, values, mesh_shape, choices), strict=True))
    told = ", ".join(f"{name}: {'x'.join(map(str, values[name].shape)) or 'scalar'}" for name in names)
    lines = [f"{call}    {told}    mesh: {'x'.join(map(str, mesh_shape))}", ""]
    lines += _section("communication-free", [r for r in rows if not r[1]["error"] and not r[1]["bytes"]])
    paid = sorted((r for r in rows if r[1]["bytes"]), key=lambda row: row[1]["bytes"])
    lines += _section("bytes sent by the rank that sends most", [r for r in paid if not r[1]["error"]])
    lines += _section("refused", [r for r in rows if r[1]["error"]])
    if total > len(choices):
        lines.append(f"{len(choices)} of {total} placements; name fewer tensors or a smaller mesh to see all")
    return "\n".join(lines)


def _section(title: str, rows: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> list[str]:
    if not rows:
        return []
    lines = [f"{title}:"]
    for choice, found in rows:
        before = "  ".join(f"{name} {spell(places)}" for name, places in choice.items())
        after = " ".join(spell(places) for places in dict.fromkeys(found["outputs"])) or "a plain value"
        kinds = ", ".join(f"{kind} x{times}" for kind, times in sorted(found["collectives"].items()))
        if found["error"]:
            lines.append(f"  {before:<28} {found['error']}")
        else:
            cost = f"{found['bytes']:>12,}  {kinds}" if found["bytes"] else ""
            lines.append(f"  {before:<28} -> {after:<14}{cost}".rstrip())
    return [*lines, ""]


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of ``python -m hyper_parallel.report``; exit code 2 for an operator that cannot be tried."""
    parser = argparse.ArgumentParser(
        prog="python -m hyper_parallel.report",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("op", nargs="+", help="names or calls")
    parser.add_argument("--shape", action="append", default=[], type=_sizes, help="shape of x, then of y, then of z")
    parser.add_argument("--mesh", default=(2,), type=_sizes, help="sizes of the mesh axes (default 2)")
    options = parser.parse_args(argv)
    if math.prod(options.mesh) > 64 or len(options.mesh) > 3:
        parser.error("the mesh should have at most 3 axes and 64 ranks")
    for op in options.op:
        try:
            print(explain(op, options.shape, options.mesh))
        except (ValueError, SyntaxError, NameError) as error:
            print(error)
            return 2
    return 0
