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
"""Makes the clients of the forge and of the build server from the settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import HttpUrl

from bot.clock import Clock
from bot.config import Settings
from bot.errors import TellOperator
from bot.gitcode.client import GitCodeClient
from bot.gitcode.client import make_client as make_gitcode
from bot.gitcode.settings import GitCodeSettings
from bot.gitcode.transport import Call
from bot.jenkins.client import JenkinsClient, JenkinsSettings
from bot.jenkins.client import make_client as make_jenkins

if TYPE_CHECKING:
    from bot.runtime.metrics import Metrics


def make_forge(
    settings: Settings,
    *,
    clock: Clock,
    metrics: Metrics | None = None,
    show: Callable[[str], None] = print,
) -> GitCodeClient:
    """The GitCode client.

    Raises:
        TellOperator: There is no token.
    """
    chosen = settings.gitcode
    if not chosen.token.get_secret_value():
        raise TellOperator(
            "gitcode.token: no token is configured; set GATEBOT_GITCODE_TOKEN or GATEBOT_GITCODE_TOKEN_FILE",
            hint="cli.hint.token_missing",
        )

    def count(call: Call) -> None:
        if metrics is not None:
            metrics.calls.labels(call.method, call.route, str(call.status)).inc()
            metrics.call_seconds.observe(call.seconds)

    return make_gitcode(
        GitCodeSettings(
            base_url=HttpUrl(chosen.api_url),
            token=chosen.token,
            auth_header=chosen.auth,
            calls_per_minute=chosen.calls_per_minute,
            calls_per_hour=chosen.calls_per_hour,
            timeout_s=chosen.timeout_seconds,
            dry_run=settings.dry_run,
        ),
        clock=clock,
        on_call=count,
        show=show,
    )


def make_builds(settings: Settings, *, clock: Clock, show: Callable[[str], None] = print) -> JenkinsClient:
    """The Jenkins client."""
    chosen = settings.jenkins
    return make_jenkins(
        JenkinsSettings(
            url=chosen.url,
            job=chosen.job,
            user=chosen.user.get_secret_value(),
            token=chosen.token.get_secret_value(),
            timeout=chosen.timeout_seconds,
            dry_run=settings.dry_run,
        ),
        clock=clock,
        show=show,
    )
