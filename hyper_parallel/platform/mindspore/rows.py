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
"""Reads and writes at positions of a cut dim; `hyper_parallel.platform.torch.rows` tells the meaning.

Positions are computed with numpy; values travel as numpy arrays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mindspore import Tensor, mint, ops
from mindspore.common._grad_function import _Function
from numpy.typing import NDArray

from hyper_parallel.layout import chunk_sizes
from hyper_parallel.platform.mindspore import adjoint, wire

Array = NDArray[Any]


class _Fetch(_Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Tensor, asked: _Asked) -> Tensor:
        ctx.asked, ctx.rows = asked, x.shape[0]
        return asked.fetch(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        if adjoint.taped(grad):
            return _Add.apply(grad, ctx.asked, ctx.rows), None
        return ctx.asked.add(grad, ctx.rows), None


class _Add(_Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Tensor, asked: _Asked, rows: int) -> Tensor:
        ctx.asked = asked
        return asked.add(x, rows)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _fetch(grad, ctx.asked), None, None


class _Asked:
    """Which rows every rank asks for: `owners[i]`, `places[i]` tell where the rows for rank i lie."""

    def __init__(self, owners: list[Array], places: list[Array], mesh: Any, axis: int) -> None:
        self.mesh, self.axis, self.me = mesh, axis, mesh.own_coordinate()[axis]
        self.count = len(owners[self.me])
        self.out = [places[i][owners[i] == self.me] for i in range(len(owners))]
        self.into = [np.nonzero(owners[self.me] == j)[0] for j in range(len(owners))]

    def fetch(self, x: Tensor) -> Tensor:
        """The rows asked for by the own rank."""
        rows = wire.to_host(x)
        came = self._swap(rows, self.out, self.into)
        result = np.empty((self.count, *rows.shape[1:]), rows.dtype)
        for j, into in enumerate(self.into):
            result[into] = came[j] if j != self.me else rows[self.out[j]]
        return wire.from_host(result, x.dtype)

    def add(self, x: Tensor, count: int) -> Tensor:
        """Rows sent back to where they came from and added there."""
        rows = wire.to_host(x)
        came = self._swap(rows, self.into, self.out)
        result = np.zeros((count, *rows.shape[1:]), rows.dtype)
        for i, found in enumerate(self.out):
            np.add.at(result, found, came[i] if i != self.me else rows[self.into[i]])
        return wire.from_host(result, x.dtype)

    def _swap(self, rows: Array, gone: list[Array], wanted: list[Array]) -> list[Array]:
        parts = [rows[found] if i != self.me else rows[:0] for i, found in enumerate(gone)]
        shapes = [[len(found) if i != self.me else 0, *rows.shape[1:]] for i, found in enumerate(wanted)]
        return wire._exchange_host(parts, shapes, self.mesh, self.axis)


def _fetch(x: Tensor, asked: _Asked) -> Tensor:
    return _Fetch.apply(x, asked) if adjoint.taped(x) else asked.fetch(x)


def _check(index: Tensor, size: int, wrap: bool, error: type[Exception]) -> Array:
    """Positions in [0, size); `wrap`: negative ones count from the end. The same error on every rank.

    Raises:
        IndexError, RuntimeError: (the plain operator's kind) a position lies outside.
    """
    places = wire.to_host(index).astype(np.int64)
    if places.size:
        low, high = int(places.min()), int(places.max())
        if low < (-size if wrap else 0) or high >= size:
            bad = low if low < (-size if wrap else 0) else high
            raise error(f"index {bad} is out of bounds for dimension with size {size}")
    return np.where(places < 0, places + size, places)


def moved_to(x: Tensor, source: int, target: int) -> Tensor:
    """`x` with one dim at another place."""
    order = [d for d in range(x.ndim) if d != source % x.ndim]
    order.insert(target % x.ndim, source % x.ndim)
    return x if order == sorted(order) else mint.permute(x, tuple(order))


def take_rows(x: Tensor, index: Tensor, mesh: Any, axis: int, dim: int, size: int, wrap: bool) -> Tensor:
    """`x` at the positions `index` (replicated) of a cut dim; the result is cut along the first index dim."""
    places, ranks = _check(index, size, wrap, IndexError), mesh.mesh_shape[axis]
    step = max(-(-size // ranks), 1)
    sizes = chunk_sizes(index.shape[0], ranks)
    wanted = [part.reshape(-1) for part in np.split(places, np.cumsum(sizes)[:-1])]
    asked = _Asked([part // step for part in wanted], [part % step for part in wanted], mesh, axis)
    rows = _fetch(moved_to(x, dim, 0), asked)
    own = sizes[mesh.own_coordinate()[axis]]
    result = mint.reshape(rows, (own, *index.shape[1:], *rows.shape[1:]))
    count, ndim = index.ndim, result.ndim
    order = [*range(count, count + dim), *range(count), *range(count + dim, ndim)]
    return result if order == sorted(order) else mint.permute(result, tuple(order))


def take_elements(x: Tensor, index: Tensor, mesh: Any, axis: int, dim: int, size: int, wrap: bool) -> Tensor:
    """`gather` along a cut dim; `index` is replicated on the axis, the result is cut along `dim` by ceil division."""
    if wrap:
        places = wire.to_host(index).astype(np.int64) % max(size, 1)
    else:
        places = _check(index, size, False, RuntimeError)
    ranks, me = mesh.mesh_shape[axis], mesh.own_coordinate()[axis]
    step = max(-(-size // ranks), 1)
    for d, n in enumerate(index.shape):
        if d != dim and n != x.shape[d]:
            x = mint.narrow(x, d, 0, n)
    sizes = np.array(chunk_sizes(size, ranks))
    lines = np.moveaxis(places, dim, -1)
    parts = np.split(lines, np.cumsum(chunk_sizes(index.shape[dim], ranks))[:-1], -1)
    count = math.prod(lines.shape[:-1])
    line = np.arange(count).reshape(-1, 1)
    flat = [part.reshape(count, part.shape[-1]) for part in parts]
    spots = [line * sizes[part // step] + part % step for part in flat]
    asked = _Asked([(part // step).reshape(-1) for part in flat], [spot.reshape(-1) for spot in spots], mesh, axis)
    found = _fetch(mint.reshape(moved_to(x, dim, -1), (-1,)), asked)
    return moved_to(mint.reshape(found, parts[me].shape), -1, dim)


def write_rows(func: Any, x: Tensor, dim: int, index: Tensor, start: int, size: int, named: Any) -> Tensor:
    """`func(x, dim, index, **named)` for a part that begins at `start` of a dim of `size` positions.

    Positions outside of the part are written to one more row, which is cut off again.
    """
    name = str(getattr(func, "__name__", ""))
    error = IndexError if name in {"index_copy", "index_fill"} else RuntimeError
    places = _check(index, size, name == "index_fill", error)
    own = x.shape[dim]
    local = Tensor(np.where((places >= start) & (places < start + own), places - start, own)).astype(index.dtype)
    spare = ops.zeros(tuple(1 if d == dim else n for d, n in enumerate(x.shape)), x.dtype)
    return mint.narrow(func(mint.cat([x, spare], dim), dim, local, **named), dim, 0, own)


class RowKernels:
    """Mixed into the platform object."""

    take_rows = staticmethod(take_rows)
    take_elements = staticmethod(take_elements)
    write_rows = staticmethod(write_rows)
