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
"""Dashboard, health and metrics of a service that has something to show."""

from __future__ import annotations

import base64
from pathlib import Path

import aiohttp

from bot.app import Server
from bot.config import Settings
from bot.demo import files
from bot.demo.world import REPO
from bot.gate.case import Outcome
from bot.runtime.service import Service
from tests.system.loop.conftest import Opener, Play

HOSTILE = 'feat: <script>alert("x")</script> & "quotes"'


async def get(p: Play, path: str, **headers: str) -> tuple[int, str, aiohttp.ClientResponse]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{p.stage.server.port}{path}", headers=headers) as answer,
    ):
        return answer.status, await answer.text(), answer


async def test_pages_show_the_case_and_escape_what_others_wrote(play: Opener) -> None:
    async with play() as p:
        number = await p.open(title=HOSTILE, changed=files.GOOD_FILES)
        assert (await p.until_ended()).outcome is Outcome.PASSED
        status, text, answer = await get(p, "/")
        assert status == 200
        assert f"/case/{REPO}/{number}?lang=zh" in text
        assert "GateBot 看板" in text
        assert "ci-pipeline-passed" in text
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
        status, text, _ = await get(p, f"/case/{REPO}/{number}")
        assert status == 200
        assert "<script>" not in text
        assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;" in text
        assert "请求检查 PR 描述" in text
        assert "post_command" in text
        status, text, _ = await get(p, f"/case/{REPO}/{number}?lang=en")
        assert "Timeline" in text
        assert "http" not in (await get(p, "/style.css"))[1]


async def test_what_is_not_there_is_404_and_the_help_names_every_command(play: Opener) -> None:
    async with play() as p:
        assert (await get(p, "/case/a/b/1"))[0] == 404
        assert (await get(p, "/case/a/b/1e9"))[0] == 404
        status, text, _ = await get(p, "/help?lang=en")
        assert status == 200
        for command in ("/check-pr", "/retest", "/diagnose", "/autofix", "/review", "/stop", "/help"):
            assert command in text


async def test_health_readiness_and_metrics(play: Opener) -> None:
    async with play() as p:
        await p.open()
        await p.until_ended()
        assert (await get(p, "/healthz"))[:2] == (200, '{"status": "alive"}')
        assert (await get(p, "/readyz"))[:2] == (200, '{"ready": true, "serving": true, "troubles": []}')
        _, text, _ = await get(p, "/metrics")
        assert 'gatebot_webhooks_total{event="merge_request",outcome="accepted"}' in text
        assert 'gatebot_wakeups_total{result="rested"}' in text
        assert 'gatebot_cases{phase="ended"} 1.0' in text
        assert 'gatebot_forge_calls_total{method="POST"' in text
        assert REPO not in text


async def test_the_dashboard_asks_for_its_token_and_health_does_not(play: Opener) -> None:
    async with play(server={"dashboard_token": "s3cret"}) as p:
        status, _, answer = await get(p, "/")
        assert (status, answer.headers["WWW-Authenticate"]) == (401, 'Basic realm="GateBot"')
        good = base64.b64encode(b"anybody:s3cret").decode()
        bad = base64.b64encode(b"anybody:other").decode()
        assert (await get(p, "/", Authorization=f"Basic {good}"))[0] == 200
        assert (await get(p, "/", Authorization="Bearer s3cret"))[0] == 200
        for wrong in (f"Basic {bad}", "Basic !!!", "Basic", "Bearer ", "Digest x"):
            assert (await get(p, "/", Authorization=wrong))[0] == 401
        assert (await get(p, "/healthz"))[0] == 200


async def test_a_service_whose_forge_is_away_takes_events_and_says_that_it_only_waits(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {
            "server": {"port": 0},
            "webhook": {"secrets": ["s3cret"]},
            "gitcode": {"api_url": "http://127.0.0.1:9/api/v5", "token": "token"},
            "storage": {"url": f"sqlite:///{tmp_path}/gatebot.sqlite"},
        }
    )
    server = Server(Service(settings, timers=False))
    await server.start(wait_ready=0.1)
    try:
        url = f"http://127.0.0.1:{server.port}"
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{url}/readyz") as answer:
                assert answer.status == 200
                said = await answer.json()
            async with session.get(f"{url}/healthz") as answer:
                assert answer.status == 200
        assert (said["ready"], said["serving"], len(said["troubles"])) == (True, False, 1)
    finally:
        await server.stop()
