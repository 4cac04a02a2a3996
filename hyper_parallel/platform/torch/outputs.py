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
"""Storing results into tensors given as `out=`."""

from __future__ import annotations

from typing import Any

import torch

from hyper_parallel.errors import explain
from hyper_parallel.layout import Layout
from hyper_parallel.placements import Shard
from hyper_parallel.platform.torch.dtensor import DTensor
from hyper_parallel.redistribute import redistribute_local


def store_out(name: str, result: Any, out: Any) -> Any:
    """Copy `result` (tensor or tuple) into `out`, each in its own layout; returns what torch would. Interception off.

    Raises:
        RuntimeError: counts differ, a dtype cannot be cast, or gradients would be lost.
    """
    if isinstance(out, torch.Tensor):
        _store(name, result, out)
        return out
    if len(result) != len(out):
        raise RuntimeError(explain(name, "out", f"{len(result)} tensors", len(out)))
    for value, target in zip(result, out, strict=True):
        _store(name, value, target)
    return type(result)(out) if isinstance(result, tuple) else out


def _store(name: str, value: torch.Tensor, target: torch.Tensor) -> None:
    from hyper_parallel.platform.torch.backend import PLATFORM

    if torch.is_grad_enabled() and (target.requires_grad or value.requires_grad):
        raise RuntimeError(explain(name, "arguments of a call with out=", "without requires_grad", "one that has it"))
    if not torch.can_cast(value.dtype, target.dtype):
        raise RuntimeError(explain(name, "the dtype of out", f"one that {value.dtype} casts to", target.dtype))
    if not isinstance(value, DTensor):
        mesh = target._layout.mesh  # type: ignore[attr-defined]
        value = PLATFORM.implicit(value, mesh)
    layout = value._layout
    if not isinstance(target, DTensor):
        full = redistribute_local(PLATFORM, value, layout, Layout.replicated(layout.mesh, layout.shape))
        if tuple(target.shape) != layout.shape:
            target.resize_(layout.shape)
        target.copy_(full)
        return
    goal = target._layout
    if goal.shape != layout.shape:
        if any(isinstance(p, Shard) and p.dim >= len(layout.shape) for p in goal.placements):
            goal = Layout.replicated(goal.mesh, layout.shape)
        else:
            goal = goal.with_shape(layout.shape)
        PLATFORM.resize(target, goal)
    target.copy_(redistribute_local(PLATFORM, value, layout, goal))
