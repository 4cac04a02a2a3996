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
"""Small tensor functions that rules use in their closures, on plain tensors; one name, one meaning on every backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindspore as ms
from mindspore import Tensor, mint, ops
from mindspore.common._grad_function import _Function

from hyper_parallel.errors import explain
from hyper_parallel.platform.mindspore import adjoint, native, routes, wire
from hyper_parallel.platform.mindspore.errors import MissingFunction
from hyper_parallel.platform.mindspore.kernels_attention import AttentionKernels
from hyper_parallel.platform.mindspore.kernels_count import CountKernels
from hyper_parallel.platform.mindspore.kernels_lines import LineKernels
from hyper_parallel.platform.mindspore.kernels_loss import LossKernels
from hyper_parallel.platform.mindspore.kernels_norm import NormKernels
from hyper_parallel.platform.mindspore.kernels_order import OrderKernels
from hyper_parallel.platform.mindspore.kernels_softmax import SoftmaxKernels
from hyper_parallel.platform.mindspore.rows import RowKernels


def _call(name: str, *args: Any, **kwargs: Any) -> Any:
    return native.call_plain(name, args, kwargs)


class Kernels(
    AttentionKernels,
    CountKernels,
    LineKernels,
    LossKernels,
    NormKernels,
    OrderKernels,
    RowKernels,
    SoftmaxKernels,
):
    """Mixed into the platform object."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise MissingFunction(explain("MindSpore", f"the tensor function {name}", "part of this backend", "none"))

    @staticmethod
    def sum(x: Tensor, dims: Sequence[int], keep: bool, dtype: Any) -> Tensor:
        """Sum over exactly these dims (none: only the dtype is promoted)."""
        if not dims:
            return mint.sum(mint.unsqueeze(x, 0), 0, dtype=dtype)
        return mint.sum(x, tuple(dims), keep, dtype=dtype)

    @staticmethod
    def mean(x: Tensor, dims: Sequence[int], keep: bool, dtype: Any) -> Tensor:
        """Mean over exactly these dims (at least one)."""
        return mint.mean(x, tuple(dims), keep, dtype=dtype)

    @staticmethod
    def expand(x: Tensor, shape: Sequence[int]) -> Tensor:
        """Broadcast to a shape."""
        return mint.broadcast_to(x, tuple(shape))

    @staticmethod
    def unsqueeze(x: Tensor, dim: int) -> Tensor:
        """A new dim of size 1."""
        return mint.unsqueeze(x, dim)

    @staticmethod
    def reduce(name: str, x: Tensor, dims: Sequence[int], keep: bool, dtype: Any) -> Tensor:
        """prod, logsumexp, all, any over exactly these dims."""
        if not dims:
            return x if dtype is None else x.astype(dtype)
        if name == "prod":
            for dim in sorted(dims, reverse=True):
                x = mint.prod(x, dim, keep, dtype=dtype)
            return x
        if name in {"all", "any"}:
            for dim in sorted(dims, reverse=True):
                x = _call(name, x, dim, keep)
            return x
        if name != "logsumexp":
            raise MissingFunction(explain(name, "the reduction", "one of this backend", "none"))
        return _call(name, x, tuple(dims), keep)

    @staticmethod
    def vector_norm(x: Tensor, order: float, dims: Sequence[int], keep: bool, dtype: Any) -> Tensor:
        """The vector norm over these dims."""
        return _call("linalg_vector_norm", x, order, tuple(dims), keep, dtype=dtype)

    @staticmethod
    def is_complex(x: Tensor) -> bool:
        """Whether the dtype is complex."""
        return bool(x.is_complex())

    @staticmethod
    def safe_sqrt(x: Tensor) -> Tensor:
        """Square root with gradient 0 at 0, as `std` has it."""
        return routes._safe_root(x)

    @staticmethod
    def tied_extreme(
        x: Tensor, dims: Sequence[int], keep: bool, largest: bool, mesh: Any, axes: Sequence[int]
    ) -> Tensor:
        """Maximum (minimum) over dims cut by `axes`; the gradient is shared evenly by all ties on all ranks."""
        func = mint.amax if largest else mint.amin
        source = ops.stop_gradient(x)
        value = func(source, tuple(dims), True)
        for axis in axes:
            value = func(wire.gather_stack(value, mesh, axis), 0)
        result = value if keep else routes._drop(value, dims)
        if not adjoint.taping():
            return result
        mask = mint.logical_or(mint.eq(source, value), mint.logical_and(mint.ne(source, source), mint.ne(value, value)))
        count = mint.sum(mask.astype(x.dtype), tuple(dims), keep)
        picked = mint.sum(mint.where(mask, x, ops.zeros_like(x)), tuple(dims), keep)
        for axis in axes:
            count = wire.all_reduce(count, mesh, axis, "sum")
            picked = adjoint.all_reduce(picked, mesh, axis)
        return _ValueOf.apply(result, mint.div(picked, count))

    @staticmethod
    def as_pair(name: str, values: Tensor, indices: Tensor) -> Any:
        """The pair that max(dim) and the like return."""
        return values, indices

    @staticmethod
    def extreme_or_fill(x: Tensor, dim: int, largest: bool) -> tuple[Tensor, Tensor]:
        """max/min along a dim (kept)."""
        if x.ndim == 0:
            return x, Tensor(0, ms.int64)
        pair = mint.max(x, dim, True) if largest else mint.min(x, dim, True)
        return pair[0], pair[1]

    @staticmethod
    def first_extreme(values: Tensor, dim: int, largest: bool) -> tuple[Tensor, Tensor]:
        """max/min along a dim (kept) and the place of the first one."""
        pair = mint.max(values, dim, True) if largest else mint.min(values, dim, True)
        return pair[0], pair[1]

    @staticmethod
    def take_along(x: Tensor, index: Tensor, dim: int) -> Tensor:
        """x gathered at `index` along a dim."""
        return mint.gather(x, dim, index)


class _ValueOf(_Function):  # type: ignore[misc]
    """The first argument's value with the second one's derivative."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, carrier: Tensor) -> Tensor:
        return wire.copy_of(value)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return None, grad
