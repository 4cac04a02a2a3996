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
"""Who may do what on the sandbox Jenkins: basic authentication, API tokens, and the crumb against forged requests."""

from __future__ import annotations

import base64
import binascii
import hmac
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from aiohttp import web

from bot.sandbox.jenkins.model import Account

LOGIN = web.RequestKey("login", str)
CRUMB_FIELD = "Jenkins-Crumb"
_COOKIE = "JSESSIONID.sandbox"
_NO_CRUMB = "<html><body><h2>HTTP ERROR 403 No valid crumb was included in the request</h2></body></html>"


@dataclass(frozen=True)
class Identity:
    """Who sends a request; a request with an API token needs no crumb."""

    account: Account | None
    by_token: bool = False


class Access:
    """Checks requests.

    Args:
        accounts: Who may sign in.
        csrf: Whether writes need a crumb.
        anonymous_read: Whether nobody in particular may read.
        anonymous_build: Whether nobody in particular may start and stop builds.
    """

    def __init__(self, accounts: Iterable[Account], *, csrf: bool, anonymous_read: bool, anonymous_build: bool) -> None:
        self._accounts = {account.login: account for account in accounts}
        self._csrf = csrf
        self._anonymous_read = anonymous_read
        self._anonymous_build = anonymous_build
        self._serial = itertools.count(1)
        self._crumbs: dict[str, str] = {}

    def forget_sessions(self) -> None:
        """What a restart does: every crumb is stale."""
        self._crumbs.clear()

    def identify(self, request: web.Request) -> Identity:
        """Who it is. Raises 401 for credentials that are wrong, also where nobody would have had to sign in."""
        header = request.headers.get("Authorization", "")
        if not header:
            return Identity(None)
        login, password = _basic(header)
        account = self._accounts.get(login)
        if account is not None and account.token and hmac.compare_digest(account.token, password):
            return Identity(account, by_token=True)
        if account is not None and account.password and hmac.compare_digest(account.password, password):
            return Identity(account)
        raise web.HTTPUnauthorized(text="Invalid password/token for user", content_type="text/html")

    def may_read(self, identity: Identity) -> None:
        """Raises 403 for nobody in particular where reading wants a login."""
        if identity.account is None and not self._anonymous_read:
            raise web.HTTPForbidden(text="Authentication required", content_type="text/html")

    def may_write(self, identity: Identity, request: web.Request) -> None:
        """Raises 403 without a valid crumb, or without the permission."""
        if self._csrf and not identity.by_token:
            session = request.cookies.get(_COOKIE, "")
            known = self._crumbs.get(session)
            if known is None or not hmac.compare_digest(known, request.headers.get(CRUMB_FIELD, "")):
                raise web.HTTPForbidden(text=_NO_CRUMB, content_type="text/html")
        allowed = identity.account.may_build if identity.account else self._anonymous_build
        if not allowed:
            name = identity.account.login if identity.account else "anonymous"
            raise web.HTTPForbidden(text=f"{name} is missing the Job/Build permission", content_type="text/html")

    def issue_crumb(self, request: web.Request) -> web.Response:
        """``crumbIssuer/api/json``: a crumb bound to the session's cookie; 404 where protection is off."""
        if not self._csrf:
            raise web.HTTPNotFound
        session = request.cookies.get(_COOKIE, "")
        if session not in self._crumbs:
            session = f"node0{next(self._serial)}"
            self._crumbs[session] = f"{next(self._serial):064x}"
        response = web.json_response(
            {
                "_class": "hudson.security.csrf.DefaultCrumbIssuer",
                "crumb": self._crumbs[session],
                "crumbRequestField": CRUMB_FIELD,
            }
        )
        response.set_cookie(_COOKIE, session, httponly=True)
        return response


def _basic(header: str) -> tuple[str, str]:
    kind, _, value = header.partition(" ")
    try:
        login, _, password = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        login = password = ""
    return (login, password) if kind.lower() == "basic" else ("", "")
