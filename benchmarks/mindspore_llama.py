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
"""The small Llama-like model of `benchmarks.llama`, written for MindSpore, trained on two tensor-parallel ranks.

    python -m benchmarks.mindspore_llama --steps 20

Weights are those of the PyTorch model, so that its single-process losses are the measure.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from typing import Any

import numpy as np

from benchmarks.llama import TENSOR_PARALLEL_DIM, Llama, Size

LEARNING_RATE, MOMENTUM = 0.1, 0.9


def batches(size: Size, steps: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The same tokens and targets for every run."""
    draw = np.random.default_rng(5)
    shape = (size.batch, size.length)
    return [(draw.integers(0, size.vocabulary, shape), draw.integers(0, size.vocabulary, shape)) for _ in range(steps)]


def torch_model(size: Size) -> Llama:
    """The PyTorch model with seeded weights."""
    import torch

    torch.manual_seed(0)
    return Llama(size)


def torch_losses(size: Size, steps: int) -> list[float]:
    """Losses of the PyTorch model in one process."""
    import torch

    model = torch_model(size)
    optimizer = torch.optim.SGD(model.parameters(), LEARNING_RATE, momentum=MOMENTUM)
    losses = []
    for tokens, targets in batches(size, steps):
        optimizer.zero_grad()
        loss = model(torch.from_numpy(tokens), torch.from_numpy(targets))
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def build(size: Size, mesh: Any) -> Any:
    """The MindSpore model on a mesh with an axis "tp", weights cut as `TENSOR_PARALLEL_DIM` says."""
    import mindspore as ms
    from mindspore import Tensor, mint, nn

    import hyper_parallel as hp

    functional = mint.nn.functional
    source = torch_model(size)
    weights = {name: value.detach().numpy() for name, value in source.named_parameters()}
    constants = {name: Tensor(value.numpy()) for name, value in source.named_buffers()}
    heads, head_width = size.heads, size.width // size.heads

    def parameter(name: str) -> Any:
        dim = next((d for end, d in TENSOR_PARALLEL_DIM.items() if name.endswith(end)), None)
        places = [hp.Replicate() if dim is None else hp.Shard(dim)]
        plain = ms.Parameter(Tensor(weights[name].copy()), name=name)
        return hp.distribute_tensor(plain, mesh, places)

    class Model(nn.Cell):  # type: ignore[misc]
        """Embedding, blocks, norm, tied head."""

        def __init__(self) -> None:
            super().__init__()
            self.table = {name: parameter(name) for name in weights}
            for name, value in self.table.items():
                self.insert_param_to_cell(name.replace(".", "_"), value)

        def norm(self, x: Any, name: str) -> Any:
            scale = mint.rsqrt(mint.add(mint.mean(mint.mul(x, x), -1, True), 1e-6))
            return mint.mul(mint.mul(x, scale), self.table[name])

        def rotate(self, x: Any) -> Any:
            first, second = mint.chunk(x, 2, -1)
            cos, sin = constants["cos"], constants["sin"]
            return mint.cat([first * cos - second * sin, second * cos + first * sin], -1)

        def attention(self, x: Any, prefix: str) -> Any:
            shape = (size.batch, size.length, heads, head_width)
            parts = (functional.linear(x, self.table[f"{prefix}.{part}.weight"]) for part in ("query", "key", "value"))
            query, key, value = (mint.transpose(mint.reshape(part, shape), 1, 2) for part in parts)
            query, key = self.rotate(query), self.rotate(key)
            scores = mint.matmul(query, mint.transpose(key, 2, 3)) / math.sqrt(head_width) + constants["mask"]
            mixed = mint.transpose(mint.matmul(functional.softmax(scores, dim=-1), value), 1, 2)
            return functional.linear(
                mint.reshape(mixed, (size.batch, size.length, size.width)), self.table[f"{prefix}.out.weight"]
            )

        def feed(self, x: Any, prefix: str) -> Any:
            gate = functional.silu(functional.linear(x, self.table[f"{prefix}.gate.weight"]))
            up = functional.linear(x, self.table[f"{prefix}.up.weight"])
            return functional.linear(gate * up, self.table[f"{prefix}.down.weight"])

        def construct(self, tokens: Any, targets: Any) -> Any:
            """Mean cross-entropy."""
            x = functional.embedding(tokens, self.table["embedding.weight"])
            for block in range(size.layers):
                name = f"blocks.{block}"
                x = x + self.attention(self.norm(x, f"{name}.attention_norm.weight"), f"{name}.attention")
                x = x + self.feed(self.norm(x, f"{name}.feed_norm.weight"), f"{name}.feed")
            logits = functional.linear(self.norm(x, "norm.weight"), self.table["embedding.weight"])
            return functional.cross_entropy(mint.flatten(logits, 0, 1), mint.flatten(targets, 0, 1))

    return Model()


def train(steps: int, ranks: int, size: Size | None = None) -> dict[str, Any]:
    """Losses and seconds per step on this rank."""
    import mindspore as ms
    from mindspore import Tensor, nn

    import hyper_parallel as hp

    size = size or Size()
    mesh = hp.init_device_mesh("cpu", (ranks,), mesh_dim_names=("tp",))
    model = build(size, mesh)
    weights = model.trainable_params()
    optimizer = nn.SGD(weights, LEARNING_RATE, momentum=MOMENTUM)
    step = ms.value_and_grad(model, None, weights)
    losses = []
    started = time.perf_counter()
    for tokens, targets in batches(size, steps):
        loss, grads = step(Tensor(tokens), Tensor(targets))
        optimizer(grads)
        losses.append(float(loss.asnumpy()))
    return {"losses": losses, "seconds_per_step": (time.perf_counter() - started) / steps}


def main(argv: list[str] | None = None) -> int:
    """Entry point; exit code 1 where the losses differ by more than 1e-4 relative."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mindspore_llama", description=__doc__)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=2)
    options = parser.parse_args(argv)
    from tests.hyper_parallel.mindspore.pool import MindSporePool

    wanted = torch_losses(Size(), options.steps)
    with MindSporePool(options.ranks) as pool:
        found = pool.run("benchmarks.mindspore_llama", "train", options.steps, options.ranks, timeout_s=1200)[0]
    worst = max(abs(a - b) / abs(b) for a, b in zip(found["losses"], wanted, strict=True))
    print(f"losses (first, last): {found['losses'][0]:.6f} {found['losses'][-1]:.6f}; one process, PyTorch: "
          f"{wanted[0]:.6f} {wanted[-1]:.6f}; worst relative difference {worst:.2e}; "
          f"{found['seconds_per_step']:.2f} s per step")  # fmt: skip
    return 0 if worst < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
