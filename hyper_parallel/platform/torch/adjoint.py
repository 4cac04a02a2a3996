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
"""PyTorch's differentiable collectives."""

from __future__ import annotations

import torch
from torch.autograd import Function

from hyper_parallel.platform.adjoint import Adjoint, Framework
from hyper_parallel.platform.torch import wire

Tensor = torch.Tensor


def _taped(x: Tensor) -> bool:
    return torch.is_grad_enabled() and x.requires_grad


def _ones_tied(x: Tensor) -> Tensor:
    return torch.where(torch.zeros_like(x, dtype=torch.bool), x, torch.ones_like(x))


_COLLECTIVES = Adjoint(
    Framework(
        function=Function,
        wire=wire,
        taped=_taped,
        again=lambda x: x.view_as(x),
        copy=torch.clone,
        narrow=torch.narrow,
        zeros_like=torch.zeros_like,
        ones_tied=_ones_tied,
        fold={"prod": lambda x: x.prod(0), "max": lambda x: x.amax(0), "min": lambda x: x.amin(0)},
    )
)
all_reduce = _COLLECTIVES.all_reduce
cross = _COLLECTIVES.cross
same_grad = _COLLECTIVES.same_grad
all_gather = _COLLECTIVES.all_gather
gather_cross = _COLLECTIVES.gather_cross
take_chunk = _COLLECTIVES.take_chunk
reduce_scatter = _COLLECTIVES.reduce_scatter
all_to_all = _COLLECTIVES.all_to_all
to_partial = _COLLECTIVES.to_partial
