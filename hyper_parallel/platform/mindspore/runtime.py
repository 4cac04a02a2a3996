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
"""Starting MindSpore: device and mode, the job's ranks, process groups.

Two ways to start a job of several ranks. With `msrun`, MindSpore's scheduler tells every process its rank and
`init()` is all that is needed. Without it, the variables that torchrun sets as well (RANK, WORLD_SIZE, MASTER_ADDR,
MASTER_PORT) are enough: rank 0 keeps a store, the others meet there. No scheduler process is started then, which makes
short runs several times faster to begin.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import mindspore as ms
from mindspore.communication import GlobalComm, create_group, get_group_size, get_rank, init

from hyper_parallel.errors import explain

STORE_TIMEOUT_S = 120
_GROUPS: dict[tuple[int, ...], str] = {}
_STATE = {"up": False, "ready": False}


def ready() -> None:
    """Once per process, before the first DTensor: check for PyNative mode, make errors come at their own call.

    MindSpore queues operators by default and reports a failing one at a later call, under another name; on the CPU
    the queue is slower than launching at once wherever results are read.

    Raises:
        NotImplementedError: MindSpore is in graph mode.
    """
    require_pynative()
    if not _STATE["ready"]:
        _STATE["ready"] = True
        if on_cpu():
            ms.runtime.launch_blocking()


def require_pynative() -> None:
    """Refuse graph mode.

    Raises:
        NotImplementedError: MindSpore is in graph mode.
    """
    if ms.get_context("mode") == ms.GRAPH_MODE:
        raise NotImplementedError(
            explain("DTensor", "the mode of MindSpore", "PYNATIVE_MODE (set_context(mode=PYNATIVE_MODE))", "GRAPH_MODE")
        )


def on_cpu() -> bool:
    """Whether operators run on the CPU."""
    return str(ms.get_context("device_target")) == "CPU"


def is_initialized() -> bool:
    """Whether the ranks of the job have met."""
    if not _STATE["up"]:
        _STATE["up"] = bool(GlobalComm.INITED)
    return _STATE["up"]


def rank() -> int:
    """The own global rank; 0 in a job of one."""
    return int(get_rank()) if is_initialized() else 0


def start(device_type: str, size: int) -> None:
    """Meet the other ranks, if that has not happened yet.

    Raises:
        RuntimeError: more than one rank is wanted and the environment names no job.
    """
    ready()
    if is_initialized() or size == 1:
        return
    if "MS_ROLE" in os.environ or "MS_SCHED_HOST" in os.environ:
        init()
    elif "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        init_with_store(
            int(os.environ["RANK"]),
            int(os.environ["WORLD_SIZE"]),
            os.environ.get("MASTER_ADDR", "127.0.0.1"),
            int(os.environ.get("MASTER_PORT", "29500")),
        )
    else:
        raise RuntimeError(
            explain(
                "init_device_mesh", "the job", f"started with {size} ranks (msrun, or RANK and WORLD_SIZE set)", "one"
            )
        )
    _STATE["up"] = True


def init_with_store(own: int, size: int, host: str, port: int, timeout_s: float = STORE_TIMEOUT_S) -> None:
    """Meet the other ranks at a store that rank 0 keeps; no launcher and no scheduler are needed.

    Args:
        own: The own rank.
        size: Number of ranks.
        host: Where rank 0 runs.
        port: A free port there.
        timeout_s: How long to wait for the others, in seconds.
    """
    from mindspore.mint.distributed.distributed import TCPStore, _init_with_store

    ready()
    limit = timedelta(seconds=timeout_s)
    store = TCPStore(host_name=host, port=port, world_size=size, is_master=own == 0, timeout=limit)
    backend = "mccl" if on_cpu() else "hccl"
    _init_with_store(backend=backend, timeout=limit, world_size=size, rank=own, store=store)
    _STATE["up"] = True
    _STATE["store"] = bool(store)


def world_size() -> int:
    """Number of ranks of the job."""
    return int(get_group_size()) if is_initialized() else 1


def group_of(ranks: Sequence[int]) -> str:
    """Name of the communication group of these ranks; made on first use by its members, without the others."""
    key = tuple(ranks)
    name = _GROUPS.get(key)
    if name is None:
        if key == tuple(range(world_size())):
            name = str(GlobalComm.WORLD_COMM_GROUP)
        else:
            name = "hyper_parallel_" + hashlib.sha1(repr(key).encode(), usedforsecurity=False).hexdigest()[:16]
            create_group(name, list(key))
        _GROUPS[key] = name
    return name


def describe() -> dict[str, Any]:
    """Facts for reports: device, number of ranks, own rank."""
    return {"device": str(ms.get_context("device_target")), "ranks": world_size(), "rank": rank()}
