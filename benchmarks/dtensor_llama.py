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
"""Trains a small Llama-like model, tensor and data parallel, on 4 gloo ranks: ours, PyTorch's DTensor, one process.

    python -m benchmarks.dtensor_llama

Losses are compared with the single-process run step by step; step time is the median after the first five steps.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from benchmarks.llama import Llama, Size, distribute
from benchmarks.report import keep, table
from benchmarks.wire import counted
from tests.conformance.subjects import SUBJECTS
from tests.ranks.pool import RankPool

STEPS = 50
SIZE = Size()


def _batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(11)
    tokens = torch.randint(0, SIZE.vocabulary, (4, SIZE.batch, SIZE.length + 1))
    return [(step[:, :-1].contiguous(), step[:, 1:].contiguous()) for step in tokens]


def _train(
    model: torch.nn.Module, place: Callable[[torch.Tensor], Any], value: Callable[[Any], float], steps: int
) -> tuple[list[float], list[float]]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    losses, seconds = [], []
    for tokens, targets in itertools.islice(itertools.cycle(_batches()), steps):
        started = time.perf_counter()
        loss = model(place(tokens), place(targets))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(value(loss))
        seconds.append(time.perf_counter() - started)
    return losses, seconds


def _settled() -> list[Any]:
    from torch.distributed.tensor import Replicate, Shard

    return [Shard(0), Replicate()]


def train_single(steps: int = STEPS) -> tuple[list[float], float]:
    """Losses and median step seconds on one device."""
    torch.manual_seed(5)
    losses, seconds = _train(Llama(SIZE), lambda t: t, lambda loss: float(loss.detach()), steps)
    return losses, statistics.median(seconds[5:])


def train_distributed(subject_name: str, mesh_shape: tuple[int, int], steps: int = STEPS) -> dict[str, Any]:
    """Losses, median step seconds and bytes sent per step by this rank."""
    subject = SUBJECTS[subject_name]
    mesh = subject.mesh(mesh_shape)
    torch.manual_seed(5)
    model = Llama(SIZE)
    if subject_name == "torch":
        # Its masked partial sum cannot go through a residual connection; its own tutorial redistributes here, too.
        model.settle = lambda x: x.redistribute(mesh, _settled())
    distribute(model, lambda tensor, words: subject.distribute(tensor, mesh, words))

    def place(batch: torch.Tensor) -> Any:
        return subject.distribute(batch, mesh, ("S0", "R"))

    def value(loss: Any) -> float:
        return float(subject.full(loss.detach()))

    losses, seconds = _train(model, place, value, steps)
    with counted() as wire:
        _train(model, place, value, 1)
    return {
        "losses": losses,
        "step_s": statistics.median(seconds[5:]),
        "bytes_per_step": wire.sent,
        "calls_per_step": sum(wire.calls.values()),
    }


def main() -> None:
    """Takes the figures, prints them and keeps them."""
    figures: dict[str, Any] = {}
    with RankPool(4, group_timeout_s=60) as pool:
        single, single_s = pool.run("benchmarks.dtensor_llama", "train_single", timeout_s=300)[0]
        rows = [["one process", single_s * 1e3, 0, 0, 0.0]]
        for name in ("torch", "ours"):
            answer = pool.run("benchmarks.dtensor_llama", "train_distributed", name, (2, 2), timeout_s=600)[0]
            worst = max(abs(a - b) / abs(b) for a, b in zip(answer["losses"], single, strict=True))
            figures[name] = {**answer, "worst_relative_loss_error": worst}
            rows.append(
                [name, answer["step_s"] * 1e3, int(answer["bytes_per_step"]), answer["calls_per_step"], f"{worst:.1e}"]
            )
    figures["single"] = {"losses": single, "step_s": single_s}
    print(table(["", "step, ms", "bytes sent per step", "collectives per step", "worst relative loss error"], rows))
    print(keep("dtensor_llama", figures))


if __name__ == "__main__":
    main()
