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
"""Collectives as autograd functions, in pairs that are each other's backward, so every order of derivative is right.

Same convention as on PyTorch: the gradient of a replicated tensor is replicated, that of a pending sum too, that of a
shard is a shard; `cross` marks where a replicated tensor starts to be used differently by the ranks.
"""

from __future__ import annotations

from typing import Any

from mindspore import Tensor, mint, ops
from mindspore.common._grad_function import _Function
from mindspore.graph.api import _pynative_executor

from hyper_parallel.platform.mindspore import wire


def taping() -> bool:
    """Whether operators are being recorded for a gradient."""
    return bool(_pynative_executor.grad_flag() and _pynative_executor.enable_grad())


def _taped(x: Tensor) -> bool:
    return taping() and bool(x.is_floating_point() or x.is_complex())


class _AllReduce(_Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int) -> Tensor:
        ctx.where = (mesh, axis)
        return wire.all_reduce(x, mesh, axis, "sum")

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return cross(grad, *ctx.where), None, None


class _Cross(_Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int) -> Tensor:
        ctx.where = (mesh, axis)
        return wire.copy_of(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return all_reduce(grad, *ctx.where), None, None


class _AllGather(_Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
        ctx.where = (mesh, axis, dim, sizes)
        return wire.all_gather(x, mesh, axis, dim, sizes)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return take_chunk(grad, *ctx.where), None, None, None, None


class _TakeChunk(_Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
        ctx.where = (mesh, axis, dim, sizes)
        return _own(x, mesh, axis, dim, sizes)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return all_gather(grad, *ctx.where), None, None, None, None


class _GatherCross(_Function):  # type: ignore[misc]
    """All-gather whose result is used differently by the ranks: backward is a reduce-scatter."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
        ctx.where = (mesh, axis, dim, sizes)
        return wire.all_gather(x, mesh, axis, dim, sizes)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return reduce_scatter(grad, *ctx.where), None, None, None, None


class _ReduceScatter(_Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
        ctx.where = (mesh, axis, dim, sizes)
        return wire.reduce_scatter(x, mesh, axis, dim, sizes, "sum")

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return gather_cross(grad, *ctx.where), None, None, None, None


class _AllToAll(_Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Tensor, *where: Any) -> Tensor:
        ctx.where = where
        return wire.all_to_all(x, *where)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        mesh, axis, cut_dim, cut_sizes, cat_dim, cat_sizes = ctx.where
        return all_to_all(grad, mesh, axis, cat_dim, cat_sizes, cut_dim, cut_sizes), *(None,) * 6


class _FirstOnly(_Function):  # type: ignore[misc]
    """Replicated to pending sum: the first rank keeps the value, the others hold zeros."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int) -> Tensor:
        ctx.where = (mesh, axis)
        return wire.copy_of(x) if mesh.own_coordinate()[axis] == 0 else ops.zeros_like(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _SameGrad.apply(grad, *ctx.where), None, None


class _SameGrad(_Function):  # type: ignore[misc]
    """Adjoint of `_FirstOnly` under the convention: the gradient of a pending sum is already complete."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int) -> Tensor:
        ctx.where = (mesh, axis)
        return wire.copy_of(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _FirstOnly.apply(grad, *ctx.where), None, None


def _own(x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
    me = mesh.own_coordinate()[axis]
    return wire.copy_of(mint.narrow(x, dim, sum(sizes[:me]), sizes[me]))


def all_reduce(x: Tensor, mesh: Any, axis: int, op: str = "sum") -> Tensor:
    """Pending reduction to replicated."""
    if not _taped(x):
        return wire.all_reduce(x, mesh, axis, op)
    if op == "avg":
        return _AllReduce.apply(x / mesh.mesh_shape[axis], mesh, axis)
    if op == "sum":
        return _AllReduce.apply(x, mesh, axis)
    stacked = all_gather(mint.unsqueeze(x, 0), mesh, axis, 0, [1] * mesh.mesh_shape[axis])
    if op == "prod":
        return mint.prod(stacked, 0)
    return mint.amax(stacked, 0) if op == "max" else mint.amin(stacked, 0)


def cross(x: Tensor, mesh: Any, axis: int) -> Tensor:
    """Identity; backward sums the gradient over the axis. Put it where a replicated tensor meets per-rank work."""
    return _Cross.apply(x, mesh, axis) if mesh.mesh_shape[axis] > 1 and _taped(x) else x


def all_gather(x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
    """Shard to replicated."""
    if _taped(x):
        return _AllGather.apply(x, mesh, axis, dim, sizes)
    return wire.all_gather(x, mesh, axis, dim, sizes)


def gather_cross(x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
    """Shard to full data that each rank uses in its own way (backward: reduce-scatter)."""
    if _taped(x):
        return _GatherCross.apply(x, mesh, axis, dim, sizes)
    return wire.all_gather(x, mesh, axis, dim, sizes)


def take_chunk(x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
    """Replicated to shard."""
    return _TakeChunk.apply(x, mesh, axis, dim, sizes) if _taped(x) else _own(x, mesh, axis, dim, sizes)


def reduce_scatter(x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any, op: str = "sum") -> Tensor:
    """Pending reduction to shard."""
    if not _taped(x):
        return wire.reduce_scatter(x, mesh, axis, dim, sizes, op)
    if op == "avg":
        return _ReduceScatter.apply(x / mesh.mesh_shape[axis], mesh, axis, dim, sizes)
    if op == "sum":
        return _ReduceScatter.apply(x, mesh, axis, dim, sizes)
    return take_chunk(all_reduce(x, mesh, axis, op), mesh, axis, dim, sizes)


def all_to_all(x: Tensor, *where: Any) -> Tensor:
    """Shard of one dim to shard of another; `where` = (mesh, axis, cut_dim, cut_sizes, cat_dim, cat_sizes)."""
    return _AllToAll.apply(x, *where) if _taped(x) else wire.all_to_all(x, *where)


def to_partial(x: Tensor, mesh: Any, axis: int, op: str) -> Tensor:
    """Replicated to pending reduction, without communication."""
    if op == "sum":
        return _FirstOnly.apply(x, mesh, axis)
    if op == "prod":
        x = cross(x, mesh, axis)
        if mesh.own_coordinate()[axis] == 0:
            return x
        return mint.where(mint.ne(ops.zeros_like(x), 0), x, ops.ones_like(x))
    return cross(x, mesh, axis)
