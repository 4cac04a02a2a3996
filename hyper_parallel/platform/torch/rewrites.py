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
"""Calls said in other words: what a second tensor is only asked for its shape or dtype is replaced by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from hyper_parallel.layout import Layout
from hyper_parallel.platform.torch import rewrites_index, rewrites_join, rewrites_norm
from hyper_parallel.platform.torch.dtensor import DTensor, Off, as_dtensor, plain

Tensor = torch.Tensor


def _as_other(method: str) -> Callable[..., Any]:
    def rewrite(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        other = args[1] if len(args) > 1 else (kwargs or {})["other"]
        return getattr(args[0], method)(tuple(other.shape))

    return rewrite


def _type_as(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    other = args[1] if len(args) > 1 else (kwargs or {})["other"]
    return args[0].to(other.dtype)


def _to(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """`to(other)`: other's dtype (all DTensors of a process live on one device type)."""
    from hyper_parallel.platform.torch.intercept import op_handler_for

    kwargs = kwargs or {}
    if len(args) > 1 and isinstance(args[1], Tensor):
        args = (args[0], args[1].dtype, *args[2:])
    if isinstance(kwargs.get("other"), Tensor):
        kwargs = {**kwargs, "dtype": kwargs["other"].dtype}
        del kwargs["other"]
    if not isinstance(args[0], DTensor):
        return args[0].to(*args[1:], **kwargs)
    return op_handler_for(func)(func, types, args, kwargs)


def _new(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """`new_zeros` and the like take only dtype and device from their tensor: the result is replicated."""
    owner = next(a for a in (*args, *(kwargs or {}).values()) if isinstance(a, DTensor))
    mesh = owner._layout.mesh
    if any(isinstance(a, Tensor) for a in args[1:]):
        from hyper_parallel.platform.torch.intercept import op_handler_for

        return op_handler_for(func)(func, types, args, kwargs)
    with Off():
        out = func(plain(args[0].detach()), *args[1:], **(kwargs or {}))
        return as_dtensor(out, Layout.replicated(mesh, tuple(out.shape)))


def _cast_name(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """`x.type()` asks for a name, `x.type(dtype)` casts."""
    given = args[1:] or tuple((kwargs or {}).get(k) for k in ("dtype",) if k in (kwargs or {}))
    if not given or given[0] is None:
        with Off():
            return plain(args[0]).type()
    if isinstance(given[0], torch.dtype):
        return args[0].to(given[0])
    with Off():
        dtype = torch.empty(0).type(given[0]).dtype
    return args[0].to(dtype)


def _atleast(ndim: int) -> Callable[..., Any]:
    def grow(tensor: Tensor) -> Tensor:
        if ndim == 3 and tensor.dim() == 2:
            return tensor.unsqueeze(-1)
        if ndim == 3 and tensor.dim() == 1:
            return tensor.unsqueeze(0).unsqueeze(-1)
        while tensor.dim() < ndim:
            tensor = tensor.unsqueeze(0)
        return tensor

    def rewrite(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        flat = args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args
        grown = tuple(grow(t) for t in flat)
        return grown[0] if len(args) == 1 and isinstance(args[0], Tensor) else grown

    return rewrite


def _tensor_contains(func: Any, types: Any, args: Any, kwargs: Any) -> bool:
    return bool((args[0] == args[1]).any().item())


def _reverse_matmul(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    return torch.matmul(args[1], args[0])


HANDLERS: dict[Any, Callable[..., Any]] = {
    Tensor.expand_as: _as_other("expand"),
    Tensor.view_as: _as_other("view"),
    Tensor.reshape_as: _as_other("reshape"),
    Tensor.type_as: _type_as,
    Tensor.to: _to,
    Tensor.type: _cast_name,
    Tensor.new_zeros: _new,
    Tensor.new_ones: _new,
    Tensor.new_full: _new,
    Tensor.new_empty: _new,
    Tensor.new_tensor: _new,
    Tensor.__contains__: _tensor_contains,
    Tensor.__rmatmul__: _reverse_matmul,
    torch.atleast_1d: _atleast(1),
    torch.atleast_2d: _atleast(2),
    torch.atleast_3d: _atleast(3),
    **rewrites_join.HANDLERS,
    **rewrites_index.HANDLERS,
    **rewrites_norm.HANDLERS,
}
