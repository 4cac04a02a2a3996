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
"""What the sandbox Jenkins answers to which request."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from aiohttp import web

from bot.clock import Clock
from bot.sandbox.jenkins import documents
from bot.sandbox.jenkins.access import LOGIN, Access, Identity
from bot.sandbox.jenkins.model import Job, Run
from bot.sandbox.jenkins.scheduler import Scheduler
from bot.sandbox.jenkins.tree import TreeSyntaxError, apply_tree, parse_tree, shallow

VERSION = "2.579"
_ALIASES = ("lastBuild", "lastCompletedBuild", "lastSuccessfulBuild", "lastFailedBuild", "lastStableBuild")
_BARE = "[]{}"
T = TypeVar("T")


@dataclass
class ServerState:
    """All that the answers depend on; see ``SandboxJenkins`` for the settings."""

    clock: Clock
    jobs: dict[str, Job]
    scheduler: Scheduler
    access: Access
    context: str
    executors: int
    cut_lines: bool
    strict_query: bool
    session: str = "00000001"


class Routes:
    """Turns a request into an answer."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer any request."""
        identity = self._state.access.identify(request)
        request[LOGIN] = identity.account.login if identity.account else ""
        raw = request.rel_url.raw_path
        if self._state.context and raw != self._state.context and not raw.startswith(self._state.context + "/"):
            raise web.HTTPNotFound
        if self._state.strict_query and any(sign in request.rel_url.raw_query_string for sign in _BARE):
            raise web.HTTPBadRequest(text="Illegal character in query", content_type="text/html")
        segments = [unquote(segment) for segment in raw[len(self._state.context) :].split("/") if segment]
        if request.method not in ("GET", "HEAD", "POST"):
            raise web.HTTPMethodNotAllowed(request.method, ["GET", "POST"])
        self._state.access.may_read(identity)
        response = await self._route(request, identity, segments)
        response.headers.update({"X-Jenkins": VERSION, "X-Jenkins-Session": self._state.session})
        return response

    async def _route(self, request: web.Request, identity: Identity, path: list[str]) -> web.StreamResponse:
        match path:
            case ["crumbIssuer", "api", "json"]:
                return self._state.access.issue_crumb(request)
            case ["me", "api", "json"] if identity.account:
                return self._json(request, {"_class": "hudson.model.User", "id": identity.account.login})
            case ["computer", "api", "json"]:
                return self._json(request, self._computers(request))
            case ["queue", *rest]:
                return await self._route_queue(request, identity, rest)
        folder, rest = "", path
        while len(rest) >= 2 and rest[0] == "job":
            name = f"{folder}/{rest[1]}".lstrip("/")
            if name in self._state.jobs:
                return await self._route_job(request, identity, self._state.jobs[name], rest[2:])
            if not any(other.startswith(f"{name}/") for other in self._state.jobs):
                raise web.HTTPNotFound
            folder, rest = name, rest[2:]
        if rest == ["api", "json"]:
            return self._json(request, self._folder(request, folder))
        if not rest:
            return web.Response(text="<html><title>Jenkins</title></html>", content_type="text/html")
        raise web.HTTPNotFound

    async def _route_queue(self, request: web.Request, identity: Identity, path: list[str]) -> web.StreamResponse:
        base = self._base(request)
        now = self._state.clock.monotonic()
        match path:
            case ["api", "json"]:
                items = [
                    documents.queue_document(entry, base, job_url(base, entry.job), now)
                    for entry in self._state.scheduler.waiting()
                ]
                return self._json(request, {"_class": "hudson.model.Queue", "items": items})
            case ["item", number, *rest] if number.isdecimal():
                entry = self._state.scheduler.entry(int(number))
                if entry is None:
                    raise web.HTTPNotFound
                if rest == ["api", "json"]:
                    task_url = job_url(base, entry.job)
                    return self._json(request, documents.queue_document(entry, base, task_url, now))
                return web.Response(text="<html><title>Queue item</title></html>", content_type="text/html")
            case ["cancelItem"]:
                self._writing(request, identity)
                number = request.query.get("id", "")
                done = number.isdecimal() and self._state.scheduler.cancel(int(number))
                return web.Response(status=204 if done else 404)
        raise web.HTTPNotFound

    async def _route_job(
        self, request: web.Request, identity: Identity, job: Job, path: list[str]
    ) -> web.StreamResponse:
        base = self._base(request)
        url, now = job_url(base, job), self._state.clock.monotonic()
        match path:
            case ["api", "json"]:
                costly = "allBuilds" in request.query.get("tree", "")
                queued = next((entry for entry in self._state.scheduler.waiting() if entry.job is job), None)
                return self._json(request, documents.job_document(job, url, queued, base, now, all_builds=costly))
            case ["build" | "buildWithParameters" as entry]:
                self._writing(request, identity)
                return await self._start(request, identity, job, entry)
            case ["wfapi", "runs"]:
                path_ = self._run_path(url)
                runs = job.newest_first()[:10]
                return web.json_response([documents.stages_document(run, f"{path_}{run.number}/", now) for run in runs])
            case [name, *rest] if name.isdecimal() or name in _ALIASES:
                return await self._route_run(request, identity, self._find(job, name, url, now), rest, url)
        raise web.HTTPNotFound

    async def _route_run(
        self, request: web.Request, identity: Identity, run: Run, path: list[str], url: str
    ) -> web.StreamResponse:
        now = self._state.clock.monotonic()
        own = f"{self._run_path(url)}{run.number}/"
        match path:
            case ["api", "json"]:
                return self._json(request, documents.run_document(run, url, now))
            case ["consoleText"] if not run.log_gone:
                return web.Response(body=run.log.clean(now), content_type="text/plain", charset="utf-8")
            case ["logText", "progressiveText"] if not run.log_gone:
                return self._progressive(request, run, now)
            case ["stop" | "term" | "kill"]:
                self._writing(request, identity)
                self._state.scheduler.abort(run, request[LOGIN] or "anonymous")
                return web.Response(status=302, headers={"Location": f"{url}{run.number}/"})
            case ["testReport", "api", "json"]:
                return self._json(request, _found(documents.tests_document(run, now)))
            case ["wfapi", "describe"]:
                return web.json_response(documents.stages_document(run, own, now))
            case ["execution", "node", node, "wfapi", "describe"] if node.isdecimal():
                return web.json_response(_found(documents.node_document(run, int(node), own, now)))
            case ["execution", "node", node, "wfapi", "log"] if node.isdecimal():
                return web.json_response(_found(documents.node_log(run, int(node), own, now)))
            case []:
                return web.Response(text=f"<html><title>#{run.number}</title></html>", content_type="text/html")
        raise web.HTTPNotFound

    async def _start(self, request: web.Request, identity: Identity, job: Job, entry: str) -> web.Response:
        settings = job.settings
        given = {**request.query, **{name: str(value) for name, value in (await request.post()).items()}}
        quiet = _delay(given.pop("delay", ""))
        if not settings.buildable:
            raise web.HTTPConflict(text=f"{settings.name} is not buildable", content_type="text/html")
        if entry == "buildWithParameters" and not settings.parameters:
            raise web.HTTPBadRequest(text="the job is not parameterized", headers={"X-Error": "not parameterized"})
        if entry == "build" and settings.parameters:
            if "json" not in given:
                raise web.HTTPBadRequest(text="Nothing is submitted", headers={"X-Error": "Nothing is submitted"})
            given = _submitted(given["json"])
        if settings.refuse:
            return web.Response(status=302, headers={"Location": "."})
        parameters = {name: given.get(name, "") for name in settings.parameters}  # unknown ones are dropped silently
        user = identity.account.login if identity.account else "anonymous"
        queued, folded = self._state.scheduler.enqueue(job, parameters, f"Started by user {user}", quiet=quiet)
        status = 303 if folded and entry == "buildWithParameters" else 201
        return web.Response(status=status, headers={"Location": f"{self._base(request)}queue/item/{queued.queue_id}/"})

    def _progressive(self, request: web.Request, run: Run, now: float) -> web.Response:
        start = request.query.get("start", "0")
        answer = run.log.progressive(
            int(start) if start.isdecimal() else 0,
            now,
            finished=not run.building(now) and run.result(now) is not None,
            cut_lines=self._state.cut_lines,
        )
        headers = {"X-Text-Size": str(answer.size)} | ({"X-More-Data": "true"} if answer.more else {})
        return web.Response(body=answer.body, headers=headers, content_type="text/plain", charset="utf-8")

    def _writing(self, request: web.Request, identity: Identity) -> None:
        if request.method != "POST":
            raise web.HTTPMethodNotAllowed(request.method, ["POST"])
        self._state.access.may_write(identity, request)

    def _find(self, job: Job, name: str, url: str, now: float) -> Run:
        if not name.isdecimal():
            named = documents.job_document(job, url, None, "", now)[name]
            name = str(named["number"]) if named else "0"
        return _found(job.runs.get(int(name)))

    def _folder(self, request: web.Request, folder: str) -> dict[str, Any]:
        base = self._base(request)
        kind = "com.cloudbees.hudson.plugins.folder.Folder" if folder else "hudson.model.Hudson"
        name = folder.rpartition("/")[2]
        return {"_class": kind, "name": name, "jobs": self._listed(base, folder), "url": base + _path(folder)}

    def _listed(self, base: str, folder: str) -> list[dict[str, Any]]:
        prefix = f"{folder}/" if folder else ""
        now = self._state.clock.monotonic()
        entries: dict[str, dict[str, Any]] = {}
        for name, job in self._state.jobs.items():
            head, _, tail = name.removeprefix(prefix).partition("/")
            if not name.startswith(prefix) or head in entries:
                continue
            inner = prefix + head
            entries[head] = documents.job_entry(job, job_url(base, job), now)
            if tail:
                kind = "com.cloudbees.hudson.plugins.folder.Folder"
                listed = self._listed(base, inner)
                entries[head] = {"_class": kind, "name": head, "url": base + _path(inner), "jobs": listed}
        return list(entries.values())

    def _computers(self, request: web.Request) -> dict[str, Any]:
        base, now = self._base(request), self._state.clock.monotonic()
        running = [
            {"currentExecutable": documents.run_document(run, job_url(base, job), now)}
            for job in self._state.jobs.values()
            for run in job.newest_first()
            if run.building(now)
        ]
        computer = {
            "_class": "hudson.model.Hudson$MasterComputer",
            "displayName": "Built-In Node",
            "numExecutors": self._state.executors,
            "executors": [],
            "oneOffExecutors": running,
            "offline": False,
        }
        return {"_class": "hudson.model.ComputerSet", "computer": [computer]}

    def _json(self, request: web.Request, document: dict[str, Any]) -> web.Response:
        tree = request.query.get("tree", "")
        if tree:
            try:
                shown = apply_tree(document, parse_tree(tree))
            except TreeSyntaxError as error:
                raise web.HTTPBadRequest(text=str(error), headers={"X-Error": str(error)}) from error
        else:
            depth = request.query.get("depth", "0")
            document = {name: value for name, value in document.items() if name != "allBuilds"}
            shown = shallow(document, 1 + (int(depth) if depth.isdecimal() else 0))
        return web.json_response(shown, dumps=_dumps)

    def _base(self, request: web.Request) -> str:
        return f"{request.scheme}://{request.host}{self._state.context}/"  # like Jenkins, the host that was asked for

    def _run_path(self, job_url: str) -> str:
        return "/" + job_url.split("/", 3)[3]


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def job_url(base: str, job: Job) -> str:
    """Web address of a job, with a final slash."""
    return f"{base}{_path(job.settings.name)}"


def _path(name: str) -> str:
    return "".join(f"job/{quote(segment, safe='')}/" for segment in name.split("/") if segment)


def _delay(text: str) -> float | None:
    digits = text.removesuffix("sec").removesuffix("s")
    return float(digits) if digits.isdecimal() else None


def _submitted(text: str) -> dict[str, str]:
    try:
        form = json.loads(text)
    except ValueError as error:
        raise web.HTTPBadRequest(text="json does not parse") from error
    listed = form.get("parameter", []) if isinstance(form, dict) else []
    entries = listed if isinstance(listed, list) else [listed]
    return {str(entry["name"]): str(entry.get("value", "")) for entry in entries if "name" in entry}


def _found(value: T | None) -> T:
    if value is None:
        raise web.HTTPNotFound
    return value
