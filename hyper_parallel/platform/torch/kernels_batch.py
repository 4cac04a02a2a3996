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
"""Local calls that may fail on some ranks' values only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from hyper_parallel.errors import explain
from hyper_parallel.platform.torch import wire

LinAlgError: type[RuntimeError] = vars(torch.linalg)["LinAlgError"]


class BatchKernels:
    """Mixed into the platform object."""

    @staticmethod
    def run_together(call: Callable[[], Any], name: str, mesh: Any, axes: Sequence[int]) -> Any:
        """What `call` returns; if it raises a RuntimeError on any rank of the mesh axes, all of them raise.

        Raises:
            RuntimeError: the own error, or that another rank failed, of the same class where that is LinAlgError.
        """
        error: RuntimeError | None = None
        out = None
        try:
            out = call()
        except RuntimeError as caught:
            error = caught
        kind = 0 if error is None else 2 if isinstance(error, LinAlgError) else 1
        failed = torch.tensor([kind], dtype=torch.int32, device=mesh.device_type)
        for axis in axes:
            failed = wire.all_reduce(failed, mesh, axis, "max")
        if error is not None:
            raise error
        if int(failed):
            raised = LinAlgError if int(failed) == 2 else RuntimeError
            raise raised(explain(name, "the parts of all ranks", "computable", "an error on another rank"))
        return out
