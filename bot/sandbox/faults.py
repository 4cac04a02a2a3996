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
"""Scripted trouble for the sandboxes: the nth matching request is answered, delayed, hung or cut, before or after it
took effect; the nth matching web hook is doubled, held back, overtaken or lost.

A test adds faults to a :class:`FaultScript`; :func:`fault_middleware` plays the request faults inside any aiohttp
application, and the sandbox that sends hooks asks :meth:`FaultScript.take_hook`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from bot.clock import Clock


class Trouble(StrEnum):
    """What happens to a request. The ``AFTER_`` forms let it take effect first: the sender cannot know."""

    ANSWER = "answer"  # `status`, `headers` and `body` instead of the real answer; no effect
    DELAY = "delay"  # `delay` seconds of the sandbox's clock, then the real answer
    HANG = "hang"  # no answer at all until the sender gives up; no effect
    CUT = "cut"  # the connection is reset; no effect
    AFTER_ANSWER = "after_answer"  # took effect, but answered with `status`
    AFTER_HANG = "after_hang"  # took effect, never answered: the sender's time-out runs out
    AFTER_CUT = "after_cut"  # took effect, connection reset instead of an answer


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Trouble for some of the requests that match.

    Attributes:
        trouble: What happens.
        method: HTTP method, or ``*`` for any.
        path: Regular expression searched in the request's path (without the query).
        nth: The first matching request that is hit, counted from 1 since the fault was added.
        times: How many matching requests in a row are hit; 0 means every one from ``nth`` on.
        status: Status of an ``ANSWER``.
        headers: Headers of an ``ANSWER``, such as ``Retry-After``.
        body: Body text of an ``ANSWER``.
        delay: Seconds of a ``DELAY``.
    """

    trouble: Trouble
    method: str = "*"
    path: str = ""
    nth: int = 1
    times: int = 1
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    delay: float = 0.0

    def matches(self, method: str, path: str) -> bool:
        """Whether a request is of the kind this fault waits for."""
        return self.method in ("*", method.upper()) and re.search(self.path, path) is not None


class HookTrouble(StrEnum):
    """What happens to the delivery of a web hook."""

    DUPLICATE = "duplicate"  # sent a second time, with a delivery id of its own
    LATE = "late"  # sent `delay` seconds of the sandbox's clock later
    REORDER = "reorder"  # sent only after the next hook was sent
    LOSE = "lose"  # never sent


@dataclass(frozen=True, kw_only=True)
class HookFault:
    """Trouble for some of the web hooks whose event name (``Note Hook`` …) matches the regular expression ``event``."""

    trouble: HookTrouble
    event: str = ""
    nth: int = 1
    times: int = 1
    delay: float = 0.0


@dataclass
class _Armed:
    """A fault with the number of matching calls it has seen."""

    fault: Fault | HookFault
    seen: int = 0

    def strike(self) -> bool:
        self.seen += 1
        last = self.fault.nth + self.fault.times - 1 if self.fault.times else None
        return self.seen >= self.fault.nth and (last is None or self.seen <= last)

    @property
    def hits(self) -> int:
        hits = max(0, self.seen - self.fault.nth + 1)
        return min(hits, self.fault.times) if self.fault.times else hits


class FaultScript:
    """The faults in force. The oldest that strikes wins; every matching fault counts the call all the same."""

    def __init__(self) -> None:
        self._requests: list[_Armed] = []
        self._hooks: list[_Armed] = []
        self._over = asyncio.Event()

    def add(self, *faults: Fault | HookFault) -> None:
        """Put faults in force, counting from now."""
        for fault in faults:
            (self._requests if isinstance(fault, Fault) else self._hooks).append(_Armed(fault))

    def clear(self) -> None:
        """Forget all faults and let go of every request that hangs."""
        self._requests.clear()
        self._hooks.clear()
        self.release()

    def take(self, method: str, path: str) -> Fault | None:
        """Count a request and say which fault hits it."""
        struck = [
            armed.fault
            for armed in self._requests
            if isinstance(armed.fault, Fault) and armed.fault.matches(method, path) and armed.strike()
        ]
        return struck[0] if struck else None

    def take_hook(self, event: str) -> HookFault | None:
        """Count a web hook and say which fault hits it."""
        struck = [
            armed.fault
            for armed in self._hooks
            if isinstance(armed.fault, HookFault) and re.search(armed.fault.event, event) and armed.strike()
        ]
        return struck[0] if struck else None

    def unspent(self) -> list[Fault | HookFault]:
        """Faults that have not hit anything yet; a test that planted them should find none left."""
        return [armed.fault for armed in (*self._requests, *self._hooks) if not armed.hits]

    def release(self) -> None:
        """Let go of every request that hangs (called when the sandbox stops)."""
        self._over.set()
        self._over = asyncio.Event()

    async def hang(self, request: web.Request) -> None:
        """Keep a request unanswered until its sender is gone or :meth:`release` is called."""
        over = self._over
        while not over.is_set() and request.transport is not None and not request.transport.is_closing():
            try:
                await asyncio.wait_for(over.wait(), 0.05)  # real time: it only watches the socket
            except TimeoutError:
                continue


def fault_middleware(script: FaultScript, clock: Clock) -> Middleware:
    """An aiohttp middleware that plays the request faults of ``script``."""

    @web.middleware
    async def play(request: web.Request, handler: Handler) -> web.StreamResponse:
        fault = script.take(request.method, request.path)
        if fault is None:
            return await handler(request)
        trouble = fault.trouble
        if trouble is Trouble.DELAY:
            await clock.sleep(fault.delay)
        if trouble in (Trouble.DELAY, Trouble.AFTER_ANSWER, Trouble.AFTER_HANG, Trouble.AFTER_CUT):
            answer = await handler(request)
        if trouble is Trouble.DELAY:
            return answer
        if trouble in (Trouble.HANG, Trouble.AFTER_HANG):
            await script.hang(request)
        if trouble in (Trouble.HANG, Trouble.AFTER_HANG, Trouble.CUT, Trouble.AFTER_CUT):
            _cut(request)
            return web.Response(status=502)  # never seen: the connection is gone
        return _scripted_answer(fault)

    return play


def _scripted_answer(fault: Fault) -> web.Response:
    content_type = "application/json" if fault.body.lstrip().startswith(("{", "[")) else "text/html"
    headers = dict(fault.headers)
    headers.setdefault("Content-Type", content_type)
    return web.Response(status=fault.status, text=fault.body, headers=headers)


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
