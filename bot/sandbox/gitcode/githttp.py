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
"""Git over HTTP: a bridge from the web server to ``git http-backend``, with the forge's access rules."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from pathlib import Path

from aiohttp import web

from bot.sandbox.gitcode import gitrepo
from bot.sandbox.gitcode.actions import Actions
from bot.sandbox.gitcode.state import DEVELOPER, Repo, User

_ZERO = "0" * 40
_DENIED = "<CH.00905401> HTTP Basic: Access denied. The provided password or token is incorrect; use an access token\n"
_NOT_ALLOWED = "You are not allowed to push code to this project.\n"
_SERVICES = ("info/refs", "git-upload-pack", "git-receive-pack")


class GitBridge:
    """Serves clone, fetch and push of every repository, and tells :class:`Actions` which branches a push moved."""

    def __init__(self, actions: Actions, root: Path) -> None:
        self._actions = actions
        self._root = root

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One request of git's smart HTTP protocol."""
        service = request.match_info["service"]
        name = f"{request.match_info['owner']}/{request.match_info['repo']}"
        repo = self._actions.world.repos.get(name)
        if repo is None or service not in _SERVICES:
            return web.Response(status=404, text="repository not found\n")
        pushes = "git-receive-pack" in (service, request.query.get("service", ""))
        user, refusal = self._authorise(request, repo, pushes=pushes)
        if refusal is not None:
            return refusal
        body = await request.content.read()  # aiohttp has undone chunks and gzip
        if service != "git-receive-pack":
            return await self._run(request, repo, user, service, body)
        async with self._actions.lock:
            before = await gitrepo.refs(repo.git_dir)
            response = await self._run(request, repo, user, service, body)
            after = await gitrepo.refs(repo.git_dir)
        await self._tell(repo, user.login if user else "", before, after)
        return response

    def _authorise(self, request: web.Request, repo: Repo, *, pushes: bool) -> tuple[User | None, web.Response | None]:
        token = _basic_password(request.headers.get("Authorization", ""))
        user = self._actions.world.user_of_token(token)
        if user is None and (pushes or token):
            return None, web.Response(
                status=401,
                text=_DENIED,
                headers={"WWW-Authenticate": 'Basic realm="GitCode"'},
                content_type="text/plain",
            )
        if pushes and user is not None:
            allowed = repo.level(user.login) >= DEVELOPER and "write_repository" in user.scopes
            if not allowed:
                return None, web.Response(status=403, text=_NOT_ALLOWED, content_type="text/plain")
        return user, None

    async def _run(
        self, request: web.Request, repo: Repo, user: User | None, service: str, body: bytes
    ) -> web.Response:
        environment = {
            **gitrepo.environment(self._root),
            "GIT_PROJECT_ROOT": str(repo.git_dir),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": f"/{service}",
            "REQUEST_METHOD": request.method,
            "QUERY_STRING": request.query_string,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_ADDR": request.remote or "",
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        }
        if user is not None:
            environment["REMOTE_USER"] = user.login
        process = await asyncio.create_subprocess_exec(
            "git",
            "http-backend",
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate(body)
        if process.returncode and not out:
            return web.Response(status=500, text=err.decode("utf-8", "replace"))
        status, headers, payload = read_cgi(out)
        return web.Response(status=status, body=payload, headers=headers)

    async def _tell(self, repo: Repo, actor: str, before: Mapping[str, str], after: Mapping[str, str]) -> None:
        for ref in sorted(before.keys() | after.keys()):
            old, new = before.get(ref, _ZERO), after.get(ref, _ZERO)
            if old != new and ref.startswith("refs/heads/"):
                await self._actions.branch_moved(repo, actor, ref.removeprefix("refs/heads/"), old, new)


def read_cgi(out: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of a CGI program's output."""
    head, _, body = out.partition(b"\r\n\r\n")
    headers: dict[str, str] = {}
    status = 200
    for line in head.decode("latin-1").splitlines():
        name, _, value = line.partition(":")
        if name.lower() == "status":
            status = int(value.split()[0])
        else:
            headers[name.strip()] = value.strip()
    return status, headers, body


def _basic_password(header: str) -> str:
    kind, _, encoded = header.partition(" ")
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(encoded).decode("utf-8", "replace").partition(":")[2]
    except binascii.Error:
        return ""
