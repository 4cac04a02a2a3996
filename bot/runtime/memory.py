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
"""What a case remembers of the world between wake-ups, so that observing costs few calls.

A cache plus a diary: losing it costs calls and time, never correctness of what was done (that is the ledger's part).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.forge import PullRequest
from bot.gate.decision import AddLabel, AnyAction, PostCommand, RemoveLabel, Repair, StartBuild
from bot.gate.facts import ActionResult, DiagnosisFacts, GateRequest, RobotNote, TemplateVerdict

_KEPT_NOTES = 40
KEPT_SEEN = 400


class Memory(BaseModel):
    """Facts of earlier wake-ups that are still good.

    Attributes:
        pr: The pull request as last read, with the labels we changed since.
        pr_read_at: When that was; ``None`` when it must be read again.
        comments_read_at: When the whole list of comments was last read; ``None`` when never.
        notes_seen: Comments that were taken in already: id to ``digest:command,command``.
        robot_notes: What the gate robot said, oldest first.
        gate_requests: Who asked the robot for what, oldest first.
        head_at: When the present head was pushed, where a hook told.
        template: The newest verdict on the description.
        template_key: What that verdict was made from.
        roles: Role by login, as looked up for this pull request.
        may_push: Whether we may push, by source repository.
        queue_id: Queue item of the build we started ourselves; 0 for none.
        queue_head: Head that build is for.
        diagnosis: The newest finished build, read and judged.
        failed_tests: Failed tests of that build.
        failed_stages: Failed stages of that build.
        results: What became of the newest actions; handed to ``decide`` once.
    """

    model_config = ConfigDict(frozen=True)

    pr: PullRequest | None = None
    pr_read_at: datetime | None = None
    comments_read_at: datetime | None = None
    notes_seen: dict[int, str] = {}
    robot_notes: tuple[RobotNote, ...] = ()
    gate_requests: tuple[GateRequest, ...] = ()
    head_at: datetime | None = None
    template: TemplateVerdict | None = None
    template_key: str = ""
    roles: dict[str, str] = {}
    may_push: dict[str, bool] = {}
    queue_id: int = 0
    queue_head: str = ""
    diagnosis: DiagnosisFacts | None = None
    failed_tests: tuple[str, ...] = ()
    failed_stages: tuple[str, ...] = ()
    results: tuple[ActionResult, ...] = ()

    @property
    def forgotten_below(self) -> int:
        """Comments with lower ids were taken in and dropped from ``notes_seen``; 0 while none was."""
        return min(self.notes_seen) if len(self.notes_seen) >= KEPT_SEEN else 0

    def with_(self, **values: Any) -> Memory:
        """A copy with some fields changed and the diaries cut to a bounded length."""
        new = self.model_copy(update=values)
        seen = dict(sorted(new.notes_seen.items())[-KEPT_SEEN:])
        return new.model_copy(
            update={
                "notes_seen": seen,
                "robot_notes": new.robot_notes[-_KEPT_NOTES:],
                "gate_requests": new.gate_requests[-_KEPT_NOTES:],
            }
        )

    def after(
        self, actions: tuple[AnyAction, ...], results: tuple[ActionResult, ...], *, bot_login: str, now: datetime
    ) -> Memory:
        """The memory after actions were carried out: their results, and what they surely changed."""
        memory = self.with_(results=results)
        for action, result in zip(actions, results, strict=True):
            if result.outcome == "done":
                memory = memory._knowing(action, result, bot_login, now)
        return memory

    def _knowing(self, action: AnyAction, result: ActionResult, bot_login: str, now: datetime) -> Memory:
        match action:
            case PostCommand() if result.data.get("note_id", "").isdigit():
                request = GateRequest(
                    name=action.command.strip().lstrip("/"),
                    author=bot_login,
                    note_id=int(result.data["note_id"]),
                    at=now,
                    by_bot=True,
                )
                known = {earlier.note_id for earlier in self.gate_requests}
                return self if request.note_id in known else self.with_(gate_requests=(*self.gate_requests, request))
            case AddLabel():
                return self._labels(add={action.label})
            case RemoveLabel():
                return self._labels(remove={action.label})
            case StartBuild():
                return self.with_(queue_id=int(result.data.get("queue_id", "0") or 0), queue_head=action.head_sha)
            case Repair():
                return self._mended(result)
            case _:
                return self

    def _mended(self, result: ActionResult) -> Memory:
        """The pull request must be read again, for the head may have moved; of our own push we know where to."""
        sha = result.data.get("sha", "") if result.data.get("status") == "pushed" else ""
        if self.pr is None or not sha:
            return self.with_(pr_read_at=None)
        return self.with_(pr=self.pr.model_copy(update={"head_sha": sha}), pr_read_at=None, head_at=None)

    def _labels(self, add: set[str] = frozenset(), remove: set[str] = frozenset()) -> Memory:  # type: ignore[assignment]
        if self.pr is None:
            return self
        labels = (self.pr.labels | add) - remove
        return self.with_(pr=self.pr.model_copy(update={"labels": frozenset(labels)}))
