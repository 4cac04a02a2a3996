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
"""A small Llama-like model, written once for plain tensors and for distributed ones of either library."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

functional = torch.nn.functional


@dataclass(frozen=True)
class Size:
    """Sizes of the model and of a batch."""

    vocabulary: int = 512
    width: int = 64
    heads: int = 4
    hidden: int = 128
    layers: int = 2
    batch: int = 8
    length: int = 32


class RmsNorm(nn.Module):
    """Root-mean-square norm over the last dim."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``x``: (batch, length, width)."""
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return x * scale * self.weight


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary position embedding; ``x``: (batch, heads, length, head width)."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


class Attention(nn.Module):
    """Causal self-attention with rotary positions, in plain operators."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads, self.head_width = size.heads, size.width // size.heads
        self.query = nn.Linear(size.width, size.width, bias=False)
        self.key = nn.Linear(size.width, size.width, bias=False)
        self.value = nn.Linear(size.width, size.width, bias=False)
        self.out = nn.Linear(size.width, size.width, bias=False)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """``x``: (batch, length, width)."""
        batch, length, _ = x.shape
        shape = (batch, length, self.heads, self.head_width)
        query, key, value = (layer(x).view(shape).transpose(1, 2) for layer in (self.query, self.key, self.value))
        query, key = rotate(query, cos, sin), rotate(key, cos, sin)
        scores = torch.matmul(query, key.transpose(2, 3)) / math.sqrt(self.head_width) + mask
        mixed = torch.matmul(torch.softmax(scores, -1), value)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, self.heads * self.head_width))


class FeedForward(nn.Module):
    """SwiGLU."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.gate = nn.Linear(size.width, size.hidden, bias=False)
        self.up = nn.Linear(size.width, size.hidden, bias=False)
        self.down = nn.Linear(size.hidden, size.width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``x``: (batch, length, width)."""
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """Attention and feed-forward, each behind a norm and a residual."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.attention_norm, self.feed_norm = RmsNorm(size.width), RmsNorm(size.width)
        self.attention, self.feed = Attention(size), FeedForward(size)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """``x``: (batch, length, width)."""
        x = x + self.attention(self.attention_norm(x), cos, sin, mask)
        return x + self.feed(self.feed_norm(x))


class Llama(nn.Module):
    """Embedding, blocks, norm, and a head tied to the embedding.

    ``settle`` may bring the embedding's result, a partial sum where the table is cut by rows, into another layout.
    """

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size.vocabulary, size.width)
        nn.init.normal_(self.embedding.weight, std=0.05)
        self.settle: Callable[[torch.Tensor], torch.Tensor] = lambda x: x
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.norm = RmsNorm(size.width)
        half = size.width // size.heads // 2
        angles = torch.outer(torch.arange(size.length).float(), 10000.0 ** (-torch.arange(half).float() / half))
        self.register_buffer("cos", torch.cos(angles))
        self.register_buffer("sin", torch.sin(angles))
        self.register_buffer("mask", torch.full((size.length, size.length), -1e9).triu(1))

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Mean cross-entropy; ``tokens`` and ``targets``: (batch, length)."""
        x = self.settle(self.embedding(tokens))
        for block in self.blocks:
            x = block(x, self.cos, self.sin, self.mask)
        logits = functional.linear(self.norm(x), self.embedding.weight)
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten(0, 1))


TENSOR_PARALLEL_DIM = {
    "embedding.weight": 0,
    "query.weight": 0,
    "key.weight": 0,
    "value.weight": 0,
    "out.weight": 1,
    "gate.weight": 0,
    "up.weight": 0,
    "down.weight": 1,
}
"""Which dim of a parameter the tensor-parallel axis cuts, by the end of its name; the others are replicated."""


def distribute(model: nn.Module, cut: Callable[[torch.Tensor, tuple[str, str]], torch.Tensor]) -> None:
    """Replaces parameters and buffers; ``cut(tensor, (word on dp, word on tp))`` makes the distributed tensor."""
    for prefix, module in model.named_modules():
        for name, parameter in list(module.named_parameters(recurse=False)):
            full = f"{prefix}.{name}"
            dim = next((dim for end, dim in TENSOR_PARALLEL_DIM.items() if full.endswith(end)), None)
            word = "R" if dim is None else f"S{dim}"
            setattr(module, name, nn.Parameter(cut(parameter.detach(), ("R", word))))
        for name, buffer in list(module.named_buffers(recurse=False)):
            setattr(module, name, cut(buffer, ("R", "R")))
