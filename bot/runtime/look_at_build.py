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
"""Reads the newest build of a pull request and, when it ended badly, its log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from bot.build_server import Build, TestCase
from bot.diagnosis import Diagnoser, Diagnosis, GreenTemplates
from bot.errors import NotFound, RetryLater
from bot.gate.case import Case, Phase
from bot.gate.facts import BuildFacts
from bot.runtime.flakes import keep_tests
from bot.runtime.memory import Memory
from bot.runtime.outside import Outside

log = logging.getLogger(__name__)

T = TypeVar("T")

_FEED_BYTES = 1 << 20
_GREEN_BUILDS = 2
_GREEN_TEMPLATES = 100_000  # at most 20 MB
_MAX_TESTS = 200  # names of failed tests kept in a case


@dataclass(frozen=True, slots=True)
class SeenBuild:
    """The newest build that was not aborted, and whether the one we wait for is gone."""

    build: Build | None
    lost: bool = False


async def newest_build(case: Case, memory: Memory, outside: Outside) -> SeenBuild:
    """Find the build that matters: the one we started ourselves, or the newest of this pull request.

    Raises:
        RetryLater: The build server does not answer.
    """
    if memory.queue_id and memory.queue_head == case.head_sha and case.phase in (Phase.STARTING, Phase.BUILDING):
        return await _own_build(memory.queue_id, outside)
    builds = [build for build in await outside.builds.builds_of(case.number) if build.result != "ABORTED"]
    newest = max(builds, key=lambda build: build.number, default=None)
    waited_for = case.build_number if case.phase is Phase.BUILDING else 0
    if waited_for and all(build.number != waited_for for build in builds):
        try:
            found = await outside.builds.build(waited_for)
        except NotFound:
            return SeenBuild(newest, lost=newest is None or newest.number < waited_for)
        if found.result == "ABORTED":
            return SeenBuild(newest, lost=newest is None or newest.number < waited_for)
        if newest is None or newest.number < found.number:
            newest = found
    return SeenBuild(newest)


async def _own_build(queue_id: int, outside: Outside) -> SeenBuild:
    try:
        item = await outside.builds.queue_item(queue_id)
        if item.cancelled:
            return SeenBuild(None, lost=True)
        if not item.build_number:
            return SeenBuild(None)
        return SeenBuild(await outside.builds.build(item.build_number))
    except NotFound:
        return SeenBuild(None, lost=True)


def facts_of(build: Build, memory: Memory) -> BuildFacts:
    """The build in the gate's words; stages and tests as far as they were read."""
    known = memory.diagnosis is not None and memory.diagnosis.build_number == build.number
    return BuildFacts(
        number=build.number,
        url=build.url,
        result=build.result,
        running=build.running,
        started_at=build.started_at,
        duration_ms=build.duration_ms,
        head_sha=build.head_sha,
        failed_stages=memory.failed_stages if known else (),
        failed_tests=memory.failed_tests if known else (),
    )


def wants_reading(build: Build, memory: Memory, bypass_seconds: int) -> bool:
    """Whether the log must be read: it ended badly, or so quickly that it may have run nothing."""
    if build.running or build.result is None or build.result in ("ABORTED", "NOT_BUILT"):
        return False
    if memory.diagnosis is not None and memory.diagnosis.build_number == build.number:
        return False
    short = 0 < build.duration_ms < bypass_seconds * 1000
    return build.result != "SUCCESS" or short


@dataclass(frozen=True, slots=True)
class RedBuild:
    """What a build that ended badly tells; ``diagnosis`` is ``None`` when its log was rotated away."""

    stages: tuple[str, ...]
    tests: tuple[str, ...]
    diagnosis: Diagnosis | None


async def read_red(case: Case, build: Build, outside: Outside) -> RedBuild | None:
    """Read a red build; ``None`` when the server does not give its log just now, for ``decide`` knows how long to wait.

    Stages and tests are evidence beside the log: from the second try on they are gone without rather than waited for.
    """
    again = case.red_since is not None
    try:
        stages = await or_none_again(read_stages(build.number, outside), again=again)
        tests = await or_none_again(read_tests(case, build, outside), again=again)
        return RedBuild(stages or (), tests or (), await read_log(build.number, outside))
    except RetryLater as error:
        log.warning("%s: build %d cannot be read now: %s", case.key, build.number, error)
        return None


async def or_none_again(reading: Awaitable[T], *, again: bool) -> T | None:
    """What is read; ``None`` when the server fails to tell it and has failed before.

    Raises:
        RetryLater: It failed for the first time.
    """
    try:
        return await reading
    except RetryLater as error:
        if not again:
            raise
        log.warning("gone without: %s", error)
        return None


async def read_log(build_number: int, outside: Outside) -> Diagnosis | None:
    """Diagnose the console log, streaming; ``None`` when it was rotated away.

    Where no tool's parser speaks, what the last green builds of the job print too is noise.
    """
    diagnoser = Diagnoser()
    try:
        with outside.busy():
            await _stream(build_number, diagnoser.feed, outside)
            await asyncio.to_thread(diagnoser.read_rest)
            green = await _green_lines(build_number, outside) if diagnoser.silent else None
            return await asyncio.to_thread(diagnoser.conclude, green)
    except NotFound:
        return None


async def _stream(build_number: int, feed: Callable[[bytes], None], outside: Outside) -> None:
    waiting = bytearray()
    async for chunk in outside.builds.console(build_number):
        waiting += chunk
        if len(waiting) >= _FEED_BYTES:
            await asyncio.to_thread(feed, bytes(waiting))
            waiting.clear()
    await asyncio.to_thread(feed, bytes(waiting))


async def _green_lines(build_number: int, outside: Outside) -> GreenTemplates | None:
    """What the newest green builds printed; ``None`` where there is none or the server does not tell it."""
    green = GreenTemplates(_GREEN_TEMPLATES)
    shortest = outside.settings.gate.bypass_seconds * 1000
    try:
        recent = [
            one for one in await outside.builds.recent() if one.result == "SUCCESS" and one.number != build_number
        ]
        for one in [one for one in recent if not one.running and one.duration_ms >= shortest][:_GREEN_BUILDS]:
            await _stream(one.number, green.feed, outside)
            green.end()
    except (NotFound, RetryLater) as error:
        log.warning("gone without the logs of green builds: %s", error)
    return green if len(green) else None


async def read_stages(build_number: int, outside: Outside) -> tuple[str, ...]:
    """Names of the failed stages, where the server tells stages."""
    try:
        stages = await outside.builds.stages(build_number)
    except NotFound:
        return ()
    return tuple(stage.name for stage in stages if stage.status == "failed")


async def read_tests(case: Case, build: Build, outside: Outside) -> tuple[str, ...]:
    """Ids of the failed tests of the report; every test of it goes into the flake history."""
    try:
        tests = await outside.builds.tests(build.number)
    except NotFound:
        tests = None
    if tests is None:
        return ()
    found: list[TestCase] = tests
    await outside.database.run(
        lambda c: keep_tests(
            c,
            outside.job,
            build.number,
            found,
            repo=case.repo,
            number=case.number,
            head_sha=build.head_sha or case.head_sha,
            now=outside.stamp(),
        )
    )
    return tuple(f"{test.suite}::{test.name}" for test in found if test.status == "failed")[:_MAX_TESTS]
