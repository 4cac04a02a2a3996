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
"""What the benchmarks of the service share: a daemon as a process of its own, a table, a result file."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import socket
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import psutil
from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"
SECRET = "bench-secret"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Daemon:
    """``gatebot serve`` with a settings file of its own."""

    def __init__(self, directory: Path, *, forge_url: str, repo: str, jenkins_url: str = "http://127.0.0.1:9") -> None:
        self.directory = directory
        self.port = free_port()
        self.database = directory / "gatebot.sqlite"
        self._config = directory / "gatebot.yaml"
        self._config.write_text(
            json.dumps(
                {
                    "repositories": [repo],
                    "log_level": "error",
                    "server": {"port": self.port},
                    "gitcode": {"api_url": forge_url},
                    "jenkins": {"url": jenkins_url, "job": "Gate"},
                    "storage": {"url": f"sqlite:///{self.database}", "work_dir": str(directory / "work")},
                    "runtime": {"sweep_on_start": False},
                }
            ),
            encoding="utf-8",
        )
        self.process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> float:
        """Start it; seconds from the call until it serves wake-ups."""
        environ = {
            **os.environ,
            "GATEBOT_GITCODE_TOKEN": "token-gate-bot",
            "GATEBOT_WEBHOOK_SECRETS": SECRET,
            "OMP_NUM_THREADS": "1",
        }
        began = time.monotonic()
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot.cli",
            "--config",
            str(self._config),
            "serve",
            env=environ,
            stdout=asyncio.subprocess.DEVNULL,
        )
        async with aiohttp.ClientSession() as session:
            while True:
                if self.process.returncode is not None:
                    raise RuntimeError(f"the service ended with {self.process.returncode}")
                try:
                    async with session.get(f"{self.url}/readyz") as answer:
                        if answer.status == 200 and (await answer.json())["serving"]:
                            return time.monotonic() - began
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(0.01)

    def memory_mb(self) -> float:
        assert self.process is not None
        return float(psutil.Process(self.process.pid).memory_info().rss) / 1e6

    def cpu_seconds(self) -> float:
        assert self.process is not None
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    async def stop(self, *, kill: bool = False) -> None:
        if self.process is None or self.process.returncode is not None:
            return
        if kill:
            self.process.kill()
        else:
            self.process.terminate()
        await self.process.wait()


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def report(name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], result: dict[str, Any]) -> None:
    """Print a table and write ``results/<name>.json``."""
    table = Table(title=name)
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    Console().print(table)
    RESULTS.mkdir(exist_ok=True)
    machine = {"python": platform.python_version(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
    whole = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine, **result}
    (RESULTS / f"{name}.json").write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
