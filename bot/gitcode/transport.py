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
"""The one place that talks to GitCode: waits for its turn, sends, counts, retries by remedy.

Retries: a call that the forge refused before it did anything (429, 418, "not there yet") and a repeatable call that
failed in passing are tried again after the wait asked for. A call that is not repeatable and got no clear answer is
never sent twice: it ends in ``RetryLater(effect_unknown=True)``, and the caller looks whether it took effect.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

import aiohttp
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential
from yarl import URL

from bot.clock import Clock
from bot.errors import NotFound, RetryLater
from bot.forge import Priority
from bot.gitcode.comment_text import tamed
from bot.gitcode.errors import Answer, Firewalled, NotYetThere, RateLimited, read_answer
from bot.gitcode.limiter import Limiter
from bot.gitcode.requests import Request
from bot.gitcode.settings import GitCodeSettings

_log = logging.getLogger(__name__)
_back_off = wait_random_exponential(multiplier=1, max=30)


@dataclass(frozen=True)
class Call:
    """One call that was sent, for metrics. ``status`` is 0 when no answer came; ``seconds`` are the clock's."""

    method: str
    route: str
    status: int
    seconds: float
    priority: Priority


class Transport:
    """Sends requests.

    Args:
        settings: Where to, as whom, how fast.
        clock: For the limiter, back-off and measuring.
        on_call: Told of every call that was sent.
        show: Shows a write in dry-run mode.
    """

    def __init__(
        self,
        settings: GitCodeSettings,
        *,
        clock: Clock,
        on_call: Callable[[Call], None] | None = None,
        show: Callable[[str], None] = print,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._on_call = on_call
        self._show = show
        self._session: aiohttp.ClientSession | None = None
        self._root = str(settings.base_url).rstrip("/")
        self._token = settings.token.get_secret_value().strip()  # a file with a secret often ends in a line end
        self.limiter = Limiter(
            clock,
            per_minute=settings.calls_per_minute,
            per_hour=settings.calls_per_hour,
            longest_wait=settings.longest_wait_s,
        )
        self.calls = 0

    async def send(self, request: Request, priority: Priority) -> Answer:
        """Send a request and read its answer, with retries.

        Raises:
            GateBotError: Sorted by remedy; see ``bot.gitcode.errors``.
        """
        if self._settings.dry_run and request.is_write:
            self._show(describe(request, self._root))
            return Answer(0, dry=True)
        try:
            return await self._send_retrying(request, priority)
        except NotYetThere as error:  # after as many tries it is not going to come
            raise NotFound(str(error)) from error
        except Firewalled as error:
            if not request.text or error.delay > self._settings.longest_wait_s:
                raise
            return await self._send_retrying(request.with_text(tamed(request.text)), priority)

    async def close(self) -> None:
        """Close the connections and let go of everyone who waits for a turn."""
        await self.limiter.close()
        if self._session is not None:
            await self._session.close()

    async def _send_retrying(self, request: Request, priority: Priority) -> Answer:
        def worth_it(error: BaseException) -> bool:
            if not isinstance(error, RetryLater) or error.effect_unknown:
                return False
            if isinstance(error, Firewalled) and request.text:
                return False  # the same text would be refused again
            return error.delay <= self._settings.longest_wait_s

        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._settings.attempts),
            retry=retry_if_exception(worth_it),
            wait=_wait,
            sleep=self._clock.sleep,
            reraise=True,
        )
        return await retrying(self._send_once, request, priority)

    async def _send_once(self, request: Request, priority: Priority) -> Answer:
        await self.limiter.turn(priority)
        started = self._clock.monotonic()
        status = 0
        self.calls += 1
        try:
            status, headers, body = await self._exchange(request)
            return read_answer(request, status, headers, body, self._clock.now())
        except RateLimited as error:
            self.limiter.pause(error.delay)
            raise
        finally:
            call = Call(request.method, request.route, status, self._clock.monotonic() - started, priority)
            _log.info("gitcode %s %s -> %s (%.3f s)", call.method, request.path, status or "no answer", call.seconds)
            if self._on_call is not None:
                self._on_call(call)

    async def _exchange(self, request: Request) -> tuple[int, Mapping[str, str], bytes]:
        unknown = request.is_write and not request.repeatable
        try:
            async with self._open().request(
                request.method,
                URL(self._root + request.path, encoded=True),
                params=dict(request.query),
                json=request.body if request.form is None and request.body is not None else None,
                data=dict(request.form) if request.form is not None else None,
                allow_redirects=False,  # a redirect would carry the token to another host
            ) as response:
                return response.status, response.headers, await response.read()
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise RetryLater(f"{request.method} {request.path}: cannot connect: {self._censor(error)}") from error
        except (aiohttp.ClientError, TimeoutError) as error:
            what = "timed out" if isinstance(error, TimeoutError) else self._censor(error)
            raise RetryLater(f"{request.method} {request.path}: {what}", effect_unknown=unknown) from error

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=self._settings.timeout_s, sock_connect=10),
                headers=self._headers(),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=self._settings.proxy_from_environment,
            )
        return self._session

    def _headers(self) -> dict[str, str]:
        if self._settings.auth_header == "bearer":
            auth = {"Authorization": f"Bearer {self._token}"}
        else:
            auth = {"PRIVATE-TOKEN": self._token}
        return {**auth, "User-Agent": self._settings.user_agent, "Accept": "application/json"}

    def _censor(self, error: BaseException) -> str:
        return censor(f"{type(error).__name__}: {error}", self._token)


def censor(text: str, secret: str) -> str:
    """Replace a secret in a text, in plain, base64 and URL-encoded form."""
    forms = {secret, base64.b64encode(secret.encode()).decode(), quote(secret, safe="")}
    for form in sorted(forms, key=len, reverse=True):
        if form:
            text = text.replace(form, "***")
    return text


def describe(request: Request, root: str) -> str:
    """A write as one line, for dry-run."""
    body = request.form if request.form is not None else request.body
    tail = "" if body is None else " " + json.dumps(body, ensure_ascii=False)
    return f"[dry-run] {request.method} {root}{request.path}{tail}"


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.delay if isinstance(error, RetryLater) else 0.0
    return asked or _back_off(state)
