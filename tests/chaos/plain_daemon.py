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
"""The service as a process of its own, with settings from a JSON file (secrets in clear, made up by the test).

Run as ``python plain_daemon.py SETTINGS.json [POINT]``: with a point it kills itself, hard, where that one is reached.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from pathlib import Path

from bot.app import serve
from bot.config import Settings


def main() -> None:
    settings = Settings.model_validate_json(Path(sys.argv[1]).read_text(encoding="utf-8"))
    deadly = re.compile(sys.argv[2]) if len(sys.argv) > 2 else None

    def point(name: str) -> None:
        if deadly and deadly.search(name):
            os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(serve(settings, on_start=lambda _server: None, point=point))


if __name__ == "__main__":
    main()
