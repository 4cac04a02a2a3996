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
"""Counts and uniques of cut tensors; `hyper_parallel.platform.torch.kernels_count` tells the meaning.

None of these has a gradient, so all of it is numpy's work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from mindspore import Tensor

from hyper_parallel.platform.mindspore import native, wire
from hyper_parallel.platform.mindspore.routes_count import uniques


def gather_flags(x: Tensor, mesh: Any, axis: int, dim: int, sizes: Sequence[int]) -> Tensor:
    """Where the whole tensor is not zero, from parts cut along `dim`: one bit of each element is sent."""
    flags = wire.to_host(x) != 0
    if mesh.mesh_shape[axis] == 1:
        return Tensor(flags)
    shapes = [[size if d == dim else n for d, n in enumerate(flags.shape)] for size in sizes]
    lengths = [-(-math.prod(shape) // 8) for shape in shapes]
    joined = wire.to_host(wire.all_gather(Tensor(np.packbits(flags)), mesh, axis, 0, lengths))
    packed = np.split(joined, np.cumsum(lengths)[:-1])
    parts = [
        np.unpackbits(bits, count=math.prod(shape)).reshape(shape).astype(np.bool_)
        for bits, shape in zip(packed, shapes, strict=True)
    ]
    return Tensor(np.concatenate(parts, dim))


def merge_unique(
    x: Tensor, dim: int | None, consecutive: bool, counted: bool, mesh: Any, axis: int
) -> tuple[Tensor, Tensor, Tensor | None]:
    """(values, own part of the inverse, counts) of a tensor whose parts follow each other along `dim` (None: flat)."""
    along, ones = dim or 0, (1,) * mesh.mesh_shape[axis]
    values, inverse, counts = uniques(wire.to_host(x), consecutive, dim)
    size = Tensor(np.array([values.shape[along]], np.int32))
    lengths = [int(n) for n in wire.to_host(wire.all_gather(size, mesh, axis, 0, ones))]
    gathered = wire.all_gather(wire.from_host(values, x.dtype), mesh, axis, along, lengths)
    merged, places, _ = uniques(wire.to_host(gathered), consecutive, dim)
    before = sum(lengths[: mesh.own_coordinate()[axis]])
    own = places[before : before + values.shape[along]][inverse]
    result, where = wire.from_host(merged, x.dtype), Tensor(np.ascontiguousarray(own))
    if not counted:
        return result, where, None
    terms = wire.to_host(wire.all_gather(Tensor(counts.astype(np.int32)), mesh, axis, 0, lengths))
    sums = np.zeros(merged.shape[along], np.int64)
    np.add.at(sums, places, terms.astype(np.int64))
    return result, where, Tensor(sums)


def _extremes(x: Tensor, mesh: Any, axes: Sequence[int]) -> tuple[Any, Any]:
    """The smallest and the largest element of all parts, none of which is empty (NaN if there is one)."""
    flat = wire.to_host(x).reshape(-1)
    ends = np.array([flat.min(), flat.max()])
    for axis in axes:
        rows = np.stack(wire._gather_host(ends, mesh, axis))
        ends = np.array([rows[:, 0].min(), rows[:, 1].max()])
    return ends[0], ends[1]


def bincount_part(x: Tensor, weights: Tensor | None, minlength: int, mesh: Any, axis: int) -> Tensor:
    """The own part's counts, as long as the whole tensor's are."""
    low, high = _extremes(x, mesh, [axis])
    if low < 0:
        x = Tensor(np.array([low, high]))  # the operator's own error, on all ranks
    result: Tensor = native.call_plain("bincount", (x, weights, max(int(high) + 1, minlength)), {})
    return result


def histc_part(x: Tensor, bins: int, low: float, high: float, mesh: Any, axes: Sequence[int]) -> Tensor:
    """The own part's counts within the bounds; equal bounds stand for the extremes of the whole tensor."""
    if low == high:
        low, high = (float(end) for end in _extremes(x, mesh, axes))
        if low == high:
            low, high = low - 1, high + 1
    result: Tensor = native.call_plain("histc", (x, bins, low, high), {})
    return result


class CountKernels:
    """Mixed into the platform object."""

    gather_flags = staticmethod(gather_flags)
    merge_unique = staticmethod(merge_unique)
    bincount_part = staticmethod(bincount_part)
    histc_part = staticmethod(histc_part)
