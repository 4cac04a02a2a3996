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
"""Tensor functions for rules that rebuild a dim, join and split, or work on triangles and diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint
from mindspore.common._grad_function import _Function

from hyper_parallel.platform.mindspore import adjoint, windows, wire


def _sized(x: Tensor, dim: int, size: int) -> tuple[int, ...]:
    return tuple(size if d == dim else n for d, n in enumerate(x.shape))


def _filled(x: Tensor, dim: int, count: int, fill: Any) -> Tensor:
    return Tensor(np.full(_sized(x, dim, count), fill)).astype(x.dtype)


class _Tie(_Function):  # type: ignore[misc]
    """The first argument, whose gradient is that of the second one too, as zeros."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, source: Tensor) -> Tensor:
        ctx.like = (tuple(source.shape), source.dtype)
        return wire.copy_of(value)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        shape, dtype = ctx.like
        return grad, Tensor(np.zeros(shape)).astype(dtype)


def tied(value: Tensor, source: Tensor) -> Tensor:
    """Keep `source` in the graph of a part that holds nothing of it: its backward may have collectives to join."""
    return _Tie.apply(value, source) if adjoint.taped(source) else value


def joined(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """`mint.cat`, which does not promote dtypes: the widest one here, real numbers being wider than whole ones."""
    kind = max((x.dtype for x in tensors), key=lambda dtype: (_is_real(dtype), dtype != ms.bool_, _size(dtype)))
    return mint.cat([x if x.dtype == kind else x.astype(kind) for x in tensors], dim)


def _is_real(dtype: Any) -> bool:
    return "Float" in str(dtype)


def _size(dtype: Any) -> int:
    return int(Tensor(0, dtype).itemsize)


class LineKernels:
    """Mixed into the platform object."""

    cat = staticmethod(joined)
    move_windows = staticmethod(windows.move_windows)
    add_windows = staticmethod(windows.add_windows)
    fetch_window = staticmethod(windows.fetch_window)
    place_window = staticmethod(windows.place_window)

    @staticmethod
    def assemble(x: Tensor, dim: int, runs: Sequence[tuple[int, int, int]], fill: Any) -> Tensor:
        """The runs `(start, count, step)` of `x` along `dim`, joined; start -1 stands for the constant `fill`."""
        if len(runs) == 1 and runs[0] == (0, x.shape[dim], 1):
            return x
        parts = []
        for start, count, step in runs:
            if not count:
                continue
            if start < 0:
                parts.append(_filled(x, dim, count, fill))
            elif step == 1:
                parts.append(mint.narrow(x, dim, start, count))
            elif step == -1:
                parts.append(mint.flip(mint.narrow(x, dim, start - count + 1, count), (dim,)))
            else:
                parts.append(mint.broadcast_to(mint.narrow(x, dim, start, 1), _sized(x, dim, count)))
        if all(start < 0 or not count for start, count, _ in runs) and parts:
            return tied(mint.cat(parts, dim), x)
        return mint.cat(parts, dim) if parts else mint.narrow(x, dim, 0, 0)

    @staticmethod
    def stride(x: Tensor, dim: int, start: int, count: int, step: int) -> Tensor:
        """`count` positions of `dim` from `start` on, every `step`-th."""
        if count == 0 or step == 1:
            return mint.narrow(x, dim, start if count else 0, count)
        return x[(slice(None),) * dim + (slice(start, start + (count - 1) * step + 1, step),)]

    @staticmethod
    def split(x: Tensor, sizes: Sequence[int], dim: int) -> tuple[Tensor, ...]:
        """Parts of these lengths."""
        starts = np.cumsum([0, *sizes])
        return tuple(mint.narrow(x, dim, int(start), size) for start, size in zip(starts, sizes, strict=False))

    @staticmethod
    def trace_part(x: Tensor, offset: int) -> Tensor:
        """Sum of one diagonal of a matrix."""
        rows, columns = x.shape
        return mint.sum(mint.mul(x, Tensor(np.eye(rows, columns, offset)).astype(x.dtype)))

    @staticmethod
    def among_zeros(x: Tensor, before: int, after: int) -> Tensor:
        """`x` with zeros before and after it on the last dim."""
        dim = x.ndim - 1
        parts = [_filled(x, dim, n, 0) for n in (before, after)]
        whole = mint.cat([p for p in (parts[0], x, parts[1]) if p.shape[dim]], dim)
        return whole if x.shape[dim] else tied(whole, x)
