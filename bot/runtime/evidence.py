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
"""Evidence for triage that costs work: the import graph of the head from git, and how tests fared in other builds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

import sqlalchemy as sa

from bot.build_server import Build, TestCase
from bot.diagnosis import Diagnosis
from bot.errors import GateBotError, NotFound, RetryLater
from bot.forge import PullRequest
from bot.gate.imports import Tree, reach
from bot.gate.triage import Past, undecided
from bot.runtime.flakes import history, keep_tests, known_builds
from bot.runtime.judge import failed_test_files, test_id
from bot.runtime.outside import Outside

log = logging.getLogger(__name__)

_OTHER_BUILDS = 5  # reports of other pull requests' builds that are read per red build
_MOST_TESTS = 50


async def ways_to_changed_code(
    diagnosis: Diagnosis, patches: Mapping[str, str], pull: PullRequest, outside: Outside
) -> dict[str, tuple[str, ...] | None]:
    """For failed tests on whose import graph the verdict hangs: the way from the test to changed code.

    Raises:
        RetryLater: git does not answer now.
    """
    changed = tuple(patches)
    tests = [path for path in failed_test_files(diagnosis, patches) if undecided(changed, path)][:_MOST_TESTS]
    if not tests:
        return {}
    try:
        with outside.busy():
            return await asyncio.to_thread(_follow, tests, changed, pull, outside)
    except RetryLater:
        raise
    except GateBotError as error:  # without a graph the verdict leans to the change
        log.warning("%s#%d: no import graph: %s", pull.repo, pull.number, error)
        return {}


def _follow(
    tests: list[str], changed: tuple[str, ...], pull: PullRequest, outside: Outside
) -> dict[str, tuple[str, ...] | None]:
    from bot.repair.workspace import HeadMoved, open_workspace  # git tools; only red builds need them
    from bot.runtime.heads import head_task

    task = head_task(pull, outside.settings)
    task.work_root.mkdir(parents=True, exist_ok=True)
    try:
        with open_workspace(task) as workspace:

            def read(path: str) -> str | None:
                content = workspace.read(path)
                return None if content is None else content.decode("utf-8", "replace")

            tree = Tree(frozenset(workspace.entries), read)
            return {path: reach(path, changed, tree) for path in tests}
    except HeadMoved:
        return {}


async def past_of(diagnosis: Diagnosis, build: Build, pull: PullRequest, outside: Outside) -> dict[str, Past]:
    """How the failed tests fared in builds without this change: our own records, and reports of recent builds.

    A build of the target branch belongs to no pull request; builds of other pull requests stand on the same branch. The
    report's ``age`` counts builds in a row in which a test failed; those of them that are not ours count as failures.
    """
    names = sorted({test_id(one) for one in diagnosis.findings if one.tool == "pytest" and test_id(one)})[:_MOST_TESTS]
    if not names:
        return {}
    owners = await _read_others(build, pull, outside)

    def read(connection: sa.Connection) -> dict[str, Past]:
        found: dict[str, Past] = {}
        for name in names:
            records = history(connection, outside.job, name)
            others = [record for record in records if record.number != pull.number]
            failed = {record.build for record in others if record.status == "failed"}
            for record in records:
                if record.build == build.number and record.status == "failed":
                    in_a_row = range(record.build - record.age + 1, record.build)
                    failed |= {number for number in in_a_row if owners.get(number, pull.number) != pull.number}
            passed = tuple(record.build for record in others if record.status == "passed")
            found[name] = Past(passed, tuple(sorted(failed)))
        return found

    return await outside.database.run(read)


async def _read_others(build: Build, pull: PullRequest, outside: Outside) -> dict[int, int]:
    """Keep the test reports of the newest other builds; return whose pull request each recent build was."""
    recent = [one for one in await outside.builds.recent(limit=30) if one.number != build.number]
    finished = [
        one
        for one in recent
        if not one.running and one.result in {"SUCCESS", "UNSTABLE", "FAILURE"} and one.pull_request != pull.number
    ]
    known = await outside.database.run(lambda c: known_builds(c, outside.job, [one.number for one in finished]))
    for one in [one for one in finished if one.number not in known][:_OTHER_BUILDS]:
        try:
            tests = await outside.builds.tests(one.number)
        except NotFound:
            continue
        if tests:
            await _keep(one, tests, pull.repo, outside)
    return {one.number: one.pull_request for one in recent}


async def _keep(one: Build, tests: list[TestCase], repo: str, outside: Outside) -> None:
    await outside.database.run(
        lambda c: keep_tests(
            c,
            outside.job,
            one.number,
            tests,
            repo=repo,
            number=one.pull_request,
            head_sha=one.head_sha,
            now=outside.stamp(),
        )
    )
