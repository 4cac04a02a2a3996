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
"""A sample of random programs; `python -m tests.hyper_parallel.chains` runs as many as one likes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from tests.ranks.pool import RankPool

_SEEDS = list(range(12))


@pytest.mark.parametrize("mesh", [(2,), (3,), (2, 2)], ids=lambda mesh: "x".join(map(str, mesh)))
def test_random_programs_give_what_one_device_gives(pools: Callable[[int], RankPool], mesh: tuple[int, ...]) -> None:
    ranks = math.prod(mesh)
    answers = pools(ranks).run("tests.hyper_parallel.chains", "run_seeds", mesh, _SEEDS, timeout_s=200.0)
    assert answers == ([],) * ranks
