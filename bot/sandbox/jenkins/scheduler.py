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
"""Queue and executors: from a start to a finished build, in the sandbox's own time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import cast

from bot.clock import Clock
from bot.sandbox.jenkins.checkout import Source
from bot.sandbox.jenkins.console import Span, Writer, schedule
from bot.sandbox.jenkins.gate import CHECKOUT, build_pull_request
from bot.sandbox.jenkins.junit import read_suites
from bot.sandbox.jenkins.model import (
    LEFT_ITEM_SECONDS,
    Job,
    PullRequestTrigger,
    QueueEntry,
    QueueState,
    Run,
    describe,
    queue_ids,
)
from bot.sandbox.jenkins.report import GateReport, StageReport

LOG = logging.getLogger(__name__)


class Scheduler:
    """Holds the queue and runs the builds.

    Args:
        clock: The sandbox's clock. One with ``hold()`` stands still while a build's tools really run.
        executors: How many builds run at a time, over all jobs.
    """

    def __init__(self, clock: Clock, executors: int = 2) -> None:
        self._clock = clock
        self._ids = queue_ids()
        self._executors = asyncio.Semaphore(executors)
        self._entries: dict[int, QueueEntry] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def enqueue(
        self,
        job: Job,
        parameters: Mapping[str, str],
        cause: str,
        trigger: PullRequestTrigger | None = None,
        *,
        quiet: float | None = None,
    ) -> tuple[QueueEntry, bool]:
        """Queue a start; the flag tells whether it was folded into one that already waits."""
        for waiting in self.waiting():
            if waiting.job is job and waiting.same_task(parameters, trigger):
                if cause not in waiting.causes:
                    waiting.causes.append(cause)
                return waiting, True
        source = trigger.source if trigger else source_of(parameters, job)
        if source is not None and job.settings.abort_superseded:
            self._supersede(job, source.pull_request)
        moment = self._clock.monotonic()
        entry = QueueEntry(
            queue_id=next(self._ids),
            job=job,
            entered=self._clock.now(),
            moment=moment,
            quiet_until=moment + (job.settings.quiet_seconds if quiet is None else quiet),
            parameters=dict(parameters),
            causes=[cause],
            trigger=trigger,
            source=source,
        )
        self._entries[entry.queue_id] = entry
        entry.task = self._spawn(self._wait_and_start(entry))
        return entry, False

    def _supersede(self, job: Job, pull_request: int) -> None:
        """The plugin stops what a pull request still has running or waiting as soon as something newer is wanted."""
        for waiting in self.waiting():
            if waiting.job is job and waiting.source and waiting.source.pull_request == pull_request:
                self.cancel(waiting.queue_id)
        for run in job.newest_first():
            if run.pull_request == pull_request:
                self.abort(run, "a newer build of the same pull request")

    def waiting(self) -> list[QueueEntry]:
        """Queue items that have not left, newest first as Jenkins lists them."""
        return [entry for entry in reversed(self._entries.values()) if entry.state is not QueueState.LEFT]

    def entry(self, queue_id: int) -> QueueEntry | None:
        """A queue item; one that left is forgotten after five minutes."""
        entry = self._entries.get(queue_id)
        if entry is not None and self._clock.monotonic() > entry.left_at + LEFT_ITEM_SECONDS:
            del self._entries[queue_id]
            return None
        return entry

    def cancel(self, queue_id: int) -> bool:
        """Take a waiting item out of the queue."""
        entry = self.entry(queue_id)
        if entry is None or entry.state is QueueState.LEFT or entry.task is None:
            return False
        entry.task.cancel()
        entry.state, entry.cancelled, entry.left_at = QueueState.LEFT, True, self._clock.monotonic()
        entry.left.set()
        return True

    def forget_queue(self) -> None:
        """What a restart does: waiting items and those that left are gone, running builds resume."""
        for entry in self.waiting():
            self.cancel(entry.queue_id)
        self._entries.clear()

    def abort(self, run: Run, by: str) -> bool:
        """Stop a build: result ``ABORTED``, and what its log would still have said is never written."""
        now = self._clock.monotonic()
        if run.result(now) is not None or not run.building(now):
            return False
        if run.task is not None:
            run.task.cancel()
        run.log.truncate(now)
        writer = self._writer(run)
        writer.aborted(by, now - run.moment)
        run.stages = [
            (stage if span.end <= now else StageReport(stage.name, "ABORTED", stage.lines, stage.seconds), span)
            for stage, span in run.stages
            if span.begin <= now
        ]
        run.suites = None
        run.final, run.result_at, run.built_at, run.finished_at = "ABORTED", now, now, now
        run.done.set()
        return True

    async def close(self) -> None:
        """Stop everything that runs."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: object) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)  # type: ignore[arg-type]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_report_crash)
        return task

    async def _wait_and_start(self, entry: QueueEntry) -> None:
        await self._clock.sleep(entry.quiet_until - self._clock.monotonic())
        if not entry.job.settings.concurrent:
            entry.state = QueueState.BLOCKED
            while (busy := self._busy(entry.job)) is not None:
                await busy.done.wait()
        entry.state = QueueState.BUILDABLE
        await self._executors.acquire()
        run = self._start(entry)
        run.task = self._spawn(self._build(run))
        # Not a `finally` in the task: a task that is cancelled before its first step never reaches one.
        run.task.add_done_callback(lambda _: self._executors.release())

    def _busy(self, job: Job) -> Run | None:
        return next((run for run in job.newest_first() if not run.done.is_set()), None)

    def _start(self, entry: QueueEntry) -> Run:
        job, trigger = entry.job, entry.trigger
        number = job.next_number
        job.next_number += 1
        run = Run(
            job=job,
            number=number,
            queue_id=entry.queue_id,
            started=self._clock.now(),
            moment=self._clock.monotonic(),
            causes=entry.causes,
            parameters=entry.parameters,
            description=describe(trigger, job.settings.description) if trigger else None,
            source=entry.source,
            bypass=bool(trigger and trigger.bypass),
        )
        job.runs[number] = run
        job.rotate()
        entry.run, entry.state, entry.left_at = run, QueueState.LEFT, self._clock.monotonic()
        entry.left.set()
        return run

    async def _build(self, run: Run) -> None:
        try:
            await self._run_gate(run)
        except Exception as error:
            seconds = self._clock.monotonic() - run.moment
            broken = StageReport(
                "Gate", "FAILED", (f"hudson.AbortException: the gate itself broke: {error!r}",), code=1
            )
            self._settle(run, self._writer(run), GateReport(stages=[broken]), seconds)
            raise
        finally:
            if run.final is not None:
                run.done.set()

    async def _run_gate(self, run: Run) -> None:
        writer = self._writer(run)
        settings = run.job.settings
        writer.header(run.causes[0] if run.causes else "Started by an unknown cause", settings.gate.agent_workspace)
        if run.bypass:
            self._settle(run, writer, GateReport(stages=[_BYPASS]), settings.bypass_seconds)
        elif run.source is None:
            self._settle(run, writer, GateReport(stages=[_NO_SOURCE]), 1.0)
        else:
            await self._really_build(run, writer, run.source)
        await self._clock.sleep(run.finished_at - self._clock.monotonic())

    async def _really_build(self, run: Run, writer: Writer, source: Source) -> None:
        settings = run.job.settings
        live = settings.reported_seconds is None

        def publish(stage: StageReport) -> None:
            if live:
                end = self._clock.monotonic()
                span = Span(stage.name, run.stages[-1][1].end if run.stages else run.moment, end)
                writer.stage(stage, span.begin - run.moment, end - run.moment)
                run.stages.append((stage, span))

        with self._hold():
            report = await build_pull_request(source, settings.gate, publish)
        took = self._clock.monotonic() - run.moment
        self._settle(run, writer, report, max(took, settings.reported_seconds or 0.0), written=live)

    def _settle(self, run: Run, writer: Writer, report: GateReport, seconds: float, *, written: bool = False) -> None:
        """Write down how a build goes on and ends; from here on only the clock decides what of it is seen."""
        settings = run.job.settings
        if not written:
            for stage, span in zip(report.stages, schedule(report.stages, seconds), strict=True):
                writer.stage(stage, span.begin, span.end)
                run.stages.append((stage, Span(span.name, run.moment + span.begin, run.moment + span.end)))
        run.final = report.result
        writer.footer(report.result, seconds)
        lead = min(settings.result_lead, seconds / 10)
        run.result_at = run.moment + seconds - lead
        run.built_at = run.moment + seconds
        run.finished_at = run.built_at + settings.post_production
        writer.finished(report.result, seconds + settings.post_production / 2)
        if settings.publish_junit and report.junit:
            run.suites = read_suites(report.junit)

    def _writer(self, run: Run) -> Writer:
        return Writer(run.log, run.started, run.moment)

    def _hold(self) -> AbstractContextManager[None]:
        hold = getattr(self._clock, "hold", None)
        return cast("Callable[[], AbstractContextManager[None]]", hold)() if hold else nullcontext()


def source_of(parameters: Mapping[str, str], job: Job) -> Source | None:
    """What a start by parameters builds; ``None`` when they name no pull request or no repository is known."""
    number = parameters.get("giteePullRequestIid", "")
    target = parameters.get("giteeTargetRepoHttpUrl") or job.settings.repository_url
    if not number.isdecimal() or int(number) == 0 or not target:
        return None
    return Source(
        pull_request=int(number),
        target_url=target,
        target_branch=parameters.get("giteeTargetBranch") or job.settings.target_branch,
        head_sha=parameters.get("giteePullRequestLastCommit", ""),
        source_url=parameters.get("giteeSourceRepoHttpUrl", ""),
        source_branch=parameters.get("giteeSourceBranch", ""),
    )


_BYPASS = StageReport(CHECKOUT, "SUCCESS", ("[INFO] pr-check-pass is not set, all stages are skipped.",))
_NO_SOURCE = StageReport(
    CHECKOUT,
    "FAILED",
    ("ERROR: the parameters name no pull request of a known repository", f"Execute project of {CHECKOUT} is failed"),
    code=1,
)


def _report_crash(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        LOG.error("a task of the sandbox Jenkins broke", exc_info=error)
