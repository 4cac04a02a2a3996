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
"""What must not be said is not said."""

from __future__ import annotations

import logging
import sys

from bot.config import Settings
from bot.runtime.masking import MaskedFormatter, secrets_of, without


def test_every_secret_of_the_settings_is_known() -> None:
    settings = Settings.model_validate(
        {
            "gitcode": {"token": "canary-forge"},
            "jenkins": {"token": "canary-jenkins"},
            "server": {"dashboard_token": "canary-board"},
            "webhook": {"secrets": ["canary-one", "canary-two"]},
            "storage": {"url": "postgresql://gatebot:canary-store@h/d"},
        }
    )
    held = secrets_of(settings)
    assert len(held) == 6
    assert all(secret.startswith("canary-") for secret in held)
    assert secrets_of(Settings()) == []


def test_short_words_stay_and_a_longer_secret_goes_before_the_one_it_holds() -> None:
    assert without(["abc", "secret", "secret-long"], "abc secret-long secret") == "abc *** ***"


def test_log_lines_and_their_tracebacks_are_masked() -> None:
    try:
        raise ValueError("canary-token in an exception")
    except ValueError:
        record = logging.LogRecord("n", logging.ERROR, __file__, 1, "of %s", ("canary-token",), sys.exc_info())
    shown = MaskedFormatter("%(message)s", ["canary-token"]).format(record)
    assert shown.startswith("of ***\nTraceback")
    assert "ValueError: *** in an exception" in shown
    assert "canary" not in shown
