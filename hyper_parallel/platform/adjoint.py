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
"""Collectives with a gradient, in pairs that are each other's backward, so that every order of derivative is right.

Convention: the gradient of a replicated tensor is replicated (equal and complete on every rank), that of a pending sum
is replicated, that of a shard is a shard. `cross` marks the point where a replicated tensor starts to be used
differently by the ranks: backward adds their contributions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

Tensor = Any


@dataclass(frozen=True)
class Framework:
    """What the pairs need of a framework.

    Attributes:
        function: Base class of functions that bring their own ``forward(ctx, …)`` and ``backward(ctx, grad)``.
        wire: The framework's collectives, which know no gradient.
        taped: Whether operations on this tensor are being recorded.
        again: The same values as a tensor that the tape takes for another one; may share memory.
        copy: The same values in memory of their own.
        narrow: ``(x, dim, start, length)``: that part of a dim.
        zeros_like: Zeros of the same shape and dtype.
        ones_tied: Ones of the same shape and dtype that still hang on the tensor, with a gradient of zero.
        fold: By reduction (``prod``, ``max``, ``min``) the function that reduces dim 0.
    """

    function: Any
    wire: ModuleType
    taped: Callable[[Tensor], bool]
    again: Callable[[Tensor], Tensor]
    copy: Callable[[Tensor], Tensor]
    narrow: Callable[[Tensor, int, int, int], Tensor]
    zeros_like: Callable[[Tensor], Tensor]
    ones_tied: Callable[[Tensor], Tensor]
    fold: Mapping[str, Callable[[Tensor], Tensor]]


def differentiable(base: Any, forward: Callable[..., Tensor], backward: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`forward(x, *where)` as a recorded function whose gradient is `backward(grad, *where)`."""

    class Pair(base):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Tensor, *where: Any) -> Tensor:
            ctx.where = where
            return forward(x, *where)

        @staticmethod
        def backward(ctx: Any, grad: Tensor) -> Any:
            return backward(grad, *ctx.where), *(None for _ in ctx.where)

    apply: Callable[..., Tensor] = Pair.apply
    return apply


class Adjoint:
    """The differentiable collectives of one framework; `axis` is a mesh axis, `sizes` the parts' sizes on `dim`."""

    def __init__(self, framework: Framework) -> None:
        self._on = framework
        base, wire = framework.function, framework.wire
        self._all_reduce = differentiable(base, lambda x, *at: wire.all_reduce(x, *at, "sum"), self.cross)
        self._cross = differentiable(base, lambda x, *at: framework.again(x), self.all_reduce)
        self._all_gather = differentiable(base, lambda x, *at: wire.all_gather(x, *at), self.take_chunk)
        self._take_chunk = differentiable(base, self._own, self.all_gather)
        self._gather_cross = differentiable(base, lambda x, *at: wire.all_gather(x, *at), self.reduce_scatter)
        self._reduce_scatter = differentiable(
            base, lambda x, *at: wire.reduce_scatter(x, *at, "sum"), self.gather_cross
        )
        self._all_to_all = differentiable(base, lambda x, *at: wire.all_to_all(x, *at), self._all_to_all_back)
        # Between replicated and a pending sum: the gradient of a pending sum is complete on every rank already.
        self._first_only = differentiable(base, self._keep_first, lambda grad, *at: self._same_grad(grad, *at))
        self._same_grad = differentiable(base, lambda x, *at: framework.again(x), self._first_only)

    def _own(self, x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Tensor:
        me = mesh.own_coordinate()[axis]
        return self._on.copy(self._on.narrow(x, dim, sum(sizes[:me]), sizes[me]))

    def _keep_first(self, x: Tensor, mesh: Any, axis: int) -> Tensor:
        return self._on.copy(x) if mesh.own_coordinate()[axis] == 0 else self._on.zeros_like(x)

    def _all_to_all_back(
        self, grad: Tensor, mesh: Any, axis: int, cut_dim: int, cut_sizes: Any, cat_dim: int, cat_sizes: Any
    ) -> Tensor:
        return self.all_to_all(grad, mesh, axis, cat_dim, cat_sizes, cut_dim, cut_sizes)

    def all_reduce(self, x: Tensor, mesh: Any, axis: int, op: str = "sum") -> Any:
        """Pending reduction to replicated."""
        if not self._on.taped(x):
            return self._on.wire.all_reduce(x, mesh, axis, op)
        if op == "avg":
            return self._all_reduce(x / mesh.mesh_shape[axis], mesh, axis)
        if op == "sum":
            return self._all_reduce(x, mesh, axis)
        return self._on.fold[op](self.all_gather(x.unsqueeze(0), mesh, axis, 0, [1] * mesh.mesh_shape[axis]))

    def cross(self, x: Tensor, mesh: Any, axis: int) -> Any:
        """Identity; backward sums the gradient over the axis. Put it where a replicated tensor meets per-rank work."""
        return self._cross(x, mesh, axis) if self._on.taped(x) and mesh.mesh_shape[axis] > 1 else x

    def same_grad(self, x: Tensor, mesh: Any, axis: int) -> Any:
        """Identity on equal copies that stand for one value; backward leaves the gradient to the first rank alone."""
        return self._same_grad(x, mesh, axis) if self._on.taped(x) and mesh.mesh_shape[axis] > 1 else x

    def all_gather(self, x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Any:
        """Shard to replicated."""
        gather = self._all_gather if self._on.taped(x) else self._on.wire.all_gather
        return gather(x, mesh, axis, dim, sizes)

    def gather_cross(self, x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Any:
        """Shard to full data that each rank uses in its own way (backward: reduce-scatter)."""
        gather = self._gather_cross if self._on.taped(x) else self._on.wire.all_gather
        return gather(x, mesh, axis, dim, sizes)

    def take_chunk(self, x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any) -> Any:
        """Replicated to shard."""
        take = self._take_chunk if self._on.taped(x) else self._own
        return take(x, mesh, axis, dim, sizes)

    def reduce_scatter(self, x: Tensor, mesh: Any, axis: int, dim: int, sizes: Any, op: str = "sum") -> Any:
        """Pending reduction to shard."""
        if not self._on.taped(x):
            return self._on.wire.reduce_scatter(x, mesh, axis, dim, sizes, op)
        if op == "avg":
            return self._reduce_scatter(x / mesh.mesh_shape[axis], mesh, axis, dim, sizes)
        if op == "sum":
            return self._reduce_scatter(x, mesh, axis, dim, sizes)
        return self.take_chunk(self.all_reduce(x, mesh, axis, op), mesh, axis, dim, sizes)

    def all_to_all(self, x: Tensor, *where: Any) -> Any:
        """Shard of one dim to shard of another; `where` = (mesh, axis, cut_dim, cut_sizes, cat_dim, cat_sizes)."""
        exchange = self._all_to_all if self._on.taped(x) else self._on.wire.all_to_all
        return exchange(x, *where)

    def to_partial(self, x: Tensor, mesh: Any, axis: int, op: str) -> Any:
        """Replicated to pending reduction, without communication."""
        if op == "sum":
            return self._first_only(x, mesh, axis)
        x = self.cross(x, mesh, axis)
        return self._on.ones_tied(x) if op == "prod" and mesh.own_coordinate()[axis] > 0 else x
