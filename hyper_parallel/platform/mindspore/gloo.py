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
"""gloo for what MindSpore's CPU communication lacks: data go through numpy into a gloo group of the same ranks.

The group is PyTorch's `ProcessGroupGloo` by itself: PyTorch's own default group is neither needed nor touched, so both
backends can run in one process. Members find each other at a store whose port the first of them announces through a
native all-gather.
"""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

TIMEOUT_S = 120
_GROUPS: dict[tuple[int, ...], Any] = {}


def available() -> bool:
    """Whether PyTorch is installed."""
    return importlib.util.find_spec("torch") is not None


def group_of(ranks: tuple[int, ...], own: int, announce: Callable[[int], list[int]]) -> Any:
    """The gloo group of these ranks, made on first use (collective over its members).

    Args:
        ranks: Global ranks, in the group's order.
        own: The own global rank.
        announce: Shares an int among the ranks and returns all of theirs, in order.
    """
    known = _GROUPS.get(ranks)
    if known is not None:
        return known
    import torch.distributed as dist
    from torch.distributed import TCPStore  # type: ignore[attr-defined]

    limit = timedelta(seconds=TIMEOUT_S)
    first = ranks[0] == own
    store = None
    if first:
        store = TCPStore("127.0.0.1", _free_port(), None, True, limit, wait_for_workers=False)
    port = announce(store.port if store is not None else 0)[0]
    if store is None:
        store = TCPStore("127.0.0.1", port, None, False, limit)
    group = dist.ProcessGroupGloo(store, ranks.index(own), len(ranks), limit)
    _GROUPS[ranks] = group
    return group


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def all_to_all_bytes(group: Any, parts: Sequence[NDArray[Any]], counts: Sequence[int]) -> list[NDArray[Any]]:
    """Send `parts[i]` (bytes) to member i, receive `counts[i]` bytes from it."""
    import torch

    send = torch.from_numpy(np.concatenate([np.frombuffer(p.tobytes(), np.uint8) for p in parts]).copy())
    out = torch.empty(sum(counts), dtype=torch.uint8)
    group.alltoall_base(out, send, list(counts), [p.nbytes for p in parts]).wait()
    return np.split(out.numpy(), np.cumsum(counts)[:-1])


def all_gather_bytes(group: Any, part: NDArray[Any], peers: int) -> list[NDArray[Any]]:
    """Every member's `part` (bytes of equal length)."""
    import torch

    mine = torch.from_numpy(np.frombuffer(part.tobytes(), np.uint8).copy())
    outs = [torch.empty_like(mine) for _ in range(peers)]
    group.allgather([outs], [mine]).wait()
    return [out.numpy() for out in outs]


def all_reduce_array(group: Any, values: NDArray[Any], op: str) -> NDArray[Any]:
    """The reduction of every member's array; dtypes that torch and numpy share."""
    import torch
    import torch.distributed as dist

    kinds: dict[str, Any] = {
        "sum": dist.ReduceOp.SUM,
        "max": dist.ReduceOp.MAX,
        "min": dist.ReduceOp.MIN,
        "prod": dist.ReduceOp.PRODUCT,
    }
    work = torch.from_numpy(np.array(values, order="C"))
    options = dist.AllreduceOptions()
    options.reduceOp = kinds[op]
    group.allreduce([work], options).wait()
    return np.asarray(work.numpy())
