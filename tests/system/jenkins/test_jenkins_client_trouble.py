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
"""GateBot's Jenkins client where the server fails, is silent or leads astray."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.config import Settings
from bot.errors import NotFound, Refused, RetryLater, TellOperator
from bot.jenkins import JenkinsClient
from bot.runtime.clients import make_builds
from bot.sandbox.clock import VirtualClock
from bot.sandbox.faults import Fault, Trouble
from bot.sandbox.jenkins import (
    SandboxJenkins,
)

JOB = "Gate"
TOKEN = "11d2f0c3a4"
MakeClient = Callable[..., JenkinsClient]


async def test_wrong_credentials_and_missing_permission_are_the_operators_to_mend(
    jenkins: SandboxJenkins, client_of: MakeClient
) -> None:
    wrong = client_of(jenkins.url, user="gate", token="nonsense-token")
    with pytest.raises(TellOperator, match=r"jenkins\.token") as raised:
        await wrong.recent()
    assert "nonsense-token" not in str(raised.value)
    nobody = client_of(jenkins.url)
    assert await nobody.recent() == []
    with pytest.raises(TellOperator, match="permission"):
        await nobody.start({"giteePullRequestIid": "64"})
    assert any(request.method == "POST" for request in jenkins.requests)


async def test_passing_trouble_is_waited_out_and_the_wish_of_the_server_honoured(
    jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock
) -> None:
    jenkins.add_past_build(JOB, pull_request=64)
    jenkins.faults.add(
        Fault(trouble=Trouble.ANSWER, status=503, headers={"Retry-After": "90"}),
        Fault(trouble=Trouble.CUT, nth=2),
        Fault(trouble=Trouble.ANSWER, status=200, body="<html>a proxy's apology</html>", nth=5),
    )
    before = clock.monotonic()
    assert len(await client.recent()) == 1
    assert clock.monotonic() - before >= 90
    with pytest.raises(NotFound):
        await client.build(77)
    with pytest.raises(RetryLater, match="not JSON"):
        await client.recent()
    assert not jenkins.faults.unspent()


async def test_wish_for_a_long_wait_is_handed_to_the_caller(jenkins: SandboxJenkins, client: JenkinsClient) -> None:
    jenkins.faults.add(Fault(trouble=Trouble.ANSWER, status=429, headers={"Retry-After": "86400"}))
    with pytest.raises(RetryLater) as raised:
        await client.recent()
    assert raised.value.delay == 86_400
    assert len(jenkins.requests) == 1


async def test_server_that_stays_down_or_silent_is_given_up(
    jenkins: SandboxJenkins, client: JenkinsClient, client_of: MakeClient
) -> None:
    jenkins.faults.add(Fault(trouble=Trouble.ANSWER, status=500, times=0))
    with pytest.raises(RetryLater):
        await client.recent()
    assert len(jenkins.requests) == 4
    jenkins.faults.clear()
    jenkins.faults.add(Fault(trouble=Trouble.HANG, times=0))
    hasty = client_of(jenkins.url, timeout=0.1, attempts=2)
    with pytest.raises(RetryLater):
        await hasty.recent()


@pytest.mark.parametrize("trouble", [Trouble.AFTER_CUT, Trouble.AFTER_ANSWER])
async def test_start_whose_answer_got_lost_is_not_repeated(
    jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock, trouble: Trouble
) -> None:
    jenkins.faults.add(Fault(trouble=trouble, method="POST", status=502))
    with pytest.raises(RetryLater) as raised:
        await client.start({"giteePullRequestIid": "64"})
    assert raised.value.effect_unknown
    await clock.sleep(20)
    assert [build.pull_request for build in await client.recent()] == [64]  # it had taken effect, once
    assert sum(request.method == "POST" for request in jenkins.requests) == 1


async def test_start_at_a_server_that_does_not_listen_had_no_effect(client_of: MakeClient) -> None:
    client = client_of("http://127.0.0.1:9", attempts=1)
    with pytest.raises(RetryLater) as raised:
        await client.start({"giteePullRequestIid": "64"})
    assert not raised.value.effect_unknown


async def test_redirect_is_never_followed(jenkins: SandboxJenkins, client: JenkinsClient) -> None:
    moved = {"Location": f"{jenkins.url}job/Gate/api/json"}
    jenkins.faults.add(Fault(trouble=Trouble.ANSWER, status=301, headers=moved))
    with pytest.raises(TellOperator, match=r"jenkins\.url"):
        await client.recent()
    assert len(jenkins.requests) == 1


async def test_the_token_is_in_no_line_of_the_log(
    jenkins: SandboxJenkins, client: JenkinsClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG"):
        await client.recent()
        with pytest.raises(NotFound):
            await client.stop(3)
    assert "jenkins GET" in caplog.text
    for form in (TOKEN, b64encode(f"gate:{TOKEN}".encode()).decode()):
        assert form not in caplog.text


async def test_an_answer_without_end_is_not_held_in_memory(client_of: MakeClient) -> None:
    async def without_end(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        with suppress(ConnectionError):
            for _ in range(80):
                await answer.write(b" " * (1 << 20))
        return answer

    app = web.Application()
    app.router.add_get("/{path:.*}", without_end)
    async with TestServer(app) as server:
        with pytest.raises(Refused, match="larger than"):
            await client_of(str(server.make_url("/"))).recent()


async def test_a_dry_run_shows_what_would_change_the_server_and_sends_nothing(
    jenkins: SandboxJenkins, clock: VirtualClock
) -> None:
    shown: list[str] = []
    root = jenkins.url.rstrip("/")
    settings = Settings.model_validate({"dry_run": True, "jenkins": {"url": jenkins.url, "job": JOB}})
    client = make_builds(settings, clock=clock, show=shown.append)
    try:
        assert await client.start({"giteePullRequestIid": "64"}) == 0
        await client.stop(3)
        await client.cancel(5)
        assert await client.recent() == []
    finally:
        await client.close()
    assert {request.method for request in jenkins.requests} == {"GET"}
    assert shown == [
        f'[dry-run] POST {root}/job/{JOB}/buildWithParameters {{"delay": "0sec", "giteePullRequestIid": "64"}}',
        f"[dry-run] POST {root}/job/{JOB}/3/stop",
        f"[dry-run] POST {root}/queue/cancelItem?id=5",
    ]
