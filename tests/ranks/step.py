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
"""Keeps ranks in step through the store, not through the process group whose health is being judged."""

from __future__ import annotations

from datetime import timedelta

import torch.distributed as dist


class OutOfStep(RuntimeError):
    """Another rank did not reach this step in time: the ranks have taken different ways."""


class StepKeeper:
    """Exchanges a short word between ranks after every step.

    Args:
        scope: A name that no other keeper on this store has used.
        timeout_s: How long to wait for the others.
    """

    def __init__(self, scope: str, *, timeout_s: float) -> None:
        store = dist.distributed_c10d._get_default_store()
        self._store = dist.PrefixStore(f"step/{scope}", store)
        self._timeout = timedelta(seconds=timeout_s)
        self._count = 0

    def exchange(self, word: str) -> list[str]:
        """Every rank's word for this step, by rank.

        Raises:
            OutOfStep: Some rank did not come.
        """
        self._count += 1
        size = dist.get_world_size()
        self._store.set(f"{self._count}/{dist.get_rank()}", word)
        keys = [f"{self._count}/{rank}" for rank in range(size)]
        try:
            self._store.wait(keys, self._timeout)
        except Exception as error:
            raise OutOfStep(f"step {self._count}: {error}") from error
        return [self._store.get(key).decode() for key in keys]
