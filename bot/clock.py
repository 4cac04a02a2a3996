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
"""The time of day and waiting, as something that is handed in.

Whatever waits or stamps a time takes a :class:`Clock`, so that a test or the demo may let hours pass in a second.
The clocks that do so live in ``bot.sandbox.clock``.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What is asked of a clock. Seconds are floats; times are aware."""

    def now(self) -> datetime:
        """The time of day, for stamps that people and other programs read."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed moment, never running backwards: for measuring a span and for rate limits."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds`` of this clock; a value of 0 or less only lets other tasks run."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """The time of day in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """The machine's monotonic clock, which a corrected time of day does not move."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Real waiting."""
        await asyncio.sleep(max(0.0, seconds))
