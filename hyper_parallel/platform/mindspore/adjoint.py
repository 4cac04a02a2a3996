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
"""MindSpore's differentiable collectives."""

from __future__ import annotations

from mindspore import Tensor, mint, ops
from mindspore.common._grad_function import _Function
from mindspore.graph.api import _pynative_executor

from hyper_parallel.platform.adjoint import Adjoint, Framework
from hyper_parallel.platform.mindspore import wire


def taping() -> bool:
    """Whether operators are being recorded for a gradient."""
    return bool(_pynative_executor.grad_flag() and _pynative_executor.enable_grad())


def taped(x: Tensor) -> bool:
    """Whether operations on this tensor are being recorded."""
    return taping() and bool(x.is_floating_point() or x.is_complex())


def _ones_tied(x: Tensor) -> Tensor:
    return mint.where(mint.ne(ops.zeros_like(x), 0), x, ops.ones_like(x))


_COLLECTIVES = Adjoint(
    Framework(
        function=_Function,
        wire=wire,
        taped=taped,
        again=wire.copy_of,
        copy=wire.copy_of,
        narrow=mint.narrow,
        zeros_like=ops.zeros_like,
        ones_tied=_ones_tied,
        fold={"prod": lambda x: mint.prod(x, 0), "max": lambda x: mint.amax(x, 0), "min": lambda x: mint.amin(x, 0)},
    )
)
all_reduce = _COLLECTIVES.all_reduce
cross = _COLLECTIVES.cross
all_gather = _COLLECTIVES.all_gather
gather_cross = _COLLECTIVES.gather_cross
take_chunk = _COLLECTIVES.take_chunk
reduce_scatter = _COLLECTIVES.reduce_scatter
all_to_all = _COLLECTIVES.all_to_all
to_partial = _COLLECTIVES.to_partial
