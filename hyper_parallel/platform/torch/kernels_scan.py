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
"""logcumsumexp along a cut dim, one rank after the other, so that values are bitwise those of one device.

Where values are large, one rounding in the carry changes gradients by more than their usual tolerance; an order of
additions other than the sequential one would show. The carry is as wide as the operator keeps it inside.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import Function

from hyper_parallel.platform.torch import wire
from hyper_parallel.platform.torch.dtensor import plain

Tensor = torch.Tensor
_WIDE = {torch.float32: torch.float64, torch.float16: torch.float32, torch.bfloat16: torch.float32}


class _LogScan(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, *where: Any) -> Tensor:
        ctx.where = where
        result = _chain(x.detach(), *where)
        ctx.save_for_backward(x, result)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, result = ctx.saved_tensors
        dim, mesh, axis, backwards = ctx.where
        nothing = torch.full_like(grad, torch.finfo(grad.dtype).min)
        logs = grad.abs().log()
        up, down = (
            (log_scan(torch.where(side, logs, nothing) - result, dim, mesh, axis, not backwards) + x).exp()
            for side in (grad > 0, grad < 0)
        )
        return up - down, None, None, None, None


def log_scan(x: Tensor, dim: int, mesh: Any, axis: int, backwards: bool = False) -> Tensor:
    """logcumsumexp of a real tensor along a dim cut by `axis`, from the last position on if `backwards`."""
    if torch.is_grad_enabled() and x.requires_grad:
        taped: Any = _LogScan
        return taped.apply(plain(x), dim, mesh, axis, backwards)  # type: ignore[no-any-return]
    return _chain(x, dim, mesh, axis, backwards)


def _chain(x: Tensor, dim: int, mesh: Any, axis: int, backwards: bool) -> Tensor:
    """Every rank in turn goes on from its predecessor's last row; each row is sent once."""
    ranks, me = mesh.mesh_shape[axis], mesh.own_coordinate()[axis]
    order = range(ranks - 1, -1, -1) if backwards else range(ranks)
    own, kind = x.shape[dim], x.dtype
    result = x = x.to(_WIDE.get(kind, kind))
    carry = x.new_full([1 if d == dim else n for d, n in enumerate(x.shape)], float("-inf"))
    for turn, rank in enumerate(order):
        if rank == me:
            line = x.flip(dim) if backwards else x
            if turn:
                line = torch.cat([carry, line], dim)
            result = torch.logcumsumexp(line, dim).narrow(dim, line.shape[dim] - own, own)
            carry = torch.cat([carry, result], dim).narrow(dim, own, 1)
        if turn + 1 < ranks:
            carry = wire.broadcast(carry, mesh, axis, rank)
    return (result.flip(dim) if backwards else result).to(kind)


class ScanKernels:
    """Mixed into the platform object."""

    log_scan = staticmethod(log_scan)
