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
"""``POST /webhook``: nothing is acknowledged before it is durable, and each kind of bad input has its own answer.

Order: a secret must be configured, then size limit, signature, content type, JSON, classification, store, reply. The
forge's own retry policy is unknown, so a 2xx means "kept or not wanted" and 503 means "send it again".
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from aiohttp import web

from bot.errors import GateBotError
from bot.intake.events import Ignored, Inbox, StoredEvent
from bot.intake.payloads import delivery_keys, read_event
from bot.intake.signature import PREFIXES, SignatureVerdict, verify

logger = logging.getLogger(__name__)

Count = Callable[[str, str], None]


@dataclass(frozen=True)
class ReceiverSettings:
    """What the receiver must be told.

    Attributes:
        secrets: All secrets valid now, for both of the forge's modes; without any the receiver refuses everything.
        max_bytes: Largest body read; larger ones get 413.
        store_timeout: Seconds to wait for the store before answering 503.
        own_logins: Logins GateBot writes under; its own comments are not events.
        repos: ``owner/name`` of the repositories served; empty means all.
    """

    secrets: tuple[str, ...] = field(repr=False)
    max_bytes: int = 4 * 1024 * 1024
    store_timeout: float = 8.0
    own_logins: frozenset[str] = frozenset()
    repos: frozenset[str] = frozenset()


class Receiver:
    """The aiohttp handlers of one webhook path.

    Args:
        inbox: The durable store.
        settings: See :class:`ReceiverSettings`.
        now: The clock; gives an aware time.
        count: Called once per request with (outcome, event): ``accepted``, ``duplicate``, ``ignored``,
            ``no-secret``, ``too-large``, ``bad-signature``, ``wrong-type``, ``bad-json``, ``store-down``. For an
            ignored event the second word is ``event/reason``.
    """

    def __init__(
        self, inbox: Inbox, settings: ReceiverSettings, *, now: Callable[[], datetime], count: Count | None = None
    ) -> None:
        self._inbox = inbox
        self._settings = settings
        self._now = now
        self._count: Count = count or (lambda _outcome, _event: None)
        if not any(secret.strip() for secret in settings.secrets):
            logger.error("webhook: no secret is configured, every delivery will be refused (webhook.secrets)")

    def routes(self, path: str = "/webhook") -> list[web.RouteDef]:
        """Routes to add to the application: the forge probes with GET when a hook is saved."""
        return [web.post(path, self.receive), web.get(path, self.probe)]

    async def probe(self, _request: web.Request) -> web.Response:
        """Answer the GET probe (HEAD too)."""
        return _answer(200, "ready")

    async def receive(self, request: web.Request) -> web.Response:
        """Handle one delivery; see the module's order."""
        if not any(secret.strip() for secret in self._settings.secrets):
            logger.error("webhook: refused a delivery, no secret is configured (webhook.secrets)")
            return self._done(503, "no-secret")
        body = await _read_body(request, self._settings.max_bytes)
        if body is None:
            return self._done(413, "too-large")
        verdict = verify(request.headers, body, self._settings.secrets)
        if verdict is not SignatureVerdict.VALID:
            logger.warning("webhook: signature %s, from %s", verdict.value, request.remote)
            return self._done(401, "bad-signature")
        if not _is_json(request.content_type):
            return self._done(415, "wrong-type")
        payload = _parse(body)
        if payload is None:
            return self._done(400, "bad-json")
        return await self._accept(request, payload)

    async def _accept(self, request: web.Request, payload: dict[str, object]) -> web.Response:
        settings = self._settings
        event = read_event(_header(request, "event"), payload, own_logins=settings.own_logins, repos=settings.repos)
        if isinstance(event, Ignored):
            logger.info("webhook: ignored %s (%s)", event.event, event.reason)
            return self._done(202, "ignored", f"{event.event}/{event.reason}")
        keys = delivery_keys(event, payload, _header(request, "delivery"))
        stored = StoredEvent(keys=keys, received_at=self._now(), event=event)
        try:
            async with asyncio.timeout(settings.store_timeout):
                is_new = await self._inbox.put(stored)
        except (GateBotError, TimeoutError) as error:  # known trouble: a line, for every sender comes again
            logger.error("webhook: could not store %s, answered 503: %s", keys.effect, str(error) or "too late")
            return self._done(503, "store-down", event.kind)
        except Exception:  # whatever the store's trouble is, the sender must learn that nothing was kept
            logger.exception("webhook: could not store %s, answered 503", keys.effect)
            return self._done(503, "store-down", event.kind)
        return self._done(202, "accepted", event.kind) if is_new else self._done(200, "duplicate", event.kind)

    def _done(self, status: int, outcome: str, event: str = "none") -> web.Response:
        self._count(outcome, event)
        return _answer(status, outcome)


def _answer(status: int, outcome: str) -> web.Response:
    return web.json_response({"status": outcome}, status=status)


def _header(request: web.Request, name: str) -> str:
    return next((request.headers[prefix + name] for prefix in PREFIXES if request.headers.get(prefix + name)), "")


async def _read_body(request: web.Request, limit: int) -> bytes | None:
    """The whole body, or None as soon as it is known to exceed ``limit`` bytes (also when sent in chunks)."""
    if (request.content_length or 0) > limit:
        return None
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > limit:
            return None
    return bytes(body)


def _is_json(content_type: str) -> bool:
    return content_type == "application/json" or (
        content_type.startswith("application/") and content_type.endswith("+json")
    )


def _parse(body: bytes) -> dict[str, object] | None:
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):  # ValueError: syntax, encoding, and numbers of thousands of digits
        return None
    return payload if isinstance(payload, dict) else None
