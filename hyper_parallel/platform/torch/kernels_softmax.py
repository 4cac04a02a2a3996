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
"""Softmax along a dim that mesh axes cut (interception off)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from hyper_parallel.platform.torch import adjoint, wire

Tensor = torch.Tensor
_NARROW = frozenset({torch.float16, torch.bfloat16})


def softmax_across(x: Tensor, dim: int, log: bool, dtype: Any, mesh: Any, axes: Sequence[int]) -> Tensor:
    """The own part of the (log-)softmax along `dim`, which `axes` cut.

    Two all-reduces of one number per line: the largest element, then the sum of exponentials. Half precision is
    summed in single precision, as on one device. Differentiable to any order; backward sends one number per line.
    """
    source = x if dtype is None else x.to(dtype)
    if not source.is_floating_point():
        source.new_zeros(1).softmax(0)  # the framework's own refusal, on every rank alike
    top = _top(source.detach(), dim)
    for axis in axes:
        top = wire.all_reduce(top, mesh, axis, "max")
    shifted = (source.float() if source.dtype in _NARROW else source) - top
    powers = shifted.exp()
    total = powers.sum(dim, keepdim=True)
    for axis in axes:
        total = adjoint.cross(adjoint.all_reduce(total, mesh, axis), mesh, axis)
    result = shifted - total.log() if log else powers / total
    return result.to(source.dtype)


def _top(x: Tensor, dim: int) -> Tensor:
    if x.shape[dim]:
        return x.amax(dim, keepdim=True)
    return x.new_full([1 if d == dim else n for d, n in enumerate(x.shape)], float("-inf"))


class SoftmaxKernels:
    """Mixed into the platform object."""

    softmax_across = staticmethod(softmax_across)
