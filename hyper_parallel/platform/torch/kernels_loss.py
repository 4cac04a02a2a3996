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
"""Small tensor functions of the loss rules (interception off)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from hyper_parallel.errors import explain
from hyper_parallel.platform.torch import wire

Tensor = torch.Tensor
functional = torch.nn.functional
_NARROW = frozenset({torch.float16, torch.bfloat16})


def loss(name: str, values: dict[str, Any]) -> Tensor:
    """The framework's own loss of local tensors, arguments by name."""
    return getattr(functional, name)(**values)  # type: ignore[no-any-return]


def target_mass(
    name: str, target: Tensor, weight: Tensor | None, classes: int, ignored: int, mesh: Any, axes: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """(weight of each position's class, 0 where it is ignored; their sum over all parts, which `axes` cut).

    Raises:
        IndexError: some target is no class, be it in another rank's part: all ranks raise alike.
    """
    wide = target.long()
    counted = wide != ignored
    strays = counted & ((wide < 0) | (wide >= classes))
    if weight is None:
        mass = counted
    else:
        mass = torch.where(counted, weight.detach()[wide.clamp(0, classes - 1)], 0)
    sums = torch.stack([mass.sum(dtype=torch.float64), strays.sum(dtype=torch.float64)])
    for axis in axes:
        sums = wire.all_reduce(sums, mesh, axis, "sum")
    if sums[1] > 0:
        found = f"{int(sums[1])} out of bounds"
        raise IndexError(explain(name, "targets", f"in [0, {classes}) or ignore_index {ignored}", found))
    return mass, sums[0]


def nll_share(
    logs: Tensor, target: Tensor, mass: Tensor, weight: Tensor | None, dim: int, start: int, ignored: int, smooth: Any
) -> Tensor:
    """Per position, what the own classes (those from `start` on, along `dim`) add to the loss.

    `mass` is that of `target_mass`; `smooth` a pair: the label smoothing and the number of classes.
    """
    probe = functional.nll_loss(logs.new_zeros(1, 1), target.new_zeros(1), weight if weight is None else weight[:1])
    logs = logs.to(probe.dtype)  # autocast computes this loss in single precision
    own = target.long() - start
    held = (own >= 0) & (own < logs.shape[dim]) & (target.long() != ignored)
    if logs.shape[dim]:
        picked = logs.gather(dim, torch.where(held, own, 0).unsqueeze(dim)).squeeze(dim)
    else:
        picked = logs.sum(dim)
    share = torch.where(held, -picked * mass.to(picked.dtype), 0)
    smoothing, classes = smooth
    if smoothing:
        spread = (logs * _along(weight, logs, dim, start)).sum(dim)
        spread = torch.where(target.long() != ignored, spread, 0)
        share = share * (1 - smoothing) - spread * (smoothing / classes)
    return share


def probability_share(logs: Tensor, target: Tensor, weight: Tensor | None, dim: int, smooth: Any) -> Tensor:
    """Per position, what the own classes add to the loss whose target is a probability for each of them."""
    functional.cross_entropy(logs.new_zeros(1, 1), target.new_zeros(1, 1))  # the framework's own word on dtypes
    smoothing, classes = smooth
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    losses: Tensor = -(logs * target * _along(weight, logs, dim, 0)).sum(dim)
    return losses


def _along(weight: Tensor | None, x: Tensor, dim: int, start: int) -> Any:
    """The weights of the own classes, to be multiplied with `x`."""
    if weight is None:
        return 1
    return weight.narrow(0, start, x.shape[dim]).reshape([-1 if d == dim else 1 for d in range(x.dim())])


def share_of_mean(losses: Tensor, whole: Any) -> Tensor:
    """What the own losses add to a mean, given the number (or weight) of all of them."""
    wide = losses.float() if losses.dtype in _NARROW else losses
    total: Tensor = (wide / whole).sum()
    return total.to(losses.dtype)


class LossKernels:
    """Mixed into the platform object."""

    loss = staticmethod(loss)
    target_mass = staticmethod(target_mass)
    nll_share = staticmethod(nll_share)
    probability_share = staticmethod(probability_share)
    share_of_mean = staticmethod(share_of_mean)
