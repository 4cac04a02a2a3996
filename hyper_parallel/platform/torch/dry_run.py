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
"""Runs a call as every rank of a mesh in turn, in one process and without a network, to count what it would send.

Collectives go to torch's fake process group, which moves nothing, and gathers make numbers up: results are meaningless,
shapes, placements and bytes are those of a real run.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist

from hyper_parallel import report
from hyper_parallel.layout import Layout
from hyper_parallel.mesh import DeviceMesh, init_device_mesh
from hyper_parallel.placements import P_SUM, Partial, Placement, R, Shard
from hyper_parallel.platform.torch import kernels_order, wire
from hyper_parallel.platform.torch.dtensor import DTensor

Names = dict[str, Any]
_SPACES = (torch, torch.nn.functional, torch.Tensor, torch.linalg, torch.special, torch.fft)
_GUESSES = (
    "{f}(x)", "{f}(x, 1, 0)", "{f}(x, 0)", "{f}(x, y)", "{f}(x, x.mT)", "{f}([x, y], 0)", "{f}(x, x > 0, 1.0)",
    "{f}(x > 0, x, y)", "{f}(x, (x.shape[-1],))", "{f}(x, 1)", "{f}(x, (1, 1))", "{f}(image, kernel, padding=1)",
    "{f}(image, 2)", "{f}(image)", "{f}(heads, heads, heads)", "{f}(words, x)", "{f}(x, words % x.shape[1])",
    "{f}(x, 0, words % 2)", "{f}(image, 2, 2)", "{f}(x, x.shape)", "{f}(x.mT @ x + torch.eye(x.shape[1]))",
)  # fmt: skip
_USUAL = {
    "softmax": "torch.softmax(x, 0)",
    "log_softmax": "torch.log_softmax(x, 0)",
    "cross_entropy": "F.cross_entropy(x, words % x.shape[1])",
    "nll_loss": "F.nll_loss(x, words % x.shape[1])",
    "layer_norm": "F.layer_norm(x, (x.shape[-1],))",
    "rms_norm": "F.rms_norm(x, (x.shape[-1],))",
    "embedding": "F.embedding(words, x)",
}


def inputs(shapes: Sequence[Sequence[int]]) -> Names:
    """Example tensors by name: x, y, z of the given shapes, and words, image, kernel, heads of fitting ones."""
    shapes = list(shapes) or [(64, 48)]
    shapes += [shapes[-1]] * (3 - len(shapes))
    draw = torch.Generator().manual_seed(0)
    found: Names = {name: torch.randn(*shape, generator=draw) for name, shape in zip("xyz", shapes, strict=False)}
    found["words"] = torch.arange(shapes[0][0] if shapes[0] else 1)
    found["image"] = torch.randn(8, 8, 32, 32, generator=draw)
    found["kernel"] = torch.randn(8, 8, 3, 3, generator=draw)
    found["heads"] = torch.randn(2, 8, 64, 16, generator=draw)
    return found


def find_call(op: str, values: Names) -> str:
    """An expression to run for an operator's name: the first usual way of calling it that works on plain tensors.

    Raises:
        ValueError: there is no such operator, or no guess fits it.
    """
    if not op.replace(".", "").isidentifier():
        return op
    name = op.rsplit(".", 1)[-1]
    if op in _USUAL:
        return _USUAL[op]
    spaces = [space for space in _SPACES if callable(getattr(space, name, None))]
    if not spaces:
        raise ValueError(f"For report, the operator should be a name known to torch, but got {op!r}.")
    for space, guess in itertools.product(spaces, _GUESSES):
        owner = "torch.Tensor" if space is torch.Tensor else space.__name__
        call = guess.format(f=f"{owner}.{name}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                result = evaluate(call, values)
        except Exception:
            continue
        if any(isinstance(part, torch.Tensor) for part in _parts(result)):
            return call
    raise ValueError(f"For report, {op} should be given as a call, such as '{op}(x, 0)', but got its name only.")


def evaluate(call: str, values: Names) -> Any:
    """The value of an expression over torch and the example tensors."""
    torch.manual_seed(0)
    names = {"torch": torch, "F": torch.nn.functional, **values}
    return eval(compile(call, "<call>", "eval"), names)


def _parts(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in _parts(part)] if isinstance(value, list | tuple) else [value]


def used_names(call: str, values: Names) -> list[str]:
    """The example tensors that an expression reads, in order of appearance."""
    code = compile(call, "<call>", "eval")
    found: list[str] = []

    def visit(part: Any) -> None:
        found.extend(name for name in part.co_names if name in values and name not in found)
        for constant in part.co_consts:
            if hasattr(constant, "co_names"):
                visit(constant)

    visit(code)
    return found


def options_of(tensor: torch.Tensor, mesh_ndim: int) -> list[tuple[Placement, ...]]:
    """Every placement of one tensor on a mesh."""
    words: list[Placement] = [R, *(Shard(dim) for dim in range(tensor.dim()))]
    if tensor.is_floating_point():
        words.append(P_SUM)
    return list(itertools.product(words, repeat=mesh_ndim))


def count(call: str, values: Names, mesh_shape: tuple[int, ...], choices: Sequence[dict[str, Any]]) -> list[Names]:
    """What a call sends under each choice of placements, on the rank that sends most.

    Returns:
        For each choice ``bytes``, ``collectives`` by name, ``outputs`` (placements of the results) and ``error``.
    """
    merged: list[Names] = [{"bytes": 0, "collectives": {}, "outputs": [], "error": ""} for _ in choices]
    for rank in range(math.prod(mesh_shape)):
        with _pretend(rank, mesh_shape) as mesh:
            for choice, into in zip(choices, merged, strict=True):
                _merge(into, _one(call, values, mesh, choice))
    return merged


def _one(call: str, values: Names, mesh: Any, choice: dict[str, Any]) -> Names:
    def run() -> Any:
        placed = {name: _placed(values[name], mesh, places) for name, places in choice.items()}
        report.reset()
        return evaluate(call, {**values, **placed})

    try:
        run()
        outputs = [tuple(part.placements) for part in _parts(run()) if isinstance(part, DTensor)]
    except Exception as error:
        return {"bytes": 0, "collectives": {}, "outputs": [], "error": f"{type(error).__name__}: {error}"[:200]}
    traffic = report.snapshot().values()
    kinds: dict[str, int] = {}
    for one in traffic:
        for kind, times in one.collectives.items():
            kinds[kind] = kinds.get(kind, 0) + times
    return {"bytes": sum(one.bytes_sent for one in traffic), "collectives": kinds, "outputs": outputs, "error": ""}


def _placed(full: torch.Tensor, mesh: Any, places: Sequence[Placement]) -> DTensor:
    layout = Layout(mesh, [R if isinstance(p, Partial) else p for p in places], tuple(full.shape))
    start, size = layout.local_offset, layout.local_shape
    local = full[tuple(slice(a, a + n) for a, n in zip(start, size, strict=True))].clone()
    return DTensor.from_local(local, mesh, places, shape=tuple(full.shape))


def _merge(into: Names, one: Names) -> None:
    if one["bytes"] > into["bytes"] or not into["outputs"]:
        into.update({key: one[key] for key in ("bytes", "collectives", "outputs")})
    into["error"] = into["error"] or one["error"]


def _made_up(out: torch.Tensor, local: torch.Tensor, group: Any = None) -> None:
    """An all-gather of ordinary numbers, lest an operator stumble over what lay in memory (a singular matrix, say)."""
    parts = out.view(-1, local.numel())
    parts.copy_(local.reshape(1, -1).expand_as(parts))
    if out.is_floating_point():
        out += torch.randn(out.shape, generator=torch.Generator().manual_seed(1)).to(out.dtype)


def _even_split(keys: torch.Tensor, targets: torch.Tensor, mesh: Any, axis: int, sizes: Sequence[int]) -> torch.Tensor:
    """Splits as of evenly mixed parts, after as many rounds of agreement as usual."""
    for _ in range(int(math.log2(max(sum(sizes), 2)))):
        wire.gather_stack(keys.new_zeros(targets.numel()), mesh, axis)
        wire.gather_stack(torch.zeros(targets.numel(), dtype=kernels_order.index_dtype(max(sizes))), mesh, axis)
    dealt = sorted(((place + 0.5) / size, rank) for rank, size in enumerate(sizes) for place in range(size))
    owners = torch.tensor([rank for _, rank in dealt])
    before = torch.arange(len(dealt)).expand(*targets.shape, -1) < targets.unsqueeze(-1)
    return torch.stack([(before & (owners == rank)).sum(-1) for rank in range(len(sizes))])


def _even_masks(goals: torch.Tensor, amounts: torch.Tensor, mesh: Any, axis: int, sizes: Sequence[int]) -> torch.Tensor:
    """Flags that agree with `_even_split`; those sent are counted."""
    _SWAP(goals, amounts, mesh, axis, sizes)
    me, lines = mesh.own_coordinate()[axis], max(goals.shape[0], 1)
    flags = [torch.arange(size) < int(amounts[rank, me]) // lines for rank, size in enumerate(sizes)]
    return torch.cat(flags).expand(goals.shape[0], -1)


_SWAP = kernels_order.swap_masks


def _made_up_parts(
    parts: Sequence[torch.Tensor], shapes: Sequence[Sequence[int]], mesh: DeviceMesh, axis: int
) -> list[torch.Tensor]:
    """An exchange of ordinary numbers; torch's fake group refuses ranks that receive without sending."""
    me, like = mesh.own_coordinate()[axis], parts[0]
    report.sent("all_to_all", sum(p.numel() * p.element_size() for rank, p in enumerate(parts) if rank != me))
    draw = torch.Generator().manual_seed(2)
    whole = [torch.randn(list(s), generator=draw) if like.is_floating_point() else torch.zeros(list(s)) for s in shapes]
    return [parts[me] if rank == me else part.to(like.dtype) for rank, part in enumerate(whole)]


@contextmanager
def _pretend(rank: int, mesh_shape: tuple[int, ...]) -> Iterator[DeviceMesh]:
    """The mesh as one rank of it sees it, in a world in which nothing is sent."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=math.prod(mesh_shape))
    gather, wire._GATHER = wire._GATHER, _made_up
    exchange, wire.exchange = wire.exchange, _made_up_parts
    split, kernels_order.split_lines = kernels_order.split_lines, _even_split
    kernels_order.swap_masks = _even_masks
    try:
        mesh = init_device_mesh("cpu", mesh_shape, mesh_dim_names=("a", "b", "c")[: len(mesh_shape)])
        yield mesh
    finally:
        wire._GATHER, wire.exchange = gather, exchange
        kernels_order.split_lines, kernels_order.swap_masks = split, _SWAP
        dist.destroy_process_group()
        mesh.groups[:] = [None] * mesh.ndim  # meshes are kept for good; the next world makes its own groups
