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
"""Reads an HTTP answer: its data, or the error sorted by what to do about it. Nothing here does I/O.

Error bodies come in several forms (``message``, ``error_message``, ``error``, ``msg``), a 2xx may carry an error in its
body, and a 2xx with ``error_code`` 200 means "done, but the answer could not be written".
"""

from __future__ import annotations

import email.utils
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.errors import GateBotError, NotFound, Refused, RetryLater, TellOperator
from bot.gitcode.requests import Request

DEFAULT_PAUSE_S = 60.0
"""Rest after a 429 or 418 that names no time: the documented window is a minute."""
LONGEST_PAUSE_S = 3600.0
"""No limit of GitCode's lasts longer than its hour; a longer answer is not believed."""


class RateLimited(RetryLater):
    """429, or 403 with nothing left: nobody may call until ``delay`` has passed. The call had no effect."""


class Firewalled(RateLimited):
    """418 "Request Rejected, Suspected Unsafe": the web firewall took offence, perhaps at the text."""


class NotYetThere(RetryLater):
    """``404 project not found``: GitCode says so for a moment after something was created."""


@dataclass(frozen=True)
class Answer:
    """A successful answer.

    Attributes:
        status: HTTP status.
        data: The decoded JSON; ``None`` for an empty body.
        total_pages: From the header ``total_page``; 0 when it is missing.
        unreadable: True when GitCode did what was asked but could not write the answer: read the object again.
        dry: True when the call was only printed.
    """

    status: int
    data: Any = None
    total_pages: int = 0
    unreadable: bool = False
    dry: bool = False


def read_answer(request: Request, status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> Answer:
    """Turn status, headers and body into an :class:`Answer`, or raise the error.

    Args:
        request: What was asked.
        status: HTTP status.
        headers: Response headers with case-insensitive look-up.
        body: The raw body.
        now: For ``Retry-After`` given as a date.

    Raises:
        GateBotError: One of its kinds, by remedy.
    """
    data, is_json = _decode(body)
    code = _error_code(data)
    if 200 <= status < 300 and code < 400:
        if not is_json:
            raise RetryLater(
                f"{_name(request)}: answer {status} is not JSON: {_snippet(body)}",
                effect_unknown=request.is_write and not request.repeatable,
            )
        if code == 200:
            return Answer(status, unreadable=True)
        return Answer(status, data, total_pages=_positive(headers.get("total_page")))
    raise error_of(request, code if 200 <= status < 300 else status, headers, _message(data) or _snippet(body), now)


def error_of(request: Request, status: int, headers: Mapping[str, str], message: str, now: datetime) -> GateBotError:
    """The error for a failed call, by remedy. ``status`` is the HTTP status or the body's ``error_code``."""
    text = f"{_name(request)}: {status} {message}"
    lower = message.lower()
    if status == 418:
        return Firewalled(text, delay=_pause(headers, now))
    if status == 429 or (status == 403 and headers.get("X-RateLimit-Remaining", "").strip() == "0"):
        return RateLimited(text, delay=_pause(headers, now))
    if status == 401 or "private-token, required" in lower:
        return TellOperator(f"{text} (setting: gitcode.token is missing, wrong or expired)", hint="cli.hint.token")
    if "token has not permission" in lower or "no scopes" in lower:
        return TellOperator(f"{text} (setting: the scopes of gitcode.token)", hint="cli.hint.scopes")
    if status == 404:
        return NotYetThere(text) if "project not found" in lower else NotFound(text)
    if status >= 500 or status == 408:
        delay = _pause(headers, now, default=0.0)
        return RetryLater(text, delay=delay, effect_unknown=request.is_write and not request.repeatable)
    if 300 <= status < 400:
        return TellOperator(f"{text} (setting: gitcode.api_url answers with a redirect)", hint="cli.hint.api_url")
    return Refused(text)


def _decode(body: bytes) -> tuple[Any, bool]:
    if not body.strip():
        return None, True
    try:
        return json.loads(body), True
    except ValueError:  # also UnicodeDecodeError
        return None, False


def _error_code(data: object) -> int:
    if not isinstance(data, dict) or "error_code" not in data:
        return 0
    try:
        return int(data["error_code"])
    except (TypeError, ValueError):
        return 500


def _message(data: object) -> str:
    if not isinstance(data, dict):
        return ""
    texts = (data.get(key) for key in ("error_message", "message", "error", "msg"))
    message = next((str(text) for text in texts if text), "")
    trace = data.get("trace_id")
    return f"{message} (trace {trace})" if trace else message


def _pause(headers: Mapping[str, str], now: datetime, default: float = DEFAULT_PAUSE_S) -> float:
    """Seconds to rest, from ``Retry-After`` (seconds or a date) or ``X-RateLimit-Reset`` (a Unix time)."""
    raw = headers.get("Retry-After", "").strip()
    if raw and raw == str(_positive(raw)):
        return min(float(raw), LONGEST_PAUSE_S)
    if raw:
        try:
            wait = (email.utils.parsedate_to_datetime(raw) - now).total_seconds()
            return min(max(0.0, wait), LONGEST_PAUSE_S)
        except (TypeError, ValueError):
            return default
    wait = _positive(headers.get("X-RateLimit-Reset")) - now.timestamp()
    return wait if 0 < wait <= LONGEST_PAUSE_S else default  # else it is not the Unix time that clients take it for


def _positive(raw: str | None) -> int:
    text = (raw or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0


def _name(request: Request) -> str:
    return f"{request.method} {request.path}"


def _snippet(body: bytes, limit: int = 200) -> str:
    return " ".join(body[: limit * 4].decode("utf-8", "replace").split())[:limit]
