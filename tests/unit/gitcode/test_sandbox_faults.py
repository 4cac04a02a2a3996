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

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import pytest
from aiohttp import web

from bot.sandbox.clock import VirtualClock
from bot.sandbox.faults import Fault, FaultScript, HookFault, HookTrouble, Trouble, fault_middleware

Call = Callable[..., Awaitable[tuple[int, str]]]


@pytest.fixture
def script() -> FaultScript:
    return FaultScript()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(grace=0.01)


@pytest.fixture
async def counted(script: FaultScript, clock: VirtualClock) -> AsyncIterator[tuple[Call, list[str]]]:
    effects: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        effects.append(request.path)
        return web.Response(text="done")

    app = web.Application(middlewares=[fault_middleware(script, clock)])
    app.router.add_route("*", "/{tail:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    base = f"http://127.0.0.1:{runner.addresses[0][1]}"
    timeout = aiohttp.ClientTimeout(total=0.5)
    async with aiohttp.ClientSession(timeout=timeout) as session, clock.running():

        async def call(method: str, path: str) -> tuple[int, str]:
            async with session.request(method, base + path) as answer:
                return answer.status, await answer.text()

        yield call, effects
    script.release()
    await runner.cleanup()


async def test_nth_call_is_answered_without_effect(counted: tuple[Call, list[str]], script: FaultScript) -> None:
    call, effects = counted
    script.add(Fault(trouble=Trouble.ANSWER, method="POST", path="/a$", nth=2, times=2, status=429))
    statuses = [(await call(method, path))[0] for method, path in [("POST", "/a"), ("GET", "/a"), ("POST", "/ab")]]
    statuses += [(await call("POST", "/a"))[0] for _ in range(3)]
    assert statuses == [200, 200, 200, 429, 429, 200]
    assert len(effects) == 4


async def test_after_forms_take_effect(counted: tuple[Call, list[str]], script: FaultScript) -> None:
    call, effects = counted
    script.add(
        Fault(trouble=Trouble.AFTER_CUT, path="/cut"),
        Fault(trouble=Trouble.AFTER_HANG, path="/hang"),
        Fault(trouble=Trouble.AFTER_ANSWER, path="/bad", status=502),
        Fault(trouble=Trouble.CUT, path="/dead"),
        Fault(trouble=Trouble.HANG, path="/mute"),
    )
    assert await call("POST", "/bad") == (502, "")
    for path in ("/cut", "/dead"):
        with pytest.raises(aiohttp.ClientError):
            await call("POST", path)
    for path in ("/hang", "/mute"):
        with pytest.raises(asyncio.TimeoutError):
            await call("POST", path)
    assert effects == ["/bad", "/cut", "/hang"]
    assert script.unspent() == []


async def test_delay_is_of_the_sandbox_clock(
    counted: tuple[Call, list[str]], script: FaultScript, clock: VirtualClock
) -> None:
    call, _ = counted
    script.add(Fault(trouble=Trouble.DELAY, delay=300))
    assert await call("GET", "/slow") == (200, "done")
    assert clock.monotonic() == 300


def test_hook_faults_count_per_event(script: FaultScript) -> None:
    late = HookFault(trouble=HookTrouble.LATE, event="Note", nth=2, times=0, delay=9)
    script.add(late)
    events = ["Note Hook", "Push Hook", "Note Hook", "Note Hook"]
    assert [script.take_hook(event) for event in events] == [None, None, late, late]


def test_unspent_faults_are_listed(script: FaultScript) -> None:
    fault = Fault(trouble=Trouble.CUT, nth=3)
    script.add(fault)
    script.take("GET", "/")
    script.take("GET", "/")
    assert script.unspent() == [fault]
    assert script.take("GET", "/") is fault
    assert script.unspent() == []
