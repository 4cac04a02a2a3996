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
"""Local tensor functions for rules that rebuild a dim (`ops.runs`) or look things up along one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from hyper_parallel.platform.torch import rows, windows
from hyper_parallel.platform.torch.kernels_empty import cat

Tensor = torch.Tensor


def assemble(x: Tensor, dim: int, runs: Sequence[tuple[int, int, int]], fill: Any) -> Tensor:
    """The runs `(start, count, step)` of `x` along `dim`, joined; start -1 stands for the constant `fill`.

    The result stays tied to `x` in the autograd graph even where it holds nothing of it.
    """
    if len(runs) == 1 and runs[0] == (0, x.shape[dim], 1):
        return x
    parts = [x.narrow(dim, 0, 0)]
    for start, count, step in runs:
        if start < 0:
            parts.append(x.new_full(_sized(x, dim, count), fill))
        elif step == 1:
            parts.append(x.narrow(dim, start, count))
        elif step == -1:
            parts.append(x.narrow(dim, start - count + 1, count).flip(dim))
        else:
            parts.append(x.narrow(dim, start, 1).expand(_sized(x, dim, count)))
    return cat(parts, dim)


def stride(x: Tensor, dim: int, start: int, count: int, step: int) -> Tensor:
    """`count` positions of `dim` from `start` on, every `step`-th (a view)."""
    if count == 0:
        return x.narrow(dim, 0, 0)
    if step == 1:
        return x.narrow(dim, start, count)
    return x[(slice(None),) * dim + (slice(start, start + (count - 1) * step + 1, step),)]


def split(x: Tensor, sizes: Sequence[int], dim: int) -> tuple[Tensor, ...]:
    """Parts of the given lengths along `dim` (views that may be written to)."""
    return tuple(x.split_with_sizes(list(sizes), dim))


def _sized(x: Tensor, dim: int, size: int) -> list[int]:
    return [size if d == dim else n for d, n in enumerate(x.shape)]


class LineKernels:
    """Mixed into the platform object."""

    move_windows = staticmethod(windows.move_windows)
    add_windows = staticmethod(windows.add_windows)
    fetch_window = staticmethod(windows.fetch_window)
    place_window = staticmethod(windows.place_window)
    assemble = staticmethod(assemble)
    stride = staticmethod(stride)
    split = staticmethod(split)
    take_rows = staticmethod(rows.take_rows)
    take_elements = staticmethod(rows.take_elements)
    write_rows = staticmethod(rows.write_rows)
