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
"""What people and the gate robot said, taken from hooks or from the list of comments. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.forge import Comment
from bot.gate.facts import GateRequest, RobotNote, Suggestion
from bot.gate.policy import Policy
from bot.intake.commands import Command, ParsedComment, parse_comment
from bot.intake.events import NoteEvent
from bot.intake.grammar import Grammar, fold
from bot.runtime.memory import Memory
from bot.runtime.robot_notes import read_robot_note

_FOR_THE_ROBOT = ("check-pr", "retest")


@dataclass(frozen=True, slots=True)
class Said:
    """One comment, wherever it was read. ``fresh`` comments may give commands; history never does."""

    note_id: int
    author: str
    body: str
    at: datetime
    fresh: bool

    @property
    def digest(self) -> str:
        """SHA-256 of the text, line ends made plain: a hook and the list must agree on it."""
        return hashlib.sha256(self.body.replace("\r\n", "\n").strip().encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Asked:
    """A command with who gave it, before anybody looked at that person's role."""

    command: Command
    author: str
    note_id: int
    at: datetime


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What the new comments mean, and the memory that holds them."""

    memory: Memory
    asked: tuple[Asked, ...]
    suggestions: tuple[Suggestion, ...]


def from_event(event: NoteEvent, received_at: float) -> Said:
    """A comment as a hook tells it."""
    return Said(event.note_id, event.author, event.body, moment(event.created_at, received_at), fresh=True)


def from_comment(comment: Comment, *, fresh: bool) -> Said:
    """A comment as the list shows it."""
    return Said(comment.note_id, comment.author, comment.body, comment.created_at, fresh=fresh)


def moment(text: str, fallback: float) -> datetime:
    """An ISO time of the forge; where it is missing or unreadable, the time at which we received it."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromtimestamp(fallback, UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def take_in(
    said: Iterable[Said], memory: Memory, policy: Policy, grammar: Grammar, *, bot_login: str, on_edit: bool
) -> TakenIn:
    """Read comments that were not read before, oldest first.

    Args:
        said: Comments from hooks and from the list; the same one may come by both ways.
        memory: What was taken in earlier.
        policy: Names the robot's accounts.
        grammar: The command words.
        bot_login: Our own account; what it says is no command to us.
        on_edit: Whether commands that an edit adds count.
    """
    asked: list[Asked] = []
    suggestions: list[Suggestion] = []
    seen = dict(memory.notes_seen)
    robot_notes: list[RobotNote] = list(memory.robot_notes)
    requests: list[GateRequest] = list(memory.gate_requests)
    robots = {login.lower() for login in policy.robot_logins}
    for comment in _in_order(said):
        before = seen.get(comment.note_id)
        if before is None and comment.note_id < memory.forgotten_below:
            continue  # a command must not come to life again because the diary is full
        if before is not None and before.partition(":")[0] == comment.digest:
            continue
        if comment.author.lower() in robots:
            note = read_robot_note(comment.body, comment.at, comment.note_id)
            if note is not None:  # the robot edits its comments in place: the newest text counts
                robot_notes = [earlier for earlier in robot_notes if earlier.note_id != note.note_id] + [note]
            seen[comment.note_id] = f"{comment.digest}:"
            continue
        parsed = parse_comment(comment.body, grammar)
        names = [command.name for command in parsed.commands]
        seen[comment.note_id] = f"{comment.digest}:{','.join(names)}"
        ours = comment.author.lower() == bot_login.lower()
        if before is None:
            requests += _requests(comment, parsed, by_bot=ours, known={request.note_id for request in requests})
        if ours or not comment.fresh:
            continue
        if before is None:
            asked += [Asked(command, comment.author, comment.note_id, comment.at) for command in parsed.commands]
            suggestions += [
                Suggestion(typed=miss.typed, meant=miss.meant, author=comment.author, note_id=comment.note_id)
                for miss in parsed.near_misses
            ]
        elif on_edit:
            asked += [Asked(command, comment.author, comment.note_id, comment.at) for command in _added(before, parsed)]
    kept = memory.with_(notes_seen=seen, robot_notes=tuple(robot_notes), gate_requests=tuple(requests))
    return TakenIn(kept, tuple(asked), tuple(suggestions))


def _in_order(said: Iterable[Said]) -> list[Said]:
    """Oldest first; of a comment that came both ways the hook's copy counts, for it proves that it is new."""
    best: dict[tuple[int, str], Said] = {}
    for comment in said:
        name = (comment.note_id, comment.digest)
        if name not in best or comment.fresh:
            best[name] = comment
    return sorted(best.values(), key=lambda one: (one.at, one.note_id))


def _requests(comment: Said, parsed: ParsedComment, *, by_bot: bool, known: set[int]) -> list[GateRequest]:
    """Commands that the robot reads too: only its own words, not our aliases."""
    if comment.note_id in known:
        return []
    return [
        GateRequest(name=command.name, author=comment.author, note_id=comment.note_id, at=comment.at, by_bot=by_bot)
        for command in parsed.commands
        if command.name in _FOR_THE_ROBOT and fold(command.typed) == f"/{command.name}"
    ]


def _added(before: str, parsed: ParsedComment) -> list[Command]:
    known = Counter(before.partition(":")[2].split(","))
    added = []
    for command in parsed.commands:
        if known[command.name] > 0:
            known[command.name] -= 1
        else:
            added.append(command)
    return added
