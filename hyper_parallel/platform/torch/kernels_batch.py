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

from hyper_parallel.errors import raised_alike
from hyper_parallel.platform.torch import wire

LinAlgError: type[RuntimeError] = vars(torch.linalg)["LinAlgError"]
_KINDS: tuple[type[Exception], ...] = (LinAlgError, RuntimeError, IndexError, ValueError, TypeError)
"""Errors by which functions refuse values, special ones first."""


class BatchKernels:
    """Mixed into the platform object."""

    @staticmethod
    def run_together(call: Callable[[], Any], name: str, mesh: Any, axes: Sequence[int]) -> Any:
        """What `call` returns. If it raises on some rank of the mesh axes, all of them raise an error of that kind.

        For functions that refuse by looking at values: a rank that raised alone would leave the others waiting.
        """

        def largest(code: int) -> int:
            failed = torch.tensor([code], dtype=torch.int32, device=mesh.device_type)
            for axis in axes:
                failed = wire.all_reduce(failed, mesh, axis, "max")
            return int(failed)

        return raised_alike(call, name, _KINDS, largest)
