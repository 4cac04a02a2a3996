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
"""The stretch of a less finely cut tensor that goes with the own part of another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout

Stretch = tuple[int, int, int]
"""(dim, start, length) within a local part."""


def own_stretch(op_name: str, layout: Layout, dim: int, other: Layout, other_dim: int) -> Stretch | None:
    """Where the own part of `dim` lies in the own part of `other_dim`, a dim of equal size; None: it is all of it.

    Raises:
        LayoutError: the axes that cut `other` are not the outermost ones of `layout`, so a rank may lack some of it.
    """
    axes, others = layout.dim_axes[dim], other.dim_axes[other_dim]
    if axes == others:
        return None
    if others != axes[: len(others)]:
        raise LayoutError(
            explain(op_name, f"axes that cut dim {other_dim} of weights or mask", f"first of {axes}", others)
        )
    start = layout.local_offset[dim] - other.local_offset[other_dim]
    return other_dim, max(0, min(start, other.local_shape[other_dim])), layout.local_shape[dim]


def narrowed(narrow: Callable[..., Any], tensor: Any, stretches: Sequence[Stretch] | None) -> Any:
    """A local tensor cut down to stretches; `narrow` is the platform's."""
    for dim, start, length in stretches or ():
        tensor = narrow(tensor, dim, start, length)
    return tensor
