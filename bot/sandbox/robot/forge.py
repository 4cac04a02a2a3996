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
"""The few REST calls the robot makes, as any third party would make them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import aiohttp

from bot.clock import Clock

_PAGE = 100
_TRIES = 5
_TROUBLE = (418, 429, 500, 502, 503, 504)


class ForgeRefused(Exception):
    """The forge answered with an error that trying again does not mend."""


class ForgeApi:
    """A minimal client; writes that are no labels are tried once, for they might have taken effect.

    Args:
        url: Root of the REST API.
        token: The robot's token.
        clock: Waits between tries.
    """

    def __init__(self, url: str, token: str, clock: Clock) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"}
        self._clock = clock
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def pull(self, repo: str, number: int) -> dict[str, Any]:
        """A pull request."""
        return dict(await self._call("GET", f"/repos/{repo}/pulls/{number}"))

    async def open_pulls(self, repo: str) -> list[dict[str, Any]]:
        """Open pull requests."""
        return await self._pages(f"/repos/{repo}/pulls", "state=open")

    async def comments(self, repo: str, number: int) -> list[dict[str, Any]]:
        """Comments of a pull request, oldest first."""
        found = await self._pages(f"/repos/{repo}/pulls/{number}/comments", "")
        return sorted(found, key=lambda note: (str(note.get("created_at")), int(note["id"])))

    async def linked_issues(self, repo: str, number: int) -> int:
        """How many issues are linked to a pull request."""
        return len(await self._call("GET", f"/repos/{repo}/pulls/{number}/issues"))

    async def text(self, repo: str, path: str, ref: str) -> str:
        """A file of the repository; empty when it does not exist."""
        try:
            answer = await self._call("GET", f"/repos/{repo}/raw/{quote(path)}?ref={quote(ref)}", raw=True)
        except ForgeRefused:
            return ""
        return str(answer)

    async def comment(self, repo: str, number: int, body: str) -> None:
        """Write a comment."""
        await self._call("POST", f"/repos/{repo}/pulls/{number}/comments", {"body": body}, tries=1)

    async def change_labels(self, repo: str, number: int, *, add: list[str], remove: list[str]) -> None:
        """Put labels on and take others off; one that is not there is no error."""
        for label in remove:
            try:
                await self._call("DELETE", f"/repos/{repo}/pulls/{number}/labels/{quote(label, safe='')}")
            except ForgeRefused as error:
                if "404" not in str(error):
                    raise
        if add:
            await self._call("POST", f"/repos/{repo}/pulls/{number}/labels", add)

    async def _pages(self, path: str, query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        page = 1
        while True:
            listed = await self._call("GET", f"{path}?{query}&page={page}&per_page={_PAGE}")
            found += listed
            if not listed:
                return found
            page += 1

    async def _call(self, method: str, path: str, body: Any = None, *, raw: bool = False, tries: int = _TRIES) -> Any:
        if self._session is None:
            self._session = aiohttp.ClientSession(headers=self._headers, timeout=aiohttp.ClientTimeout(total=30))
        last = ""
        for attempt in range(tries):
            try:
                async with self._session.request(method, self._url + path, json=body) as answer:
                    text = await answer.text()
                    if answer.status not in _TROUBLE:
                        if answer.status >= 400:
                            raise ForgeRefused(f"{method} {path}: {answer.status} {text[:200]}")
                        return text if raw else await answer.json(content_type=None)
                    last = f"{answer.status}"
            except (aiohttp.ClientError, TimeoutError) as error:
                last = type(error).__name__
            if attempt + 1 < tries:
                await self._clock.sleep(20.0)
        raise ForgeRefused(f"{method} {path}: {last} after {tries} tries")
