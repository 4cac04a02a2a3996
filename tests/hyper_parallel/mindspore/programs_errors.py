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
"""Errors that one rank finds in its own part, which all ranks have to raise (the others would wait for ever)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mindspore import Tensor, mint

import hyper_parallel as hp


def errors_of_one_rank() -> list[str]:
    """Kinds of errors: a refusal by rank 1 only, targets of its part, rows of no table, far positions."""
    mesh = hp.init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))
    functional = mint.nn.functional

    def refuse() -> Any:
        if mesh.rank == 1:
            raise ValueError("a value of rank 1's part")
        return 1

    def cut(values: Any, dim: int = 0) -> Any:
        return hp.distribute_tensor(Tensor(np.array(values)), mesh, [hp.Shard(dim)])

    logs = cut(np.zeros((4, 3), np.float32))
    table = cut(np.zeros((6, 2), np.float32))
    kinds = [
        _kind(lambda: hp.get_platform("mindspore").run_together(refuse, "refuse", mesh, [0])),
        _kind(lambda: functional.cross_entropy(logs, cut([0, 1, 2, 7]))),
        _kind(lambda: functional.embedding(Tensor(np.array([0, 6])), table)),
        _kind(lambda: mint.index_select(cut(np.zeros((8, 2), np.float32)), 0, Tensor(np.array([0, 8])))),
    ]
    assert float(mint.sum(table + 1).full_tensor()) == 12.0  # and the groups are still in step
    return kinds


def _kind(call: Callable[[], Any]) -> str:
    try:
        call()
    except (ValueError, IndexError, RuntimeError, TypeError) as error:
        return type(error).__name__
    return "none"
