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
"""Order: places are found by numpy, stable and with NaN last, and read by an operator that has a derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, ops

from hyper_parallel.platform.mindspore import wire
from hyper_parallel.platform.mindspore.kernels_order import Array, picked, sort_keys


def _read(x: Tensor, places: Array, dim: int) -> tuple[Tensor, Tensor]:
    index = Tensor(np.ascontiguousarray(places.astype(np.int64)))
    if x.ndim:
        return picked(x, index, dim), index
    return mint.mul(x, 1) if x.dtype != ms.bool_ else x, index


def _order(x: Tensor, dim: int, descending: bool) -> Array:
    if not x.ndim:
        return np.zeros((), np.int64)
    return np.asarray(np.argsort(sort_keys(wire.to_host(x), descending), dim, kind="stable"))


def sort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """Values and places along a dim; equal values stay in order."""
    return _read(x, _order(x, dim, descending), dim)


def argsort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Places of the sorted values."""
    return Tensor(_order(x, dim, descending))


def topk(x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """The first of the sorted values, and their places."""
    order = _order(x, dim, largest)
    return _read(x, np.take(order, range(k), dim) if x.ndim else order, dim)


def kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The k-th of the sorted values (from 1), and its place."""
    order = _order(x, dim, False)
    return _one(x, np.take(order, [k - 1], dim) if x.ndim else order, dim, keepdim)


def median(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower one of the middle values; NaN where there is one."""
    if dim is None:
        return median(mint.reshape(x, (-1,)), 0)[0]
    order = _order(x, dim, False)
    if not x.ndim:
        return _one(x, order, dim, keepdim)
    size, host = x.shape[dim], wire.to_host(x)
    wrong = (host != host).sum(dim, keepdims=True)
    place = np.where(wrong > 0, size - wrong, (size - 1) // 2)
    return _one(x, np.take_along_axis(order, place, dim), dim, keepdim)


def _one(x: Tensor, places: Array, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    values, index = _read(x, places, dim)
    if keepdim or not x.ndim:
        return values, index
    shape = tuple(n for d, n in enumerate(x.shape) if d != dim % x.ndim)
    return mint.reshape(values, shape), mint.reshape(index, shape)


def _so_far(name: str) -> Callable[..., Any]:
    find = getattr(ops, name)

    def scan(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        # The kernel's own derivative needs one that the CPU lacks.
        return _read(x, wire.to_host(find(ops.stop_gradient(x), dim)[1]), dim)

    return scan


ROUTES: dict[str, Callable[..., Any]] = {
    "argsort": argsort,
    "cummax": _so_far("cummax"),
    "cummin": _so_far("cummin"),
    "kthvalue": kthvalue,
    "median": median,
    "sort": sort,
    "topk": topk,
}
