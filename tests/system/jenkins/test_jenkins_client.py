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
"""GateBot's Jenkins client against the sandbox, over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import aiohttp
import pytest

from bot.build_server import BuildServer
from bot.errors import NotFound, Refused
from bot.jenkins import JenkinsClient, JenkinsSettings, Progress
from bot.sandbox.clock import ScaledClock, VirtualClock
from bot.sandbox.jenkins import (
    DescriptionForm,
    JobSettings,
    PullRequestTrigger,
    SandboxJenkins,
    Source,
)

JOB = "Gate"
TOKEN = "11d2f0c3a4"
SHA = "db336d3386067d09cb4cb115caa5e93e4a69cf5b"
MakeClient = Callable[..., JenkinsClient]


def bypass(number: int, url: str = "") -> PullRequestTrigger:
    return PullRequestTrigger(source=Source(number, url, source_branch="topic"), user="dev-a", bypass=True)


def posts(jenkins: SandboxJenkins) -> list[str]:
    return [request.path for request in jenkins.requests if request.method == "POST"]


@pytest.mark.parametrize("form", [form for form in DescriptionForm if form is not DescriptionForm.NONE])
async def test_pull_request_64_has_no_build_of_647(
    jenkins: SandboxJenkins, client: JenkinsClient, form: DescriptionForm
) -> None:
    jenkins.change_job(JOB, description=form)
    for number in (64, 647, 6, 64, 164):
        jenkins.add_past_build(JOB, pull_request=number, head_sha=SHA)
    builds = await client.builds_of(64)
    assert [(build.number, build.head_sha, build.result) for build in builds] == [
        (4, SHA, "SUCCESS"),
        (1, SHA, "SUCCESS"),
    ]
    assert [build.pull_request for build in await client.recent()] == [164, 64, 6, 647, 64]


async def test_build_without_description_belongs_to_nobody(jenkins: SandboxJenkins, client: JenkinsClient) -> None:
    jenkins.change_job(JOB, description=DescriptionForm.NONE)
    jenkins.add_past_build(JOB, pull_request=64)
    assert await client.builds_of(64) == []
    assert (await client.build(1)).pull_request == 0


async def test_list_holds_the_newest_hundred_and_a_rotated_log_stops_nobody(
    jenkins: SandboxJenkins, client: JenkinsClient
) -> None:
    for _ in range(130):
        jenkins.add_past_build(JOB, pull_request=64, head_sha=SHA)
    jenkins.run(JOB, 129).log_gone = True
    builds = await client.builds_of(64)
    assert [build.number for build in builds] == list(range(130, 30, -1))
    assert [build.head_sha for build in builds[:3]] == [SHA, "", SHA]
    with pytest.raises(NotFound):
        await anext(client.console(129))
    jenkins.change_job(JOB, keep_builds=10)
    jenkins.add_past_build(JOB, pull_request=64)
    with pytest.raises(NotFound):
        await client.build(100)
    assert len(await client.recent(limit=500)) == 10
    await client.recent(limit=0)
    asked = [unquote(request.path) for request in jenkins.requests[-2:]]
    assert [path[path.rindex("{") :] for path in asked] == ["{0,100}", "{0,1}"]


async def test_logs_of_aborted_builds_are_not_searched_for_a_head(
    jenkins: SandboxJenkins, client: JenkinsClient
) -> None:
    jenkins.add_past_build(JOB, pull_request=64, head_sha=SHA)
    for _ in range(4):
        jenkins.add_past_build(JOB, pull_request=64, head_sha=SHA, result="ABORTED")
    assert [build.head_sha for build in await client.builds_of(64)] == ["", "", "", "", SHA]
    assert [request.path for request in jenkins.requests if "consoleText" in request.path] == [
        f"/job/{JOB}/1/consoleText"
    ]


async def test_bypass_build_is_short_green_and_empty(
    jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock
) -> None:
    jenkins.trigger_pull_request(JOB, bypass(64))
    await clock.sleep(60)
    [build] = await client.builds_of(64)
    assert (build.result, build.duration_ms, build.running) == ("SUCCESS", 20_000, False)
    assert await client.tests(build.number) is None
    assert {stage.status for stage in await client.stages(build.number)} == {"success"}


async def test_result_is_there_before_the_build_is_over(
    jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock
) -> None:
    jenkins.trigger_pull_request(JOB, bypass(64))
    seen = []
    for _ in range(120):
        await clock.sleep(0.5)
        for build in await client.builds_of(64):
            seen.append((build.result, build.running))
        if seen and not seen[-1][1]:
            break
    assert list(dict.fromkeys(seen)) == [(None, True), ("SUCCESS", True), ("SUCCESS", False)]


async def test_newer_start_aborts_the_older_build_of_the_same_pull_request_only(
    repository: Any, jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock
) -> None:
    jenkins.trigger_pull_request(JOB, bypass(647))
    jenkins.trigger_pull_request(JOB, bypass(64))
    await clock.sleep(10)
    jenkins.trigger_pull_request(JOB, bypass(64))
    await clock.sleep(60)
    assert [(b.number, b.result) for b in await client.builds_of(64)] == [(3, "SUCCESS"), (2, "ABORTED")]
    assert [b.result for b in await client.builds_of(647)] == ["SUCCESS"]
    log = b"".join([chunk async for chunk in client.console(2)])
    assert log.endswith(b"Finished: ABORTED\n")
    assert b"Finished: SUCCESS" not in log


async def test_stopped_build_is_aborted_and_stopping_twice_is_no_error(
    repository: Any, client: JenkinsClient, clock: VirtualClock
) -> None:
    repository.push(64, {"pkg/a.py": '"""A."""\n'})
    queue_id = await client.start({"giteePullRequestIid": "64"})
    while not (item := await client.queue_item(queue_id)).build_number:
        await clock.sleep(1)
    with clock.hold():
        await client.stop(item.build_number)
        await client.stop(item.build_number)
        build = await client.build(item.build_number)
    assert (build.result, build.running) == ("ABORTED", False)
    with pytest.raises(NotFound):
        await client.stop(999)


async def test_queue_item_through_its_life_and_after_jenkins_forgot_it(
    jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock
) -> None:
    jenkins.change_job(JOB, executable_gap=2.0)
    with clock.hold():
        queue_id = await start_twice(jenkins)
        waiting = await client.queue_item(queue_id)
    assert waiting.why.startswith("In the quiet period. Expires in")
    await clock.sleep(6)  # it left; the executable is still null: the build's queueId tells
    assert (await client.queue_item(queue_id)).build_number == 1
    await clock.sleep(400)
    before = len(jenkins.requests)
    assert (await client.queue_item(queue_id)).build_number == 1
    assert [request.status for request in jenkins.requests[before:]] == [404, 200]


async def start_twice(jenkins: SandboxJenkins) -> int:
    """Two identical starts, the second of which is folded into the first."""
    headers = {"Authorization": aiohttp.encode_basic_auth("gate", TOKEN)}
    url, form = f"{jenkins.url}job/{JOB}/buildWithParameters", {"giteePullRequestIid": "64"}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.post(url, params=form, allow_redirects=False) as first:
            assert first.status == 201
        async with session.post(url, data=form, allow_redirects=False) as second:
            assert (second.status, second.headers["Location"]) == (303, first.headers["Location"])
    return int(first.headers["Location"].rstrip("/").rpartition("/")[2])


async def test_restart_forgets_the_queue_but_not_the_builds(
    jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock
) -> None:
    started = await client.start({"giteePullRequestIid": "64"})
    await clock.sleep(20)
    jenkins.change_job(JOB, quiet_seconds=100.0)
    entry = jenkins.trigger_pull_request(JOB, bypass(65))
    jenkins.restart()
    assert (await client.queue_item(started)).build_number == 1
    with pytest.raises(NotFound):
        await client.queue_item(entry.queue_id)
    await clock.sleep(700)
    assert [build.number for build in await client.recent()] == [1]


async def test_cancelled_start_never_becomes_a_build(jenkins: SandboxJenkins, client: JenkinsClient) -> None:
    entry = jenkins.trigger_pull_request(JOB, bypass(65))
    await client.cancel(entry.queue_id)
    await client.cancel(entry.queue_id)
    assert (await client.queue_item(entry.queue_id)).cancelled
    assert await client.recent() == []


async def test_starts_that_jenkins_turns_down(jenkins: SandboxJenkins, client: JenkinsClient) -> None:
    jenkins.change_job(JOB, refuse=True)
    with pytest.raises(Refused, match="302"):
        await client.start({"giteePullRequestIid": "64"})
    jenkins.change_job(JOB, refuse=False, buildable=False)
    with pytest.raises(Refused, match="409"):
        await client.start({"giteePullRequestIid": "64"})
    jenkins.change_job(JOB, buildable=True, parameters=())
    with pytest.raises(Refused, match="400"):
        await client.start({"giteePullRequestIid": "64"})
    assert await client.start({}) > 0


async def test_start_without_parameters_wants_a_form_on_a_parameterised_job(client: JenkinsClient) -> None:
    with pytest.raises(Refused, match="Nothing is submitted"):
        await client.start({})


async def test_unknown_parameters_are_dropped(
    jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock
) -> None:
    await client.start({"giteePullRequestIid": "64", "nonsense": "1", "giteePullRequestLastCommit": SHA})
    await clock.sleep(1)
    assert "nonsense" not in jenkins.run(JOB, 1).parameters
    assert (await client.build(1)).head_sha == SHA


async def test_api_token_needs_no_crumb_and_a_password_gets_one(
    jenkins: SandboxJenkins, client: JenkinsClient, client_of: MakeClient
) -> None:
    await client.start({"giteePullRequestIid": "64"})
    assert [request.status for request in jenkins.requests] == [201]
    by_password = client_of(jenkins.url, user="gate", token="secret")
    jenkins.requests.clear()
    await by_password.start({"giteePullRequestIid": "65"})
    await by_password.start({"giteePullRequestIid": "66"})
    assert [request.status for request in jenkins.requests] == [403, 200, 201, 201]
    jenkins.restart()  # the crumb is stale: it is fetched anew, once
    jenkins.requests.clear()
    await by_password.start({"giteePullRequestIid": "67"})
    assert [request.status for request in jenkins.requests] == [403, 200, 201]


async def test_folders_and_context_path(repository: Any, clock: VirtualClock, client_of: MakeClient) -> None:
    jobs = [JobSettings(name="团队/hyper parallel/Gate"), JobSettings(name="Gate")]
    async with SandboxJenkins(jobs, clock=clock, context_path="/jenkins", strict_query=True) as jenkins:
        jenkins.add_past_build("团队/hyper parallel/Gate", pull_request=64)
        client = client_of(jenkins.url, "团队/hyper parallel/Gate")
        [build] = await client.builds_of(64)
        assert build.url == f"{jenkins.url}job/%E5%9B%A2%E9%98%9F/job/hyper%20parallel/job/Gate/1/"
        assert (await client.build(1)).number == 1
        astray = client_of(jenkins.url.removesuffix("jenkins/"), "Gate")
        with pytest.raises(NotFound):
            await astray.recent()


async def test_clean_log_comes_in_chunks(jenkins: SandboxJenkins, client: JenkinsClient) -> None:
    run = jenkins.add_past_build(JOB, pull_request=64)
    for index in range(50_000):
        run.log.append(f"line {index} 测试", note=index % 7 == 0)
    chunks = [chunk async for chunk in client.console(1)]
    assert len(chunks) > 5
    assert max(map(len, chunks)) <= 1 << 16
    assert b"".join(chunks) == run.log.clean()


@pytest.mark.parametrize("cut_lines", [False, True])
async def test_live_log_is_followed_to_its_end_without_notes_or_halves(
    repository: Any, clock: VirtualClock, client_of: MakeClient, cut_lines: bool
) -> None:
    repository.push(64, {"pkg/a.py": '"""A."""\n'})
    job = JobSettings(name=JOB, repository_url=repository.url, quiet_seconds=0.0)
    async with SandboxJenkins([job], clock=clock, cut_lines=cut_lines) as jenkins:
        source = Source(64, repository.url, source_branch="topic-64")
        entry = jenkins.trigger_pull_request(JOB, PullRequestTrigger(source=source))
        while entry.run is None:
            await clock.sleep(1)
        client = client_of(jenkins.url)
        look = Progress()
        lines: list[str] = []
        while look.more:
            look = await client.progress(1, look)
            lines += look.lines
            assert not look.restarted
            await clock.sleep(50)
        while (await client.build(1)).running:
            await clock.sleep(1)
        look = await client.progress(1, look)  # the log may still grow after the server has said that it will not
        lines += look.lines
        clean = b"".join([chunk async for chunk in client.console(1)]).decode().splitlines()
        assert [line for line in lines if line] == [line for line in clean if line]


async def test_stage_log_is_html_and_only_the_last_ten_kibibytes(
    repository: Any, jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock
) -> None:
    rows = "".join(f"import os as o{n}  # <&>\n" for n in range(400))
    repository.push(64, {"pkg/a.py": f'"""A."""\n{rows}'})
    await client.start({"giteePullRequestIid": "64"})
    await clock.sleep(900)
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{jenkins.url}job/Gate/1/wfapi/describe") as answer:
            described = await answer.json()
        stage = next(stage for stage in described["stages"] if stage["name"] == "Check_Pylint")
        assert (described["status"], stage["status"]) == ("FAILED", "FAILED")
        async with session.get(jenkins.url.rstrip("/") + stage["_links"]["self"]["href"]) as answer:
            [step] = (await answer.json())["stageFlowNodes"]
        assert step["error"]["type"] == "hudson.AbortException"
        async with session.get(jenkins.url.rstrip("/") + step["_links"]["log"]["href"]) as answer:
            log = await answer.json()
    assert log["hasMore"]
    assert len(log["text"]) <= 10 * 1024 < log["length"]


async def test_job_that_publishes_no_tests_has_none(
    repository: Any, jenkins: SandboxJenkins, client: JenkinsClient, clock: VirtualClock
) -> None:
    jenkins.change_job(JOB, publish_junit=False)
    repository.push(64, {"tests/test_a.py": "def test_a():\n    assert False\n"})
    await client.start({"giteePullRequestIid": "64"})
    await clock.sleep(900)
    assert (await client.build(1)).result == "FAILURE"
    assert await client.tests(1) is None


async def test_client_is_a_build_server(client: JenkinsClient, jenkins: SandboxJenkins) -> None:
    server: BuildServer = client
    jenkins.add_past_build(JOB, pull_request=7, result="UNSTABLE")
    assert [build.result for build in await server.recent()] == ["UNSTABLE"]


async def test_builds_go_on_under_a_clock_that_only_runs_faster(repository: Any, client_of: MakeClient) -> None:
    repository.push(64, {"pkg/a.py": '"""A."""\n'})
    fast = ScaledClock(300.0)
    async with SandboxJenkins([JobSettings(name=JOB, repository_url=repository.url)], clock=fast) as jenkins:
        source = Source(64, repository.url, source_branch="topic-64")
        entry = jenkins.trigger_pull_request(JOB, PullRequestTrigger(source=source))
        await entry.left.wait()
        assert entry.run is not None
        await entry.run.done.wait()
        [build] = await client_of(jenkins.url).builds_of(64)
    assert (build.result, build.running) == ("SUCCESS", False)
    assert build.duration_ms >= 603_000


async def test_secrets_stay_out_of_repr() -> None:
    assert "s3cret" not in repr(JenkinsSettings("http://ci", JOB, "gate", "s3cret"))
