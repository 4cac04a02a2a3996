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
"""Errors sorted by remedy: what the catcher should do, not which status number came back."""

from __future__ import annotations


class GateBotError(Exception):
    """Base of every error that GateBot raises on purpose."""


class RetryLater(GateBotError):
    """A passing trouble: the same call may succeed after ``delay`` seconds (0 = the caller's own back-off).

    Attributes:
        delay: Seconds that the other side asked us to wait.
        effect_unknown: True when a write may have taken effect although no answer came; look before repeating it.
    """

    def __init__(self, message: str, *, delay: float = 0.0, effect_unknown: bool = False) -> None:
        super().__init__(message)
        self.delay = delay
        self.effect_unknown = effect_unknown


class TellUser(GateBotError):
    """The author or commenter can mend it; the message says how and is fit to be shown."""


class TellOperator(GateBotError):
    """Whoever runs GateBot must act: configuration, token scope, permission. The message names the setting.

    Attributes:
        hint: Id of a text of ``bot.texts`` that says what to do, for whoever shows the error and knows the language;
            empty where the message itself is in the operator's language.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class NotFound(GateBotError):
    """The object does not exist (any more); ask whether that is expected before treating it as a fault."""


class Refused(GateBotError):
    """The other side understood and said no (4xx with a reason); repeating the same call will not help."""
