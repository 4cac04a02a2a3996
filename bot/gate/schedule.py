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
"""When to look again. Points in time follow from when the waiting began, so extra wake-ups cannot shift them."""

from __future__ import annotations

from datetime import datetime, timedelta

# A look that would fall due within this time of the present one is covered by the present one.
_MIN_GAP = timedelta(seconds=20)


def next_poll(since: datetime, now: datetime, waits: tuple[int, ...]) -> datetime:
    """The next look of a schedule such as 60, 270, 1200, 1800 s (the last wait repeats).

    Args:
        since: When the waiting began.
        now: The present; a ``since`` in the future counts as now.
        waits: Seconds between looks, each at least 1.
    """
    earliest = now + min(_MIN_GAP, timedelta(seconds=min(waits)) / 2)
    due = min(since, now)
    for wait in waits:
        due += timedelta(seconds=wait)
        if due >= earliest:
            return due
    last = timedelta(seconds=waits[-1])
    missed = -((due - earliest) // last)  # ceiling division of the gap
    return due + last * missed


def deadline(since: datetime, seconds: int) -> datetime:
    """The moment at which a state that began at ``since`` has lasted too long."""
    return since + timedelta(seconds=seconds)


def not_before(moment: datetime, now: datetime) -> datetime:
    """``moment``, or shortly after now where it has passed already: a wake-up never lies in the past."""
    return max(moment, now + timedelta(seconds=1))
