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
"""The HTTP application: webhook, dashboard, health and metrics over one service; order of start and stop."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from aiohttp import web

from bot.config import Settings
from bot.errors import TellOperator
from bot.intake.receiver import Receiver, ReceiverSettings
from bot.runtime.alone import alone_on
from bot.runtime.service import Service
from bot.web.routes import WebRoutes

log = logging.getLogger(__name__)

SERVICE: web.AppKey[Service] = web.AppKey("service", Service)


def make_app(service: Service) -> web.Application:
    """The application over a service that is started and stopped by the caller."""
    settings = service.settings
    app = web.Application(client_max_size=settings.webhook.max_body_bytes)
    app[SERVICE] = service
    receiver = Receiver(
        service,
        ReceiverSettings(
            secrets=tuple(secret.get_secret_value() for secret in settings.webhook.secrets),
            max_bytes=settings.webhook.max_body_bytes,
            own_logins=frozenset({service.login} if service.login else ()),
            repos=frozenset(settings.repositories),
        ),
        now=service.clock.now,
        count=service.metrics.count_webhook,
    )
    app.add_routes(receiver.routes("/webhook"))
    app.add_routes(WebRoutes(service).routes())
    return app


class Server:
    """A service with its socket.

    Args:
        service: What to serve; started and stopped here.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def start(self, *, wait_ready: float | None = None) -> None:
        """Open the store first, then the socket: nothing is accepted that could not be kept.

        Args:
            wait_ready: Seconds to wait until wake-ups are served; ``None`` does not wait.

        Raises:
            TellOperator: The store or the socket cannot be opened.
        """
        await self.service.start()
        with suppress(TimeoutError):
            # Knowing our own name early spares us wake-ups for our own comments; the hooks do not wait for it long.
            await self.service.wait_ready(3.0 if wait_ready is None else wait_ready)
        server = self.service.settings.server
        self._runner = web.AppRunner(make_app(self.service), access_log=None, handle_signals=False)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, server.host, server.port).start()
        except (OSError, OverflowError) as error:  # taken or not ours; no port number at all
            raise TellOperator(f"server.host, server.port: cannot listen: {error}", hint="cli.hint.listen") from error
        self.port = int(self._runner.addresses[0][1])
        log.info("listening on http://%s:%d", server.host, self.port)

    async def stop(self) -> None:
        """Close the socket first, so that whoever sends is refused and sends again; then the rest."""
        if self._runner:
            await self._runner.cleanup()
        await self.service.stop()


async def serve(
    settings: Settings, *, on_start: Callable[[Server], Any] = lambda _server: None, **options: Any
) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        settings: What the operator chose.
        on_start: Told of the server when its socket is open.
        options: Further arguments of :class:`Service`.

    Raises:
        TellOperator: The store or the socket cannot be opened, or another service works on the store.
    """
    with alone_on(settings.storage.url):
        server = Server(Service(settings, **options))
        stopping = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, stopping.set)
        try:
            await server.start()
            on_start(server)
            await stopping.wait()
            log.info("stopping")
        finally:
            await server.stop()
