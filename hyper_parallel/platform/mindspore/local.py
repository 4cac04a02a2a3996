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
"""Primitives that update parameters element by element: every rank applies them to its own parts."""

from __future__ import annotations

from typing import Any

from mindspore._c_expression import NoFallbackGuard

from hyper_parallel.dispatch.call import find_tensors, replace_tensors
from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.platform.mindspore import native
from hyper_parallel.platform.mindspore.dtensor import Undressed

SAME_EVERYWHERE = frozenset(
    [
        "Adam",
        "AdamWeightDecay",
        "AdamNoUpdateParam",
        "AdamW",
        "ApplyAdaMax",
        "ApplyAdadelta",
        "ApplyAdagrad",
        "ApplyAdagradDA",
        "ApplyAdagradV2",
        "ApplyAdamWithAmsgrad",
        "ApplyAdamWithAmsgradV2",
        "ApplyAddSign",
        "ApplyCenteredRMSProp",
        "ApplyFtrl",
        "ApplyGradientDescent",
        "ApplyMomentum",
        "ApplyPowerSign",
        "ApplyProximalAdagrad",
        "ApplyProximalGradientDescent",
        "ApplyRMSProp",
        "FusedSparseAdam",
        "FusedWeightScaleApplyMomentum",
        "Momentum",
        "SGD",
    ]
)


def run(func: Any, name: str, args: Any, kwargs: dict[str, Any], real: Any) -> Any:
    """Apply an optimizer's primitive to the own parts; full-size tensors are laid out like the parameter.

    A gradient under another layout is brought to the parameter's; plain tensors are scalars, or full-size where the
    parameter is replicated.

    Raises:
        LayoutError: the optimizer's state is laid out otherwise.
    """
    tensors = [tensor for _, tensor in find_tensors(real, kwargs, native.is_dtensor)]
    owner = tensors[0]._layout
    fitting: list[Any] = []
    for tensor in tensors:
        if tensor._layout is owner or not tensor._layout.shape:
            continue
        if native.is_parameter(tensor) or tensor._layout.shape != owner.shape:
            raise LayoutError(explain(name, "layouts of parameter, gradient and state", owner, tensor._layout))
        fitting.append(tensor)
    moved = {id(t): t.redistribute(owner.mesh, owner.placements) for t in fitting}
    with Undressed() as undress, NoFallbackGuard():

        def plain(tensor: Any) -> Any:
            tensor = moved.get(id(tensor), tensor)
            if native.is_dtensor(tensor):
                return undress(tensor)
            if tensor.shape and tuple(tensor.shape) == owner.shape != owner.local_shape:
                raise LayoutError(
                    explain(name, "gradient and state", "DTensors, as the parameter is", "a plain tensor")
                )
            return tensor

        local_args, local_kwargs = replace_tensors((tuple(args), kwargs), plain, native.is_tensor)
        return func(*local_args, **local_kwargs)
