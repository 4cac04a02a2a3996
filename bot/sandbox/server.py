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
"""What the sandbox's servers share: a port on this machine between `start` and `stop`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from aiohttp import web


class LocalServer(ABC):
    """Listens between `start` and `stop`; ``async with`` does both.

    Args:
        host: Address to listen on.
        port: Port to listen on; 0 picks a free one, and a second `start` keeps it.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._runner: web.AppRunner | None = None

    @abstractmethod
    async def start(self) -> None:
        """Build the application and listen."""

    @abstractmethod
    async def stop(self) -> None:
        """End what goes on and stop listening."""

    async def _listen(self, app: web.Application) -> None:
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port).start()
        self._port = self._runner.addresses[0][1]

    async def _stop_listening(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
