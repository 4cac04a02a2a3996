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
"""The pools of MindSpore ranks: started at the first test that needs one, reused by all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hyper_parallel.mindspore.pool import MindSporePool


@pytest.fixture(scope="session")
def two_ranks() -> Iterator[MindSporePool]:
    """Two ranks."""
    with MindSporePool(2) as pool:
        yield pool


@pytest.fixture(scope="session")
def four_ranks() -> Iterator[MindSporePool]:
    """Four ranks."""
    with MindSporePool(4) as pool:
        yield pool
