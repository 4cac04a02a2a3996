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
"""Choice of backend. Only the modules below a backend's own package import a framework."""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any

ENV_NAME = "HYPER_PARALLEL_PLATFORM"
_MODULES = {"torch": "hyper_parallel.platform.torch", "mindspore": "hyper_parallel.platform.mindspore"}
_ACTIVE: list[Any] = []


def get_platform(name: str | None = None) -> Any:
    """The active platform (loaded on first use), or the named one.

    The active one is that of `HYPER_PARALLEL_PLATFORM`, else the first framework that is installed: torch, mindspore.

    Raises:
        ImportError: no framework is installed.
        ValueError: an unknown name.
    """
    if name is None:
        if not _ACTIVE:
            _ACTIVE.append(_load(os.environ.get(ENV_NAME) or _installed()))
        return _ACTIVE[0]
    return _load(name)


def set_platform(name: str) -> Any:
    """Make the named platform the active one and return it."""
    import hyper_parallel

    platform = _load(name)
    _ACTIVE[:] = [platform]
    hyper_parallel.forget_platform()
    return platform


def platform_of(tensor: Any) -> Any:
    """The platform whose tensor this is; the active one for anything else. Both frameworks can live in one process."""
    for kind in type(tensor).__mro__:
        root = kind.__module__.partition(".")[0]
        if root in _MODULES:
            return _load(root)
    return get_platform()


def _installed() -> str:
    for name in _MODULES:
        if importlib.util.find_spec(name):
            return name
    raise ImportError("For hyper_parallel, a framework should be installed (torch or mindspore), but got none.")


def _load(name: str) -> Any:
    if name not in _MODULES:
        raise ValueError(f"For get_platform, name should be one of {sorted(_MODULES)}, but got {name!r}.")
    return importlib.import_module(_MODULES[name]).PLATFORM
