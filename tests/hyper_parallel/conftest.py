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
"""One pool of gloo ranks for the whole session; a smaller mesh runs on the first ranks of a pool of its own size."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.ranks.pool import RankPool

Pools = Callable[[int], RankPool]


@pytest.fixture(scope="session")
def pools() -> Iterator[Pools]:
    """``pools(n)``: the session's pool of n ranks, started at its first call and reused by all tests."""
    made: dict[int, RankPool] = {}

    def pool_of(size: int) -> RankPool:
        if size not in made:
            made[size] = RankPool(size)
        return made[size]

    yield pool_of
    for pool in made.values():
        pool.stop()
