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
"""Redistribution planning: the cheapest sequence of collectives from one layout to another, counted in elements moved.

A state is a layout; a step changes the placement of one mesh axis. An axis may leave a tensor dim only while it is the
innermost cut of that dim, and enters a dim as the innermost cut, so that every rank's part stays one contiguous block.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout, chunk_of, chunk_sizes
from hyper_parallel.placements import Partial, Placement, R, Replicate, Shard

Kind = Literal["all_gather", "slice", "all_to_all", "all_reduce", "reduce_scatter", "to_partial"]
_PLANS: dict[tuple[Layout, Layout], Plan] = {}
_MAX_PLANS = 4096


@dataclass(frozen=True)
class Step:
    """One change of one mesh axis, with everything the own rank needs to carry it out.

    `sizes` are the parts of all ranks along `dim` (all_gather: to be joined; slice, reduce_scatter: to be cut).
    For all_to_all, `dim`/`sizes` describe the cut and `cat_dim`/`cat_sizes` the join.
    """

    kind: Kind
    axis: int
    src: Layout
    dst: Layout
    cost: float
    reduce_op: str = "sum"

    @property
    def peers(self) -> int:
        """Number of ranks that take part."""
        return self.src.mesh.mesh_shape[self.axis]


@dataclass(frozen=True)
class Plan:
    """Steps and their cost in elements sent by one rank."""

    steps: tuple[Step, ...]
    cost: float


def plan(src: Layout, dst: Layout) -> Plan:
    """The cheapest plan from `src` to `dst` (same mesh and shape); cached.

    Raises:
        LayoutError: the meshes or global shapes differ.
    """
    key = (src, dst)
    known = _PLANS.get(key)
    if known is None:
        if src.mesh is not dst.mesh:
            raise LayoutError(explain("redistribute", "the mesh", f"the tensor's own {src.mesh}", dst.mesh))
        if src.shape != dst.shape:
            raise LayoutError(explain("redistribute", "the global shape", src.shape, dst.shape))
        if len(_PLANS) >= _MAX_PLANS:
            _PLANS.clear()
        known = _PLANS[key] = _search(src, dst)
    return known


def cost(src: Layout, dst: Layout) -> float:
    """Elements one rank sends to get from `src` to `dst`."""
    return 0.0 if src is dst else plan(src, dst).cost


def lower_bound(src: Layout, dst: Layout) -> int:
    """Elements that some rank has to receive whatever the algorithm: its new part less what it holds already."""
    if any(isinstance(p, Partial) for p in dst.placements):
        return 0
    terms = math.prod(n for n, p in zip(src.mesh.mesh_shape, src.placements, strict=True) if isinstance(p, Partial))
    worst = 0
    for position in itertools.product(*(range(n) for n in src.mesh.mesh_shape)):
        have, want = src.slices_at(position), dst.slices_at(position)
        needed = math.prod(size for _, size in want)
        if terms == 1:
            overlap = 1
            for (start_a, size_a), (start_b, size_b) in zip(have, want, strict=True):
                overlap *= max(0, min(start_a + size_a, start_b + size_b) - max(start_a, start_b))
            needed -= overlap
        worst = max(worst, needed)
    return worst


def _search(src: Layout, dst: Layout) -> Plan:
    """Dijkstra over layouts; ties go to fewer steps."""
    dims = sorted({p.dim for p in dst.placements if isinstance(p, Shard)})
    best: dict[Layout, tuple[float, int]] = {src: (0.0, 0)}
    came: dict[Layout, Step] = {}
    queue: list[tuple[float, int, int, Layout]] = [(0.0, 0, 0, src)]
    order = itertools.count(1)
    while queue:
        spent, hops, _, here = heapq.heappop(queue)
        if here is dst:
            return _path(came, src, dst, spent)
        if best[here] < (spent, hops):
            continue
        for step in _moves(here, dst, dims):
            offer = (spent + step.cost, hops + 1)
            if step.dst not in best or offer < best[step.dst]:
                best[step.dst] = offer
                came[step.dst] = step
                heapq.heappush(queue, (*offer, next(order), step.dst))
    raise LayoutError(explain("redistribute", "the target", f"reachable from {src}", dst))


def _path(came: dict[Layout, Step], src: Layout, dst: Layout, spent: float) -> Plan:
    steps = []
    here = dst
    while here is not src:
        step = came[here]
        steps.append(step)
        here = step.src
    return Plan(tuple(reversed(steps)), spent)


def _moves(here: Layout, dst: Layout, dims: list[int]) -> Iterator[Step]:
    volume = math.prod(here.max_local_shape)
    for axis, placement in enumerate(here.placements):
        peers = here.mesh.mesh_shape[axis]
        share = volume * (peers - 1) / peers
        for target in _targets(here, axis, placement, dst.placements[axis], dims):
            after = here.replace_axis(axis, target)
            if after is here:
                continue
            if isinstance(placement, Replicate):
                kind: Kind = "to_partial" if isinstance(target, Partial) else "slice"
                yield Step(kind, axis, here, after, 0.0, getattr(target, "reduce_op", "sum"))
            elif isinstance(placement, Partial):
                scatter = isinstance(target, Shard)
                price = share if scatter else 2 * share
                yield Step("reduce_scatter" if scatter else "all_reduce", axis, here, after, price, placement.reduce_op)
            elif isinstance(target, Replicate):
                yield Step("all_gather", axis, here, after, volume * float(peers - 1))
            else:
                yield Step("all_to_all", axis, here, after, share)


def _targets(here: Layout, axis: int, now: Placement, final: Placement, dims: list[int]) -> list[Placement]:
    """Placements worth trying for one axis."""
    shards: list[Placement] = [Shard(d) for d in dims]
    if isinstance(now, Replicate):
        return [*shards, final] if isinstance(final, Partial) else shards
    if isinstance(now, Partial):
        return [] if now == final else [R, *shards]
    assert isinstance(now, Shard)
    if here.dim_axes[now.dim][-1] != axis:
        return []
    return [R, *(s for s in shards if s != Shard(now.dim))]


def peers_sizes(layout: Layout, axis: int, dim: int) -> list[int]:
    """Lengths along `dim` of the parts of all ranks of the own row along `axis` (the innermost cut of `dim`)."""
    size = layout.shape[dim]
    here = layout.mesh.own_coordinate()
    for cut in layout.dim_axes[dim]:
        if cut == axis:
            return chunk_sizes(size, layout.mesh.mesh_shape[axis])
        size = chunk_of(size, layout.mesh.mesh_shape[cut], here[cut])[1]
    raise LayoutError(explain("redistribute", f"dim {dim}", f"cut by mesh axis {axis}", layout))
