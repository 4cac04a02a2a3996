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
from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Callable

import pytest
from aiohttp import web

from bot.errors import NotFound, Refused, RetryLater
from bot.forge import Priority
from bot.gitcode.client import GitCodeClient, make_client
from bot.gitcode.errors import Firewalled, RateLimited
from bot.gitcode.settings import GitCodeSettings
from bot.gitcode.transport import Call, censor
from bot.sandbox.clock import VirtualClock
from bot.sandbox.faults import Fault, Trouble
from bot.sandbox.gitcode.options import Options
from bot.sandbox.gitcode.sandbox import Sandbox

REPO = "mindspore/hyper-parallel"
COMMENTS = "/pulls/64/comments$"
Make = Callable[..., GitCodeClient]


def bodies(forge: Sandbox) -> list[str]:
    return [note.body for note in forge.notes_by(REPO, 64, "gate-bot")]


@pytest.mark.parametrize("trouble", [Trouble.AFTER_HANG, Trouble.AFTER_CUT, Trouble.AFTER_ANSWER])
async def test_a_comment_whose_answer_was_lost_is_not_written_twice(
    client_for: Make, forge: Sandbox, trouble: Trouble
) -> None:
    forge.faults.add(Fault(trouble=trouble, method="POST", path=COMMENTS, status=504))
    client = client_for(timeout_s=0.5)
    with pytest.raises(RetryLater) as caught:
        await client.create_comment(REPO, 64, "once\n\n<!-- gatebot:k1 -->")
    assert caught.value.effect_unknown
    # what the act step does next: look for its marker
    found = [comment for comment in await client.comments(REPO, 64) if "gatebot:k1" in comment.body]
    assert len(found) == 1
    assert len(bodies(forge)) == 1
    assert forge.faults.unspent() == []


@pytest.mark.parametrize("trouble", [Trouble.HANG, Trouble.CUT, Trouble.ANSWER])
async def test_without_an_effect_it_is_unknown_all_the_same(client_for: Make, forge: Sandbox, trouble: Trouble) -> None:
    forge.faults.add(Fault(trouble=trouble, method="POST", path=COMMENTS, status=500))
    with pytest.raises(RetryLater) as caught:
        await client_for(timeout_s=0.5).create_comment(REPO, 64, "once")
    assert caught.value.effect_unknown
    assert bodies(forge) == []


async def test_reads_and_repeatable_writes_are_tried_again(client_for: Make, forge: Sandbox) -> None:
    client = client_for(timeout_s=0.5)
    ref = await client.create_comment(REPO, 64, "one")
    forge.faults.add(
        Fault(trouble=Trouble.ANSWER, method="GET", path="/pulls/64$", status=500, times=2),
        Fault(trouble=Trouble.AFTER_CUT, method="POST", path="/labels$"),
        Fault(trouble=Trouble.AFTER_HANG, method="PATCH", path="/comments/"),
        Fault(trouble=Trouble.AFTER_ANSWER, method="DELETE", path="/labels/", status=502),
    )
    assert (await client.pull_request(REPO, 64)).number == 64
    await client.add_labels(REPO, 64, ("a", "b"))
    await client.edit_comment(REPO, ref.note_id, "two")
    await client.remove_label(REPO, 64, "a")
    assert forge.labels(REPO, 64) == {"b"}
    assert bodies(forge) == ["two"]
    assert forge.faults.unspent() == []


async def test_trouble_that_lasts_is_handed_on(client: GitCodeClient, forge: Sandbox) -> None:
    forge.faults.add(Fault(trouble=Trouble.ANSWER, path="/pulls/64$", status=503, times=0))
    with pytest.raises(RetryLater, match="503"):
        await client.pull_request(REPO, 64)
    assert len(forge.calls("gate-bot")) == 4


async def test_429_stops_everyone_for_as_long_as_asked(
    client: GitCodeClient, forge: Sandbox, clock: VirtualClock
) -> None:
    forge.faults.add(Fault(trouble=Trouble.ANSWER, method="POST", status=429, headers={"Retry-After": "37"}))
    started = clock.monotonic()
    await client.create_comment(REPO, 64, "one")
    assert clock.monotonic() - started >= 37
    assert bodies(forge) == ["one"]


