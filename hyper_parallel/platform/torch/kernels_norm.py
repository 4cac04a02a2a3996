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
"""Local tensor functions for the rules of norms."""

from __future__ import annotations

import torch

Tensor = torch.Tensor
_HALF = (torch.float16, torch.bfloat16)


class NormKernels:
    """Mixed into the platform object."""

    @staticmethod
    def widened(x: Tensor) -> Tensor:
        """`x` in single precision if it is in half, as sums are kept on one device."""
        return x.float() if x.dtype in _HALF else x

    @staticmethod
    def cast_like(x: Tensor, other: Tensor) -> Tensor:
        """`x` in the dtype of `other`."""
        return x.to(other.dtype)

    @staticmethod
    def epsilon(x: Tensor) -> float:
        """The distance from 1 to the next number of the dtype of `x`."""
        return torch.finfo(x.dtype).eps

    @staticmethod
    def update_running(running: Tensor, value: Tensor, momentum: float) -> None:
        """Move a running statistic towards a value, in place and without history."""
        with torch.no_grad():
            running.mul_(1 - momentum).add_(value.detach().reshape(running.shape).to(running.dtype), alpha=momentum)
