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
"""Routes of the dashboard, health and metrics."""

from __future__ import annotations

import hmac
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from bot.errors import RetryLater
from bot.runtime import cases, flakes, ledger, records
from bot.runtime.metrics import CONTENT_TYPE
from bot.web import pages

if TYPE_CHECKING:
    from bot.runtime.service import Service

_STYLE = Path(__file__).with_name("style.css")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_LISTED = 200

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class WebRoutes:
    """Read-only handlers over one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._token = service.settings.server.dashboard_token.get_secret_value()

    def routes(self) -> list[web.RouteDef]:
        """All of them, to add to an application."""
        return [
            web.get("/", self._guarded(self.index)),
            web.get("/case/{owner}/{name}/{number:[0-9]+}", self._guarded(self.case)),
            web.get("/help", self._guarded(self.help)),
            web.get("/style.css", self.style),
            web.get("/healthz", self.health),
            web.get("/readyz", self.ready),
            web.get("/metrics", self.metrics),
        ]

    async def index(self, request: web.Request) -> web.Response:
        """The list of cases."""
        service = self._service
        stored, counts, flaky = await service.database.run(
            lambda c: (
                cases.listing(c, limit=_LISTED),
                cases.count_by_phase(c),
                flakes.flaky(c, service.settings.jenkins.job),
            )
        )
        return _html(pages.index(self._view(request), stored, counts, flaky))

    async def case(self, request: web.Request) -> web.Response:
        """One case."""
        key = f"{request.match_info['owner']}/{request.match_info['name']}#{int(request.match_info['number'])}"
        stored, effects, trail = await self._service.database.run(
            lambda c: (cases.load(c, key), ledger.of_case(c, key), records.trail(c, key))
        )
        view = self._view(request)
        if stored is None:
            return _html(pages.not_found(view), status=404)
        job, failed = self._service.settings.jenkins.job, stored.memory.failed_tests
        past = await self._service.database.run(
            lambda c: {test: flakes.history(c, job, test, limit=20) for test in failed[:20]}
        )
        return _html(pages.case_page(view, stored, effects, trail, past))

    async def help(self, request: web.Request) -> web.Response:
        """The commands."""
        return _html(pages.help_page(self._view(request)))

    async def style(self, _request: web.Request) -> web.Response:
        """The one style sheet."""
        return web.Response(body=_STYLE.read_bytes(), content_type="text/css", charset="utf-8", headers=_HEADERS)

    async def health(self, _request: web.Request) -> web.Response:
        """Alive: the event loop answers and nothing of the service has died. Restart the process when this fails."""
        died = self._service.died
        return web.json_response({"status": died or "alive"}, status=503 if died else 200)

    async def ready(self, _request: web.Request) -> web.Response:
        """Ready: events can be kept, so send them. ``serving`` tells whether they are worked on already.

        A forge that is away makes the service wait with its work, not with its ears: an event refused is an event lost.
        """
        trouble = await self._service.store_trouble()
        serving = self._service.serving
        troubles = [said for said in (trouble, "" if serving else self._service.last_trouble) if said]
        shown = {"ready": not trouble, "serving": serving, "troubles": troubles}
        return web.json_response(shown, status=503 if trouble else 200)

    async def metrics(self, _request: web.Request) -> web.Response:
        """Prometheus' text form."""
        await self._service.refresh_gauges()
        return web.Response(body=self._service.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    def _view(self, request: web.Request) -> pages.View:
        asked = request.query.get("lang", "")
        language = asked if asked in ("zh", "en") else self._service.settings.gate.language
        return pages.View(language, self._service.settings.gate, self._service.clock.now())

    def _guarded(self, handler: Handler) -> Handler:
        """Ask for the dashboard's token (as the password of HTTP Basic) where one is set."""

        async def guarded(request: web.Request) -> web.StreamResponse:
            if self._token and not _knows(request, self._token):
                return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="GateBot"'})
            try:
                return await handler(request)
            except RetryLater:
                return web.Response(status=503, text="The store does not answer.\n")

        return guarded


def _knows(request: web.Request, token: str) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return hmac.compare_digest(given.strip().encode(), token.encode())
    if scheme.lower() != "basic":
        return False
    try:
        password = b64decode(given, validate=True).partition(b":")[2]
    except (Base64Error, ValueError):
        return False
    return hmac.compare_digest(password, token.encode())


def _html(text: str, *, status: int = 200) -> web.Response:
    return web.Response(text=text, status=status, content_type="text/html", charset="utf-8", headers=_HEADERS)
