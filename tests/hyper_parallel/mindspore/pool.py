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
"""Pooled MindSpore ranks: spawned processes that meet at a store, without msrun and without a scheduler."""

from __future__ import annotations

import os
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any

from tests.ranks.pool import RankPool, answer_calls

_STEPS: list[Any] = []


def _serve(rank: int, size: int, port: int, pipe: Connection, group_timeout_s: float) -> None:
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    os.environ.update(HYPER_PARALLEL_PLATFORM="mindspore", OMP_NUM_THREADS="1", GLOG_v="4")
    import mindspore as ms

    ms.set_device("CPU")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    import hyper_parallel as hp

    hp.init_device_mesh("cpu", (size,), mesh_dim_names=("dp",))
    answer_calls(pipe)


class MindSporePool(RankPool):
    """`size` MindSpore ranks on loopback, started at the first call."""

    serve = staticmethod(_serve)


class Steps:
    """Exchanges a short word between ranks through a store, not through the groups whose health is being judged.

    The ranks share the store's port by a first collective; after that nothing depends on MindSpore.
    """

    def __init__(self, mesh: Any, timeout_s: float) -> None:
        import torch.distributed as dist

        from hyper_parallel.platform.mindspore import gloo, wire

        limit = timedelta(seconds=timeout_s)
        self.rank, self.size, self.count = mesh.rank, mesh.size(), 0
        store = None
        if self.rank == 0:
            store = dist.TCPStore("127.0.0.1", gloo._free_port(), None, True, limit, wait_for_workers=False)
        port = 0 if store is None else store.port
        for axis in range(mesh.ndim):
            port = max(wire._announce(port, mesh, axis))
        self.store = store or dist.TCPStore("127.0.0.1", port, None, False, limit)
        self.limit = limit

    def exchange(self, word: str) -> list[str]:
        """Every rank's word for this step, by rank.

        Raises:
            TimeoutError: some rank did not come.
        """
        self.count += 1
        self.store.set(f"{self.count}/{self.rank}", word)
        keys = [f"{self.count}/{rank}" for rank in range(self.size)]
        try:
            self.store.wait(keys, self.limit)
        except Exception as error:
            raise TimeoutError(f"step {self.count}: {error}") from error
        return [self.store.get(key).decode() for key in keys]


def steps(mesh: Any, timeout_s: float = 15.0) -> Steps:
    """The one exchange of this process."""
    if not _STEPS:
        _STEPS.append(Steps(mesh, timeout_s))
    kept: Steps = _STEPS[0]
    return kept
