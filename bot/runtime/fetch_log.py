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
"""Fetches the console log of a pull request's newest failed build, for reading it on the command line."""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType

from bot.clock import SystemClock
from bot.config import Settings
from bot.runtime.clients import make_builds


class FetchedLog(AbstractContextManager["FetchedLog"]):
    """A temporary file with a log; it is deleted at the end. ``name`` is empty when there was no failed build."""

    def __init__(self, path: Path | None, build_number: int) -> None:
        self.build_number = build_number
        self._path = path

    @property
    def name(self) -> str:
        """The file's path."""
        return str(self._path) if self._path else ""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._path:
            self._path.unlink(missing_ok=True)


async def fetch_failed_log(settings: Settings, number: int) -> FetchedLog:
    """Stream the log to a file, never holding it whole.

    Raises:
        RetryLater: The build server does not answer.
    """
    builds = make_builds(settings, clock=SystemClock())
    try:
        found = await builds.builds_of(number)
        red = [build for build in found if not build.running and build.result in ("FAILURE", "UNSTABLE")]
        if not red:
            return FetchedLog(None, 0)
        newest = max(red, key=lambda build: build.number)
        with tempfile.NamedTemporaryFile(prefix="gatebot-log-", delete=False) as file:
            async for chunk in builds.console(newest.number):
                file.write(chunk)
        return FetchedLog(Path(file.name), newest.number)
    finally:
        await builds.close()
