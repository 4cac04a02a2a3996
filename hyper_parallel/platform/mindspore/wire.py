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
"""Raw collectives on plain tensors: no gradient, uneven sizes, every dtype, axes of one rank for free.

`ways` is the one place that says how a collective travels:

- `native` – MindSpore's own call (on the CPU: all-reduce and all-gather of the dtypes that it takes);
- `gather` – a native all-gather of the bytes, the rest is done here (reductions of float64, uint8, bool, complex);
- `gloo` – through numpy into a gloo group (all-to-all and what is built on it), where PyTorch is installed;
- `device` – MindSpore's own calls on an accelerator (HCCL), which has all of them.

Data move through numpy on the CPU: a tensor there is host memory, and padding or joining needs no kernel then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mindspore as ms
import mindspore.mint.distributed as dist
import numpy as np
from mindspore import Tensor, mint
from numpy.typing import NDArray

from hyper_parallel import report
from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.platform.mindspore import gloo, runtime

_NATIVE_REDUCE = frozenset({ms.float16, ms.bfloat16, ms.float32, ms.int8, ms.int32, ms.int64})
_REDUCE_BY: dict[str, Any] = {"sum": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply}


def ways(collective: str, dtype: Any) -> str:
    """How a collective of this dtype travels: native, gather, gloo or device."""
    if not runtime.on_cpu():
        return "device"
    if collective == "all_reduce":
        return "native" if dtype in _NATIVE_REDUCE else "gather"
    if collective == "all_gather":
        return "native"
    return "gloo" if gloo.available() else "gather"


def group_of(mesh: DeviceMesh, axis: int) -> str:
    """The communication group of the own row along a mesh axis."""
    return runtime.group_of(mesh.ranks_along(axis))


def to_host(x: Tensor) -> NDArray[Any]:
    """The values as a numpy array; bfloat16, which numpy lacks, as float32 (exact)."""
    return np.asarray(x.float().asnumpy() if x.dtype == ms.bfloat16 else x.asnumpy())


def from_host(values: NDArray[Any], dtype: Any) -> Tensor:
    """A plain tensor of a numpy array."""
    out = Tensor(np.array(values, order="C"))
    return out if out.dtype == dtype else out.astype(dtype)


def all_reduce(x: Tensor, mesh: DeviceMesh, axis: int, op: str) -> Tensor:
    """A new tensor: the reduction of all ranks' `x` along a mesh axis (op: sum, avg, max, min, prod)."""
    peers = mesh.mesh_shape[axis]
    if op == "avg":
        return all_reduce(x, mesh, axis, "sum") / peers
    if peers == 1:
        return copy_of(x)
    way = ways("all_reduce", x.dtype)
    if way == "gather":
        stacked = _gather_host(to_host(x), mesh, axis)
        return from_host(_reduce(stacked, op), x.dtype)
    report.sent("all_reduce", 2 * nbytes(x) * (peers - 1) // peers)
    work = copy_of(x)
    if math.prod(x.shape):
        dist.all_reduce(work, op, group=group_of(mesh, axis))
    return work


def gather_stack(x: Tensor, mesh: DeviceMesh, axis: int) -> Tensor:
    """All ranks' `x` (equal shapes), stacked in a new first dim."""
    if ways("all_gather", x.dtype) == "device":
        return all_gather(mint.unsqueeze(x, 0), mesh, axis, 0, [1] * mesh.mesh_shape[axis])
    return from_host(np.stack(_gather_host(to_host(x), mesh, axis)), x.dtype)


def all_gather(x: Tensor, mesh: DeviceMesh, axis: int, dim: int, sizes: Sequence[int]) -> Tensor:
    """All ranks' `x` joined along `dim`; `sizes` are their lengths there."""
    if mesh.mesh_shape[axis] == 1:
        return copy_of(x)
    if ways("all_gather", x.dtype) == "device":
        return _all_gather_device(x, mesh, axis, dim, sizes)
    own, longest = to_host(x), max(sizes)
    if own.shape[dim] < longest:
        pad = [(0, longest - n if d == dim else 0) for d, n in enumerate(own.shape)]
        own = np.pad(own, pad)
    parts = _gather_host(own, mesh, axis)
    cut = [np.take(part, range(size), dim) for part, size in zip(parts, sizes, strict=True)]
    return from_host(np.concatenate(cut, dim), x.dtype)


def all_to_all(
    x: Tensor,
    mesh: DeviceMesh,
    axis: int,
    cut_dim: int,
    cut_sizes: Sequence[int],
    cat_dim: int,
    cat_sizes: Sequence[int],
) -> Tensor:
    """Cut `x` along `cut_dim`, send part i to rank i, join what comes along `cat_dim`."""
    if mesh.mesh_shape[axis] == 1:
        return copy_of(x)
    me = mesh.own_coordinate()[axis]
    shapes = []
    for size in cat_sizes:
        shape = list(x.shape)
        shape[cut_dim], shape[cat_dim] = cut_sizes[me], size
        shapes.append(shape)
    if ways("all_to_all", x.dtype) == "device":
        parts = list(mint.split(x, list(cut_sizes), cut_dim))
        return mint.cat(exchange(parts, shapes, mesh, axis), cat_dim)
    whole = to_host(x)
    host_parts = np.split(whole, np.cumsum(list(cut_sizes))[:-1], cut_dim)
    received = _exchange_host(host_parts, shapes, mesh, axis)
    return from_host(np.concatenate(received, cat_dim), x.dtype)


def exchange(parts: Sequence[Tensor], shapes: Sequence[Sequence[int]], mesh: DeviceMesh, axis: int) -> list[Tensor]:
    """Send `parts[i]` to rank i of the axis; receive tensors of the given shapes."""
    dtype = parts[0].dtype
    if ways("all_to_all", dtype) == "device":
        outs = [mint.zeros(tuple(shape), dtype=dtype) for shape in shapes]
        dist.all_to_all(outs, [part.contiguous() for part in parts], group=group_of(mesh, axis))
        return outs
    received = _exchange_host([to_host(part) for part in parts], shapes, mesh, axis)
    return [from_host(value, dtype) for value in received]


def reduce_scatter(x: Tensor, mesh: DeviceMesh, axis: int, dim: int, sizes: Sequence[int], op: str) -> Tensor:
    """The own part (along `dim`) of the reduction of all ranks' `x`; terms are added in rank order."""
    peers = mesh.mesh_shape[axis]
    if op == "avg":
        return reduce_scatter(x, mesh, axis, dim, sizes, "sum") / peers
    if peers == 1:
        return copy_of(x)
    me = mesh.own_coordinate()[axis]
    if ways("reduce_scatter", x.dtype) == "device":
        return mint.narrow(all_reduce(x, mesh, axis, op), dim, sum(sizes[:me]), sizes[me]).contiguous()
    parts = np.split(to_host(x), np.cumsum(list(sizes))[:-1], dim)
    received = _exchange_host(parts, [parts[me].shape] * peers, mesh, axis)
    return from_host(_reduce(received, op), x.dtype)


def broadcast(x: Tensor, mesh: DeviceMesh, axis: int, source: int) -> Tensor:
    """Rank `source` of the axis's own `x`, on every rank of the axis."""
    if mesh.mesh_shape[axis] == 1:
        return copy_of(x)
    if ways("all_gather", x.dtype) == "device":
        work = copy_of(x)
        dist.broadcast(work, mesh.ranks_along(axis)[source], group=group_of(mesh, axis))
        return work
    return from_host(_gather_host(to_host(x), mesh, axis)[source], x.dtype)


def copy_of(x: Tensor) -> Tensor:
    """A plain tensor with its own memory and no history."""
    if runtime.on_cpu():
        return from_host(to_host(x), x.dtype)
    return mint.clone(x)


def nbytes(x: Tensor) -> int:
    """Size of a tensor in bytes."""
    return int(math.prod(x.shape)) * int(x.itemsize)


def _reduce(terms: Sequence[NDArray[Any]], op: str) -> NDArray[Any]:
    total = np.array(terms[0])
    for term in terms[1:]:
        total = (
            _REDUCE_BY[op](total, term, dtype=total.dtype) if total.dtype != np.bool_ else _reduce_bool(total, term, op)
        )
    return total


def _reduce_bool(a: NDArray[Any], b: NDArray[Any], op: str) -> NDArray[Any]:
    return np.logical_or(a, b) if op in {"sum", "max"} else np.logical_and(a, b)


def _gather_host(own: NDArray[Any], mesh: DeviceMesh, axis: int) -> list[NDArray[Any]]:
    """Every rank's array (equal shapes and dtypes), by bytes."""
    peers = mesh.mesh_shape[axis]
    if peers == 1 or own.size == 0:
        return [own] * peers
    report.sent("all_gather", own.nbytes * (peers - 1))
    raw = np.frombuffer(np.ascontiguousarray(own).tobytes(), np.uint8)
    outs = [Tensor(np.zeros(raw.size, np.uint8)) for _ in range(peers)]
    dist.all_gather(outs, Tensor(raw.copy()), group=group_of(mesh, axis))
    return [np.frombuffer(out.asnumpy().tobytes(), own.dtype).reshape(own.shape) for out in outs]


def _exchange_host(
    parts: Sequence[NDArray[Any]], shapes: Sequence[Sequence[int]], mesh: DeviceMesh, axis: int
) -> list[NDArray[Any]]:
    dtype, me = parts[0].dtype, mesh.own_coordinate()[axis]
    counts = [math.prod(shape) * dtype.itemsize for shape in shapes]
    report.sent("all_to_all", sum(part.nbytes for i, part in enumerate(parts) if i != me))
    if ways("all_to_all", None) == "gloo":
        group = gloo.group_of(mesh.ranks_along(axis), mesh.rank, lambda n: _announce(n, mesh, axis))
        raw = gloo.all_to_all_bytes(group, [np.ascontiguousarray(p) for p in parts], counts)
        return [np.frombuffer(r.tobytes(), dtype).reshape(s) for r, s in zip(raw, shapes, strict=True)]
    return _exchange_by_gather(parts, shapes, mesh, axis)


def _exchange_by_gather(
    parts: Sequence[NDArray[Any]], shapes: Sequence[Sequence[int]], mesh: DeviceMesh, axis: int
) -> list[NDArray[Any]]:
    """Every rank gets every part and keeps its own ones; for installations without PyTorch."""
    peers, me, dtype = mesh.mesh_shape[axis], mesh.own_coordinate()[axis], parts[0].dtype
    sizes = np.array([part.size for part in parts], np.int64)
    table = _gather_host(sizes, mesh, axis)
    room = max(int(row.sum()) for row in table)
    line = np.zeros(room, dtype)
    line[: int(sizes.sum())] = np.concatenate([part.reshape(-1) for part in parts])
    lines = _gather_host(line, mesh, axis)
    received = []
    for peer in range(peers):
        start = int(table[peer][:me].sum())
        received.append(lines[peer][start : start + int(table[peer][me])].reshape(shapes[peer]))
    return received


def _announce(number: int, mesh: DeviceMesh, axis: int) -> list[int]:
    return [int(value[0]) for value in _gather_host(np.array([number], np.int64), mesh, axis)]


def _all_gather_device(x: Tensor, mesh: DeviceMesh, axis: int, dim: int, sizes: Sequence[int]) -> Tensor:
    peers, longest = mesh.mesh_shape[axis], max(sizes)
    local = x.contiguous()
    if local.shape[dim] < longest:
        shape = list(local.shape)
        shape[dim] = longest - shape[dim]
        local = mint.cat([local, mint.zeros(tuple(shape), dtype=local.dtype)], dim)
    report.sent("all_gather", nbytes(local) * (peers - 1))
    outs = [mint.zeros(local.shape, dtype=local.dtype) for _ in range(peers)]
    dist.all_gather(outs, local, group=group_of(mesh, axis))
    return mint.cat([mint.narrow(part, dim, 0, size) for part, size in zip(outs, sizes, strict=True)], dim)
