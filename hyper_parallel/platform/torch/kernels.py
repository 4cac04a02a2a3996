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
"""Small tensor functions that rules use in their closures (interception off); one meaning on every backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from hyper_parallel.platform.torch import adjoint, wire
from hyper_parallel.platform.torch.kernels_attention import AttentionKernels
from hyper_parallel.platform.torch.kernels_count import CountKernels
from hyper_parallel.platform.torch.kernels_empty import EmptyKernels
from hyper_parallel.platform.torch.kernels_lines import LineKernels
from hyper_parallel.platform.torch.kernels_loss import LossKernels
from hyper_parallel.platform.torch.kernels_norm import NormKernels
from hyper_parallel.platform.torch.kernels_order import OrderKernels
from hyper_parallel.platform.torch.kernels_scan import ScanKernels
from hyper_parallel.platform.torch.kernels_softmax import SoftmaxKernels
from hyper_parallel.platform.torch.kernels_triangle import TriangleKernels

Tensor = torch.Tensor
_DIM_TUPLE: dict[str, Any] = {
    "logsumexp": torch.logsumexp,
    "special_logsumexp": torch.logsumexp,
    "all": torch.all,
    "any": torch.any,
}


class Kernels(
    AttentionKernels,
    CountKernels,
    EmptyKernels,
    LineKernels,
    LossKernels,
    NormKernels,
    OrderKernels,
    ScanKernels,
    SoftmaxKernels,
    TriangleKernels,
):
    """Mixed into the platform object."""

    @staticmethod
    def sum(x: Tensor, dims: Sequence[int], keep: bool, dtype: Any) -> Tensor:
        """Sum over exactly these dims (none: only the dtype is promoted)."""
        if not dims:
            return x.sum((), keepdim=keep, dtype=dtype) if x.dim() == 0 else x.unsqueeze(0).sum(0, dtype=dtype)
        return torch.sum(x, tuple(dims), keepdim=keep, dtype=dtype)

    @staticmethod
    def mean(x: Tensor, dims: Sequence[int], keep: bool, dtype: Any) -> Tensor:
        """Mean over exactly these dims (at least one)."""
        return torch.mean(x, tuple(dims), keepdim=keep, dtype=dtype)

    @staticmethod
    def expand(x: Tensor, shape: Sequence[int]) -> Tensor:
        """Broadcast to a shape."""
        return x.expand(tuple(shape))

    @staticmethod
    def unsqueeze(x: Tensor, dim: int) -> Tensor:
        """A new dim of size 1."""
        return x.unsqueeze(dim)

    @staticmethod
    def require_float(op: str, x: Tensor, dtype: Any) -> None:
        """The error the local operator would raise for integers."""
        kind = dtype or x.dtype
        if not kind.is_floating_point and not kind.is_complex:
            raise RuntimeError(
                f"{op}(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
                f"Got: {x.dtype}"
            )

    @staticmethod
    def reduce(name: str, x: Tensor, dims: Sequence[int], keep: bool, dtype: Any) -> Any:
        """prod, logsumexp, all, any over exactly these dims."""
        if name == "prod":
            if not dims:
                return x.to(dtype) if dtype else x.clone()
            for dim in sorted(dims, reverse=True):
                x = torch.prod(x, dim, keepdim=keep, dtype=dtype)
            return x
        func = _DIM_TUPLE[name]
        return func(x, tuple(dims), keepdim=keep)

    @staticmethod
    def vector_norm(x: Tensor, order: float, dims: Sequence[int], keep: bool, dtype: Any) -> Any:
        """The vector norm over these dims."""
        return torch.linalg.vector_norm(x, order, tuple(dims), keepdim=keep, dtype=dtype)

    is_complex = staticmethod(torch.is_complex)
    view_as_real = staticmethod(torch.view_as_real)

    @staticmethod
    def safe_sqrt(x: Tensor) -> Tensor:
        """Square root with gradient 0 at 0, as `std` has it."""
        zero = x == 0
        return torch.where(zero, torch.zeros_like(x), torch.where(zero, torch.ones_like(x), x).sqrt())

    @staticmethod
    def join_complex_variance(halves: Any, root: bool, both: bool) -> Any:
        """Variance of a complex tensor from those of its real and imaginary parts."""
        spreads = [h[0] if both else h for h in halves]
        if root:
            spread = (spreads[0] ** 2 + spreads[1] ** 2).sqrt()
        else:
            spread = spreads[0] + spreads[1]
        return (spread, torch.complex(halves[0][1], halves[1][1])) if both else spread

    @staticmethod
    def tied_extreme(
        x: Tensor, dims: Sequence[int], keep: bool, largest: bool, mesh: Any, axes: Sequence[int]
    ) -> Tensor:
        """Maximum (minimum) over dims cut by `axes`; the gradient is shared evenly by all ties on all ranks."""
        func = torch.amax if largest else torch.amin
        source = x.detach()
        missing = [d for d in dims if x.shape[d] == 0]
        if missing:
            shape = [1 if d in dims else n for d, n in enumerate(x.shape)]
            value = torch.full(shape, _worst(x.dtype, largest), dtype=x.dtype)
        else:
            value = func(source, tuple(dims), keepdim=True)
        for axis in axes:
            value = func(wire.gather_stack(value, mesh, axis), 0)
        result = value if keep else value.squeeze(tuple(dims))
        if not (torch.is_grad_enabled() and x.requires_grad):
            return result
        mask = (source == value) | (source.isnan() & value.isnan())
        count = mask.sum(tuple(dims), keepdim=keep)
        picked = torch.where(mask, x, torch.zeros_like(x)).sum(tuple(dims), keepdim=keep)
        for axis in axes:
            count = wire.all_reduce(count, mesh, axis, "sum")
            picked = adjoint.all_reduce(picked, mesh, axis)
        attach: Any = _ValueOf
        return attach.apply(result, picked / count)  # type: ignore[no-any-return]

    @staticmethod
    def as_pair(name: str, values: Tensor, indices: Tensor) -> Any:
        """The named pair that max(dim) and the like return."""
        kind = getattr(torch.return_types, name, None)
        return kind((values, indices)) if kind else (values, indices)

    @staticmethod
    def extreme_or_fill(x: Tensor, dim: int, largest: bool) -> tuple[Tensor, Tensor]:
        """max/min along a dim (kept); for an empty part the worst value, still tied to `x` in the graph."""
        if x.shape[dim] == 0:
            worst = _worst(x.dtype, largest)
            if x.requires_grad:
                value = x.sum(dim, keepdim=True) + worst
            else:
                shape = [1 if d == dim else n for d, n in enumerate(x.shape)]
                value = x.new_full(shape, worst)
            return value, torch.zeros(value.shape, dtype=torch.int64, device=x.device)
        if x.dim() == 0:
            return x, torch.zeros((), dtype=torch.int64, device=x.device)
        pair = x.max(dim, keepdim=True) if largest else x.min(dim, keepdim=True)
        return pair[0], pair[1]

    @staticmethod
    def first_extreme(values: Tensor, dim: int, largest: bool) -> tuple[Tensor, Tensor]:
        """max/min along a dim (kept) and the place of the first one."""
        pair = values.max(dim, keepdim=True) if largest else values.min(dim, keepdim=True)
        return pair[0], pair[1]

    @staticmethod
    def take_along(x: Tensor, index: Tensor, dim: int) -> Tensor:
        """x gathered at `index` along a dim."""
        return x.gather(dim, index)


class _ValueOf(torch.autograd.Function):
    """The first argument's value with the second one's derivative."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, carrier: Tensor) -> Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return None, grad


def _worst(dtype: torch.dtype, largest: bool) -> Any:
    if dtype is torch.bool:
        return not largest
    if dtype.is_floating_point:
        return float("-inf") if largest else float("inf")
    return torch.iinfo(dtype).min if largest else torch.iinfo(dtype).max
