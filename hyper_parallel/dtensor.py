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
"""Functions on distributed tensors that the active platform carries out: distribution and factories."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from hyper_parallel.mesh import DeviceMesh
from hyper_parallel.placements import Placement
from hyper_parallel.platform import get_platform, platform_of


def distribute_tensor(
    tensor: Any,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> Any:
    """Cut a full tensor that lives on every rank; see the `distribute_tensor` of the tensor's platform."""
    return platform_of(tensor).distribute_tensor(tensor, device_mesh, placements, src_data_rank=src_data_rank)


def _factory(name: str, size: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    mesh, placements = kwargs.pop("device_mesh", None), kwargs.pop("placements", None)
    return get_platform().factory(name, size, mesh, placements, kwargs)


def zeros(*size: Any, **kwargs: Any) -> Any:
    """A DTensor of zeros. Keywords: device_mesh, placements, and those of the framework's function."""
    return _factory("zeros", size, kwargs)


def ones(*size: Any, **kwargs: Any) -> Any:
    """A DTensor of ones; keywords as in `zeros`."""
    return _factory("ones", size, kwargs)


def empty(*size: Any, **kwargs: Any) -> Any:
    """An uninitialised DTensor; keywords as in `zeros`."""
    return _factory("empty", size, kwargs)


def full(size: Sequence[int], fill_value: Any, **kwargs: Any) -> Any:
    """A DTensor of one value; keywords as in `zeros`."""
    return _factory("full", (tuple(size), fill_value), kwargs)


def rand(*size: Any, **kwargs: Any) -> Any:
    """Uniform random numbers, equal to those of one device with the same seed; keywords as in `zeros`."""
    return _factory("rand", size, kwargs)


def randn(*size: Any, **kwargs: Any) -> Any:
    """Normal random numbers, equal to those of one device with the same seed; keywords as in `zeros`."""
    return _factory("randn", size, kwargs)


def arange(*ends: Any, **kwargs: Any) -> Any:
    """A DTensor range (start, end, step as in the framework); keywords as in `zeros`."""
    return _factory("arange", ends, kwargs)


def loss_parallel() -> AbstractContextManager[None]:
    """PyTorch's switch for cross-entropy on a cut class dim, which here needs none: it never gathers the classes."""
    return nullcontext()


def implicit_replication() -> AbstractContextManager[None]:
    """PyTorch's switch for plain tensors among DTensors, which here always count as replicated."""
    return nullcontext()
