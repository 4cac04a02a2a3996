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
"""Labels as GateBot sets them where it owns the gate itself."""

from __future__ import annotations

from bot.gate.case import Case
from bot.gate.decision import AddLabel, AnyAction, RemoveLabel
from bot.gate.step import Context, key


def set_labels(case: Case, ctx: Context, *, on: str, off: tuple[str, ...] = ()) -> tuple[AnyAction, ...]:
    """Put one label on and take others off; nothing is sent for what is already so."""
    actions: list[AnyAction] = [
        RemoveLabel(effect_key=key(case, "label", f"-{name}", case.head_sha, case.round), label=name)
        for name in off
        if ctx.has(name)
    ]
    if not ctx.has(on):
        actions.append(AddLabel(effect_key=key(case, "label", f"+{on}", case.head_sha, case.round), label=on))
    return tuple(actions)
