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
"""Local tensor functions for the rules of triangles and diagonals."""

from __future__ import annotations

import torch

from hyper_parallel.platform.torch.kernels_empty import cat

Tensor = torch.Tensor


class TriangleKernels:
    """Mixed into the platform object."""

    @staticmethod
    def diagonal(x: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
        """A diagonal as a view; empty where the part does not meet it."""
        rows, columns = x.shape[dim1], x.shape[dim2]
        return torch.diagonal(x, max(-rows, min(offset, columns)), dim1, dim2)

    @staticmethod
    def trace_part(x: Tensor, offset: int) -> Tensor:
        """Sum of one diagonal of a matrix, of the dtype that `trace` has."""
        return TriangleKernels.diagonal(x, offset, 0, 1).sum()

    @staticmethod
    def among_zeros(x: Tensor, before: int, after: int) -> Tensor:
        """`x` with zeros before and after it on the last dim; always a copy."""
        parts = [x.new_zeros((*x.shape[:-1], before)), x, x.new_zeros((*x.shape[:-1], after))]
        return cat(parts, -1)
