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
"""One way to answer a comment."""

from __future__ import annotations

from bot.gate.case import Case
from bot.gate.decision import Reply
from bot.gate.step import Context, Step, changed, key
from bot.texts import Markup

# Newest answered commands kept per case.
_HANDLED_KEPT = 200


def reply(case: Case, ctx: Context, note: int, text_id: str, **values: object) -> Step:
    """Answer a comment with a sentence."""
    return reply_with(case, note, text_id.rpartition(".")[2], ctx.text(text_id, **values))


def reply_with(case: Case, note: int, kind: str, body: Markup) -> Step:
    """Answer a comment with a prepared body; ``kind`` tells several answers to one comment apart."""
    action = Reply(effect_key=key(case, "reply", note, kind), to_note=note, body=body)
    return Step(case, (action,))


def was_handled(case: Case, note: int, name: str) -> bool:
    """Whether this command of this comment was dealt with before."""
    return f"{note}:{name}" in case.handled


def mark_handled(case: Case, note: int, name: str) -> Case:
    """Remember that it was."""
    return changed(case, handled=(*case.handled, f"{note}:{name}")[-_HANDLED_KEPT:])
