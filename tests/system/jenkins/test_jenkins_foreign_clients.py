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
"""Clients that others wrote drive the sandbox Jenkins: it is not only consistent with our own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import api4jenkins
import jenkins as python_jenkins
import pytest

from bot.clock import SystemClock
from bot.sandbox.jenkins import Account, JobSettings, SandboxJenkins

LOGIN, TOKEN, PASSWORD = "gate", "11d2f0c3a4", "secret"
CODE = '"""Module."""\nimport os\n'


@pytest.fixture
async def live(repository: Any) -> AsyncIterator[SandboxJenkins]:
    """A Jenkins in real time, with a context path and a job in a folder."""
    repository.push(64, {"pkg/a.py": CODE, "tests/test_a.py": "def test_a():\n    assert True\n"})
    jobs = [
        JobSettings(
            name=name,
            repository_url=repository.url,
            reported_seconds=None,
            quiet_seconds=0.3,
            result_lead=0.0,
            post_production=0.0,
        )
        for name in ("Gate", "Team/Gate")
    ]
    accounts = [Account(LOGIN, token=TOKEN, password=PASSWORD)]
    async with SandboxJenkins(jobs, clock=SystemClock(), accounts=accounts, context_path="/ci") as server:
        yield server


def drive_with_python_jenkins(url: str, secret: str) -> None:
    server = python_jenkins.Jenkins(url, username=LOGIN, password=secret)
    assert server.get_version() == "2.579"
    assert {job["fullname"] for job in server.get_all_jobs()} >= {"Gate", "Team", "Team/Gate"}
    queue_id = server.build_job("Team/Gate", {"giteePullRequestIid": "64"})
    assert [item["id"] for item in server.get_queue_info()] == [queue_id]
    while not (executable := server.get_queue_item(queue_id).get("executable")):
        time.sleep(0.1)
    number = executable["number"]
    while server.get_build_info("Team/Gate", number)["building"]:
        time.sleep(0.1)
    assert server.get_build_info("Team/Gate", number)["result"] == "FAILURE"
    assert "[W0611(unused-import), ]" in server.get_build_console_output("Team/Gate", number)
    stages = {stage["name"]: stage["status"] for stage in server.get_build_stages("Team/Gate", number)["stages"]}
    assert stages["Check_Pylint"] == "FAILED"
    assert stages["UT"] == "SUCCESS"
    assert server.get_build_test_report("Team/Gate", number)["passCount"] == 1
    info = server.get_job_info("Team/Gate", fetch_all_builds=True)
    assert [build["number"] for build in info["builds"]] == [number]
    assert info["lastFailedBuild"]["number"] == number
    with pytest.raises(python_jenkins.JenkinsException):
        server.get_queue_item(99)


@pytest.mark.parametrize("secret", [TOKEN, PASSWORD])
async def test_python_jenkins_starts_and_reads_a_build(live: SandboxJenkins, secret: str) -> None:
    await asyncio.to_thread(drive_with_python_jenkins, live.url, secret)


def drive_with_api4jenkins(url: str) -> None:
    server = api4jenkins.Jenkins(url, auth=(LOGIN, TOKEN))
    job = server.get_job("Team/Gate")
    assert job.get_parameters()[0]["name"] == "giteePullRequestIid"
    item = job.build(giteePullRequestIid="64", delay="0sec")
    while not (build := item.get_build()):
        time.sleep(0.1)
    live_lines = list(build.progressive_output())
    assert build.result == "FAILURE"
    assert build.get_parameters()[0].value == "64"
    clean = list(build.console_text())
    assert clean[-1] == "Finished: FAILURE"
    assert any("\x1b[8mha:" in line for line in live_lines)
    assert len(live_lines) == len(clean)
    report = build.get_test_report()
    assert [(case.name, case.status) for suite in report.suites for case in suite.cases] == [("test_a", "PASSED")]
    assert [found.number for found in job.iter()] == [build.number]
    assert job.get_last_failed_build() == build
    server.http_client.close()


async def test_api4jenkins_starts_follows_and_reads_a_build(live: SandboxJenkins) -> None:
    await asyncio.to_thread(drive_with_api4jenkins, live.url)


async def build_of(item: Any) -> Any:
    while True:
        build = await item.get_build()
        if build is not None:
            return build
        await asyncio.sleep(0.05)


async def test_api4jenkins_async_stops_a_build(live: SandboxJenkins) -> None:
    server = api4jenkins.AsyncJenkins(live.url, auth=(LOGIN, PASSWORD))
    job = await server.get_job("Gate")
    item = await job.build(giteePullRequestIid="64", delay="0sec")
    build = await asyncio.wait_for(build_of(item), 20)
    await build.stop()
    assert await build.result == "ABORTED"
    assert not await build.building
    await server.http_client.aclose()
