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
"""One wake-up of a case: observe, decide, act, rest.

Every part is a *step*: its result is recorded before the next part begins, so a wake-up that is interrupted anywhere
goes on from its last recorded step, with the very facts and the very decision it had. Parts are recorded as JSON text,
which a newer release can read.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeVar

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict

from bot.clock import Clock
from bot.errors import GateBotError, RetryLater
from bot.forge import PullRequest
from bot.gate.case import Case
from bot.gate.decision import AnyAction, Decision
from bot.gate.facts import ActionResult, Facts
from bot.gate.machine import decide
from bot.runtime import cases, inbox, records
from bot.runtime.act import bring_up_to_date, give_up, perform
from bot.runtime.inbox import InboxRow
from bot.runtime.masking import secrets_of, without
from bot.runtime.memory import Memory
from bot.runtime.observe import Observation, observe
from bot.runtime.outside import Outside

log = logging.getLogger(__name__)

T = TypeVar("T")

MAX_ROUNDS = 8  # a decision that asks for another look more often than this is made to wait instead
ROUND_PAUSE = timedelta(seconds=60)


Steps = Callable[[str, Callable[[], Coroutine[Any, Any, str]]], Coroutine[Any, Any, str]]
"""Runs a named part of a wake-up and records its result, or hands out the recorded one."""


async def plain_steps(_name: str, work: Callable[[], Coroutine[Any, Any, str]]) -> str:
    """Steps that are not recorded, for a command-line call that nobody continues."""
    return await work()


class _Trouble(BaseModel):
    """Why a part failed, in a form that can be recorded."""

    model_config = ConfigDict(frozen=True)
    message: str
    delay: float = 0.0
    bug: bool = False


class _Loaded(BaseModel):
    model_config = ConfigDict(frozen=True)
    case: Case
    memory: Memory
    generation: int
    failures: int
    rows: tuple[InboxRow, ...]


class _Observed(BaseModel):
    model_config = ConfigDict(frozen=True)
    seen: Observation | None = None
    trouble: _Trouble | None = None


class _Acted(BaseModel):
    model_config = ConfigDict(frozen=True)
    result: ActionResult | None = None
    trouble: _Trouble | None = None


@dataclass(frozen=True)
class _State:
    """Where the wake-up stands between its rounds. ``late``: all is done but the writing of the sticky comment."""

    case: Case
    memory: Memory
    rows: tuple[InboxRow, ...]
    done_rows: tuple[InboxRow, ...] = ()
    decision: Decision | None = None
    trouble: _Trouble | None = None
    pull: PullRequest | None = None
    late: _Trouble | None = None


async def wake_up(repo: str, number: int, generation: int, outside: Outside, steps: Steps) -> str:
    """Run one wake-up to its rest and say in a word how it went: ``rested``, ``stale`` or ``trouble``.

    Args:
        repo: ``owner/name``.
        number: Number of the pull request.
        generation: How many wake-ups of the case were finished when this one was asked for.
        outside: The world.
        steps: Records the parts.
    """
    loaded = _Loaded.model_validate_json(await steps("load", lambda: _load(repo, number, outside)))
    outside.point(f"loaded {generation}")
    if loaded.generation != generation:
        return "stale"
    state = _State(loaded.case, loaded.memory, loaded.rows)
    last_try = loaded.failures + 1 >= outside.settings.runtime.max_failures
    for turn in range(MAX_ROUNDS):
        state = await _round(generation, turn, state, outside, steps, last_try=last_try)
        if state.trouble is not None or state.decision is None or not state.decision.again:
            break
    final = await _write_sticky(generation, state, outside, steps)

    async def rest() -> str:
        return await _rest(final, loaded, outside)

    word = await steps("rest", rest)
    outside.point(f"rested {generation}")
    return word


async def _round(
    generation: int, turn: int, state: _State, outside: Outside, steps: Steps, *, last_try: bool
) -> _State:
    async def look() -> str:
        return (await _observe(state, outside, first=turn == 0)).model_dump_json()

    observed = _Observed.model_validate_json(await steps(f"observe {turn}", look))
    outside.point(f"observed {generation}.{turn}")
    if observed.seen is None:
        return replace(state, trouble=observed.trouble)
    seen = observed.seen

    async def choose() -> str:
        return (await _decide(state.case, seen.facts, outside)).model_dump_json()

    chosen = _Chosen.model_validate_json(await steps(f"decide {turn}", choose))
    outside.point(f"decided {generation}.{turn}")
    if chosen.decision is None:
        return replace(state, trouble=chosen.trouble)
    decision = chosen.decision
    results: list[ActionResult] = []
    for index, action in enumerate(decision.actions):
        name = f"act {turn}.{index} {action.kind}"
        acted = await _act(name, action, seen.pull, outside, steps, last_try=last_try)
        outside.point(f"acted {action.effect_key}")
        if acted.result is None:
            # What was done stays done (the ledger knows); the next wake-up decides the same again and goes on.
            return replace(state, trouble=acted.trouble)
        results.append(acted.result)
    memory = seen.memory.after(decision.actions, tuple(results), bot_login=outside.bot_login, now=outside.clock.now())
    return _State(decision.case, memory, (), state.done_rows + state.rows, decision, pull=seen.pull)


async def _write_sticky(generation: int, state: _State, outside: Outside, steps: Steps) -> _State:
    """The one write of the sticky comment; where it fails everything else stands, and it is tried again soon."""
    pull = state.pull
    if state.trouble is not None or pull is None:
        return state

    async def work() -> str:
        try:
            acted = _Acted(result=await bring_up_to_date(pull, str(generation), outside))
        except Exception as error:  # a fault of ours must park this case, not lose it
            acted = _Acted(trouble=_trouble(error, state.case.key, "sticky"))
        return acted.model_dump_json()

    acted = _Acted.model_validate_json(await steps("sticky", work))
    outside.point(f"written {generation}")
    return replace(state, late=acted.trouble)


class _Chosen(BaseModel):
    model_config = ConfigDict(frozen=True)
    decision: Decision | None = None
    trouble: _Trouble | None = None


async def _load(repo: str, number: int, outside: Outside) -> str:
    def read(connection: sa.Connection) -> _Loaded:
        stored = cases.ensure(connection, repo, number, outside.stamp())
        rows = tuple(inbox.waiting_rows(connection, stored.case.key))
        return _Loaded(
            case=stored.case,
            memory=stored.memory,
            generation=stored.generation,
            failures=stored.failures,
            rows=rows,
        )

    return (await _insist(lambda: outside.database.run(read), outside.clock)).model_dump_json()


async def _observe(state: _State, outside: Outside, *, first: bool) -> _Observed:
    try:
        return _Observed(seen=await observe(state.case, state.memory, state.rows, outside, first=first))
    except Exception as error:  # a fault of ours must park this case, not lose it
        return _Observed(trouble=_trouble(error, state.case.key, "observe"))


async def _decide(case: Case, facts: Facts, outside: Outside) -> _Chosen:
    try:
        return _Chosen(decision=decide(case, facts, outside.settings.gate))
    except Exception as error:  # a fault of ours must park this case, not lose it
        return _Chosen(trouble=_trouble(error, case.key, "decide"))


async def _act(
    name: str, action: AnyAction, pr: PullRequest, outside: Outside, steps: Steps, *, last_try: bool
) -> _Acted:
    """Carry out one action as a step; ``last_try`` turns lasting trouble into a result that ``decide`` can answer."""

    async def work() -> str:
        try:
            acted = _Acted(result=await perform(action, pr, outside))
        except Exception as error:  # a fault of ours must park this case, not lose it
            acted = _Acted(trouble=_trouble(error, f"{pr.repo}#{pr.number}", action.effect_key))
            if last_try and isinstance(error, RetryLater):
                acted = _Acted(result=await give_up(action, pr, str(error), outside))
        return acted.model_dump_json()

    return _Acted.model_validate_json(await steps(name, work))


def _trouble(error: Exception, key: str, where: str) -> _Trouble:
    if isinstance(error, RetryLater):
        log.info("%s: %s: later: %s", key, where, error)
        return _Trouble(message=str(error), delay=error.delay)
    if isinstance(error, GateBotError):
        log.warning("%s: %s: %s: %s", key, where, type(error).__name__, error)
        return _Trouble(message=f"{type(error).__name__}: {error}")
    log.exception("%s: %s: fault in GateBot", key, where, exc_info=error)
    return _Trouble(message="".join(traceback.format_exception_only(error)).strip(), bug=True)


async def _rest(state: _State, loaded: _Loaded, outside: Outside) -> str:
    now = outside.stamp()
    secrets = secrets_of(outside.settings)
    limit = outside.settings.runtime.max_failures
    handled = [row.row_id for row in state.done_rows]
    failures, message = 0, ""
    if state.trouble is not None:
        failures, message = loaded.failures + 1, without(secrets, state.trouble.message)
        if failures >= limit:  # the events stop asking; the case itself is still looked at now and then
            handled += [row.row_id for row in state.rows]
            wake_at: float | None = now + outside.settings.gate.deadlines.idle
        else:
            wake_at = now + max(state.trouble.delay, back_off(failures))
    else:
        assert state.decision is not None, "a round ends with a decision or with trouble"
        moment = state.decision.wake_at
        if state.decision.again:  # the rounds ran out
            moment = outside.clock.now() + ROUND_PAUSE
        wake_at = moment.timestamp() if moment else None
        if state.late is not None:
            failures, message = loaded.failures + 1, without(secrets, state.late.message)
            if failures < limit:  # else it is tried with the next wake-up, whenever that is
                again = now + max(state.late.delay, back_off(failures))
                wake_at = again if wake_at is None else min(wake_at, again)

    def write(connection: sa.Connection) -> bool:
        stored = cases.rest(
            connection,
            state.case,
            state.memory,
            generation=loaded.generation,
            wake_at=wake_at,
            failures=failures,
            last_error=message,
            now=now,
        )
        if stored:
            inbox.mark_handled(connection, handled, now)
            if failures == limit:
                records.note(
                    connection,
                    records.AuditEntry(now, state.case.key, outside.bot_login, "park", "failed", message),
                )
        return stored

    stored = await _insist(lambda: outside.database.run(write), outside.clock)
    if not stored:
        return "stale"
    return "trouble" if state.trouble else "rested"


def back_off(failures: int) -> float:
    """Seconds to wait after so many failures in a row: 15, 30, 60 … at most half an hour."""
    return float(min(15 * 2 ** min(failures - 1, 20), 1800))


async def _insist(work: Callable[[], Awaitable[T]], clock: Clock) -> T:
    """Repeat until the store answers: a wake-up that cannot load or rest has nowhere else to go."""
    wait = 0.5
    while True:
        try:
            return await work()
        except RetryLater as error:
            log.warning("store: %s; next try in %.1f s", error, wait)
            await clock.sleep(wait)
            wait = min(wait * 2, 60.0)
