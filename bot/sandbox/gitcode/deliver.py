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
"""Sends web hooks: in order, signed or with a password, with whatever trouble the fault script wants."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import hmac
import json
import logging
import uuid
from contextlib import nullcontext
from typing import Any

import aiohttp

from bot.clock import Clock
from bot.sandbox.faults import FaultScript, HookTrouble
from bot.sandbox.gitcode.options import Options
from bot.sandbox.gitcode.state import Delivery, Hook, Repo, World

_FLAGS = {
    "Merge Request Hook": "merge_requests_events",
    "Note Hook": "note_events",
    "Push Hook": "push_events",
    "Tag Push Hook": "tag_push_events",
    "Issue Hook": "issues_events",
}
_log = logging.getLogger(__name__)
EVENT_FLAGS = tuple(_FLAGS.values())

Job = tuple[Hook, str, dict[str, Any]]


class HookSender:
    """One queue for all hooks: receivers see events in the order they happened, unless a fault says otherwise.

    Failed deliveries are not tried again: no policy of the real GitCode is known, so a bot must not count on one.
    """

    def __init__(self, world: World, options: Options, faults: FaultScript, clock: Clock) -> None:
        self._world = world
        self._options = options
        self._faults = faults
        self._clock = clock
        self._queue: asyncio.Queue[Job] = asyncio.Queue()
        self._aside: list[Job] = []
        self._late: set[asyncio.Task[None]] = set()
        self._worker: asyncio.Task[None] | None = None
        self._session: aiohttp.ClientSession | None = None

    def emit(self, repo: Repo, event: str, payload: dict[str, Any]) -> None:
        """Queue an event for every hook of the repository that wants it."""
        for hook in repo.hooks.values():
            if hook.events.get(_FLAGS[event]):
                self._queue.put_nowait((hook, event, fresh(payload)))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work(), name="gitcode-hooks")

    async def send_now(self, hook: Hook, event: str, payload: dict[str, Any]) -> Delivery:
        """Deliver one event at once, as the test button does."""
        return await self._deliver((hook, event, fresh(payload)))

    async def settle(self) -> None:
        """Wait until everything queued was sent, late deliveries and those set aside included."""
        await self._queue.join()
        while self._late:
            await asyncio.gather(*self._late)
        aside, self._aside = self._aside, []
        for job in aside:
            await self._deliver(job, "reordered")

    async def close(self) -> None:
        """Stop sending."""
        tasks = [*self._late, *([self._worker] if self._worker else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    async def _work(self) -> None:
        while True:
            job = await self._queue.get()
            try:
                await self._send(job)
            except Exception:  # one bad event must not end all deliveries
                _log.exception("hook %s of %s was not sent", job[1], job[0].url)
            finally:
                self._queue.task_done()

    async def _send(self, job: Job) -> None:
        fault = self._faults.take_hook(job[1])
        trouble = fault.trouble if fault else None
        if trouble is HookTrouble.LOSE:
            self._record(job, "", 0, "lost")
        elif trouble is HookTrouble.REORDER:
            self._aside.append(job)
        elif fault is not None and trouble is HookTrouble.LATE:
            task = asyncio.create_task(self._send_late(job, fault.delay))
            self._late.add(task)
            task.add_done_callback(self._late.discard)
        else:
            await self._deliver(job)
            if trouble is HookTrouble.DUPLICATE:
                await self._deliver(job, "duplicate")
            aside, self._aside = self._aside, []
            for overtaken in aside:
                await self._deliver(overtaken, "reordered")

    async def _send_late(self, job: Job, delay: float) -> None:
        await self._clock.sleep(delay)
        await self._deliver(job, "late")

    async def _deliver(self, job: Job, note: str = "") -> Delivery:
        hook, event, payload = job
        body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
        delivery_id = str(uuid.uuid4())
        headers = self._headers(hook, event, delivery_id, body)
        if self._session is None:
            self._session = aiohttp.ClientSession()
        timeout = aiohttp.ClientTimeout(total=self._options.hook_timeout_s)
        hold = getattr(self._clock, "hold", nullcontext)
        try:
            with hold():
                async with self._session.post(hook.url, data=body, headers=headers, timeout=timeout) as answer:
                    await answer.read()
                    status = answer.status
                    hook.result = "ok" if status < 300 else answer.reason
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            status, hook.result = 0, type(error).__name__
        hook.result_code = status
        return self._record(job, delivery_id, status, note)

    def _record(self, job: Job, delivery_id: str, status: int, note: str) -> Delivery:
        hook, event, payload = job
        delivery = Delivery(hook.id, event, delivery_id, payload, status, self._clock.now(), note)
        self._world.deliveries.append(delivery)
        return delivery

    def _headers(self, hook: Hook, event: str, delivery_id: str, body: bytes) -> dict[str, str]:
        prefix = f"X-{self._options.hook_prefix}"
        headers = {
            "User-Agent": "git-gitcode-hook",
            "Content-Type": "application/json",
            f"{prefix}-Event": event,
            f"{prefix}-Delivery": delivery_id,
        }
        if hook.encryption_type == 1:
            digest = hmac.new(hook.password.encode(), body, hashlib.sha256).hexdigest()
            headers[f"{prefix}-Signature-256"] = f"sha256={digest}"
        elif hook.password:
            headers[f"{prefix}-Token"] = hook.password
        return headers


def fresh(payload: dict[str, Any]) -> dict[str, Any]:
    """A copy with ids of its own, as each registered hook gets."""
    copied = copy.deepcopy(payload)
    number = (copied.get("object_attributes") or {}).get("iid")
    prefix = f"{number}_" if copied.get("object_kind") == "merge_request" else ""
    copied["uuid"] = f"{prefix}{uuid.uuid4()}"
    if "produce_random_id" in copied:
        copied["produce_random_id"] = uuid.uuid4().hex
    return copied
