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
"""The libraries under test, behind the same few calls: PyTorch's DTensor and ours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

import torch

Word = str
"""A placement in words: ``R`` or ``S0``, ``S1`` … or ``P`` (partial sum)."""


def term(tensor: torch.Tensor, words: Sequence[Word], coordinate: Sequence[int]) -> torch.Tensor:
    """This rank's term of a tensor that is a pending sum on the axes with ``P``.

    Along such an axis the first rank holds 2x, the second -x, the others nothing: the terms differ, and add up to x
    without rounding in any order. Infinite and undefined values stay on the first rank.
    """
    for word, place in zip(words, coordinate, strict=True):
        if word != "P":
            continue
        if not bool(torch.isfinite(tensor).all()):
            tensor = tensor if place == 0 else torch.zeros_like(tensor)
        else:
            tensor = tensor * {0: 2, 1: -1}.get(place, 0)
    return tensor


class Subject(Protocol):
    """What the sweep needs of a DTensor library."""

    name: str

    def mesh(self, shape: tuple[int, ...]) -> Any:
        """A CPU mesh over all ranks."""

    def distribute(self, tensor: torch.Tensor, mesh: Any, words: Sequence[Word]) -> Any:
        """Cuts a tensor that every rank holds in full, without communication."""

    def is_distributed(self, value: Any) -> bool:
        """Whether ``value`` is this library's tensor."""

    def full(self, value: Any) -> torch.Tensor:
        """The global tensor on every rank."""


class TorchSubject:
    """``torch.distributed.tensor``."""

    name = "torch"

    def mesh(self, shape: tuple[int, ...]) -> Any:
        """A CPU mesh over all ranks; one per process, as each would bring its own groups, whose threads never sleep."""
        return _torch_mesh(shape)

    def distribute(self, tensor: torch.Tensor, mesh: Any, words: Sequence[Word]) -> Any:
        """Cuts a tensor that every rank holds in full, without communication."""
        from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

        placements = [Shard(int(word[1:])) if word[0] == "S" else Replicate() for word in words]
        cut = distribute_tensor(tensor, mesh, placements, src_data_rank=None)
        if "P" not in words:
            return cut
        local = term(cut.to_local(), words, mesh.get_coordinate())
        pending = [Partial() if word == "P" else place for word, place in zip(words, placements, strict=True)]
        return DTensor.from_local(
            local, mesh, pending, run_check=False, shape=tensor.shape, stride=tensor.contiguous().stride()
        )

    def is_distributed(self, value: Any) -> bool:
        """Whether ``value`` is a ``torch.distributed.tensor.DTensor``."""
        from torch.distributed.tensor import DTensor

        return isinstance(value, DTensor)

    def full(self, value: Any) -> torch.Tensor:
        """The global tensor on every rank."""
        result: torch.Tensor = value.full_tensor()
        return result


class OursSubject:
    """``hyper_parallel``."""

    name = "ours"

    def mesh(self, shape: tuple[int, ...]) -> Any:
        """A CPU mesh over all ranks."""
        from hyper_parallel import init_device_mesh

        names = ("dp", "tp", "pp")[: len(shape)]
        return init_device_mesh("cpu", shape, mesh_dim_names=names)

    def distribute(self, tensor: torch.Tensor, mesh: Any, words: Sequence[Word]) -> Any:
        """Cuts a tensor that every rank holds in full, without communication."""
        from hyper_parallel import DTensor, Partial, Replicate, Shard, distribute_tensor

        placements = [Shard(int(word[1:])) if word[0] == "S" else Replicate() for word in words]
        cut = distribute_tensor(tensor, mesh, placements, src_data_rank=None)
        if "P" not in words:
            return cut
        local = term(cut.to_local(), words, mesh.get_coordinate())
        pending = [Partial() if word == "P" else place for word, place in zip(words, placements, strict=True)]
        return DTensor.from_local(local, mesh, pending, shape=tuple(tensor.shape))

    def is_distributed(self, value: Any) -> bool:
        """Whether ``value`` is a ``hyper_parallel.DTensor``."""
        from hyper_parallel import DTensor

        return isinstance(value, DTensor)

    def full(self, value: Any) -> torch.Tensor:
        """The global tensor on every rank."""
        result: torch.Tensor = value.full_tensor()
        return result


@cache
def _torch_mesh(shape: tuple[int, ...]) -> Any:
    from torch.distributed.device_mesh import init_device_mesh

    return init_device_mesh("cpu", shape)


SUBJECTS: dict[str, Subject] = {"torch": TorchSubject(), "ours": OursSubject()}
