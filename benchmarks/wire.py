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
"""Counts the bytes that this rank sends through ``torch.distributed`` while a block runs, whoever calls it.

Both libraries end in the same process-group operators (those of ``c10d`` or the functional collectives), so they are
counted by one dispatch mode below both. The count is what the collective's usual algorithm must send from one rank of
``n``: all-gather of ``b`` local bytes (n-1)·b; reduce-scatter of ``B`` input bytes (n-1)/n·B; all-reduce 2·(n-1)/n·B;
all-to-all the parts addressed to others; broadcast from one rank its bytes; point to point the bytes themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.distributed.tensor import DTensor as TorchDTensor
from torch.utils._python_dispatch import TorchDispatchMode


@dataclass
class Wire:
    """Bytes sent by this rank, in all and by collective."""

    sent: float = 0.0
    calls: Counter[str] = field(default_factory=Counter)
    by_collective: Counter[str] = field(default_factory=Counter)


def _nbytes(value: Any) -> int:
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    if isinstance(value, (list, tuple)):
        return sum(_nbytes(part) for part in value)
    return 0


def _group_size(args: tuple[Any, ...]) -> int:
    """Size of the process group, which the operators take as object or by name."""
    for value in args:
        if isinstance(value, torch.ScriptObject):
            try:
                return int(torch.distributed.ProcessGroup.unbox(value).size())
            except (RuntimeError, TypeError):
                continue
        if isinstance(value, str):
            try:
                return int(torch.distributed.distributed_c10d._resolve_process_group(value).size())
            except (RuntimeError, LookupError, ValueError):
                continue
    return int(torch.distributed.get_world_size())


def _group_rank(args: tuple[Any, ...]) -> int:
    """This rank's place in the process group, which the operators take as object."""
    for value in args:
        if isinstance(value, torch.ScriptObject):
            try:
                return int(torch.distributed.ProcessGroup.unbox(value).rank())
            except (RuntimeError, TypeError):
                continue
    return int(torch.distributed.get_rank())


def _sent(name: str, args: tuple[Any, ...]) -> float:
    size = _group_size(args)
    share = (size - 1) / size
    if "allgather" in name or "all_gather" in name:
        # c10d lists the output first, the functional operators take only the input.
        own = args[1] if name.startswith("c10d") else args[0]
        return (size - 1) * _nbytes(own)
    if "reduce_scatter" in name:
        whole = args[1] if name.startswith("c10d") else args[0]
        return share * _nbytes(whole)
    if "allreduce" in name or "all_reduce" in name:
        return 2 * share * _nbytes(args[0])
    if "alltoall" in name or "all_to_all" in name:
        whole = args[1] if name.startswith("c10d") else args[0]
        splits = args[4] if name.startswith("c10d.alltoall_base") else ()
        if splits:
            width = _nbytes(whole) / max(sum(splits), 1)
            return float(width * (sum(splits) - splits[_group_rank(args)]))
        return share * _nbytes(whole)
    if "send" in name or "broadcast" in name or "scatter" in name or "gather" in name:
        return float(_nbytes(args[0]))
    return 0.0


class _Count(TorchDispatchMode):
    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(issubclass(kind, TorchDTensor) for kind in types):
            return NotImplemented  # let it act first: its collectives come back here on plain tensors
        name = str(func)
        if name.startswith(("c10d.", "_c10d_functional.", "_c10d_functional_autograd.", "c10d_functional.")):
            sent = _sent(name, args)
            if sent:
                word = name.split(".")[1].rstrip("_")
                self._wire.sent += sent
                self._wire.calls[word] += 1
                self._wire.by_collective[word] += int(sent)
        with torch._C.DisableTorchFunctionSubclass():  # below the API a tensor is its own local part
            return func(*args, **(kwargs or {}))


@contextmanager
def counted() -> Iterator[Wire]:
    """Counts what is sent inside the block."""
    wire = Wire()
    with _Count(wire):
        yield wire
