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
"""Tensor functions of the rules of norms; `hyper_parallel.platform.torch.kernels_norm` tells the meaning."""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from hyper_parallel.platform.mindspore.kernels_softmax import HALF

_EPSILON = {ms.float16: 2.0**-10, ms.bfloat16: 2.0**-7, ms.float64: float(np.finfo(np.float64).eps)}


class NormKernels:
    """Mixed into the platform object."""

    @staticmethod
    def widened(x: Tensor) -> Tensor:
        """`x` in single precision if it is in half, as sums are kept on one device."""
        return x.astype(ms.float32) if x.dtype in HALF else x

    @staticmethod
    def cast_like(x: Tensor, other: Tensor) -> Tensor:
        """`x` in the dtype of `other`."""
        return x.astype(other.dtype)

    @staticmethod
    def epsilon(x: Tensor) -> float:
        """The distance from 1 to the next number of the dtype of `x`."""
        return _EPSILON.get(x.dtype, float(np.finfo(np.float32).eps))

    @staticmethod
    def update_running(running: Tensor, value: Tensor, momentum: float) -> None:
        """Move a running statistic towards a value, in place and without history."""
        new = ops.stop_gradient(value).reshape(tuple(running.shape)).astype(running.dtype)
        running.copy_(ops.stop_gradient(running) * (1 - momentum) + new * momentum)
