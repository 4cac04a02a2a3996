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
"""Runs a tool in a workspace: bounded in time, in a clean environment, and killed with all its children."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MAX_OUTPUT = 64 << 20  # bytes of one tool's output that are kept


@dataclass(frozen=True, slots=True)
class Ran:
    """What a tool did: its exit code (124 after a time-out, as of ``timeout(1)``) and its mixed output."""

    code: int
    output: bytes

    @property
    def lines(self) -> list[str]:
        """The output's lines; Jenkins declares its log UTF-8 whatever the agent wrote."""
        return self.output.decode("utf-8", "replace").splitlines()


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The few variables a gate tool gets: nothing of the caller's secrets, settings or Python path."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    fixed = {
        "HOME": tempfile.gettempdir(),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONIOENCODING": "utf-8",
    }
    return kept | fixed | dict(extra or {})


async def run(argv: list[str], cwd: Path, *, limit: float = 300.0, environment: Mapping[str, str] | None = None) -> Ran:
    """Run a tool to its end, its errors mixed into its output in the order written.

    Args:
        argv: The command; no shell is involved.
        cwd: Its working directory.
        limit: Real seconds after which it and its children are killed.
        environment: Variables beside those of :func:`clean_environment`.
    """
    with tempfile.TemporaryFile() as sink:  # a file, not a pipe: a grandchild that lives on cannot keep us waiting
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=clean_environment(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=sink,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = await asyncio.wait_for(process.wait(), limit)
        except TimeoutError:
            code = 124
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        sink.seek(0)
        return Ran(code, sink.read(MAX_OUTPUT))
