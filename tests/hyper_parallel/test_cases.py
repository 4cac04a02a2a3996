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
"""Every declarative case, on every mesh it asks for, on pooled gloo ranks."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from tests.hyper_parallel.case import chosen_cases
from tests.hyper_parallel.run import try_case
from tests.ranks.pool import RankPool

_RUNS = [
    pytest.param(module, name, mesh, id=f"{name}@{'x'.join(map(str, mesh))}")
    for name, (module, case) in chosen_cases().items()
    if "cpu_level0" in case.tags
    for mesh in case.meshes()
]


@pytest.mark.parametrize(("module", "name", "mesh"), _RUNS)
def test_case_equals_one_device(
    pools: Callable[[int], RankPool], module: str, name: str, mesh: tuple[int, ...]
) -> None:
    count, failures = try_case(pools(math.prod(mesh)), module, name, mesh)
    assert not failures, "\n".join(failures)
    assert count >= 1
