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
"""The gate robot: told of events by web hook, or looking by itself, it works off a pull request's commands in order."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import re
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from bot.clock import Clock
from bot.sandbox.jenkins import PullRequestTrigger, Run, SandboxJenkins, Source
from bot.sandbox.robot import texts
from bot.sandbox.robot.description import check
from bot.sandbox.robot.forge import ForgeApi, ForgeRefused
from bot.sandbox.server import LocalServer

LOG = logging.getLogger(__name__)
PASS, FAIL = "pr-check-pass", "pr-check-fail"
RUNNING, PASSED, FAILED = "ci-pipeline-running", "ci-pipeline-passed", "ci-pipeline-failed"
_COMMAND = re.compile(r"^\s*(/check-pr|/retest)\s*$", re.MULTILINE)  # whole tokens: /retest_ut is another command


@dataclass(frozen=True, kw_only=True)
class RobotSettings:
    """How the robot behaves. Seconds are those of the clock.

    Attributes:
        api_url: Root of the forge's REST API.
        token: The robot's token at the forge.
        login: Its login there; its own comments are never commands.
        job: Name of the gate job.
        templates: Paths of the template on the base branch, first match wins.
        secret: Secret of the web hook, as signature key or as password.
        host: Interface its hook listens on.
        port: Port; 0 for a free one.
        label_delay: How long after the result table the final label lands.
        html_table: Whether results come as the HTML table of the other gate.
        post_twice: Whether the result table is posted twice, as has been seen.
        refusal_builds: Whether a ``/retest`` without ``pr-check-pass`` still starts a build that runs nothing.
    """

    api_url: str
    token: str
    login: str = "micro-compass"
    job: str = "Gate"
    templates: tuple[str, ...] = (
        ".gitcode/PULL_REQUEST_TEMPLATE.zh-CN.md",
        ".gitcode/PULL_REQUEST_TEMPLATE.md",
        ".gitee/PULL_REQUEST_TEMPLATE.zh-CN.md",
        ".gitee/PULL_REQUEST_TEMPLATE.md",
    )
    secret: str = field(default="robot-secret", repr=False)
    host: str = "127.0.0.1"
    port: int = 0
    label_delay: float = 5.0
    html_table: bool = False
    post_twice: bool = False
    refusal_builds: bool = True


@dataclass(frozen=True, slots=True)
class _Pull:
    repo: str
    number: int


class Robot(LocalServer):
    """The account that owns the gate. ``async with Robot(...) as robot:`` starts and stops it.

    Args:
        settings: How it behaves.
        jenkins: Where its builds run.
        clock: The time it lives in.
    """

    def __init__(self, settings: RobotSettings, jenkins: SandboxJenkins, *, clock: Clock) -> None:
        super().__init__(settings.host, settings.port)
        self.settings = settings
        self._jenkins = jenkins
        self._clock = clock
        self._forge = ForgeApi(settings.api_url, settings.token, clock)
        self._seen: set[int] = set()
        self._heads: dict[_Pull, str] = {}
        self._locks: dict[_Pull, asyncio.Lock] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen for hooks."""
        app = web.Application(client_max_size=8 << 20)
        app.router.add_post("/hook", self._on_hook)
        app.router.add_get("/hook", _probed)
        await self._listen(app)

    async def stop(self) -> None:
        """Stop listening and whatever is going on."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._forge.close()
        await self._stop_listening()

    @property
    def hook_url(self) -> str:
        """Where the forge sends its events; register it with ``settings.secret``."""
        return f"http://{self._host}:{self._port}/hook"

    async def poll(self, repo: str) -> None:
        """Look for commands and pushes by itself, for forges whose hooks got lost; what was seen already is skipped."""
        for pull in await self._forge.open_pulls(repo):
            number = int(pull.get("number") or pull["iid"])
            where = _Pull(repo, number)
            await self._saw_head(where, str(pull["head"]["sha"]), pushed=False)
            for note in await self._forge.comments(repo, number):
                await self._saw_note(where, int(note["id"]), str(note["user"]["login"]), str(note["body"]))

    # --- events -------------------------------------------------------------------------------------------------------

    async def _on_hook(self, request: web.Request) -> web.Response:
        raw = await request.read()
        if not self._is_genuine(request, raw):
            return web.Response(status=401)
        payload = json.loads(raw)
        self._spawn(self._on_event(payload))  # answered at once: the work may take longer than the forge waits
        return web.Response(text="ok")

    def _is_genuine(self, request: web.Request, raw: bytes) -> bool:
        secret = self.settings.secret
        headers = {name.lower(): value for name, value in request.headers.items()}
        for prefix in ("x-gitcode", "x-atomgit"):
            signature = headers.get(f"{prefix}-signature-256", "")
            expected = "sha256=" + hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
            if signature and hmac.compare_digest(signature.encode(), expected.encode()):
                return True
            password = headers.get(f"{prefix}-token", "")
            if password and hmac.compare_digest(password.encode(), secret.encode()):
                return True
        return False

    async def _on_event(self, payload: dict[str, Any]) -> None:
        repo = str(payload.get("project", {}).get("path_with_namespace", ""))
        attributes = payload.get("object_attributes") or {}
        if payload.get("object_kind") == "merge_request":
            where = _Pull(repo, int(attributes["iid"]))
            head = str((attributes.get("last_commit") or {}).get("id", ""))
            await self._saw_head(where, head, pushed=bool(attributes.get("oldrev")))
        elif payload.get("object_kind") == "note" and attributes.get("noteable_type") == "MergeRequest":
            merge_request = payload["merge_request"]
            where = _Pull(repo, int(merge_request["iid"]))
            await self._saw_head(where, str(merge_request["last_commit"]["id"]), pushed=False)
            if not attributes.get("system"):
                await self._saw_note(where, int(attributes["id"]), payload["user"]["username"], attributes["note"])

    async def _saw_head(self, where: _Pull, head: str, *, pushed: bool) -> None:
        if not head or self._heads.get(where) == head:
            return  # the same push, told again
        async with self._at_work(where):
            known = self._heads.get(where)
            now = str((await self._forge.pull(where.repo, where.number))["head"]["sha"])
            self._heads[where] = now
            if now == known or (known is None and not pushed):
                return  # an older push, told late
            self._jenkins.abort_pull_request(self.settings.job, where.number, "a push to the pull request")
            await self._relabel(where, add=[], remove=[PASS, FAIL, RUNNING, PASSED, FAILED])

    async def _saw_note(self, where: _Pull, note_id: int, user: str, body: str) -> None:
        if note_id in self._seen or user == self.settings.login:
            return
        self._seen.add(note_id)
        commands = _COMMAND.findall(body)
        if not commands:
            return
        async with self._at_work(where):
            for command in commands:
                if command == "/check-pr":
                    await self._check(where)
                else:
                    await self._retest(where, user)

    # --- phase one ----------------------------------------------------------------------------------------------------

    async def _check(self, where: _Pull) -> None:
        pull = await self._forge.pull(where.repo, where.number)
        template = await self._template(where.repo, str(pull["base"]["ref"]))
        linked = await self._forge.linked_issues(where.repo, where.number)
        verdict = check(template, str(pull.get("body") or ""), linked_issues=linked)
        if verdict.passed:
            await self._relabel(where, add=[PASS], remove=[FAIL])
        else:
            await self._relabel(where, add=[FAIL], remove=[PASS])
            await self._forge.comment(where.repo, where.number, texts.check_failed(verdict))

    async def _template(self, repo: str, ref: str) -> str:
        for path in self.settings.templates:
            if text := await self._forge.text(repo, path, ref):
                return text
        return ""

    # --- phase two ----------------------------------------------------------------------------------------------------

    async def _retest(self, where: _Pull, user: str) -> None:
        pull = await self._forge.pull(where.repo, where.number)
        allowed = PASS in {label["name"] for label in pull["labels"]}
        source = Source(
            pull_request=where.number,
            target_url=str(pull["base"]["repo"]["html_url"]),
            target_branch=str(pull["base"]["ref"]),
            head_sha=str(pull["head"]["sha"]),
            source_url=str(pull["head"]["repo"]["html_url"]),
            source_branch=str(pull["head"]["ref"]),
        )
        label = f"{pull['head']['repo']['full_name'].partition('/')[0]}/{source.source_branch}"
        trigger = PullRequestTrigger(
            source=source, user=user, source_label=label, html_url=str(pull["html_url"]), bypass=not allowed
        )
        if not allowed:
            await self._forge.comment(where.repo, where.number, texts.trigger_refused(user))
            if self.settings.refusal_builds:
                self._jenkins.trigger_pull_request(self.settings.job, trigger)
            return
        entry = self._jenkins.trigger_pull_request(self.settings.job, trigger)
        self._spawn(self._follow(where, entry.left, lambda: entry.run))

    async def _follow(self, where: _Pull, left: asyncio.Event, run_of: Any) -> None:
        await left.wait()
        run: Run | None = run_of()
        if run is None:
            return  # cancelled in the queue: something newer was wanted
        async with self._at_work(where):
            await self._relabel(where, add=[RUNNING], remove=[PASSED, FAILED])
            await self._forge.comment(where.repo, where.number, texts.started(run.number))
        await run.done.wait()
        if run.final == "ABORTED":
            return  # a newer build or a push took its place; the label is that one's affair
        async with self._at_work(where):
            if not await self._is_current(where, run):
                return
            for _ in range(2 if self.settings.post_twice else 1):
                await self._forge.comment(where.repo, where.number, self._table(where, run))
        await self._clock.sleep(self.settings.label_delay)
        async with self._at_work(where):
            if await self._is_current(where, run):
                final = PASSED if run.final == "SUCCESS" else FAILED
                await self._relabel(where, add=[final], remove=[RUNNING])

    async def _is_current(self, where: _Pull, run: Run) -> bool:
        pull = await self._forge.pull(where.repo, where.number)
        return run.source is not None and str(pull["head"]["sha"]) == run.source.head_sha

    def _table(self, where: _Pull, run: Run) -> str:
        outcome = texts.Outcome(
            project=where.repo.partition("/")[2],
            number=run.number,
            url=self._jenkins.run_url(run),
            result=run.final or "",
            head_sha=run.source.head_sha if run.source else "",
            rows=texts.rows_of([(stage.name, stage.status) for stage, _ in run.stages]),
        )
        return texts.result_html(outcome) if self.settings.html_table else texts.result_table(outcome)

    # --- means --------------------------------------------------------------------------------------------------------

    async def _relabel(self, where: _Pull, *, add: list[str], remove: list[str]) -> None:
        pull = await self._forge.pull(where.repo, where.number)
        there = {label["name"] for label in pull["labels"]}
        await self._forge.change_labels(
            where.repo,
            where.number,
            add=[label for label in add if label not in there],
            remove=[label for label in remove if label in there],
        )

    @asynccontextmanager
    async def _at_work(self, where: _Pull) -> AsyncIterator[None]:
        """One thing at a time per pull request. The clock is held only once it is this task's turn: a task that holds
        it while it waits for another's sleep would stop the time for good.
        """
        async with self._locks.setdefault(where, asyncio.Lock()):
            hold = getattr(self._clock, "hold", nullcontext)
            with hold():
                yield

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_report)


async def _probed(request: web.Request) -> web.Response:
    return web.Response(text="ok")


def _report(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        kind = "refused" if isinstance(error, ForgeRefused) else "broke"
        LOG.error("the gate robot was %s", kind, exc_info=error)
