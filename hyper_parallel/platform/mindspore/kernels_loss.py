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
"""Losses in parts; `hyper_parallel.platform.torch.kernels_loss` tells the meaning of each function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint, ops

from hyper_parallel.errors import explain, raised_alike
from hyper_parallel.platform.mindspore import native, wire
from hyper_parallel.platform.mindspore.errors import missing_kernel
from hyper_parallel.platform.mindspore.kernels_softmax import HALF

_KINDS: tuple[type[Exception], ...] = (IndexError, ValueError, TypeError, RuntimeError)
"""Errors by which functions refuse values."""


def loss(name: str, values: dict[str, Any]) -> Tensor:
    """The framework's own loss of local tensors, arguments by name; what is not given is not handed on."""
    return native.call_plain(name, (), {k: v for k, v in values.items() if v is not None})


def target_mass(
    name: str, target: Tensor, weight: Tensor | None, classes: int, ignored: int, mesh: Any, axes: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """(weight of each position's class, 0 where it is ignored; their sum over all parts, which `axes` cut).

    Raises:
        IndexError: some target is no class, be it in another rank's part: all ranks raise alike.
    """
    wide = wire.to_host(target).astype(np.int64)
    counted = wide != ignored
    strays = counted & ((wide < 0) | (wide >= classes))
    mass = counted.astype(np.float32)
    if weight is not None:
        mass = np.where(counted, wire.to_host(weight)[np.clip(wide, 0, classes - 1)], 0)
    sums = Tensor(np.array([mass.sum(dtype=np.float64), strays.sum(dtype=np.float64)]))
    for axis in axes:
        sums = wire.all_reduce(sums, mesh, axis, "sum")
    whole, outside = wire.to_host(sums)
    if outside > 0:
        found = f"{int(outside)} out of bounds"
        raise IndexError(explain(name, "targets", f"in [0, {classes}) or ignore_index {ignored}", found))
    return Tensor(mass), Tensor(np.array(whole))


def nll_share(
    logs: Tensor, target: Tensor, mass: Tensor, weight: Tensor | None, dim: int, start: int, ignored: int, smooth: Any
) -> Tensor:
    """Per position, what the own classes (those from `start` on, along `dim`) add to the loss."""
    wide = wire.to_host(target).astype(np.int64)
    own = np.arange(logs.shape[dim]).reshape([-1 if d == dim else 1 for d in range(logs.ndim)]) + start
    chosen = (np.expand_dims(wide, dim) == own) & (np.expand_dims(wide, dim) != ignored)
    picked = mint.sum(mint.where(Tensor(chosen), logs, ops.zeros_like(logs)), dim)
    counted = Tensor(wide != ignored)
    share = mint.where(counted, mint.neg(mint.mul(picked, mass.astype(logs.dtype))), ops.zeros_like(picked))
    smoothing, classes = smooth
    if smoothing:
        spread = mint.sum(mint.mul(logs, _along(weight, logs, dim, start)), dim)
        spread = mint.where(counted, spread, ops.zeros_like(spread))
        share = mint.sub(mint.mul(share, 1 - smoothing), mint.mul(spread, smoothing / classes))
    return share


def probability_share(logs: Tensor, target: Tensor, weight: Tensor | None, dim: int, smooth: Any) -> Tensor:
    """Per position, what the own classes add to the loss whose target is a probability for each of them."""
    smoothing, classes = smooth
    if smoothing:
        target = mint.add(mint.mul(target, 1 - smoothing), smoothing / classes)
    return mint.neg(mint.sum(mint.mul(mint.mul(logs, target), _along(weight, logs, dim, 0)), dim))


def _along(weight: Tensor | None, x: Tensor, dim: int, start: int) -> Any:
    """The weights of the own classes, to be multiplied with `x`."""
    if weight is None:
        return 1
    own = mint.narrow(weight, 0, start, x.shape[dim])
    return mint.reshape(own, tuple(-1 if d == dim else 1 for d in range(x.ndim)))


def share_of_mean(losses: Tensor, whole: Any) -> Tensor:
    """What the own losses add to a mean, given the number (or weight) of all of them."""
    wide = losses.astype(ms.float32) if losses.dtype in HALF else losses
    divisor = whole.astype(wide.dtype) if isinstance(whole, Tensor) else whole
    return mint.sum(mint.div(wide, divisor)).astype(losses.dtype)


def run_together(call: Callable[[], Any], name: str, mesh: Any, axes: Sequence[int]) -> Any:
    """What `call` returns. If it raises on some rank of the mesh axes, all of them raise an error of that kind.

    A kernel that is missing is missing on all ranks: that error goes its own way.
    """

    def largest(code: int) -> int:
        failed = Tensor(np.array([code], np.int32))
        for axis in axes:
            failed = wire.all_reduce(failed, mesh, axis, "max")
        return int(wire.to_host(failed)[0])

    return raised_alike(call, name, _KINDS, largest, lambda error: missing_kernel(error) is not None)


class LossKernels:
    """Mixed into the platform object."""

    loss = staticmethod(loss)
    target_mass = staticmethod(target_mass)
    nll_share = staticmethod(nll_share)
    probability_share = staticmethod(probability_share)
    share_of_mean = staticmethod(share_of_mean)
    run_together = staticmethod(run_together)
