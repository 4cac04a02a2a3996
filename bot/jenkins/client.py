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
"""``bot.build_server.BuildServer`` for one job of a Jenkins server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field

from bot.build_server import Build, QueueItem, StageResult, TestCase
from bot.clock import Clock, SystemClock
from bot.errors import GateBotError, NotFound, Refused, RetryLater, TellOperator
from bot.jenkins import models
from bot.jenkins.console import Progress, clean_line, head_sha_in, read_progress
from bot.jenkins.transport import Answer, Transport
from bot.jenkins.urls import job_path, queue_id_of, tree_query

NEWEST = 100  # the API lists no more in `builds`
HEAD_BYTES = 64 << 10  # a log says at its beginning what it checked out
HEADS_READ = 3  # how many of a pull request's newest builds are worth a look into their log
_ABORTED = "ABORTED"


@dataclass(frozen=True, slots=True)
class JenkinsSettings:
    """Where the gate job is.

    Attributes:
        url: Root of the server with its context path, such as ``https://build.example.com/jenkins``.
        job: Full name of the job, folders separated by ``/``.
        user: Login; empty for anonymous reading.
        token: API token of the login; kept out of ``repr``.
        timeout: Real seconds of silence before a request is given up.
        attempts: How often a read is tried.
        dry_run: Show what would start or stop a build instead of sending it.
    """

    url: str
    job: str
    user: str = ""
    token: str = field(default="", repr=False)
    timeout: float = 30.0
    attempts: int = 4
    dry_run: bool = False


def make_client(
    settings: JenkinsSettings, *, clock: Clock | None = None, show: Callable[[str], None] = print
) -> JenkinsClient:
    """A client of the gate job; it opens its connections at the first request.

    Args:
        settings: Where the job is, and as whom it is read.
        clock: Waits between attempts; the machine's own by default.
        show: Shows a write in dry-run mode.
    """
    clock = clock or SystemClock()
    transport = Transport(
        settings.url,
        clock=clock,
        user=settings.user,
        token=settings.token,
        timeout=settings.timeout,
        attempts=settings.attempts,
    )
    return JenkinsClient(transport, settings.job, show=show if settings.dry_run else None)


class JenkinsClient:
    """Reads, starts and stops builds of one job. Errors are ``bot.errors`` types, sorted by remedy."""

    def __init__(self, transport: Transport, job: str, *, show: Callable[[str], None] | None = None) -> None:
        self._transport = transport
        self._job = job_path(job)
        self._show = show
        self._heads: dict[int, str] = {}

    async def recent(self, *, limit: int = NEWEST) -> list[Build]:
        """The newest builds, newest number first; the server gives at most 100."""
        wanted = max(1, min(limit, NEWEST))
        query = tree_query(f"builds[{models.BUILD_FIELDS}]{{0,{wanted}}}")
        return models.read_builds((await self._transport.get(f"{self._job}/api/json", query)).document())

    async def builds_of(self, number: int, *, limit: int = NEWEST) -> list[Build]:
        """Builds of one pull request among the newest ``limit`` of the job, ``ABORTED`` ones included.

        Where neither a parameter nor the description shows the head sha, the beginning of the log is read, for the
        newest few that count. A log that is gone leaves the sha empty and does not stop the others.
        """
        builds = [build for build in await self.recent(limit=limit) if build.pull_request == number]
        curious = [build.number for build in builds if build.result != _ABORTED][:HEADS_READ]
        return [await self._with_head(build) if build.number in curious else build for build in builds]

    async def build(self, build_number: int) -> Build:
        """One build. Raises ``NotFound`` when it was rotated away or never was."""
        path = f"{self._job}/{_positive(build_number)}/api/json"
        document = (await self._transport.get(path, tree_query(models.BUILD_FIELDS))).document()
        return await self._with_head(models.read_build(document))

    async def start(self, parameters: Mapping[str, str]) -> int:
        """Start the job and return the queue id, 0 in a dry run. An identical waiting start is shared: its id comes.

        Raises:
            Refused: The job is disabled, wants no parameters, or the server turned the start down.
            RetryLater: With ``effect_unknown`` set, look for a build before starting again.
        """
        entry = "buildWithParameters" if parameters else "build"
        answer = await self._post(f"{self._job}/{entry}", {"delay": "0sec", **parameters})
        if answer is None:
            return 0
        queue_id = queue_id_of(answer.headers.get("Location", ""))
        if answer.status in (201, 303) and queue_id:
            return queue_id
        raise Refused(f"Jenkins did not take the start: {answer.status} without a queue item")

    async def queue_item(self, queue_id: int) -> QueueItem:
        """A start's fate. Jenkins forgets a queue item 5 minutes after it left; then the builds' ``queueId`` tells.

        Raises:
            NotFound: Neither the queue nor the newest 100 builds know the id, as after a restart of the server.
        """
        try:
            answer = await self._transport.get(f"queue/item/{_positive(queue_id)}/api/json")
        except NotFound:
            item = QueueItem(queue_id=queue_id)
            forgotten = True
        else:
            item = models.read_queue_item(answer.document())
            forgotten = False
        if item.build_number or item.cancelled or (item.why and not forgotten):
            return item
        query = tree_query(f"builds[number,queueId]{{0,{NEWEST}}}")
        builds = (await self._transport.get(f"{self._job}/api/json", query)).document()
        number = models.find_by_queue_id(builds, queue_id)
        if forgotten and not number:
            raise NotFound(f"Jenkins knows no queue item {queue_id} and no build of it")
        return item.model_copy(update={"build_number": number})

    async def cancel(self, queue_id: int) -> None:
        """Take a waiting start out of the queue; no error when it has left already."""
        try:
            await self._post(f"queue/cancelItem?id={_positive(queue_id)}")
        except NotFound:
            return

    async def stop(self, build_number: int) -> None:
        """Ask a build to end as ``ABORTED``; no error when it has ended already."""
        await self._post(f"{self._job}/{_positive(build_number)}/stop")

    async def console(self, build_number: int) -> AsyncIterator[bytes]:
        """Chunks of ``consoleText``: whole, notes stripped by the server. Read it once the build is not running."""
        async for chunk in self._transport.stream(f"{self._job}/{_positive(build_number)}/consoleText"):
            yield chunk

    async def progress(self, build_number: int, before: Progress | None = None) -> Progress:
        """A look at the live log, to see that a build is alive; it may lose lines, so never diagnose from it.

        Args:
            build_number: The build.
            before: The look before this one; ``None`` for the first.
        """
        before = before or Progress()
        path = f"{self._job}/{_positive(build_number)}/logText/progressiveText"
        answer = await self._transport.get(path, f"start={before.start}")
        return read_progress(before, answer.headers, answer.body)

    async def stages(self, build_number: int) -> list[StageResult]:
        """Stages in order; empty when the server has no stage view."""
        try:
            answer = await self._transport.get(f"{self._job}/{_positive(build_number)}/wfapi/describe")
        except NotFound:
            return []
        return models.read_stages(answer.document())

    async def tests(self, build_number: int) -> list[TestCase] | None:
        """The test report; ``None`` where the job publishes none (404 is the normal answer then)."""
        path = f"{self._job}/{_positive(build_number)}/testReport/api/json"
        try:
            answer = await self._transport.get(path, tree_query(models.TEST_FIELDS))
        except NotFound:
            return None
        return models.read_tests(answer.document())

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def _post(self, path: str, form: Mapping[str, str] | None = None) -> Answer | None:
        """The one way to change something on the server; ``None`` in a dry run, which only shows it."""
        if self._show is None:
            return await self._transport.post(path, form)
        tail = f" {json.dumps(form, ensure_ascii=False)}" if form else ""
        self._show(f"[dry-run] POST {self._transport.base_url}{path}{tail}")
        return None

    async def _with_head(self, build: Build) -> Build:
        if build.head_sha or not build.pull_request:
            return build
        known = self._heads.get(build.number)
        if known is None:
            try:
                known = head_sha_in(await self._first_lines(build.number), build.pull_request)
            except (NotFound, RetryLater, TellOperator):
                return build  # a log rotated away or out of reach says nothing about the other builds
            if known or not build.running:
                self._remember(build.number, known)
        return build.model_copy(update={"head_sha": known})

    async def _first_lines(self, build_number: int) -> list[str]:
        head = bytearray()
        stream = self._transport.stream(f"{self._job}/{build_number}/consoleText", 1 << 14)
        try:
            async for chunk in stream:
                head += chunk
                if len(head) >= HEAD_BYTES:
                    break
        finally:
            await stream.aclose()  # type: ignore[attr-defined]
        return [clean_line(line) for line in bytes(head).split(b"\n")]

    def _remember(self, build_number: int, head_sha: str) -> None:
        if len(self._heads) >= 4 * NEWEST:
            self._heads.pop(next(iter(self._heads)))
        self._heads[build_number] = head_sha


def _positive(number: int) -> int:
    if number <= 0:
        raise GateBotError(f"For Jenkins, a build number or queue id should be above 0, but got {number}.")
    return number
