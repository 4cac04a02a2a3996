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
"""Keeps the service's own secrets out of whatever it says: comments, records, log lines."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import sqlalchemy as sa

from bot.config import Settings

_SHORTEST_SECRET = 6  # a shorter one would tear holes into ordinary words
_STARS = "***"


def secrets_of(settings: Settings) -> list[str]:
    """Every secret the service holds."""
    try:
        password = sa.make_url(settings.storage.url).password
    except (sa.exc.ArgumentError, ValueError):  # whoever opens the store says what is wrong with it
        password = None
    held = [
        settings.gitcode.token.get_secret_value(),
        settings.jenkins.token.get_secret_value(),
        settings.server.dashboard_token.get_secret_value(),
        *(secret.get_secret_value() for secret in settings.webhook.secrets),
        str(password or ""),
    ]
    return [secret for secret in held if secret]


def without(secrets: Iterable[str], text: str) -> str:
    """The text with stars in the place of secrets; those that lie within longer ones last."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, _STARS)
    return text


class MaskedFormatter(logging.Formatter):
    """Formats log records, tracebacks included, without the secrets."""

    def __init__(self, layout: str, secrets: Iterable[str]) -> None:
        super().__init__(layout)
        self._secrets = tuple(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """The line or lines to write."""
        return without(self._secrets, super().format(record))
