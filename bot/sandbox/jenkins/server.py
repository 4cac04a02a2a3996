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
"""The sandbox Jenkins as an HTTP server."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from aiohttp import web

from bot.clock import Clock, SystemClock
from bot.sandbox.faults import FaultScript, fault_middleware
from bot.sandbox.jenkins.access import LOGIN, Access
from bot.sandbox.jenkins.checkout import Source
from bot.sandbox.jenkins.model import Account, Job, JobSettings, PullRequestTrigger, QueueEntry, Run, describe
from bot.sandbox.jenkins.routes import VERSION, Routes, ServerState, job_url
from bot.sandbox.jenkins.scheduler import Scheduler
from bot.sandbox.server import LocalServer


@dataclass(frozen=True)
class Recorded:
    """A request that was served: who sent it, what for, and the answer's status."""

    method: str
    path: str
    user: str
    status: int


class SandboxJenkins(LocalServer):
    """A Jenkins on this machine: real HTTP, real state, real builds.

    Args:
        jobs: The jobs; folders come into being by their names.
        clock: The time it lives in.
        accounts: Who may sign in.
        host: Interface to listen on.
        port: Port; 0 for a free one.
        context_path: Path before everything, such as ``/jenkins``.
        executors: How many builds run at a time.
        csrf: Whether writes want a crumb, unless they come with an API token.
        anonymous_read: Whether anybody may read.
        anonymous_build: Whether anybody may start and stop builds.
        cut_lines: Whether the live log may end in mid-line, as on older servers.
        strict_query: Whether bare brackets and braces in a query are refused, as by stricter servlet containers.
        faults: Scripted trouble.
    """

    def __init__(
        self,
        jobs: Iterable[JobSettings],
        *,
        clock: Clock | None = None,
        accounts: Iterable[Account] = (),
        host: str = "127.0.0.1",
        port: int = 0,
        context_path: str = "",
        executors: int = 2,
        csrf: bool = True,
        anonymous_read: bool = True,
        anonymous_build: bool = False,
        cut_lines: bool = False,
        strict_query: bool = False,
        faults: FaultScript | None = None,
    ) -> None:
        super().__init__(host, port)
        self.clock = clock or SystemClock()
        self.faults = faults or FaultScript()
        self.requests: list[Recorded] = []
        self._sessions = itertools.count(2)
        self._state = ServerState(
            clock=self.clock,
            jobs={settings.name: Job(settings, next_number=settings.first_number) for settings in jobs},
            scheduler=Scheduler(self.clock, executors),
            access=Access(accounts, csrf=csrf, anonymous_read=anonymous_read, anonymous_build=anonymous_build),
            context=context_path.rstrip("/"),
            executors=executors,
            cut_lines=cut_lines,
            strict_query=strict_query,
        )

    # --- life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Listen."""
        faults: Any = fault_middleware(self.faults, self.clock)
        app = web.Application(middlewares=[self._recording(), faults])
        app.router.add_route("*", "/{tail:.*}", Routes(self._state).serve)
        await self._listen(app)

    async def stop(self) -> None:
        """Stop builds and listening."""
        self.faults.release()
        await self._state.scheduler.close()
        await self._stop_listening()

    @property
    def url(self) -> str:
        """Root of the server, with the context path and a final slash."""
        return f"http://{self._host}:{self._port}{self._state.context}/"

    # --- the administrator's hand -------------------------------------------------------------------------------------

    def trigger_pull_request(self, job: str, trigger: PullRequestTrigger) -> QueueEntry:
        """Start a build the way the forge's plugin does: no parameters, only a cause and a description."""
        found = self._state.jobs[job]
        cause = describe(trigger, found.settings.description) or f"Triggered by {trigger.user or 'a push'}"
        entry, _ = self._state.scheduler.enqueue(found, {}, cause, trigger)
        return entry

    def abort_pull_request(self, job: str, number: int, by: str) -> list[int]:
        """Stop what runs for a pull request; the numbers of the builds that were stopped."""
        runs = [run for run in self._state.jobs[job].newest_first() if run.pull_request == number]
        return [run.number for run in runs if self._state.scheduler.abort(run, by)]

    def run(self, job: str, number: int) -> Run:
        """A build's state. Raises ``KeyError`` when there is none."""
        return self._state.jobs[job].runs[number]

    def run_url(self, run: Run) -> str:
        """Web address of a build, as a robot links it."""
        return f"{job_url(self.url, run.job)}{run.number}/"

    def change_job(self, job: str, **changes: Any) -> None:
        """Reconfigure a job: any field of ``JobSettings`` but its name."""
        self._state.jobs[job].settings = replace(self._state.jobs[job].settings, **changes)

    def add_past_build(
        self,
        job: str,
        *,
        pull_request: int,
        result: str = "SUCCESS",
        seconds: float = 600.0,
        head_sha: str = "",
        lines: Sequence[str] = (),
    ) -> Run:
        """Put a finished build into the history, as if it had ended just now; ``lines`` is what it printed."""
        found = self._state.jobs[job]
        source = Source(pull_request, found.settings.repository_url, head_sha=head_sha, source_branch="topic")
        now = self.clock.monotonic()
        run = Run(
            job=found,
            number=found.next_number,
            queue_id=10_000_000 + found.next_number,
            started=self.clock.now() - timedelta(seconds=seconds),
            moment=now - seconds,
            causes=[],
            parameters={},
            description=describe(PullRequestTrigger(source=source, user="dev-a"), found.settings.description),
            source=source,
            final=result,
            result_at=now,
            built_at=now,
            finished_at=now,
        )
        run.causes = [run.description] if run.description else []
        if head_sha:
            run.log.append(f"Checking out Revision {head_sha} (refs/merge-requests/{pull_request}/head)", run.moment)
        for line in lines:
            run.log.append(line, now)
        run.log.append(f"Finished: {result}", now)
        run.done.set()
        found.runs[run.number] = run
        found.next_number += 1
        found.rotate()
        return run

    def restart(self) -> None:
        """The server restarts: the queue is forgotten, crumbs are stale, running builds resume."""
        self._state.scheduler.forget_queue()
        self._state.access.forget_sessions()
        self._state.session = f"{next(self._sessions):08x}"

    def _recording(self) -> Any:
        @web.middleware
        async def record(request: web.Request, handler: Any) -> web.StreamResponse:
            status = 0
            hold = getattr(self.clock, "hold", nullcontext)
            try:
                with hold():  # an answer is work, however long this machine takes over it
                    response: web.StreamResponse = await handler(request)
                status = response.status
            except web.HTTPException as error:
                status = error.status
                error.headers.update({"X-Jenkins": VERSION, "X-Jenkins-Session": self._state.session})
                raise
            finally:
                user = request.get(LOGIN, "")
                self.requests.append(Recorded(request.method, request.raw_path, user, status))
            return response

        return record
