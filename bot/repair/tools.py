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
"""Runs a checker on a work tree: empty environment, limits, and a read-only jail where the machine allows."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.errors import GateBotError, RetryLater

_OUTPUT_LIMIT: Final = 32 * 1024 * 1024
_POLL_SECONDS: Final = 0.1
_SYSTEM_DIRECTORIES: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt")


class Cancelled(GateBotError):
    """The repair was called off; nothing may be pushed any more."""


class ToolMissing(GateBotError):
    """The checker is not installed on this machine; the message names it."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Exit status and output of a checker."""

    code: int
    stdout: bytes
    stderr: bytes


class CancelToken:
    """Set from the event loop, looked at by the worker thread between and during commands."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the worker to stop."""
        self._event.set()

    def raise_if_cancelled(self) -> None:
        """Raise ``Cancelled`` once ``cancel`` was called."""
        if self._event.is_set():
            raise Cancelled("the repair was cancelled")


def find_tool(name: str) -> str:
    """Path of a program beside this Python or on ``PATH``.

    Raises:
        ToolMissing: When it is not installed.
    """
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        raise ToolMissing(name)
    return found


def _environment(home: str) -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
    return {
        "PATH": path,
        "HOME": home,
        "TMPDIR": home,
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _jail(tree: Path, home: str, visible: Sequence[str], *, writable: bool = False) -> list[str]:
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    roots = [*_SYSTEM_DIRECTORIES, sys.prefix, sys.base_prefix, *visible, str(tree)]
    for directory in dict.fromkeys(roots):
        command += ["--ro-bind-try", directory, directory]
    if writable:
        command += ["--bind", str(tree), str(tree)]
    return [*command, "--bind", home, home, "--chdir", str(tree), "--"]


@functools.cache
def jail_works() -> bool:
    """Whether bubblewrap may make namespaces here; default Docker and Kubernetes profiles refuse."""
    if shutil.which("bwrap") is None:
        return False
    with tempfile.TemporaryDirectory() as home:
        command = [*_jail(Path(home), home, ()), sys.executable, "-I", "-c", "pass"]
        tried = subprocess.run(command, env={"PATH": "/usr/bin:/bin"}, capture_output=True, check=False, timeout=30)
    return tried.returncode == 0


def run_tool(
    argv: Sequence[str],
    *,
    tree: Path,
    cancel: CancelToken,
    timeout: float = 300.0,
    stdin: bytes = b"",
    visible: Sequence[str] = (),
    writable: bool = False,
) -> ToolResult:
    """Run a checker in ``tree``. It sees no secret of the daemon and, in the jail, cannot write to it.

    Args:
        argv: Program and arguments.
        tree: Working directory.
        cancel: Stops the whole process group when set.
        timeout: Seconds; a checker that takes longer is killed.
        stdin: What to feed.
        visible: More directories the jail shows, such as a rcfile's.
        writable: The tool may write in ``tree``; only for a copy of ours, never for a work tree.

    Raises:
        Cancelled: ``cancel`` was set.
        RetryLater: The checker timed out or printed without end.
    """
    cancel.raise_if_cancelled()
    with tempfile.TemporaryDirectory(prefix="gatebot-tool-") as home:
        command = [*_jail(tree, home, visible, writable=writable), *argv] if jail_works() else list(argv)
        paths = [Path(home) / name for name in ("stdin", "stdout", "stderr")]
        paths[0].write_bytes(stdin)
        with paths[0].open("rb") as fed, paths[1].open("wb") as out, paths[2].open("wb") as err:
            process = subprocess.Popen(
                command, cwd=tree, env=_environment(home), stdin=fed, stdout=out, stderr=err, start_new_session=True
            )
            _wait(process, argv[0], paths[1], cancel, timeout)
        return ToolResult(process.returncode, paths[1].read_bytes(), paths[2].read_bytes())


def started(result: ToolResult, tool: str, *codes: int) -> ToolResult:
    """The result, if the checker ended with one of its ordinary codes.

    Raises:
        ToolMissing: It did not really run (not executable here, a library is missing, it crashed): silence would read
        as
            "no findings".
    """
    if result.code not in codes:
        said = result.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:120]
        raise ToolMissing(f"{tool} (exit status {result.code}: {said})")
    return result


def _wait(process: subprocess.Popen[bytes], name: str, output: Path, cancel: CancelToken, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    pause = 0.005
    try:
        while True:
            try:
                process.wait(pause)
            except subprocess.TimeoutExpired:
                pause = min(pause * 2, _POLL_SECONDS)
            else:
                return
            cancel.raise_if_cancelled()
            if time.monotonic() > deadline:
                raise RetryLater(f"{name} took longer than {timeout:.0f} s")
            if output.stat().st_size > _OUTPUT_LIMIT:
                raise RetryLater(f"{name} printed more than {_OUTPUT_LIMIT} bytes")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
