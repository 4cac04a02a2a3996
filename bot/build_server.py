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
"""What GateBot needs of a build server. ``bot.jenkins`` implements it first; another system can take its place."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Protocol

from pydantic import BaseModel, ConfigDict


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class StageResult(_Value):
    """One stage of a build; ``status`` is ``success``, ``failed``, ``running``, ``aborted`` or ``skipped``."""

    name: str
    status: str
    duration_ms: int = 0


class Build(_Value):
    """A build as read now.

    ``result`` is ``SUCCESS``, ``UNSTABLE``, ``FAILURE``, ``NOT_BUILT``, ``ABORTED`` or ``None``. ``running`` is true
    while either ``building`` or ``inProgress`` is set, or ``result`` is missing: the log may grow until both are clear.
    """

    number: int
    url: str
    result: str | None
    running: bool
    started_at: datetime
    duration_ms: int = 0
    queue_id: int = 0
    pull_request: int = 0  # from the description, causes or parameters, with a digit boundary; 0 when unknown
    head_sha: str = ""  # where a parameter, description or console line shows it


class QueueItem(_Value):
    """A waiting request; ``build_number`` is 0 until it started, ``cancelled`` when it never will."""

    queue_id: int
    build_number: int = 0
    cancelled: bool = False
    why: str = ""


class TestCase(_Value):
    """One case of the build's test report; ``age`` counts the builds in a row in which it failed."""

    __test__ = False

    suite: str
    name: str
    status: str  # "passed" | "failed" | "skipped"
    age: int = 0
    failed_since: int = 0
    duration_s: float = 0.0
    details: str = ""


class BuildServer(Protocol):
    """Reads, starts and stops builds of one gate job. Raises ``bot.errors`` types, sorted by remedy."""

    async def builds_of(self, number: int, *, limit: int = 100) -> list[Build]:
        """Builds of one pull request, newest number first; PR 64 never matches PR 647. ``ABORTED`` ones included."""
        ...

    async def recent(self, *, limit: int = 100) -> list[Build]:
        """The job's newest builds of whatever pull request, newest number first."""
        ...

    async def build(self, build_number: int) -> Build:
        """One build as it is now. Raises ``NotFound`` when it was rotated away."""
        ...

    async def start(self, parameters: Mapping[str, str]) -> int:
        """Starts the job and returns the queue id. ``RetryLater.effect_unknown`` means: look before starting again."""
        ...

    async def queue_item(self, queue_id: int) -> QueueItem:
        """What became of a start; still answers once the server has forgotten the queue, by the builds' queue id."""
        ...

    async def stop(self, build_number: int) -> None:
        """Asks a running build to end as ``ABORTED``; no error when it has ended already."""
        ...

    def console(self, build_number: int) -> AsyncIterator[bytes]:
        """Streams the clean console log in chunks, never the whole log at once. Read it after the build has ended."""
        ...

    async def stages(self, build_number: int) -> list[StageResult]:
        """The build's stages in order; empty when the server does not tell them."""
        ...

    async def tests(self, build_number: int) -> list[TestCase] | None:
        """The published test report, or ``None`` when the job publishes none."""
        ...

    async def close(self) -> None:
        """Closes connections; the object is not used afterwards."""
        ...
