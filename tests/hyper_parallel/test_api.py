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
"""Everything around the operators that users of PyTorch expect of a tensor, on pooled gloo ranks."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ranks.pool import RankPool

_MESHES = [(2,), (4,)]
_MODULES = [
    f"tests.hyper_parallel.api.{path.stem}"
    for path in sorted((Path(__file__).parent / "api").glob("*.py"))
    if path.stem != "tools"
]
_CHECKS = [
    pytest.param(module, name, mesh, id=f"{module.rsplit('.', 1)[1]}-{name.removeprefix('check_')}-{math.prod(mesh)}")
    for module in _MODULES
    for name in vars(importlib.import_module(module))
    if name.startswith("check_")
    for mesh in _MESHES
]


@pytest.mark.parametrize(("module", "name", "mesh"), _CHECKS)
def test_check_holds(pools: Callable[[int], RankPool], module: str, name: str, mesh: tuple[int, ...]) -> None:
    pool = pools(math.prod(mesh))
    answers = pool.run("tests.hyper_parallel.api.tools", "run_check", module, name, mesh, timeout_s=200.0)
    assert answers == (name,) * math.prod(mesh)
