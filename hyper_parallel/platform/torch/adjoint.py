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

Convention: the gradient of a replicated tensor is replicated (equal and complete on every rank), that of a pending sum
is replicated, that of a shard is a shard. `cross` marks the point where a replicated tensor starts to be used
differently by the ranks: backward adds their contributions.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import Function

from hyper_parallel.platform.torch import wire

Tensor = torch.Tensor


def _run(function: Any, *args: Any) -> Any:
    return function.apply(*args)


def _taped(x: Tensor) -> bool:
    return torch.is_grad_enabled() and x.requires_grad


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int) -> Tensor:
        ctx.where = (mesh, axis)
        return wire.all_reduce(x, mesh, axis, "sum")

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return cross(grad, *ctx.where), None, None


class _Cross(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int) -> Tensor:
        ctx.where = (mesh, axis)
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return all_reduce(grad, *ctx.where), None, None


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
        ctx.where = (mesh, axis, dim, sizes)
        return wire.all_gather(x, mesh, axis, dim, sizes)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return take_chunk(grad, *ctx.where), None, None, None, None


class _TakeChunk(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
        ctx.where = (mesh, axis, dim, sizes)
        return _own(x, mesh, axis, dim, sizes).clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return all_gather(grad, *ctx.where), None, None, None, None


class _GatherCross(Function):
    """All-gather whose result is used differently by the ranks: backward is a reduce-scatter."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
        ctx.where = (mesh, axis, dim, sizes)
        return wire.all_gather(x, mesh, axis, dim, sizes)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return reduce_scatter(grad, *ctx.where), None, None, None, None


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
        ctx.where = (mesh, axis, dim, sizes)
        return wire.reduce_scatter(x, mesh, axis, dim, sizes, "sum")

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return gather_cross(grad, *ctx.where), None, None, None, None


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, *where: Any) -> Tensor:
        ctx.where = where
        return wire.all_to_all(x, *where)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        mesh, axis, cut_dim, cut_sizes, cat_dim, cat_sizes = ctx.where
        return all_to_all(grad, mesh, axis, cat_dim, cat_sizes, cut_dim, cut_sizes), *(None,) * 6


class _FirstOnly(Function):
    """Replicated to pending sum: the first rank keeps the value, the others hold zeros."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int) -> Tensor:
        ctx.where = (mesh, axis)
        return x.clone() if mesh.own_coordinate()[axis] == 0 else torch.zeros_like(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _run(_SameGrad, grad, *ctx.where), None, None


class _SameGrad(Function):
    """Adjoint of `_FirstOnly` under the convention: the gradient of a pending sum is already complete."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mesh: Any, axis: int) -> Tensor:
        ctx.where = (mesh, axis)
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _run(_FirstOnly, grad, *ctx.where), None, None


def same_grad(x: Tensor, mesh: Any, axis: int) -> Tensor:
    """Identity on equal copies that stand for one value; backward leaves the gradient to the first rank alone."""
    return _run(_SameGrad, x, mesh, axis) if _taped(x) and mesh.mesh_shape[axis] > 1 else x


def _own(x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
    me = mesh.own_coordinate()[axis]
    return x.narrow(dim, sum(sizes[:me]), sizes[me])


def all_reduce(x: Tensor, mesh: Any, axis: int, op: str = "sum") -> Any:
    """Pending reduction to replicated."""
    if not _taped(x):
        return wire.all_reduce(x, mesh, axis, op)
    if op == "avg":
        return _run(_AllReduce, x / mesh.mesh_shape[axis], mesh, axis)
    if op == "sum":
        return _run(_AllReduce, x, mesh, axis)
    stacked = all_gather(x.unsqueeze(0), mesh, axis, 0, [1] * mesh.mesh_shape[axis])
    if op == "prod":
        return stacked.prod(0)
    return stacked.amax(0) if op == "max" else stacked.amin(0)


def cross(x: Tensor, mesh: Any, axis: int) -> Any:
    """Identity; backward sums the gradient over the axis. Put it where a replicated tensor meets per-rank work."""
    return _run(_Cross, x, mesh, axis) if _taped(x) and mesh.mesh_shape[axis] > 1 else x


def all_gather(x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Any:
    """Shard to replicated."""
    if _taped(x):
        return _run(_AllGather, x, mesh, axis, dim, sizes)
    return wire.all_gather(x, mesh, axis, dim, sizes)


def gather_cross(x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Any:
    """Shard to full data that each rank uses in its own way (backward: reduce-scatter)."""
    if _taped(x):
        return _run(_GatherCross, x, mesh, axis, dim, sizes)
    return wire.all_gather(x, mesh, axis, dim, sizes)


def take_chunk(x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Any:
    """Replicated to shard."""
    if _taped(x):
        return _run(_TakeChunk, x, mesh, axis, dim, sizes)
    return _own(x, mesh, axis, dim, sizes).clone()


def reduce_scatter(x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any, op: str = "sum") -> Any:
    """Pending reduction to shard."""
    if not _taped(x):
        return wire.reduce_scatter(x, mesh, axis, dim, sizes, op)
    if op == "avg":
        return _run(_ReduceScatter, x / mesh.mesh_shape[axis], mesh, axis, dim, sizes)
    if op == "sum":
        return _run(_ReduceScatter, x, mesh, axis, dim, sizes)
    return take_chunk(all_reduce(x, mesh, axis, op), mesh, axis, dim, sizes)


def all_to_all(x: Tensor, *where: Any) -> Any:
    """Shard of one dim to shard of another; `where` = (mesh, axis, cut_dim, cut_sizes, cat_dim, cat_sizes)."""
    return _run(_AllToAll, x, *where) if _taped(x) else wire.all_to_all(x, *where)


def to_partial(x: Tensor, mesh: Any, axis: int, op: str) -> Any:
    """Replicated to pending reduction, without communication."""
    if op == "sum":
        return _run(_FirstOnly, x, mesh, axis)
    if op == "prod":
        x = cross(x, mesh, axis)
        if mesh.own_coordinate()[axis] == 0:
            return x
        return torch.where(torch.zeros_like(x, dtype=torch.bool), x, torch.ones_like(x))
    return cross(x, mesh, axis)
