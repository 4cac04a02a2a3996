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
"""Factories: constant ones make only the own part, random ones and ranges cut the full tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from hyper_parallel.layout import Layout
from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.placements import Placement, R
from hyper_parallel.platform.torch.construct import pick_mesh
from hyper_parallel.platform.torch.dtensor import DTensor, Off, as_dtensor
from hyper_parallel.platform.torch.random import in_step, own_part

_CONSTANT: dict[str, Any] = {"zeros": torch.zeros, "ones": torch.ones, "empty": torch.empty}
_DRAWN: dict[str, Any] = {"rand": torch.rand, "randn": torch.randn}


def factory(
    name: str,
    args: Sequence[Any],
    mesh: DeviceMesh | None,
    placements: Sequence[Placement] | None,
    kwargs: dict[str, Any],
) -> DTensor:
    """A new DTensor: zeros, ones, empty, full, rand, randn or arange."""
    mesh = pick_mesh(mesh, name)
    places = tuple(placements) if placements is not None else (R,) * mesh.ndim
    requires_grad = bool(kwargs.pop("requires_grad", False))
    with Off():
        if name == "arange":
            whole = torch.arange(*args, **kwargs)
            out = own_part(whole, Layout(mesh, places, tuple(whole.shape)))
        elif name == "full":
            layout = Layout(mesh, places, tuple(args[0]))
            if layout.is_partial():
                out = own_part(torch.full(layout.shape, args[1], **kwargs), layout)
            else:
                out = as_dtensor(torch.full(layout.local_shape, args[1], **kwargs), layout)
        else:
            size = tuple(args[0]) if len(args) == 1 and not isinstance(args[0], int) else tuple(args)
            layout = Layout(mesh, places, size)
            if name in _DRAWN:
                in_step(mesh)
                out = own_part(_DRAWN[name](size, **kwargs), layout)
            elif layout.is_partial():
                out = own_part(_CONSTANT[name](size, **kwargs), layout)
            else:
                out = as_dtensor(_CONSTANT[name](layout.local_shape, **kwargs), layout)
    out.requires_grad_(requires_grad)
    return out
