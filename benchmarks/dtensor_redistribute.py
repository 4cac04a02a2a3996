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
"""Bytes that redistribution sends, over all pairs of placements: ours, PyTorch's, and what no algorithm can go below.

    python -m benchmarks.dtensor_redistribute

Every result is compared with the full tensor. Bytes are counted at the process group for both libraries (see
``benchmarks.wire``), on the rank that sends most. PyTorch's CPU backend has no all-to-all: it gathers and cuts, and its
bytes are counted as sent. The lower bound is what some rank has to receive whatever the algorithm (0 towards a pending
sum). The exit code is 1 if ours ever sends more than PyTorch's.
"""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import torch

from benchmarks.report import keep, table
from benchmarks.wire import counted
from tests.conformance.subjects import SUBJECTS
from tests.ranks.pool import RankPool

MESHES = ((2,), (4,), (2, 2))
SHAPES = {"even": (16, 8), "uneven": (13, 7), "shorter than the axis": (3, 5)}
WORDS = ("R", "S0", "S1", "P")


def _placements(words: tuple[str, ...], kinds: Any) -> list[Any]:
    make = {"R": kinds.Replicate, "P": kinds.Partial}
    return [make[word]() if word in make else kinds.Shard(int(word[1:])) for word in words]


def _move(subject_name: str, full: torch.Tensor, mesh: Any, source: tuple[str, ...], target: tuple[str, ...]) -> Any:
    """Bytes sent by this rank (None where it raised), and ``right``, ``WRONG`` or the error."""
    subject = SUBJECTS[subject_name]
    if subject_name == "ours":
        import hyper_parallel as kinds
    else:
        import torch.distributed.tensor as kinds  # type: ignore[no-redef]
    goal = _placements(target, kinds)
    try:
        moved = subject.distribute(full, mesh, source).redistribute(mesh, goal)
        x = subject.distribute(full, mesh, source)
        with counted() as wire:
            x.redistribute(mesh, goal)
    except Exception as error:
        return None, f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"
    right = torch.equal(subject.full(moved), full) and tuple(moved.placements) == tuple(goal)
    return wire.sent, "right" if right else "WRONG"


def _bound(mesh: Any, shape: tuple[int, ...], source: tuple[str, ...], target: tuple[str, ...]) -> tuple[float, float]:
    """The planner's own figure and the lower bound, in elements."""
    import hyper_parallel as kinds
    from hyper_parallel.planner import cost, lower_bound

    src, dst = (kinds.Layout(mesh, _placements(words, kinds), shape) for words in (source, target))
    return float(cost(src, dst)), float(lower_bound(src, dst))


def measure(mesh_shape: tuple[int, ...], shape: tuple[int, ...]) -> list[dict[str, Any]]:
    """All pairs on this rank."""
    full = torch.arange(math.prod(shape), dtype=torch.float32).reshape(shape)
    meshes = {name: SUBJECTS[name].mesh(mesh_shape) for name in ("ours", "torch")}
    rows = []
    words = list(itertools.product(WORDS, repeat=len(mesh_shape)))
    for source, target in itertools.product(words, repeat=2):
        if source == target:
            continue
        planned, bound = _bound(meshes["ours"], shape, source, target)
        row: dict[str, Any] = {"source": ",".join(source), "target": ",".join(target)}
        row |= {"planned": planned * full.element_size(), "bound": bound * full.element_size()}
        for name, mesh in meshes.items():
            row[name], row[f"{name} state"] = _move(name, full, mesh, source, target)
        rows.append(row)
    return rows


def _worst(answers: tuple[list[dict[str, Any]], ...]) -> list[dict[str, Any]]:
    """Per pair the rank that sends most; a result is right if it is on every rank."""
    merged = []
    for rows in zip(*answers, strict=True):
        row = dict(rows[0])
        for name in ("ours", "torch"):
            sent = [other[name] for other in rows]
            row[name] = None if None in sent else max(sent)
            states = [other[f"{name} state"] for other in rows]
            row[f"{name} state"] = next((state for state in states if state != "right"), "right")
        merged.append(row)
    return merged


def main() -> int:
    """Takes the figures, prints them and keeps them."""
    lines, exceeding = [], []
    for ranks in sorted({math.prod(mesh) for mesh in MESHES}):
        with RankPool(ranks) as pool:
            for mesh_shape in (mesh for mesh in MESHES if math.prod(mesh) == ranks):
                for kind, shape in SHAPES.items():
                    name = f"{'x'.join(map(str, mesh_shape))} {kind}"
                    answers = pool.run("benchmarks.dtensor_redistribute", "measure", mesh_shape, shape, timeout_s=900.0)
                    rows = _worst(answers)
                    both = [r for r in rows if r["torch"] is not None and r["ours"] is not None]
                    over = [r for r in both if r["ours"] > r["torch"] + 1e-6]
                    exceeding += [(name, r["source"], r["target"], r["ours"], r["torch"]) for r in over]
                    lines.append(
                        [
                            name,
                            len(rows),
                            sum(r["ours state"] != "right" for r in rows),
                            sum(r["torch state"] != "right" for r in rows),
                            len(both),
                            int(sum(r["ours"] for r in both)),
                            int(sum(r["torch"] for r in both)),
                            int(sum(r["bound"] for r in both)),
                            sum(r["ours"] < r["torch"] - 1e-6 for r in both),
                            len(over),
                        ]
                    )
                    print(f"done: {name}", flush=True)
    head = ["mesh, sizes", "pairs", "ours not right", "torch not right", "compared", "ours, bytes", "torch, bytes"]
    head += ["lower bound", "ours less", "ours more"]
    print(table(head, lines))
    for entry in exceeding:
        print("more than torch:", *entry)
    print(keep("dtensor_redistribute", [dict(zip(head, line, strict=True)) for line in lines]))
    return 1 if exceeding or any(line[2] for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