async def test_429_without_a_time_rests_a_minute(client_for: Make, forge: Sandbox, clock: VirtualClock) -> None:
    client = client_for(attempts=1)
    forge.faults.add(Fault(trouble=Trouble.ANSWER, path="/user$", status=429))
    with pytest.raises(RateLimited):
        await client.login()
    started = clock.monotonic()
    await client.pull_request(REPO, 64, priority=Priority.REPLY)
    assert clock.monotonic() - started >= 59


async def test_a_long_wait_is_not_sat_out(client: GitCodeClient, forge: Sandbox, clock: VirtualClock) -> None:
    forge.faults.add(Fault(trouble=Trouble.ANSWER, status=429, headers={"Retry-After": "1800"}))
    with pytest.raises(RateLimited) as caught:
        await client.pull_request(REPO, 64)
    assert caught.value.delay == 1800
    with pytest.raises(RetryLater, match="budget") as caught_too:
        await client.login()
    assert caught_too.value.delay > 1700
    assert clock.monotonic() < 100
    assert len(forge.calls("gate-bot")) == 1


async def test_the_firewall_gets_a_tamer_text_once(client: GitCodeClient, forge: Sandbox) -> None:
    forge.faults.add(
        Fault(trouble=Trouble.ANSWER, method="POST", status=418, body="Request Rejected, Suspected Unsafe")
    )
    await client.create_comment(REPO, 64, "<script>x</script>" * 1_000 + "\n<!-- gatebot:k -->")
    (body,) = bodies(forge)
    assert "<script>" not in body
    assert body.endswith("<!-- gatebot:k -->")
    assert len(forge.calls("gate-bot", method="POST")) == 2
    forge.faults.add(Fault(trouble=Trouble.ANSWER, method="POST", status=418, times=0))
    with pytest.raises(Firewalled):
        await client.create_comment(REPO, 64, "again")
    assert len(forge.calls("gate-bot", method="POST")) == 4


async def test_the_firewall_on_a_read_is_waited_out(client: GitCodeClient, forge: Sandbox, clock: VirtualClock) -> None:
    forge.faults.add(Fault(trouble=Trouble.ANSWER, method="GET", status=418))
    started = clock.monotonic()
    assert await client.login() == "gate-bot"
    assert clock.monotonic() - started >= 60


@pytest.mark.parametrize("options", [Options(hidden_reads=2)])
async def test_what_was_just_created_may_hide_for_a_moment(client: GitCodeClient, forge: Sandbox) -> None:
    assert (await client.pull_request(REPO, 64)).number == 64
    assert [call.status for call in forge.calls("gate-bot")] == [404, 404, 200]


@pytest.mark.parametrize("options", [Options(hidden_reads=1)])
async def test_a_comment_on_what_hides_is_written_once(client: GitCodeClient, forge: Sandbox) -> None:
    await client.create_comment(REPO, 64, "one")
    assert bodies(forge) == ["one"]


async def test_what_stays_away_is_not_found(client: GitCodeClient) -> None:
    with pytest.raises(NotFound):
        await client.pull_request("no/such", 1)


async def test_an_error_in_a_good_answer_is_an_error(client: GitCodeClient, forge: Sandbox) -> None:
    body = '{"error_code":400,"error_message":"Merge request author cannot operate their own merge request"}'
    forge.faults.add(Fault(trouble=Trouble.ANSWER, method="POST", status=200, body=body))
    with pytest.raises(Refused, match="author cannot operate"):
        await client.create_comment(REPO, 64, "x")


@pytest.mark.parametrize("answer", ['{"error_code":200,"error_code_name":"OK"}', '{"id":"%s","body":"x"}'])
async def test_ids_are_looked_up_when_the_answer_lacks_them(client: GitCodeClient, forge: Sandbox, answer: str) -> None:
    note = await forge.comment_as(REPO, 64, "gate-bot", "一样的文字")
    discussion = forge.threads(REPO, 64)[0].id
    body = answer % discussion if "%s" in answer else answer
    forge.faults.add(Fault(trouble=Trouble.ANSWER, method="POST", status=201, body=body))
    ref = await client.create_comment(REPO, 64, "一样的文字")
    assert (ref.note_id, ref.discussion_id) == (note.id, discussion)


