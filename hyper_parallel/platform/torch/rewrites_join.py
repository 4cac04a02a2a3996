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
"""hstack, vstack, dstack, column_stack said as `cat` of tensors with enough dims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

Tensor = torch.Tensor


def _tensors(args: Any, kwargs: Any) -> Sequence[Tensor]:
    tensors: Sequence[Tensor] = args[0] if args else kwargs["tensors"]
    return tensors


def _grown(tensor: Tensor, ndim: int) -> Tensor:
    grow: Any = (torch.atleast_1d, torch.atleast_2d, torch.atleast_3d)[ndim - 1]
    result: Tensor = grow(tensor)
    return result


def _hstack(func: Any, types: Any, args: Any, kwargs: Any) -> Tensor:
    grown = [_grown(t, 1) for t in _tensors(args, kwargs)]
    return torch.cat(grown, 0 if grown[0].dim() == 1 else 1, **_out(kwargs))


def _vstack(func: Any, types: Any, args: Any, kwargs: Any) -> Tensor:
    return torch.cat([_grown(t, 2) for t in _tensors(args, kwargs)], 0, **_out(kwargs))


def _dstack(func: Any, types: Any, args: Any, kwargs: Any) -> Tensor:
    return torch.cat([_grown(t, 3) for t in _tensors(args, kwargs)], 2, **_out(kwargs))


def _column_stack(func: Any, types: Any, args: Any, kwargs: Any) -> Tensor:
    grown = [t if t.dim() > 1 else _grown(t, 1).unsqueeze(1) for t in _tensors(args, kwargs)]
    return torch.cat(grown, 1, **_out(kwargs))


def _out(kwargs: Any) -> dict[str, Any]:
    return {"out": kwargs["out"]} if kwargs and kwargs.get("out") is not None else {}


HANDLERS: dict[Any, Callable[..., Any]] = {
    torch.hstack: _hstack,
    torch.vstack: _vstack,
    torch.row_stack: _vstack,
    torch.dstack: _dstack,
    torch.column_stack: _column_stack,
}
