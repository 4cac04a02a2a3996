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
"""Carries out redistribution plans on local tensors, differentiably, through the platform's collectives."""

from __future__ import annotations

from typing import Any

from hyper_parallel.layout import Layout, chunk_of
from hyper_parallel.placements import P_AVG, P_SUM, Shard
from hyper_parallel.planner import Step, peers_sizes, plan


def redistribute_local(platform: Any, local: Any, src: Layout, dst: Layout) -> Any:
    """The own rank's part under `dst`, from its part under `src`. Collective over the axes that change."""
    if src is dst:
        return local
    for step in plan(src, dst).steps:
        local = _RUN[step.kind](platform, local, step)
    return local


def redistribute_once(platform: Any, local: Any, src: Layout, dst: Layout) -> Any:
    """Like `redistribute_local`, but a pending sum that several operators need reduced is reduced once.

    The platform keeps the result beside the tensor while neither is written to; it never costs more memory than a copy
    of the tensor per target.
    """
    remember = getattr(platform, "remember", None)
    if remember is None or not any(p in (P_SUM, P_AVG) for p in src.placements) or src is dst:
        return redistribute_local(platform, local, src, dst)
    return remember(local, dst, lambda: redistribute_local(platform, local, src, dst))


def _all_gather(platform: Any, local: Any, step: Step) -> Any:
    dim = _dim(step.src, step.axis)
    return platform.all_gather(local, step.src.mesh, step.axis, dim, peers_sizes(step.src, step.axis, dim))


def _slice(platform: Any, local: Any, step: Step) -> Any:
    dim = _dim(step.dst, step.axis)
    sizes = peers_sizes(step.dst, step.axis, dim)
    return platform.take_chunk(local, step.src.mesh, step.axis, dim, sizes)


def _all_to_all(platform: Any, local: Any, step: Step) -> Any:
    cat_dim, cut_dim = _dim(step.src, step.axis), _dim(step.dst, step.axis)
    cat_sizes, cut_sizes = peers_sizes(step.src, step.axis, cat_dim), peers_sizes(step.dst, step.axis, cut_dim)
    return platform.all_to_all(local, step.src.mesh, step.axis, cut_dim, cut_sizes, cat_dim, cat_sizes)


def _all_reduce(platform: Any, local: Any, step: Step) -> Any:
    return platform.all_reduce(local, step.src.mesh, step.axis, step.reduce_op)


def _reduce_scatter(platform: Any, local: Any, step: Step) -> Any:
    dim = _dim(step.dst, step.axis)
    sizes = peers_sizes(step.dst, step.axis, dim)
    return platform.reduce_scatter(local, step.src.mesh, step.axis, dim, sizes, step.reduce_op)


def _to_partial(platform: Any, local: Any, step: Step) -> Any:
    return platform.to_partial(local, step.src.mesh, step.axis, step.reduce_op)


def _dim(layout: Layout, axis: int) -> int:
    placement = layout.placements[axis]
    assert isinstance(placement, Shard)
    return placement.dim


def slice_full(platform: Any, full: Any, layout: Layout) -> Any:
    """The own part of a full tensor held by every rank, as a plain local view; no communication, no gradient rule."""
    here = layout.mesh.own_coordinate()
    for dim, (size, axes) in enumerate(zip(layout.shape, layout.dim_axes, strict=True)):
        start = 0
        for axis in axes:
            offset, size = chunk_of(size, layout.mesh.mesh_shape[axis], here[axis])
            start += offset
        if axes:
            full = platform.narrow(full, dim, start, size)
    return full


_RUN = {
    "all_gather": _all_gather,
    "slice": _slice,
    "all_to_all": _all_to_all,
    "all_reduce": _all_reduce,
    "reduce_scatter": _reduce_scatter,
    "to_partial": _to_partial,
}
