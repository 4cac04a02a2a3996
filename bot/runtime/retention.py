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
"""Forgetting: what ended long ago is deleted with everything that belongs to it."""

from __future__ import annotations

import sqlalchemy as sa

from bot.runtime import cases, inbox
from bot.runtime.tables import audit, effects, sections, stickies, tests


def forget_before(connection: sa.Connection, moment: float) -> int:
    """Delete ended cases untouched since ``moment`` with all their records, handled events and old test results."""
    deleted = inbox.forget_before(connection, moment)
    keys = cases.forget_ended_before(connection, moment)
    deleted += len(keys)
    for table in (effects, audit, stickies, sections):
        for start in range(0, len(keys), 500):
            deleted += connection.execute(
                sa.delete(table).where(table.c.case_key.in_(keys[start : start + 500]))
            ).rowcount
    deleted += connection.execute(sa.delete(tests).where(tests.c.at < moment)).rowcount
    return deleted
