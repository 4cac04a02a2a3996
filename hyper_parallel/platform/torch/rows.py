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
"""Looking up rows and elements of a cut dim at positions that every rank knows: only what is asked for is sent."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import Function

from hyper_parallel.layout import chunk_sizes
from hyper_parallel.platform.torch import wire
from hyper_parallel.platform.torch.kernels_empty import cat

Tensor = torch.Tensor


class _Fetch(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, asked: _Asked) -> Tensor:
        ctx.asked, ctx.rows = asked, x.shape[0]
        return asked.fetch(x.detach())

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _add(grad, ctx.asked, ctx.rows), None


class _Add(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, asked: _Asked, rows: int) -> Tensor:
        ctx.asked = asked
        return asked.add(x.detach(), rows)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _fetch(grad, ctx.asked), None, None


class _Asked:
    """Which rows every rank asks for: `owners[i]`, `places[i]` tell where the rows for rank i lie."""

    def __init__(self, owners: list[Tensor], places: list[Tensor], mesh: Any, axis: int) -> None:
        self.mesh, self.axis, self.me = mesh, axis, mesh.own_coordinate()[axis]
        self.count = len(owners[self.me])
        self.out = [(owners[i] == self.me).nonzero().squeeze(1) for i in range(len(owners))]
        self.out = [places[i][found] for i, found in enumerate(self.out)]
        self.into = [(owners[self.me] == j).nonzero().squeeze(1) for j in range(len(owners))]

    def fetch(self, x: Tensor) -> Tensor:
        """The rows asked for by the own rank."""
        parts = [x[rows] if i != self.me else x[:0] for i, rows in enumerate(self.out)]
        counts = [len(into) if j != self.me else 0 for j, into in enumerate(self.into)]
        came = wire.exchange([wire.dense(part) for part in parts], self._shapes(x, counts), self.mesh, self.axis)
        result = x.new_empty((self.count, *x.shape[1:]))
        for j, into in enumerate(self.into):
            result[into] = came[j] if j != self.me else x[self.out[j]]
        return result

    def add(self, x: Tensor, rows: int) -> Tensor:
        """Rows sent back to where they came from and added there."""
        parts = [x[into] if j != self.me else x[:0] for j, into in enumerate(self.into)]
        counts = [len(found) if i != self.me else 0 for i, found in enumerate(self.out)]
        came = wire.exchange([wire.dense(part) for part in parts], self._shapes(x, counts), self.mesh, self.axis)
        result = x.new_zeros((rows, *x.shape[1:]))
        for i, found in enumerate(self.out):
            result.index_add_(0, found, came[i] if i != self.me else x[self.into[i]])
        return result

    @staticmethod
    def _shapes(x: Tensor, counts: list[int]) -> list[list[int]]:
        return [[n, *x.shape[1:]] for n in counts]


def _taped(function: Any, *args: Any) -> Tensor:
    result: Tensor = function.apply(*args)
    return result


def _fetch(x: Tensor, asked: _Asked) -> Tensor:
    if torch.is_grad_enabled() and x.requires_grad:
        return _taped(_Fetch, x, asked)
    return asked.fetch(x)


def _add(x: Tensor, asked: _Asked, rows: int) -> Tensor:
    if torch.is_grad_enabled() and x.requires_grad:
        return _taped(_Add, x, asked, rows)
    return asked.add(x, rows)


def _check(index: Tensor, size: int, wrap: bool, error: type[Exception]) -> Tensor:
    """Positions in [0, size); `wrap`: negative ones count from the end. The same error on every rank.

    Raises:
        IndexError, RuntimeError: (the plain operator's kind) a position lies outside.
    """
    if index.numel():
        low, high = int(index.min()), int(index.max())
        if low < (-size if wrap else 0) or high >= size:
            bad = low if low < (-size if wrap else 0) else high
            raise error(f"index {bad} is out of bounds for dimension with size {size}")
    return torch.where(index < 0, index + size, index).to(torch.int64)


def take_rows(x: Tensor, index: Tensor, mesh: Any, axis: int, dim: int, size: int, wrap: bool) -> Tensor:
    """`x` at the positions `index` (replicated) of a cut dim; `wrap`: negative ones count from the end.

    The dims of `index` replace `dim`; the result is cut along the first of them by ceil division.
    """
    wrapped = _check(index, size, wrap, IndexError)
    ranks = mesh.mesh_shape[axis]
    step = max(-(-size // ranks), 1)
    wanted = [part.reshape(-1) for part in wrapped.split_with_sizes(chunk_sizes(index.shape[0], ranks), 0)]
    owners = [part // step for part in wanted]
    places = [part % step for part in wanted]
    rows = _fetch(x.movedim(dim, 0), _Asked(owners, places, mesh, axis))
    me = mesh.own_coordinate()[axis]
    own = chunk_sizes(index.shape[0], ranks)[me]
    result = rows.reshape(own, *index.shape[1:], *rows.shape[1:])
    last = index.dim() - 1
    return result.movedim(tuple(range(last + 1)), tuple(range(dim, dim + last + 1)))


def take_elements(x: Tensor, index: Tensor, mesh: Any, axis: int, dim: int, size: int, wrap: bool) -> Tensor:
    """`gather` along a cut dim; `index` is replicated on the axis, the result is cut along `dim` by ceil division.

    `wrap`: positions count modulo the size (take_along_dim), else those outside are errors (gather).
    """
    index = index.to(torch.int64) % max(size, 1) if wrap else _check(index, size, False, RuntimeError)
    ranks, me = mesh.mesh_shape[axis], mesh.own_coordinate()[axis]
    step = max(-(-size // ranks), 1)
    for d, n in enumerate(index.shape):
        if d != dim and n != x.shape[d]:
            x = x.narrow(d, 0, n)
    lines = index.movedim(dim, -1)
    sizes = torch.tensor(chunk_sizes(size, ranks))
    parts = lines.split_with_sizes(chunk_sizes(index.shape[dim], ranks), -1)
    count = lines[..., :1].numel()
    line = torch.arange(count).reshape(-1, 1)
    flat = [part.reshape(count, part.shape[-1]) for part in parts]
    owners = [part // step for part in flat]
    places = [line * sizes[owner] + part % step for owner, part in zip(owners, flat, strict=True)]
    asked = _Asked([owner.reshape(-1) for owner in owners], [place.reshape(-1) for place in places], mesh, axis)
    found = _fetch(x.movedim(dim, -1).reshape(-1), asked)
    return found.reshape(parts[me].shape).movedim(-1, dim)


def write_rows(func: Any, x: Tensor, dim: int, index: Tensor, start: int, size: int, named: Any) -> Tensor:
    """`func(x, dim, index, **named)` for a part that begins at `start` of a dim of `size` positions.

    Positions outside of the part are written to one more row, which is cut off again.
    """
    name = str(getattr(func, "__name__", ""))
    error = IndexError if name in {"index_copy", "index_fill"} else RuntimeError
    index = _check(index, size, name == "index_fill", error)
    own = x.shape[dim]
    inside = (index >= start) & (index < start + own)
    local = torch.where(inside, index - start, own)
    spare = x.new_zeros([1 if d == dim else n for d, n in enumerate(x.shape)])
    result: Tensor = func(cat([x, spare], dim), dim, local, **named).narrow(dim, 0, own)
    return result
