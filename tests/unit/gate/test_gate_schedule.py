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
"""The polling schedule depends on when the waiting began, not on how often somebody looked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.gate.schedule import next_poll

SINCE = datetime(2026, 6, 15, 8, tzinfo=UTC)
WAITS = (60, 270, 1200, 1800)


@pytest.mark.parametrize(
    ("elapsed", "due"),
    [(0, 60), (30, 60), (45, 330), (60, 330), (330, 1530), (1530, 3330), (3330, 5130), (5130, 6930), (99_999, 100_530)],
)
def test_looks_are_due_at(elapsed: int, due: int) -> None:
    assert (next_poll(SINCE, SINCE + timedelta(seconds=elapsed), WAITS) - SINCE).total_seconds() == due


@given(
    st.integers(-10_000, 10_000_000),
    st.lists(st.integers(1, 5000), min_size=1, max_size=6),
)
def test_next_look_lies_ahead_and_within_the_longest_wait(elapsed: int, waits: list[int]) -> None:
    now = SINCE + timedelta(seconds=elapsed)
    due = next_poll(SINCE, now, tuple(waits))
    assert now < due <= now + timedelta(seconds=max(waits) + 20)
