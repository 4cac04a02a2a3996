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
"""What every REST call passes: the record, scripted faults, the token, the rate limit, and the wording of errors."""

from __future__ import annotations

import json
from collections import deque
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from bot.clock import Clock
from bot.sandbox.gitcode import gitrepo
from bot.sandbox.gitcode.actions import ApiError, refuse
from bot.sandbox.gitcode.options import Options
from bot.sandbox.gitcode.state import User, World

API = "/api/v5"
USER = web.RequestKey("user", User)
_NO_TOKEN = {"error_message": "Invalid header parameter: private-token, required"}
_BAD_TOKEN = {"message": "401 Unauthorized"}


@dataclass(frozen=True)
class Recorded:
    """A request that came in.

    Attributes:
        status: HTTP status; 0 when it was left without an answer.
        login: Whose token it carried; empty without one.
        known: Whether there is such an endpoint.
    """

    method: str
    path: str
    query: str
    login: str
    status: int
    at: datetime
    known: bool = True

    @property
    def is_api(self) -> bool:
        """Whether it was a REST call, and not git or a page."""
        return self.path.startswith(API)


def recorder(records: list[Recorded], world: World, clock: Clock) -> Middleware:
    """Keep every request with its status."""

    @web.middleware
    async def record(request: web.Request, handler: Handler) -> web.StreamResponse:
        status = 0
        try:
            response = await handler(request)
            status = 0 if request.transport is None or request.transport.is_closing() else response.status
            return response
        except web.HTTPException as error:
            status = error.status
            raise
        finally:
            user = world.user_of_token(token_of(request))
            login = user.login if user else ""
            known, query = request.match_info.http_exception is None, request.query_string
            records.append(Recorded(request.method, request.path, query, login, status, clock.now(), known))

    return record


def error_texts() -> Middleware:
    """Turn refusals into the forge's error bodies."""

    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except ApiError as error:
            return web.json_response(error.body, status=error.status)
        except gitrepo.GitFailure as error:
            return web.json_response(refuse(400, str(error)).body, status=400)
        except web.HTTPNotFound:
            return web.json_response({"message": "404 Not Found"}, status=404)

    return answer


def gatekeeper(world: World, options: Options, clock: Clock) -> Middleware:
    """Tokens, scopes and the rate limit of REST calls; the clock stands still while a call is worked on."""
    spent: dict[str, deque[float]] = {}
    hold = getattr(clock, "hold", nullcontext)

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.startswith(API):
            with hold():
                return await handler(request)
        token = token_of(request)
        if not token:
            raise ApiError(400, _NO_TOKEN)
        user = world.user_of_token(token)
        if user is None:
            raise ApiError(401, _BAD_TOKEN)
        wait = _over_limit(spent.setdefault(token, deque()), options, clock.monotonic())
        if wait:
            headers = {"Retry-After": str(int(wait) + 1)} if options.retry_after else {}
            return web.json_response({"message": "429 Too Many Requests"}, status=429, headers=headers)
        check_scopes(request, user)
        request[USER] = user
        with hold():
            return await handler(request)

    return guard


def check_scopes(request: web.Request, user: User) -> None:
    """Too few scopes have two texts, one of them on ``/user``."""
    if request.path == f"{API}/user" and "read_user" not in user.scopes:
        raise ApiError(403, {"error_message": "no scopes:read_user"})
    if "api" not in user.scopes and (request.method != "GET" or request.path != f"{API}/user"):
        raise refuse(403, "CH.00000403 apig token has not permission to request url")


def _over_limit(calls: deque[float], options: Options, now: float) -> float:
    """Count a call and return 0, or the seconds until one fits again. A refused call is not counted."""
    while calls and now - calls[0] >= 3600:
        calls.popleft()
    for limit, span in ((options.calls_per_minute, 60.0), (options.calls_per_hour, 3600.0)):
        recent = [moment for moment in calls if now - moment < span]
        if limit and len(recent) >= limit:
            return max(0.001, recent[-limit] + span - now)
    calls.append(now)
    return 0.0


def token_of(request: web.Request) -> str:
    """The token in either header; a query counts for reading only, and one in the body never."""
    bearer = request.headers.get("Authorization", "")
    if bearer.startswith("Bearer "):
        return bearer.removeprefix("Bearer ").strip()
    header = request.headers.get("PRIVATE-TOKEN", "")
    return header or (request.query.get("access_token", "") if request.method == "GET" else "")


async def body_of(request: web.Request) -> Any:
    """The body of a write: JSON, or a form as a dictionary."""
    if request.content_type in ("application/x-www-form-urlencoded", "multipart/form-data"):
        return dict(await request.post())
    raw = await request.read()
    if not raw.strip():
        return {}
    try:
        body = json.loads(raw)
        json.dumps(body, ensure_ascii=False).encode()  # half a surrogate pair cannot be stored
    except ValueError as error:
        raise refuse(400, "Malformed JSON") from error
    return body


async def fields_of(request: web.Request) -> dict[str, Any]:
    """The body of a write as a dictionary."""
    body = await body_of(request)
    if not isinstance(body, dict):
        raise refuse(400, "body should be an object")
    return body


def paged(request: web.Request, items: list[Any], options: Options, *, default: int = 20) -> web.Response:
    """A page of a list, with GitCode's header names (lower case, underscore) where they are switched on."""
    page = _number(request, "page", 1)
    per_page = min(100, _number(request, "per_page", default))
    size = max(1, per_page - 1) if options.short_pages else per_page
    total_pages = -(-len(items) // size)
    headers = {"total_page": str(total_pages), "total_count": str(len(items))} if options.total_headers else {}
    return web.json_response(items[(page - 1) * size : page * size], headers=headers)


def _number(request: web.Request, name: str, default: int) -> int:
    raw = request.query.get(name, "")
    if not raw:
        return default
    if not (raw.isascii() and raw.isdigit() and 0 < int(raw) < 10**9):
        raise ApiError(400, {"error_message": f"Orchestration error: Invalid query parameter: {name}, number required"})
    return int(raw)
