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
"""One request to Jenkins: authentication, crumb, and the answer's status turned into an error by remedy."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import aiohttp
from multidict import CIMultiDictProxy
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential
from yarl import URL

from bot.clock import Clock
from bot.errors import NotFound, Refused, RetryLater, TellOperator

LOG = logging.getLogger(__name__)
MAX_DOCUMENT = 64 << 20  # a JSON answer beyond this is a fault of the query, not something to hold in memory
LONGEST_WAIT = 120.0  # seconds; a server that asks for more is left to the caller's own wake-ups
_PASSING = {408, 425, 429, 500, 502, 503, 504}


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer: status, headers and body."""

    status: int
    headers: CIMultiDictProxy[str]
    body: bytes

    def document(self) -> dict[str, Any]:
        """The body as a JSON object. ``RetryLater`` when it is none, as from a proxy's error page sent as 200."""
        try:
            document = json.loads(self.body.decode("utf-8", "replace"))
        except ValueError as error:
            raise RetryLater("Jenkins answered with something that is not JSON") from error
        if not isinstance(document, dict):
            raise RetryLater("Jenkins answered with JSON that is no object")
        return document


class Transport:
    """Sends requests to one server. The API token never appears in a log line or an error.

    Args:
        base_url: Root of the server with its context path, if any.
        clock: Waits between attempts.
        user: Login for HTTP basic authentication; empty for anonymous reading.
        token: The user's API token (a password works too, at the price of a crumb per session).
        timeout: Real seconds without a byte before a request is given up.
        attempts: How often a read is tried while the trouble looks passing.
    """

    def __init__(
        self,
        base_url: str,
        *,
        clock: Clock,
        user: str = "",
        token: str = "",
        timeout: float = 30.0,
        attempts: int = 4,
    ) -> None:
        self.base_url = base_url.rstrip("/") + "/"
        self._clock = clock
        # Pre-emptive: Jenkins does not challenge where anonymous may read, and it skips the crumb for a token.
        self._auth = aiohttp.encode_basic_auth(user, token) if user else ""
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=timeout, sock_read=timeout)
        self._attempts = attempts
        self._session: aiohttp.ClientSession | None = None
        self._crumb: dict[str, str] | None = None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def get(self, path: str, query: str = "") -> Answer:
        """A whole GET, repeated while the trouble is passing."""
        async for attempt in self._retrying():
            with attempt:
                async with self._send("GET", path, query) as response:
                    answer = Answer(response.status, response.headers, await _read(response))
                    _raise_for(answer, path)
                    return answer
        raise AssertionError("tenacity ended without a result")  # reraise=True leaves no other way out

    async def stream(self, path: str, chunk: int = 1 << 16) -> AsyncIterator[bytes]:
        """A GET in chunks. Only its beginning is repeated: after the first byte a break raises ``RetryLater``."""
        async with AsyncExitStack() as stack:
            response = await self._begin(path, stack)
            async for data in response.content.iter_chunked(chunk):
                yield data

    async def _begin(self, path: str, stack: AsyncExitStack) -> aiohttp.ClientResponse:
        async for attempt in self._retrying():
            with attempt:
                async with AsyncExitStack() as trial:
                    response = await trial.enter_async_context(self._send("GET", path))
                    if response.status != HTTPStatus.OK:
                        _raise_for(Answer(response.status, response.headers, await _read(response)), path)
                    stack.push_async_exit(trial.pop_all())
                    return response
        raise AssertionError("tenacity ended without a result")

    async def post(self, path: str, form: Mapping[str, str] | None = None) -> Answer:
        """A POST, sent once; only a stale or missing crumb is mended and sent again, for then nothing took effect.

        Raises:
            RetryLater: ``effect_unknown`` is set when the request may have been carried out without an answer.
        """
        answer = await self._post(path, form)
        if _lacks_crumb(answer):
            await self._fetch_crumb()
            answer = await self._post(path, form)
        _raise_for(answer, path, accepted=(201, 302, 303), effect_unknown=True)
        return answer

    async def _post(self, path: str, form: Mapping[str, str] | None) -> Answer:
        async with self._send("POST", path, form=form or {}, headers=self._crumb or {}) as response:
            return Answer(response.status, response.headers, await _read(response))

    async def _fetch_crumb(self) -> None:
        """The crumb is bound to the session's cookie, so it goes through the same cookie jar."""
        try:
            document = (await self.get("crumbIssuer/api/json")).document()
        except NotFound:
            self._crumb = {}  # protection is off
            return
        self._crumb = {str(document.get("crumbRequestField")): str(document.get("crumb"))}

    @asynccontextmanager
    async def _send(
        self,
        method: str,
        path: str,
        query: str = "",
        *,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        url = self.base_url + path + (f"?{query}" if query else "")
        sent = dict(headers or {}) | ({"Authorization": self._auth} if self._auth else {})
        LOG.debug("jenkins %s %s", method, path)
        try:
            async with self._open().request(
                method,
                _as_written(url),
                data=form if method == "POST" else None,
                headers=sent,
                allow_redirects=False,  # the target's host is the server's guess, and the token must not follow it
                timeout=self._timeout,
            ) as response:
                yield response
        except (aiohttp.ClientError, TimeoutError, ConnectionError) as error:
            unknown = method == "POST" and not isinstance(error, aiohttp.ClientConnectorError)
            raise RetryLater(f"Jenkins {method} {path}: {type(error).__name__}", effect_unknown=unknown) from error

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        return self._session

    def _retrying(self) -> AsyncRetrying:
        return AsyncRetrying(
            retry=retry_if_exception(_is_worth_waiting),
            stop=stop_after_attempt(self._attempts),
            wait=_wait,
            sleep=self._clock.sleep,
            reraise=True,
        )


_back_off = wait_exponential(multiplier=0.5, max=8.0)


def _is_worth_waiting(error: BaseException) -> bool:
    return isinstance(error, RetryLater) and error.delay <= LONGEST_WAIT


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.delay if isinstance(error, RetryLater) else 0.0
    return max(asked, _back_off(state))


def _as_written(url: str) -> URL:
    return URL(url, encoded=True)  # yarl would decode %5B and %7B again, and the servlet container refuses them bare


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for data in response.content.iter_chunked(1 << 16):
        body += data
        if len(body) > MAX_DOCUMENT:
            raise Refused(f"Jenkins' answer is larger than {MAX_DOCUMENT} bytes")
    return bytes(body)


def _lacks_crumb(answer: Answer) -> bool:
    return answer.status == HTTPStatus.FORBIDDEN and b"No valid crumb" in answer.body


def _raise_for(answer: Answer, path: str, *, accepted: tuple[int, ...] = (), effect_unknown: bool = False) -> None:
    status = answer.status
    if status in accepted or HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return
    where = f"Jenkins {path}: {status}"
    if status in _PASSING:
        unknown = effect_unknown and status >= HTTPStatus.INTERNAL_SERVER_ERROR
        raise RetryLater(where, delay=_retry_after(answer.headers), effect_unknown=unknown)
    if status == HTTPStatus.NOT_FOUND:
        raise NotFound(where)
    if status == HTTPStatus.UNAUTHORIZED:
        raise TellOperator(f"{where}: jenkins.user and jenkins.token were not accepted", hint="cli.hint.jenkins_login")
    if status == HTTPStatus.FORBIDDEN:
        raise TellOperator(
            f"{where}: the account in jenkins.user lacks the permission for this", hint="cli.hint.jenkins_right"
        )
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        raise TellOperator(
            f"{where}: the server redirects; jenkins.url should be its final address", hint="cli.hint.jenkins_url"
        )
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise RetryLater(where, effect_unknown=effect_unknown)
    raise Refused(f"{where}{_reason(answer)}")


def _retry_after(headers: Mapping[str, str]) -> float:
    value = headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
        now = parsedate_to_datetime(headers.get("Date", ""))
    except ValueError:
        return 0.0
    return max(0.0, (when - now).total_seconds())


def _reason(answer: Answer) -> str:
    reason = answer.headers.get("X-Error", "")
    return f" ({reason[:200]})" if reason else ""
