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
"""A pool of gloo ranks that is started once and reused; a hang or a crash costs only the call that caused it.

Each rank is a process of its own. The parent sends ``(module, function, arguments)`` to all ranks and collects one
answer from each. ``Verdict`` tells what became of the call; after anything but ``done`` the ranks are started afresh.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import socket
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any

_START_TIMEOUT_S = 120.0


class RankError(RuntimeError):
    """A function raised on some rank, hung, or took its process down; the message holds each rank's story."""


@dataclass(frozen=True)
class Verdict:
    """What became of one call: ``kind`` is ``done``, ``raised``, ``hung`` or ``crashed``; ``answers`` one per rank."""

    kind: str
    answers: tuple[Any, ...]
    detail: str = ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answer_calls(pipe: Connection) -> None:
    """Tells the parent that this rank is ready, answers its calls, and ends the process with it or at its word."""
    pipe.send(("ready", None))
    while True:
        try:
            message = pipe.recv()
        except EOFError:
            break
        if message is None:
            break
        module, function, arguments = message
        try:
            call: Callable[..., Any] = getattr(importlib.import_module(module), function)
            answer = ("done", call(*arguments))
        except BaseException:
            answer = ("raised", traceback.format_exc())
        pipe.send(answer)
    os._exit(0)


def _serve(rank: int, size: int, port: int, pipe: Connection, group_timeout_s: float) -> None:
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    os.environ["LOCAL_RANK"] = str(rank)
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(seconds=group_timeout_s))
    answer_calls(pipe)


class RankPool:
    """``size`` gloo ranks on loopback, started at the first call.

    Args:
        size: Number of ranks.
        group_timeout_s: How long a collective may wait before it raises on the waiting rank.
    """

    serve: Callable[..., None] = staticmethod(_serve)

    def __init__(self, size: int, *, group_timeout_s: float = 20.0) -> None:
        self.size = size
        self._group_timeout_s = group_timeout_s
        self._processes: list[multiprocessing.process.BaseProcess] = []
        self._pipes: list[Connection] = []
        self.starts = 0

    def __enter__(self) -> RankPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether the ranks are up; after a failed call they are not until the next one."""
        return bool(self._processes)

    def start(self) -> None:
        """Starts the ranks and waits until all have joined the process group."""
        context = multiprocessing.get_context("spawn")
        port = _free_port()
        self.starts += 1
        for rank in range(self.size):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=self.serve, args=(rank, self.size, port, theirs, self._group_timeout_s), daemon=True
            )
            process.start()
            theirs.close()
            self._processes.append(process)
            self._pipes.append(ours)
        for rank, pipe in enumerate(self._pipes):
            if not pipe.poll(_START_TIMEOUT_S):
                self.stop(kill=True)
                raise RankError(f"For RankPool, rank {rank} should be ready in {_START_TIMEOUT_S} s, but it was not.")
            pipe.recv()

    def stop(self, *, kill: bool = False) -> None:
        """Ends all ranks, politely unless ``kill``."""
        for pipe in self._pipes:
            if not kill:
                try:
                    pipe.send(None)
                except OSError:
                    continue
        for process in self._processes:
            if kill:
                process.kill()
            process.join(5)
            if process.is_alive():
                process.kill()
                process.join()
        for pipe in self._pipes:
            pipe.close()
        self._processes, self._pipes = [], []

    def attempt(self, module: str, function: str, *arguments: Any, timeout_s: float = 60.0) -> Verdict:
        """Calls ``module.function(*arguments)`` on every rank and never raises for what happens there."""
        if not self._processes:
            self.start()
        try:
            for pipe in self._pipes:
                pipe.send((module, function, arguments))
        except OSError as error:
            self.stop(kill=True)
            return Verdict("crashed", (), f"a rank was gone before the call: {error}")
        answers: dict[int, tuple[str, Any]] = {}
        deadline = time.monotonic() + timeout_s
        while len(answers) < self.size:
            waiting = [pipe for rank, pipe in enumerate(self._pipes) if rank not in answers]
            ready = wait(waiting, max(0.0, deadline - time.monotonic()))
            if not ready:
                missing = [rank for rank in range(self.size) if rank not in answers]
                self.stop(kill=True)
                return Verdict("hung", (), f"ranks {missing} gave no answer in {timeout_s} s")
            for pipe in ready:
                rank = self._pipes.index(pipe)  # type: ignore[arg-type]
                try:
                    answers[rank] = self._pipes[rank].recv()
                except (EOFError, OSError):
                    process = self._processes[rank]
                    process.join(5)
                    code = process.exitcode
                    self.stop(kill=True)
                    return Verdict("crashed", (), f"rank {rank} ended with exit code {code}")
        failures = {rank: text for rank, (kind, text) in answers.items() if kind == "raised"}
        if failures:
            self.stop(kill=True)
            told = "\n".join(f"--- rank {rank}\n{text}" for rank, text in sorted(failures.items()))
            return Verdict("raised", tuple(answers[rank][1] for rank in range(self.size)), told)
        return Verdict("done", tuple(answers[rank][1] for rank in range(self.size)))

    def run(self, module: str, function: str, *arguments: Any, timeout_s: float = 60.0) -> tuple[Any, ...]:
        """As ``attempt``, but raises ``RankError`` unless every rank answered."""
        verdict = self.attempt(module, function, *arguments, timeout_s=timeout_s)
        if verdict.kind != "done":
            raise RankError(f"{module}.{function} {verdict.kind}\n{verdict.detail}")
        return verdict.answers
