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
"""Softmax along a cut dim; `hyper_parallel.platform.torch.kernels_softmax` tells the meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindspore as ms
from mindspore import Tensor, mint, ops

from hyper_parallel.errors import explain
from hyper_parallel.platform.mindspore import adjoint, wire

HALF = frozenset({ms.float16, ms.bfloat16})


def require_float(op: str, x: Tensor, dtype: Any) -> None:
    """The error the local operator would raise for integers."""
    kind = str(dtype or x.dtype)
    if not kind.startswith(("Float", "BFloat", "Complex")):
        raise RuntimeError(explain(op, "the dtype", "floating or complex", kind))


def softmax_across(x: Tensor, dim: int, log: bool, dtype: Any, mesh: Any, axes: Sequence[int]) -> Tensor:
    """The own part of the (log-)softmax along `dim`, which `axes` cut; two numbers per line are reduced."""
    source = x if dtype is None else x.astype(dtype)
    require_float("log_softmax" if log else "softmax", source, None)
    wide = source.astype(ms.float32) if source.dtype in HALF else source
    top = mint.amax(ops.stop_gradient(wide), dim, True)
    for axis in axes:
        top = wire.all_reduce(top, mesh, axis, "max")
    shifted = mint.sub(wide, top)
    powers = mint.exp(shifted)
    total = mint.sum(powers, dim, True)
    for axis in axes:
        total = adjoint.cross(adjoint.all_reduce(total, mesh, axis), mesh, axis)
    result = mint.sub(shifted, mint.log(total)) if log else mint.div(powers, total)
    return result.astype(source.dtype)


class SoftmaxKernels:
    """Mixed into the platform object."""

    require_float = staticmethod(require_float)
    softmax_across = staticmethod(softmax_across)
