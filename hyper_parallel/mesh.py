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
"""Device meshes: an n-dimensional array of ranks with optionally named axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from hyper_parallel.errors import explain

_MESHES: dict[tuple[Any, ...], DeviceMesh] = {}
_STACK: list[DeviceMesh] = []


class DeviceMesh:
    """An immutable mesh; two meshes with equal type, shape, names, ranks and own rank are one object.

    Args:
        device_type: "cpu" or an accelerator's name.
        mesh_shape: sizes of the axes.
        mesh_dim_names: one unique name per axis, or None.
        ranks: the global ranks in row-major order; default 0, 1, 2, ….
        rank: the own global rank; default: asked of the platform (0 without a process group).
    """

    device_type: str
    mesh_shape: tuple[int, ...]
    mesh_dim_names: tuple[str, ...] | None
    ranks: tuple[int, ...]
    rank: int
    groups: list[Any]

    def __new__(
        cls,
        device_type: str,
        mesh_shape: Sequence[int],
        mesh_dim_names: Sequence[str] | None = None,
        ranks: Sequence[int] | None = None,
        rank: int | None = None,
    ) -> DeviceMesh:
        """The mesh; the same object for equal arguments."""
        shape = tuple(int(n) for n in mesh_shape)
        names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        count = math.prod(shape)
        order = tuple(range(count)) if ranks is None else tuple(int(r) for r in ranks)
        _check_mesh(shape, names, order, count)
        if rank is None:
            from hyper_parallel.platform import get_platform

            rank = get_platform().get_rank()
        key = (device_type, shape, names, order, rank)
        known = _MESHES.get(key)
        if known is not None:
            return known
        mesh = object.__new__(cls)
        mesh.device_type, mesh.mesh_shape, mesh.mesh_dim_names = device_type, shape, names
        mesh.ranks, mesh.rank = order, rank
        mesh.groups = [None] * len(shape)
        mesh._coordinate = _coordinate(order.index(rank), shape) if rank in order else None
        mesh._children = {}
        mesh._parents = []
        return _MESHES.setdefault(key, mesh)

    _coordinate: tuple[int, ...] | None
    _children: dict[Any, DeviceMesh]
    _parents: list[DeviceMesh]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.mesh_shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.mesh_shape

    def size(self, mesh_dim: int | str | None = None) -> int:
        """Number of ranks, of one axis if given."""
        return math.prod(self.mesh_shape) if mesh_dim is None else self.mesh_shape[self.axis_index(mesh_dim)]

    def axis_index(self, axis: int | str) -> int:
        """Index of an axis, counted from the left."""
        if isinstance(axis, str):
            if self.mesh_dim_names is None or axis not in self.mesh_dim_names:
                raise ValueError(explain("DeviceMesh", "axis name", f"one of {self.mesh_dim_names}", repr(axis)))
            return self.mesh_dim_names.index(axis)
        if not -self.ndim <= axis < self.ndim:
            raise ValueError(explain("DeviceMesh", "axis", f"in [{-self.ndim}, {self.ndim})", axis))
        return axis % self.ndim

    def axis_id(self, axis: int | str) -> int:
        """Index of an axis, counted from the right, as in `Layout.tensor_map`."""
        return self.ndim - 1 - self.axis_index(axis)

    def axis_name(self, axis: int) -> str:
        """Name of an axis; `dim_<id>` (id counted from the right) on an unnamed mesh."""
        return self.mesh_dim_names[axis] if self.mesh_dim_names else f"dim_{self.ndim - 1 - axis}"

    def get_coordinate(self) -> tuple[int, ...] | None:
        """The own position along every axis; None for a rank outside the mesh."""
        return self._coordinate

    def coordinate_of(self, rank: int) -> tuple[int, ...]:
        """Position of a global rank of the mesh."""
        return _coordinate(self.ranks.index(rank), self.mesh_shape)

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """The own position along one axis (of a 1-D mesh by default)."""
        if mesh_dim is None and self.ndim != 1:
            raise ValueError(explain("get_local_rank", "mesh_dim", "given on a mesh of several axes", mesh_dim))
        return self.own_coordinate()[self.axis_index(0 if mesh_dim is None else mesh_dim)]

    def own_coordinate(self) -> tuple[int, ...]:
        """Like `get_coordinate`, but an error for a rank outside the mesh."""
        if self._coordinate is None:
            raise ValueError(explain("DeviceMesh", "the own rank", f"one of {self.ranks}", self.rank))
        return self._coordinate

    def get_rank(self) -> int:
        """The own global rank."""
        return self.rank

    def ranks_along(self, axis: int | str) -> tuple[int, ...]:
        """Global ranks of the own row along an axis, in order of their position."""
        index, here = self.axis_index(axis), list(self.own_coordinate())
        row = []
        for position in range(self.mesh_shape[index]):
            here[index] = position
            row.append(self.ranks[_flat_index(here, self.mesh_shape)])
        return tuple(row)

    def get_rank_list_along_axis(self, axis: int | str) -> list[int]:
        """`ranks_along` under the community library's name."""
        return list(self.ranks_along(axis))

    def get_device_num_along_axis(self, axis: int | str) -> int:
        """Size of an axis under the community library's name."""
        return self.size(axis)

    def to_hash(self) -> tuple[object, ...]:
        """What tells this mesh apart from any other, the whole rank order included."""
        return (self.device_type, self.mesh_shape, self.mesh_dim_names, self.ranks)

    def rows(self, axis: int) -> list[tuple[int, ...]]:
        """All rows along an axis; the same list on every rank."""
        others = [range(n) if i != axis else (0,) for i, n in enumerate(self.mesh_shape)]
        rows = []
        for start in itertools.product(*others):
            here = list(start)
            row = []
            for position in range(self.mesh_shape[axis]):
                here[axis] = position
                row.append(self.ranks[_flat_index(here, self.mesh_shape)])
            rows.append(tuple(row))
        return rows

    def get_group(self, mesh_dim: int | str | None = None) -> Any:
        """The process group of the own row along an axis (of a 1-D mesh by default)."""
        if mesh_dim is None and self.ndim != 1:
            raise ValueError(explain("get_group", "mesh_dim", "given on a mesh of several axes", mesh_dim))
        axis = self.axis_index(0 if mesh_dim is None else mesh_dim)
        from hyper_parallel.platform import get_platform

        platform = get_platform()
        if getattr(platform, "keeps_own_groups", False):
            return platform.new_group(self.ranks_along(axis))
        return self.groups[axis]

    def get_all_groups(self) -> list[Any]:
        """The process groups of the own rows, one per axis."""
        return list(self.groups)

    def __getitem__(self, names: str | tuple[str, ...]) -> DeviceMesh:
        """The sub-mesh of the own rank over the named axes; it shares the groups of this mesh."""
        wanted = (names,) if isinstance(names, str) else tuple(names)
        if wanted == self.mesh_dim_names:
            return self
        flat = self._children.get(("flatten", *wanted))
        if flat is not None:
            return flat
        axes = [self.axis_index(name) for name in wanted]
        if wanted in self._children:
            known = self._children[wanted]
            known.groups = [self.groups[a] for a in axes]
            return known
        if len(set(axes)) != len(axes):
            raise ValueError(explain("DeviceMesh", "axis names", "unique", wanted))
        here = list(self.own_coordinate())
        ranks = []
        for position in itertools.product(*(range(self.mesh_shape[a]) for a in axes)):
            for axis, index in zip(axes, position, strict=True):
                here[axis] = index
            ranks.append(self.ranks[_flat_index(here, self.mesh_shape)])
        child = DeviceMesh(self.device_type, [self.mesh_shape[a] for a in axes], wanted, ranks, self.rank)
        child.groups = [self.groups[a] for a in axes]
        self._children[wanted] = child
        child._parents.append(self)
        return child

    def flatten(self, mesh_dim_name: str | None = None) -> DeviceMesh:
        """A 1-D mesh of the same ranks in row-major order. Collective: every rank of the job has to call it.

        From then on this mesh, and the one that it is a sub-mesh of, know it by its name: `mesh["dp_tp"]`.

        Raises:
            ValueError: the name is that of an axis.
        """
        name = mesh_dim_name or "_".join(self.axis_name(a) for a in range(self.ndim))
        key = ("flatten", name)
        if any(mesh.ndim > 1 and name in (mesh.mesh_dim_names or ()) for mesh in (self, *self._parents)):
            raise ValueError(explain("flatten", "mesh_dim_name", "no axis of the mesh", repr(name)))
        if key not in self._children:
            child = DeviceMesh(self.device_type, (self.size(),), (name,), self.ranks, self.rank)
            if self.ndim and any(group is not None for group in self.groups):
                child.create_groups()
            for mesh in (self, *self._parents):
                mesh._children[key] = child
        return self._children[key]

    _flatten = flatten
    """PyTorch's name for it."""

    @classmethod
    def from_group(
        cls,
        group: Any,
        device_type: str,
        mesh: Any = None,
        *,
        mesh_dim_names: Sequence[str] | None = None,
    ) -> DeviceMesh:
        """A mesh over process groups that exist already: one group, or one per axis.

        Args:
            group: the own process group, or a list with the own group along every axis.
            device_type: "cpu" or an accelerator's name.
            mesh: the ranks as a nested list, array or tensor; needed for several axes.
            mesh_dim_names: names of the axes.

        Raises:
            ValueError: the groups are not the rows of `mesh` through the own rank.
        """
        from hyper_parallel.platform import get_platform

        groups = list(group) if isinstance(group, list | tuple) else [group]
        platform = get_platform()
        rows = [platform.ranks_of_group(one) for one in groups]
        if mesh is None and len(groups) > 1:
            raise ValueError(explain("from_group", "mesh", "given for several groups", None))
        nested = rows[0] if mesh is None else mesh.tolist() if hasattr(mesh, "tolist") else mesh
        shape, ranks = _measured(nested)
        made = cls(device_type, shape, mesh_dim_names, ranks)
        expected = [made.ranks_along(axis) for axis in range(made.ndim)]
        if rows != expected:
            raise ValueError(explain("from_group", "ranks of the groups", expected, rows))
        if not getattr(platform, "keeps_own_groups", False):
            made.groups = groups
        return made

    def create_groups(self) -> None:
        """Get the process groups of all rows; the platform makes each once per job.

        Collective: every rank of the job has to call it.
        """
        from hyper_parallel.platform import get_platform

        platform = get_platform()
        if getattr(platform, "keeps_own_groups", False):
            return  # made by their members on first use; these slots stay free for another backend in the process
        for axis in range(self.ndim):
            if self.mesh_shape[axis] == 1:
                continue
            for row in self.rows(axis):
                group = platform.new_group(row)
                if self.rank in row:
                    self.groups[axis] = group

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` turns back into this mesh."""
        return {
            "device_type": self.device_type,
            "mesh_shape": self.mesh_shape,
            "mesh_dim_names": self.mesh_dim_names,
            "ranks": self.ranks,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> DeviceMesh:
        """The mesh that `to_dict` described, with groups if a process group is up."""
        mesh = cls(data["device_type"], data["mesh_shape"], data["mesh_dim_names"], data["ranks"])
        from hyper_parallel.platform import get_platform

        if get_platform().is_initialized() and mesh.get_coordinate() is not None:
            mesh.create_groups()
        return mesh

    def __reduce__(self) -> tuple[Any, ...]:
        return DeviceMesh.from_dict, (self.to_dict(),)

    def __copy__(self) -> DeviceMesh:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> DeviceMesh:
        return self

    def __repr__(self) -> str:
        names = self.mesh_dim_names or tuple(self.axis_name(a) for a in range(self.ndim))
        axes = ", ".join(f"{name}={size}" for name, size in zip(names, self.mesh_shape, strict=True))
        return f"DeviceMesh({self.device_type!r}, {axes})"

    def __enter__(self) -> DeviceMesh:
        _STACK.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _STACK.pop()


def init_device_mesh(
    device_type: str,
    mesh_shape: Sequence[int],
    *,
    mesh_dim_names: Sequence[str] | None = None,
    rank_list: Sequence[int] | None = None,
    init_backend: bool = True,
    rank: int | None = None,
) -> DeviceMesh:
    """Build a mesh and, unless `init_backend` is False, its process groups (then every rank has to call it).

    With `init_backend=False` nothing is started: layouts and rules can be worked out for any `rank` without processes.
    """
    if not init_backend:
        return DeviceMesh(device_type, mesh_shape, mesh_dim_names, rank_list, 0 if rank is None else rank)
    from hyper_parallel.platform import get_platform

    get_platform().ensure_backend(device_type, math.prod(mesh_shape))
    mesh = DeviceMesh(device_type, mesh_shape, mesh_dim_names, rank_list)
    mesh.create_groups()
    return mesh


def get_current_mesh() -> DeviceMesh | None:
    """The mesh of the innermost `with mesh:` block."""
    return _STACK[-1] if _STACK else None


def _check_mesh(shape: tuple[int, ...], names: tuple[str, ...] | None, ranks: tuple[int, ...], count: int) -> None:
    if any(n < 1 for n in shape):
        raise ValueError(explain("DeviceMesh", "mesh_shape", "positive sizes", shape))
    if names is not None and (len(names) != len(shape) or len(set(names)) != len(names) or "None" in names):
        raise ValueError(explain("DeviceMesh", "mesh_dim_names", f"{len(shape)} unique names, none 'None'", names))
    if len(ranks) != count or len(set(ranks)) != count:
        raise ValueError(explain("DeviceMesh", "rank_list", f"{count} different ranks", ranks))


def _measured(nested: Any) -> tuple[list[int], list[int]]:
    """Shape and elements of a nested list."""
    shape, flat = [], [nested]
    while flat and isinstance(flat[0], list | tuple):
        shape.append(len(flat[0]))
        flat = [item for row in flat for item in row]
    return shape, flat


def _coordinate(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    position = []
    for size in reversed(shape):
        flat, index = divmod(flat, size)
        position.append(index)
    return tuple(reversed(position))


def _flat_index(position: Sequence[int], shape: tuple[int, ...]) -> int:
    flat = 0
    for index, size in zip(position, shape, strict=True):
        flat = flat * size + index
    return flat