async def test_a_patch_that_did_not_stick_is_noticed(client: GitCodeClient, forge: Sandbox) -> None:
    ref = await client.create_comment(REPO, 64, "one")
    forge.faults.add(Fault(trouble=Trouble.ANSWER, method="PATCH", status=200, body="{}"))
    with pytest.raises(RetryLater, match="old text"):
        await client.edit_comment(REPO, ref.note_id, "two")


@pytest.mark.parametrize(
    ("answer", "then"),
    [("{}", []), ('{"body":"old"}', ["GET"]), ('{"error_code":200,"error_code_name":"OK"}', ["GET"])],
)
async def test_an_edit_that_is_looked_at_later_is_read_back_only_where_the_answer_says_otherwise(
    client: GitCodeClient, forge: Sandbox, answer: str, then: list[str]
) -> None:
    ref = await client.create_comment(REPO, 64, "one")
    forge.faults.add(Fault(trouble=Trouble.AFTER_ANSWER, method="PATCH", status=200, body=answer))
    await client.edit_comment(REPO, ref.note_id, "two", read_back=False)
    assert [call.method for call in forge.calls("gate-bot")] == ["POST", "PATCH", *then]
    assert [note.body for note in forge.notes_by(REPO, 64, "gate-bot")] == ["two"]


async def test_the_real_limit_is_never_met(client_for: Make, forge: Sandbox, clock: VirtualClock) -> None:
    client = client_for(timeout_s=30)
    calls = (client.pull_request(REPO, 64, priority=Priority.ACT) for _ in range(120))
    await asyncio.gather(*calls)
    assert {call.status for call in forge.calls("gate-bot")} == {200}
    assert clock.monotonic() >= 120


async def test_the_51st_call_of_a_minute_is_refused(client_for: Make, forge: Sandbox) -> None:
    eager = client_for(calls_per_minute=1_000, timeout_s=30, attempts=1)
    results = await asyncio.gather(*(eager.pull_request(REPO, 64) for _ in range(52)), return_exceptions=True)
    assert sum(isinstance(result, RateLimited) for result in results) == 2


async def test_calls_are_counted_for_metrics(forge: Sandbox, clock: VirtualClock) -> None:
    seen: list[Call] = []
    settings = GitCodeSettings.model_validate({"base_url": forge.api_url, "token": "token-gate-bot"})
    client = make_client(settings, clock=clock, on_call=seen.append)
    await client.remove_label(REPO, 64, "not-there")
    await client.pull_request(REPO, 64, priority=Priority.REPLY)
    assert [(call.method, call.route, call.status, call.priority) for call in seen] == [
        ("DELETE", "/pulls/{n}/labels/{name}", 404, Priority.ACT),
        ("GET", "/pulls/{n}", 200, Priority.REPLY),
    ]
    assert client.transport.calls == 2
    assert client.transport.limiter.left() == (43, 3_798)
    await client.close()


async def test_the_token_never_shows(caplog: pytest.LogCaptureFixture, clock: VirtualClock) -> None:
    caplog.set_level(logging.DEBUG)
    token = "s3cret/token+x"
    # nothing listens on the discard port of the loopback
    settings = GitCodeSettings.model_validate({"base_url": "http://127.0.0.1:9/api/v5", "token": token, "attempts": 1})
    client = make_client(settings, clock=clock)
    with pytest.raises(RetryLater) as caught:
        await client.create_comment(REPO, 64, "x")
    assert not caught.value.effect_unknown  # it never left
    await client.close()
    shown = f"{caught.value!r} {settings!r} {caplog.text}"
    assert "s3cret" not in shown
    encoded = base64.b64encode(token.encode()).decode()
    assert censor(f"{token} {encoded} s3cret%2Ftoken%2Bx", token) == "*** *** ***"


async def test_a_redirect_is_not_followed() -> None:
    followed: list[str] = []

    async def elsewhere(request: web.Request) -> web.Response:
        followed.append(request.headers.get("Authorization", ""))
        return web.json_response({"login": "x"})

    async def user(_: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "/elsewhere"})

    app = web.Application()
    app.router.add_get("/user", user)
    app.router.add_get("/elsewhere", elsewhere)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    client = make_client(GitCodeSettings.model_validate({"base_url": f"http://127.0.0.1:{port}", "token": "t"}))
    with pytest.raises(Exception, match=r"gitcode\.api_url"):
        await client.login()
    await client.close()
    await runner.cleanup()
    assert followed == []
