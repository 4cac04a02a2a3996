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
"""`torch._foreach_*` and fused optimizer steps: one call per tensor, so that every tensor keeps its own layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from hyper_parallel.platform.torch import wire
from hyper_parallel.platform.torch.dtensor import DTensor, Off, redistribute

Tensor = torch.Tensor
_VALUE_LAST = {"addcmul", "addcmul_", "addcdiv", "addcdiv_"}


def handler_for(name: str) -> Callable[..., Any] | None:
    """The handler of a list operator, or None for any other name."""
    if name.startswith("_foreach_"):
        return _one_by_one(name.removeprefix("_foreach_"))
    if name.startswith("_fused_") and name.endswith("_"):
        return _fused
    if name == "_amp_foreach_non_finite_check_and_unscale_":
        return _unscale
    return None


def _one_by_one(name: str) -> Callable[..., Any] | None:
    method: Any = torch.linalg.vector_norm if name == "norm" else getattr(Tensor, name, None)
    if method is None:
        return None

    def run(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        results = []
        for index, tensor in enumerate(args[0]):
            rest = [a[index] if isinstance(a, list | tuple) else a for a in args[1:]]
            named = {k: v[index] if isinstance(v, list | tuple) else v for k, v in (kwargs or {}).items()}
            if name in _VALUE_LAST and len(rest) == 3:
                named["value"] = _number(rest.pop())
            if name == "norm" and "ord" not in named:
                named["ord"] = rest.pop(0) if rest else 2
            results.append(method(tensor, *rest, **named))
        return None if name.endswith("_") else tuple(results)

    return run


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


def _fused(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Fused optimizer steps are element-wise: run on the parts, gradients and states in their parameters' layouts."""
    lists = [list(a) if isinstance(a, list | tuple) else a for a in args]
    moved: list[tuple[DTensor, DTensor]] = []
    for index, parameter in enumerate(lists[0]):
        if not isinstance(parameter, DTensor):
            continue
        for values in lists[1:]:
            if not isinstance(values, list) or len(values) <= index or not isinstance(values[index], DTensor):
                continue
            given = values[index]
            if given._layout is not parameter._layout and given._layout.shape == parameter._layout.shape:
                values[index] = redistribute(given, parameter._layout)
                moved.append((given, values[index]))
    with Off():
        result = func(*lists, **(kwargs or {}))
    for given, used in moved:
        back = redistribute(used, given._layout)
        with Off(), torch.no_grad():
            given.copy_(back)
    return result


def _unscale(func: Any, types: Any, args: Any, kwargs: Any) -> None:
    """`GradScaler` unscales parts where they are; all ranks learn whether any of them holds a number not finite."""
    grads, found, scale = args
    meshes = dict.fromkeys(grad._layout.mesh for grad in grads if isinstance(grad, DTensor))
    with Off():
        func(grads, found, scale)
        for mesh in meshes:
            for axis in range(mesh.ndim):
                found.copy_(wire.all_reduce(found, mesh, axis, "max"))
