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
"""Local calls on ranks that have no part: they hang on their inputs, and refuse them, as the calls of other ranks do.

PyTorch cuts the graph short where nothing is to be computed: gradients of empty tensors may come without history, an
operand that met nothing without a gradient. This rank would then be missing in the collectives of a later backward.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd import Function

from hyper_parallel.dispatch.call import find_tensors, replace_tensors
from hyper_parallel.platform.torch.dtensor import plain

Tensor = torch.Tensor
_ABOUT_VALUES: tuple[type[Exception], ...] = (vars(torch.linalg)["LinAlgError"], IndexError, ValueError)
"""Errors that the values of stand-ins may cause."""


class _Hang(Function):
    """Zeros of another shape that hang on their source; what flows back is zeros as well, in every order.

    Nothing flows back where nothing comes: some operators have no gradient at all (a norm of order 0), on any rank.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, like: Tensor) -> Tensor:
        ctx.set_materialize_grads(False)
        ctx.shape = x.shape
        return like.detach().clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return None if grad is None else _hung(grad, grad.new_zeros(ctx.shape)), None


def _hung(x: Tensor, like: Tensor) -> Tensor:
    """The values of `like`, with the history of `x`."""
    hang: Any = _Hang
    return hang.apply(x, like)  # type: ignore[no-any-return]


def _stand_in(x: Tensor) -> Tensor:
    """A tensor like `x`, but one long where it is empty, of values that most operators accept."""
    x = plain(x)
    shape = [max(size, 1) for size in x.shape]
    if not (x.is_floating_point() or x.is_complex()):
        return x.new_zeros(shape) if not x.numel() else x
    like = torch.ones(shape, dtype=x.dtype, device=x.device)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        like = like * torch.eye(shape[-1], dtype=x.dtype, device=x.device)
    return _hung(x, like) if x.requires_grad and torch.is_grad_enabled() else like


def as_elsewhere(func: Callable[..., Any], alone: bool) -> Callable[..., Any]:
    """`func`, to be called where parts are empty that other ranks have.

    Args:
        alone: it is all of the local call, so that what it says to stand-ins is what it says to the other ranks' parts.
    """

    def run(*args: Any, **kwargs: Any) -> Any:
        from hyper_parallel.platform.torch.backend import PLATFORM

        out = func(*args, **kwargs)
        outs = _tensors(out)
        if any(t.numel() for t in outs):
            return out
        try:
            args, kwargs = replace_tensors((args, kwargs), _stand_in, torch.is_tensor)
            elsewhere = _tensors(func(*args, **kwargs))
        except Exception as error:
            if alone and not isinstance(error, _ABOUT_VALUES):
                raise
            return out
        views = any(PLATFORM.shares_storage(source, t) for t in elsewhere for source in _tensors((args, kwargs)))
        if views or len(elsewhere) != len(outs):
            return out
        hooks = iter(elsewhere)

        def tie(empty: Tensor) -> Tensor:
            hook = next(hooks)
            return _hung(hook, plain(empty)) if hook.requires_grad else empty

        return replace_tensors(out, tie, torch.is_tensor)

    return functools.update_wrapper(run, func)


def _tensors(value: Any) -> list[Tensor]:
    return [tensor for _, tensor in find_tensors((value,), {}, torch.is_tensor)]


def cat(parts: Sequence[Tensor], dim: int) -> Tensor:
    """`torch.cat` that does not skip empty vectors: their gradient, too, hangs on that of the result."""
    if parts[0].dim() == 1 and not all(part.numel() for part in parts):
        return torch.cat([part.unsqueeze(1) for part in parts]).squeeze(1)
    return torch.cat(list(parts), dim)


class EmptyKernels:
    """Mixed into the platform object."""

    cat = staticmethod(cat)
    as_elsewhere = staticmethod(as_elsewhere)
