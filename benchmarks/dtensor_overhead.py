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
"""What one call on a distributed tensor costs over the plain call: ours and PyTorch's DTensor, in one run.

    python -m benchmarks.dtensor_overhead

8x8 float32, one thread, a mesh of one rank; median of many rounds, in microseconds, interleaved so that a noisy moment
hits all three alike.
"""

from __future__ import annotations

import gc
import itertools
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from benchmarks.report import keep, table

ROUNDS, CALLS = 41, 200
Call = Callable[[], Any]
Maker = Callable[[torch.Tensor], Any]


def _start() -> None:
    os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    store = dist.HashStore()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)


def _libraries() -> dict[str, tuple[Maker, Maker, Maker]]:
    """Per library: a tensor sharded on dim 0, ``from_local`` with the same placement, and a replicated tensor."""
    from torch.distributed.device_mesh import init_device_mesh as torch_mesh
    from torch.distributed.tensor import DTensor as TorchDTensor
    from torch.distributed.tensor import Replicate as TorchReplicate
    from torch.distributed.tensor import Shard as TorchShard
    from torch.distributed.tensor import distribute_tensor as torch_distribute

    import hyper_parallel as hp

    theirs, ours = torch_mesh("cpu", (1,)), hp.init_device_mesh("cpu", (1,), mesh_dim_names=("dp",))
    return {
        "plain": (lambda t: t, lambda t: t, lambda t: t),
        "torch": (
            lambda t: torch_distribute(t, theirs, [TorchShard(0)]),
            lambda t: TorchDTensor.from_local(t, theirs, [TorchShard(0)], run_check=False),
            lambda t: torch_distribute(t, theirs, [TorchReplicate()]),
        ),
        "ours": (
            lambda t: hp.distribute_tensor(t, ours, [hp.Shard(0)]),
            lambda t: hp.DTensor.from_local(t, ours, [hp.Shard(0)]),
            lambda t: hp.distribute_tensor(t, ours, [hp.Replicate()]),
        ),
    }


def _calls(make: Maker, from_local: Maker, replicate: Maker) -> dict[str, Call]:
    x, y = make(torch.randn(8, 8)), make(torch.randn(8, 8))
    replicated = replicate(torch.randn(8, 8))
    local = torch.randn(8, 8)
    norm = torch.nn.functional.layer_norm
    leaf = make(torch.randn(8, 8)).requires_grad_(True)

    def forward_backward() -> None:
        (leaf * leaf).sum().backward()
        leaf.grad = None

    return {
        "add": lambda: x + y,
        "torch.add": lambda: torch.add(x, y),
        "matmul": lambda: x @ replicated,
        "relu": lambda: torch.relu(x),
        "x*2": lambda: x * 2,
        "sum(1)": lambda: x.sum(1),
        "softmax": lambda: torch.softmax(x, 1),
        "t": lambda: x.t(),
        "view": lambda: x.view(8, 2, 4),
        "split": lambda: x.split(4, 1),
        "detach": lambda: x.detach(),
        "cat": lambda: torch.cat([x, y], 1),
        "layer_norm": lambda: norm(x, (8,)),
        "to_local": (lambda: x.to_local()) if hasattr(x, "to_local") else (lambda: None),
        "from_local": lambda: from_local(local),
        "(x*x).sum() forward+backward": forward_backward,
    }


def _median_us(call: Call, calls: int = CALLS) -> float:
    started = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - started) / calls * 1e6


def _new_shapes(make: Maker) -> list[float]:
    """Microseconds of an add whose shape was never seen, each shape once."""
    took = []
    for size in itertools.islice(itertools.count(17), 30):
        x, y = make(torch.randn(size, 3)), make(torch.randn(size, 3))
        started = time.perf_counter()
        _ = x + y
        took.append((time.perf_counter() - started) * 1e6)
    return took


def main() -> None:
    """Takes the figures, prints them and keeps them."""
    _start()
    libraries = _libraries()
    calls = {name: _calls(*makers) for name, makers in libraries.items()}
    took: dict[str, dict[str, list[float]]] = {name: {op: [] for op in calls["plain"]} for name in libraries}
    gc.disable()
    for _ in range(ROUNDS):
        for op in calls["plain"]:
            for name in libraries:
                took[name][op].append(_median_us(calls[name][op], CALLS if "backward" not in op else 50))
        gc.collect()
    figures = {op: {name: statistics.median(took[name][op]) for name in libraries} for op in calls["plain"]}
    figures["add, new shape"] = {name: statistics.median(_new_shapes(libraries[name][0])) for name in libraries}
    rows = [
        [op, per["plain"], per["torch"], per["ours"], per["torch"] - per["plain"], per["ours"] - per["plain"]]
        for op, per in figures.items()
    ]
    print(table(["op, µs", "plain", "torch", "ours", "torch over plain", "ours over plain"], rows))
    print(keep("dtensor_overhead", figures))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
