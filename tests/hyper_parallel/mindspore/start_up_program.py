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
"""A user's program: works under msrun and, with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set, without it."""

from __future__ import annotations

import sys
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint

import hyper_parallel as hp


def main(folder: str) -> None:
    """Sums a distributed tensor and leaves the result in `folder`, one file per rank."""
    ms.set_device("CPU")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    hp.set_platform("mindspore")
    mesh = hp.init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))
    d = hp.distribute_tensor(Tensor(np.arange(5, dtype=np.float32)), mesh, [hp.Shard(0)])
    total = mint.sum(d * 2).item()
    Path(folder, f"rank{mesh.rank}.txt").write_text(
        f"{mesh.rank} of {mesh.size()}: {total} {d.local_shape}", encoding="utf-8"
    )


if __name__ == "__main__":
    main(sys.argv[1])
