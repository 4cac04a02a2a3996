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
"""Counts and uniques by numpy, as the CPU has no kernels for them. None has a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor
from numpy.typing import NDArray

Array = NDArray[Any]


def uniques(x: Array, consecutive: bool, dim: int | None) -> tuple[Array, Array, Array]:
    """(values, inverse, counts) along a dim; None: of the flattened array, with an inverse of its shape."""
    if not consecutive:
        values, inverse, counts = np.unique(x, False, True, True, axis=dim, equal_nan=False)
        return values, inverse.reshape(x.shape if dim is None else x.shape[dim]), counts
    lines = x.reshape(-1, 1) if dim is None else np.moveaxis(x, dim, 0).reshape(x.shape[dim], -1)
    first = np.ones(len(lines), np.bool_)
    first[1:] = (lines[1:] != lines[:-1]).any(1)
    starts, inverse = np.nonzero(first)[0], np.cumsum(first) - 1
    counts = np.diff(np.append(starts, len(lines)))
    if dim is None:
        return x.reshape(-1)[starts], inverse.reshape(x.shape), counts
    return np.take(x, starts, dim), inverse, counts


def unique(
    x: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Different values, in order."""
    return _some(x, False, return_inverse, return_counts, dim)


def unique_consecutive(
    x: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Values that differ from the one before."""
    return _some(x, True, return_inverse, return_counts, dim)


def _some(x: Tensor, consecutive: bool, inverse: bool, counted: bool, dim: int | None) -> Any:
    found = uniques(x.asnumpy(), consecutive, dim)
    kept = [Tensor(part) for part, asked in zip(found, (True, inverse, counted), strict=True) if asked]
    return tuple(kept) if len(kept) > 1 else kept[0]


def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often (or with what weight) each number appears.

    Raises:
        ValueError: a number is negative.
    """
    counts = np.bincount(x.asnumpy(), None if weights is None else weights.asnumpy(), minlength)
    return Tensor(counts.astype(np.float32) if weights is not None and weights.dtype == ms.float32 else counts)


def nonzero(x: Tensor, *, as_tuple: bool = False) -> Any:
    """Positions of what is not zero, as rows or as one tensor per dim."""
    places = np.nonzero(x.asnumpy())
    return tuple(map(Tensor, places)) if as_tuple else Tensor(np.stack(places, 1))


def histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Counts of elements in bins of equal width; equal bounds stand for the extremes."""
    values = x.asnumpy()
    low, high = (min, max) if min != max else (float(values.min()), float(values.max()))
    if low == high:
        low, high = low - 1, high + 1
    counts, _ = np.histogram(values, bins, (low, high))
    return Tensor(counts.astype(np.float32)).astype(x.dtype)


ROUTES: dict[str, Callable[..., Any]] = {
    "bincount": bincount,
    "histc": histc,
    "nonzero": nonzero,
    "unique": unique,
    "unique_consecutive": unique_consecutive,
}
