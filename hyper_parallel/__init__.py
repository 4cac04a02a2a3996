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
"""hyper_parallel: distributed tensors that mean the global tensor, on PyTorch and MindSpore from one rule book."""

from __future__ import annotations

import importlib
from typing import Any

_EXPORTS = {
    "DeviceMesh": "mesh",
    "Layout": "layout",
    "LayoutError": "errors",
    "AliasLostError": "errors",
    "Partial": "placements",
    "Placement": "placements",
    "Replicate": "placements",
    "Shard": "placements",
    "StridedShard": "placements",
    "arange": "dtensor",
    "distribute_tensor": "dtensor",
    "empty": "dtensor",
    "full": "dtensor",
    "get_current_mesh": "mesh",
    "get_platform": "platform",
    "implicit_replication": "dtensor",
    "init_device_mesh": "mesh",
    "loss_parallel": "dtensor",
    "ones": "dtensor",
    "rand": "dtensor",
    "randn": "dtensor",
    "report": "report",
    "set_platform": "platform",
    "strict": "dispatch.engine",
    "zeros": "dtensor",
}
_OF_PLATFORM = frozenset(
    {
        "ColwiseParallel",
        "DTensor",
        "ParallelStyle",
        "PrepareModuleInput",
        "PrepareModuleInputOutput",
        "PrepareModuleOutput",
        "RowwiseParallel",
        "SequenceParallel",
        "custom_shard",
        "distribute_module",
        "local_map",
        "manual_seed",
        "parallelize_module",
    }
)
__all__ = sorted({*_EXPORTS, *_OF_PLATFORM})


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package costs nothing."""
    if name in _OF_PLATFORM:
        from hyper_parallel.platform import get_platform

        value = globals()[name] = get_platform().public(name)
        return value
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_EXPORTS[name]}")
    value = module if name == "report" else getattr(module, name)
    globals()[name] = value
    return value


def forget_platform() -> None:
    """Look the names of the active platform up again."""
    for name in _OF_PLATFORM:
        globals().pop(name, None)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
