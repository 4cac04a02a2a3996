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
"""Counting and finding along cut dims; interception is off and nothing here has a gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from hyper_parallel.platform.torch import wire
from hyper_parallel.platform.torch.dtensor import plain
from hyper_parallel.platform.torch.kernels_order import pack, unpack

Tensor = torch.Tensor


def gather_flags(x: Tensor, mesh: Any, axis: int, dim: int, sizes: Sequence[int]) -> Tensor:
    """Where the whole tensor is not zero, from parts cut along `dim`: one bit of each element is sent."""
    flags = plain(x.detach()).to(torch.bool)
    if mesh.mesh_shape[axis] == 1:
        return flags
    shapes = [[size if d == dim else n for d, n in enumerate(flags.shape)] for size in sizes]
    counts = [torch.Size(shape).numel() for shape in shapes]
    lengths = [-(-count // 8) for count in counts]
    packed = wire.all_gather(pack(flags), mesh, axis, 0, lengths).split_with_sizes(lengths)
    parts = [unpack(part, count).reshape(shape) for part, count, shape in zip(packed, counts, shapes, strict=True)]
    return torch.cat(parts, dim)


def merge_unique(
    x: Tensor, dim: int | None, consecutive: bool, counted: bool, mesh: Any, axis: int
) -> tuple[Tensor, Tensor, Tensor | None]:
    """(values, own part of the inverse, counts) of a tensor whose parts follow each other along `dim` (None: flat).

    Only what is unique within a part is sent.
    """
    find: Any = torch.unique_consecutive if consecutive else torch.unique
    x, along = plain(x.detach()), dim or 0
    if x.numel():
        values, inverse, counts = find(x, return_inverse=True, return_counts=True, dim=dim)
    else:
        values = x.reshape(-1) if dim is None else x
        inverse = torch.zeros(x.shape if dim is None else x.shape[dim], dtype=torch.int64)
        counts = torch.zeros(0, dtype=torch.int64)
    ones = (1,) * mesh.mesh_shape[axis]
    lengths = wire.all_gather(torch.tensor([values.shape[along]], dtype=torch.int32), mesh, axis, 0, ones).tolist()
    merged, places = find(wire.all_gather(values, mesh, axis, along, lengths), return_inverse=True, dim=dim)
    before = sum(lengths[: mesh.own_coordinate()[axis]])
    own = places.narrow(0, before, values.shape[along])[inverse]
    if not counted:
        return merged, own, None
    terms = wire.all_gather(counts.to(torch.int32), mesh, axis, 0, lengths).to(torch.int64)
    return merged, own, torch.zeros(merged.shape[along], dtype=torch.int64).index_add_(0, places, terms)


def _extremes(x: Tensor, mesh: Any, axes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The smallest and the largest element of all parts (NaN if there is one); only some of them may be empty."""
    flat = x.reshape(-1)
    known = torch.tensor([flat.numel() > 0])
    ends = torch.stack([flat.min(), flat.max()]) if flat.numel() else flat.new_zeros(2)
    for axis in axes:
        all_ends = wire.gather_stack(ends, mesh, axis)
        all_known = wire.gather_stack(known.to(torch.uint8), mesh, axis).to(torch.bool).reshape(-1)
        known = all_known.any().reshape(1)
        if known:
            ends = torch.stack([all_ends[all_known, 0].amin(), all_ends[all_known, 1].amax()])
    return ends[0], ends[1]


def bincount_part(x: Tensor, weights: Tensor | None, minlength: int, mesh: Any, axis: int) -> Tensor:
    """The own part's counts, as long as the whole tensor's are."""
    x = plain(x.detach())
    low, high = _extremes(x, mesh, [axis])
    if low < 0 or minlength < 0 or x.dtype.is_floating_point:
        return torch.bincount(torch.stack([low, high]), minlength=minlength)  # the operator's own error, on all ranks
    weights = None if weights is None else plain(weights.detach())
    return torch.bincount(x, weights, max(int(high) + 1, minlength))


def histc_part(x: Tensor, bins: int, low: float, high: float, mesh: Any, axes: Sequence[int]) -> Tensor:
    """The own part's counts within the bounds; equal bounds stand for the extremes of the whole tensor."""
    x = plain(x.detach())
    if low == high:
        first, last = _extremes(x, mesh, axes)
        low, high = first.item(), last.item()
        if low == high:
            low, high = low - 1, high + 1
    return torch.histc(x, bins, low, high)


class CountKernels:
    """Mixed into the platform object."""

    gather_flags = staticmethod(gather_flags)
    merge_unique = staticmethod(merge_unique)
    bincount_part = staticmethod(bincount_part)
    histc_part = staticmethod(histc_part)
