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
"""The service as a process of its own that kills itself, hard, at the first point it has not died at before.

Run as ``python daemon.py SETTINGS.json SEEN.txt``: ``SEEN.txt`` lists the points at which an earlier life died. A life
that meets no new point simply serves.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from pathlib import Path

from bot.app import Server, serve
from bot.config import Settings


class Killer:
    """Dies at each named point once: writes the name down, flushes it to disk, and sends itself SIGKILL."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = set(path.read_text(encoding="utf-8").splitlines()) if path.exists() else set()

    def at(self, name: str) -> None:
        point = re.sub(r"\s+", " ", name)
        if point in self._seen:
            return
        self._seen.add(point)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(point + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.kill(os.getpid(), signal.SIGKILL)


def tell_port(server: Server) -> None:
    print(server.port, flush=True)


def main() -> None:
    settings = Settings.model_validate_json(Path(sys.argv[1]).read_text(encoding="utf-8"))
    killer = Killer(Path(sys.argv[2]))
    asyncio.run(serve(settings, on_start=tell_port, point=killer.at, poll_seconds=0.5))


if __name__ == "__main__":
    main()
