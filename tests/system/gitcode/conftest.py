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
from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from yarl import URL

from bot.gitcode.client import GitCodeClient, make_client
from bot.gitcode.settings import GitCodeSettings
from bot.sandbox.clock import VirtualClock
from bot.sandbox.gitcode.options import Options
from bot.sandbox.gitcode.sandbox import Sandbox
from bot.sandbox.gitcode.state import MAINTAINER

REPO = "mindspore/hyper-parallel"
FORK = "dev-a/hyper-parallel"
SOURCE = "".join(f"line_{number} = {number}\n" for number in range(1, 41))


@pytest.fixture
def options() -> Options:
    """Override it in a test module, or parametrize it indirectly, for other switches."""
    return Options()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(grace=0.02)


@pytest.fixture
async def forge(tmp_path: Path, clock: VirtualClock, options: Options) -> AsyncIterator[Sandbox]:
    """A forge with one repository, a fork, and pull request 64 that changes lines 5 and 6 and adds a file."""
    async with clock.running(), Sandbox(tmp_path / "forge", clock=clock, options=options) as sandbox:
        for login in ("dev-a", "dev-b", "gate-bot", "micro-compass"):
            sandbox.add_user(login)
        await sandbox.create_repo(
            REPO,
            files={"pkg/core.py": SOURCE, "README.md": "# 你好\n"},
            members={"gate-bot": MAINTAINER, "micro-compass": MAINTAINER},
            name="HyperParallel",
            labels=("kind/bug",),
            first_pull=64,
        )
        await sandbox.fork(REPO, "dev-a")
        changed = SOURCE.replace("line_5 = 5\nline_6 = 6\n", "line_5 = 55\nline_6 = 66\n")
        files = {"pkg/core.py": changed, "pkg/new.py": "x = 1\n"}
        await sandbox.push(FORK, "feature", files, author="dev-a", message="feat: change two lines")
        await sandbox.open_pull_request(
            REPO, author="dev-a", title="feat: change", body="描述\n", branch="feature", head_repo=FORK
        )
        yield sandbox


@pytest.fixture
async def client_for(forge: Sandbox, clock: VirtualClock) -> AsyncIterator[Callable[..., GitCodeClient]]:
    """Makes clients; they are closed at the end."""
    clients = []

    def make(login: str = "gate-bot", **changes: object) -> GitCodeClient:
        fields = {"base_url": forge.api_url, "token": f"token-{login}", "timeout_s": 2.0, **changes}
        client = make_client(GitCodeSettings.model_validate(fields), clock=clock)
        clients.append(client)
        return client

    yield make
    for client in clients:
        await client.close()
    assert forge.unknown_calls() == []


@pytest.fixture
def client(client_for: Callable[..., GitCodeClient]) -> GitCodeClient:
    return client_for()


@pytest.fixture
async def api(forge: Sandbox) -> AsyncIterator[Callable[..., Awaitable[tuple[int, Any, Any]]]]:
    async with aiohttp.ClientSession() as session:

        async def call(method: str, path: str, user: str = "gate-bot", **options: Any) -> tuple[int, Any, Any]:
            headers = {"PRIVATE-TOKEN": f"token-{user}"} if user else {}
            headers |= options.pop("headers", {})
            url = URL(forge.api_url + path, encoded=True)
            async with session.request(method, url, headers=headers, **options) as answer:
                text = await answer.text()
                data = await answer.json() if answer.content_type == "application/json" else text
                return answer.status, data, answer.headers

        yield call
