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
"""Layout: global shape, mesh and placements of a tensor, interned so that equality is identity.

Two spellings are kept side by side: one placement per mesh axis (`placements`), and per tensor dim the mesh axes
that cut it, outermost first (`dim_axes`, `tensor_map`, `alias_tensor_map`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.placements import P_SUM, Partial, Placement, R, Replicate, Shard, StridedShard

_LAYOUTS: WeakValueDictionary[tuple[Any, ...], Layout] = WeakValueDictionary()
Map = int | tuple[int, ...]
Alias = str | tuple[str, ...]


class Layout:
    """Immutable description of a distributed tensor; compare with `is` or `==`, hash is cheap.

    Args:
        mesh: the device mesh.
        placements: one placement per mesh axis, or one alias per tensor dim as in `from_aliases`.
        shape: the global shape.

    Raises:
        LayoutError: a placement names a missing dim, or a strided shard's factor fits no nesting order.
    """

    mesh: DeviceMesh
    placements: tuple[Placement, ...]
    shape: tuple[int, ...]
    dim_axes: tuple[tuple[int, ...], ...]

    def __new__(cls, mesh: DeviceMesh, placements: Sequence[Placement], shape: Sequence[int]) -> Layout:
        """The layout; the same object for equal arguments."""
        key = (mesh, tuple(placements), tuple(shape))
        known = _LAYOUTS.get(key)
        if known is not None:
            return known
        return _intern(mesh, key[1], key[2], key)

    @classmethod
    def from_dim_axes(
        cls,
        mesh: DeviceMesh,
        dim_axes: Sequence[Sequence[int]],
        shape: Sequence[int],
        partial: Sequence[Placement | None] = (),
    ) -> Layout:
        """Layout from the mesh axes that cut each dim (outermost first) and the partial placements per axis."""
        placements: list[Placement] = [(p or R) for p in partial] or [R] * mesh.ndim
        for dim, axes in enumerate(dim_axes):
            for place, axis in enumerate(axes):
                factor = math.prod(mesh.mesh_shape[a] for a in axes[:place] if a > axis)
                placements[axis] = StridedShard(dim, factor) if factor > 1 else Shard(dim)
        return cls(mesh, placements, shape)

    @classmethod
    def from_aliases(cls, mesh: DeviceMesh, aliases: Sequence[Alias], shape: Sequence[int]) -> Layout:
        """Layout from axis names per tensor dim: `"dp"`, `("dp", "tp")` (first outermost) or `"None"`."""
        if len(aliases) != len(shape):
            raise LayoutError(explain("Layout", "aliases", f"{len(shape)}, one per tensor dim", aliases))
        cuts = [_alias_axes(mesh, alias) for alias in aliases]
        used = [axis for axes in cuts for axis in axes]
        if len(set(used)) != len(used):
            raise LayoutError(explain("Layout", "aliases", "each axis name at most once", aliases))
        return cls.from_dim_axes(mesh, cuts, shape)

    @classmethod
    def replicated(cls, mesh: DeviceMesh, shape: Sequence[int]) -> Layout:
        """The layout with a full copy on every rank."""
        return cls(mesh, (R,) * mesh.ndim, shape)

    @classmethod
    def from_parts(cls, mesh: DeviceMesh, placements: Sequence[Placement], shapes: Sequence[Sequence[int]]) -> Layout:
        """Layout of the tensor whose parts have these shapes: one per rank of the mesh, in row-major order.

        Raises:
            LayoutError: no tensor has such parts under these placements. All ranks that know all shapes raise alike.
        """
        places = normalize_placements(placements, len(shapes[0]), mesh.ndim)
        spots = list(itertools.product(*map(range, mesh.mesh_shape)))
        whole = []
        for dim in range(len(shapes[0])):
            others = [axis for axis, place in enumerate(places) if not place.is_shard(dim)]
            row = [shape for spot, shape in zip(spots, shapes, strict=True) if not any(spot[axis] for axis in others)]
            whole.append(sum(shape[dim] for shape in row if dim < len(shape)))
        layout = cls(mesh, places, tuple(whole))
        for rank, spot, shape in zip(mesh.ranks, spots, shapes, strict=True):
            expected = tuple(size for _, size in layout.slices_at(spot))
            if tuple(shape) != expected:
                what = f"the local shape of rank {rank}"
                raise LayoutError(explain("from_local", what, f"{expected} of global {layout.shape}", tuple(shape)))
        return layout

    @property
    def ndim(self) -> int:
        """Number of tensor dims."""
        return len(self.shape)

    @cached_property
    def numel(self) -> int:
        """Number of elements of the global tensor."""
        return math.prod(self.shape)

    @cached_property
    def is_replicated(self) -> bool:
        """Whether every rank holds the full tensor."""
        return all(isinstance(p, Replicate) for p in self.placements)

    @cached_property
    def partial_placements(self) -> tuple[Placement | None, ...]:
        """Per mesh axis the partial placement, or None."""
        return tuple(p if isinstance(p, Partial) else None for p in self.placements)

    @property
    def partial(self) -> list[str | None]:
        """Per mesh axis the pending reduction, or None."""
        return [p.reduce_op if isinstance(p, Partial) else None for p in self.placements]

    def is_partial(self) -> bool:
        """Whether a reduction is pending on some axis."""
        return any(p is not None for p in self.partial_placements)

    def is_sharded(self, dim: int | None = None) -> bool:
        """Whether some axis (of size > 1 or not) cuts a dim (`dim`, if given)."""
        return any(self.dim_axes) if dim is None else bool(self.dim_axes[dim])

    @cached_property
    def tensor_map(self) -> tuple[Map, ...]:
        """Per tensor dim the ids (from the right) of axes that cut it: -1 none, a tuple several, outermost first."""
        last = self.mesh.ndim - 1
        return tuple(_unwrap(tuple(last - a for a in axes), -1) for axes in self.dim_axes)

    @cached_property
    def alias_tensor_map(self) -> tuple[Alias, ...]:
        """Like `tensor_map`, with axis names and "None"."""
        return tuple(_unwrap(tuple(self.mesh.axis_name(a) for a in axes), "None") for axes in self.dim_axes)

    @cached_property
    def compact_str(self) -> str:
        """One line that tells the whole layout apart from any other, the mesh's rank order included."""
        mesh = self.mesh
        return f"{self.shape}@{self.tensor_map}+{self.partial}@{mesh.mesh_shape}{mesh.mesh_dim_names}{mesh.ranks}"

    @cached_property
    def local_shape(self) -> tuple[int, ...]:
        """Shape of the own rank's part."""
        return tuple(size for _, size in self.slices_at(self.mesh.own_coordinate()))

    @cached_property
    def local_offset(self) -> tuple[int, ...]:
        """Start of the own rank's part in the global tensor."""
        return tuple(start for start, _ in self.slices_at(self.mesh.own_coordinate()))

    @cached_property
    def is_even(self) -> bool:
        """Whether every rank's part has the same shape."""
        return all(
            size % math.prod(self.mesh.mesh_shape[a] for a in axes) == 0
            for size, axes in zip(self.shape, self.dim_axes, strict=True)
        )

    @cached_property
    def max_local_shape(self) -> tuple[int, ...]:
        """Shape of the largest part."""
        sizes = []
        for size, axes in zip(self.shape, self.dim_axes, strict=True):
            for axis in axes:
                size = -(-size // self.mesh.mesh_shape[axis])
            sizes.append(size)
        return tuple(sizes)

    @cached_property
    def grad(self) -> Layout:
        """Layout of the gradient: a pending sum has a replicated one, other reductions a partial sum of terms."""
        places = [p if not isinstance(p, Partial) else (R if p.reduce_op == "sum" else P_SUM) for p in self.placements]
        return Layout(self.mesh, places, self.shape)

    def slices_at(self, coordinate: Sequence[int]) -> list[tuple[int, int]]:
        """(start, length) per dim of the part at a mesh position."""
        cuts = []
        for size, axes in zip(self.shape, self.dim_axes, strict=True):
            start = 0
            for axis in axes:
                offset, size = chunk_of(size, self.mesh.mesh_shape[axis], coordinate[axis])
                start += offset
            cuts.append((start, size))
        return cuts

    def reset_partial(self) -> Layout:
        """The same layout with pending reductions dropped (their axes replicated); the data are not touched."""
        return self.with_placements([R if isinstance(p, Partial) else p for p in self.placements])

    def is_dev_axis_apply_shard(self, axis: int | str) -> bool:
        """Whether a mesh axis cuts some tensor dim."""
        return isinstance(self.placements[self.mesh.axis_index(axis)], Shard)

    def get_global_shape(self, local_shape: Sequence[int]) -> tuple[int, ...]:
        """Global shape of a tensor whose parts all have `local_shape` under these placements."""
        sizes = self.mesh.mesh_shape
        return tuple(n * math.prod(sizes[a] for a in axes) for n, axes in zip(local_shape, self.dim_axes, strict=True))

    def repeat_num(self) -> int:
        """How many ranks hold each element (terms of a pending reduction count as one copy each)."""
        used = {a for axes in self.dim_axes for a in axes}
        return math.prod(n for a, n in enumerate(self.mesh.mesh_shape) if a not in used)

    def with_placements(self, placements: Sequence[Placement]) -> Layout:
        """The same tensor under other placements."""
        return Layout(self.mesh, placements, self.shape)

    def with_shape(self, shape: Sequence[int]) -> Layout:
        """The same placements for another global shape."""
        return Layout(self.mesh, self.placements, shape)

    def replace_axis(self, axis: int, placement: Placement) -> Layout:
        """The same layout with another placement on one mesh axis, innermost where it cuts a dim others cut too."""
        partial = list(self.partial_placements)
        partial[axis] = placement if isinstance(placement, Partial) else None
        cuts = [[a for a in axes if a != axis] for axes in self.dim_axes]
        if isinstance(placement, Shard):
            cuts[placement.dim % self.ndim].append(axis)
        return Layout.from_dim_axes(self.mesh, cuts, self.shape, partial)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for logs."""
        return {
            "shape": self.shape,
            "mesh": self.mesh.to_dict(),
            "tensor_map": self.tensor_map,
            "alias_tensor_map": self.alias_tensor_map,
            "partial": self.partial,
        }

    def __eq__(self, other: object) -> bool:
        """Identity; and a tensor's layout is also the framework's `strided`, which library code asks for."""
        return self is other or (type(other).__name__ == "layout" and str(other) == "torch.strided")

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"Layout({self.mesh!r}, [{', '.join(map(str, self.placements))}], shape={self.shape})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Layout, (self.mesh, self.placements, self.shape)

    def __copy__(self) -> Layout:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Layout:
        return self


def chunk_of(size: int, parts: int, index: int) -> tuple[int, int]:
    """(start, length) of chunk `index` of `parts` by ceil division; trailing chunks may be empty."""
    step = -(-size // parts)
    start = min(index * step, size)
    return start, min(step, size - start)


def chunk_sizes(size: int, parts: int) -> list[int]:
    """Lengths of all chunks of a dim."""
    return [chunk_of(size, parts, i)[1] for i in range(parts)]


def shape_in_words(shape: Sequence[int]) -> list[int]:
    """A shape as a list of whole numbers that is as long for other ranks, whose parts may have other dims."""
    words = [len(shape), *shape]
    return words + [0] * ((9 if len(shape) < 9 else 65) - len(words))


def shapes_from_words(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Inverse of `shape_in_words` for every row."""
    return [list(row[1 : 1 + row[0]]) for row in rows]


def normalize_placements(placements: Sequence[Placement], ndim: int, mesh_ndim: int) -> tuple[Placement, ...]:
    """Wrap negative dims and check count, kind and dims.

    Raises:
        LayoutError: a count, kind or dim is off.
    """
    if len(placements) != mesh_ndim:
        raise LayoutError(explain("Layout", "placements", f"{mesh_ndim}, one per mesh axis", list(placements)))
    result: list[Placement] = []
    for placement in placements:
        if not isinstance(placement, Placement):
            actual = f"{placement!r} of {type(placement).__module__}"
            raise LayoutError(explain("Layout", "a placement", "hyper_parallel's Shard, Replicate or Partial", actual))
        if isinstance(placement, Shard):
            if not -ndim <= placement.dim < ndim:
                raise LayoutError(explain("Layout", "the sharded dim", f"in [{-ndim}, {ndim})", placement.dim))
            dim = placement.dim % ndim
            factor = placement.split_factor if isinstance(placement, StridedShard) else 1
            placement = StridedShard(dim, factor) if factor > 1 else Shard(dim)
        result.append(placement)
    return tuple(result)


def resolve_placements(mesh: DeviceMesh, placements: Sequence[Any], ndim: int) -> tuple[Placement, ...]:
    """Placements per mesh axis from either spelling: one per mesh axis, or one alias (axis name or names) per dim.

    Raises:
        LayoutError: neither.
    """
    aliases = bool(placements) or ndim == 0 < mesh.ndim
    if aliases and all(isinstance(p, str | tuple) for p in placements):
        return Layout.from_aliases(mesh, placements, (1,) * ndim).placements
    return normalize_placements(placements, ndim, mesh.ndim)


def _intern(
    mesh: DeviceMesh, placements: tuple[Placement, ...], shape: tuple[int, ...], raw: tuple[Any, ...]
) -> Layout:
    shape = tuple(int(n) for n in shape)
    placements = resolve_placements(mesh, placements, len(shape))
    key = (mesh, placements, shape)
    layout = _LAYOUTS.get(key)
    if layout is None:
        layout = object.__new__(Layout)
        layout.mesh, layout.placements, layout.shape = mesh, placements, shape
        layout.dim_axes = tuple(_order_of(mesh, placements, dim) for dim in range(len(shape)))
        layout = _LAYOUTS.setdefault(key, layout)
    if raw != key:
        _LAYOUTS[raw] = layout
    return layout


def _order_of(mesh: DeviceMesh, placements: tuple[Placement, ...], dim: int) -> tuple[int, ...]:
    """Mesh axes that cut `dim`, outermost first, read from the strided factors (right to left insertion)."""
    order: list[int] = []
    for axis in reversed(range(mesh.ndim)):
        placement = placements[axis]
        if not (isinstance(placement, Shard) and placement.dim == dim):
            continue
        factor = placement.split_factor if isinstance(placement, StridedShard) else 1
        product, place = 1, 0
        while product < factor and place < len(order):
            product *= mesh.mesh_shape[order[place]]
            place += 1
        if product != factor:
            raise LayoutError(
                explain("Layout", f"split_factor of mesh axis {axis}", "a product of sizes of inner axes", factor)
            )
        order.insert(place, axis)
    return tuple(order)


def _alias_axes(mesh: DeviceMesh, alias: Alias) -> list[int]:
    names = (alias,) if isinstance(alias, str) else tuple(alias)
    return [mesh.axis_index(name) for name in names if name != "None"]


def _unwrap(items: tuple[Any, ...], empty: Any) -> Any:
    if not items:
        return empty
    return items[0] if len(items) == 1 else items
