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
"""Watches the sandbox and tells what changed since the last look, as somebody standing by would."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from bot.demo.world import REPO, World
from bot.sandbox.gitcode import gitrepo
from bot.sandbox.gitcode.state import Position

_SHOWN = 76


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened; ``text_id`` and ``values`` make the sentence."""

    at: datetime
    who: str
    text_id: str
    values: dict[str, str] = field(default_factory=dict)


class Watcher:
    """Remembers what was seen of one pull request."""

    def __init__(self, world: World, number: int) -> None:
        self._world = world
        self._number = number
        self._notes: dict[int, str] = {}
        self._resolved: set[str] = set()
        self._logged = 0
        self._head = world.forge.pull(REPO, number).head_sha
        now = world.clock.monotonic()  # builds of an earlier pull request are no news of this one
        self._started = {run.number for run in world.runs()}
        self._ended = {run.number for run in world.runs() if not run.in_progress(now) and run.result(now)}

    async def look(self) -> list[Happening]:
        """What is new."""
        return [
            *await self._pushes(),
            *self._comments(),
            *self._resolves(),
            *self._label_changes(),
            *self._builds(),
        ]

    async def _pushes(self) -> list[Happening]:
        pull = self._world.forge.pull(REPO, self._number)
        if pull.head_sha == self._head:
            return []
        self._head = pull.head_sha
        source = self._world.forge.world.repo(pull.source_repo).git_dir
        commit = (await gitrepo.commits(source, pull.head_sha, 1))[0]
        values = {"sha": pull.head_sha[:10], "subject": commit.message.split("\n", 1)[0]}
        return [Happening(self._now, commit.author_name, "demo.pushes", values)]

    def _comments(self) -> list[Happening]:
        found = []
        threads = self._world.forge.threads(REPO, self._number)
        written = [(note, thread) for thread in threads for note in thread.notes if not note.platform]
        for note, thread in sorted(written, key=lambda pair: pair[0].id):
            before = self._notes.get(note.id)
            if before != note.body:
                values = {"text": headings(note.body) or gist(note.body)}
                text_id = "demo.comments" if before is None else "demo.edits"
                if "<!-- gatebot:sticky-" in note.body:
                    text_id = "demo.sticky" if before is None else "demo.sticky_edits"
                if before is None and thread.position is not None:
                    text_id, values["place"] = "demo.comments_line", place(thread.position)
                found.append(Happening(self._now, note.author, text_id, values))
                self._notes[note.id] = note.body
        return found

    def _resolves(self) -> list[Happening]:
        found = []
        for thread in self._world.forge.threads(REPO, self._number):
            if thread.resolved and thread.position is not None and thread.id not in self._resolved:
                self._resolved.add(thread.id)
                values = {"place": place(thread.position)}
                found.append(Happening(self._now, thread.notes[0].author, "demo.resolves", values))
        return found

    def _label_changes(self) -> list[Happening]:
        pull = self._world.forge.pull(REPO, self._number)
        entries, self._logged = pull.log[self._logged :], len(pull.log)
        found = []
        for entry in entries:
            words = entry.content.split(" label ", 1)
            if entry.action == "label" and len(words) == 2:
                text_id = "demo.label_on" if words[0] == "add" else "demo.label_off"
                found.append(Happening(entry.at, entry.author, text_id, {"label": words[1]}))
        return found

    def _builds(self) -> list[Happening]:
        found = []
        now = self._world.clock.monotonic()
        for run in self._world.runs():
            if run.number not in self._started:
                self._started.add(run.number)
                found.append(Happening(self._now, "Jenkins", "demo.build_starts", {"number": str(run.number)}))
            if run.number not in self._ended and not run.in_progress(now) and run.result(now):
                self._ended.add(run.number)
                red = [stage.name for stage, _ in run.stages if stage.status == "FAILED"]
                values = {
                    "number": str(run.number),
                    "result": str(run.result(now)),
                    "stages": f" ({', '.join(red)})" if red else "",
                }
                found.append(Happening(self._now, "Jenkins", "demo.build_ends", values))
        return found

    @property
    def _now(self) -> datetime:
        return self._world.clock.now()


def place(position: Position) -> str:
    """``file:line``, or the file of a comment on the whole file."""
    return f"{position.path}:{position.line}" if position.line else position.path


def headings(body: str) -> str:
    """The headings of the comment that is edited in place, one after the other; empty for any other comment."""
    if "<!-- gatebot:sticky-" not in body:
        return ""
    found = [line.lstrip("#").strip() for line in body.splitlines() if line.startswith(("## ", "### "))]
    return " · ".join(found)


def gist(body: str) -> str:
    """The first line that says something (of a table: its first row), without marks, cut to one screen line."""
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    rule = next(
        (number for number, line in enumerate(lines) if line.startswith("|") and set(line) <= set("|:- ")), None
    )
    for line in lines[rule + 1 :] if rule is not None else lines:
        text = " ".join(line.replace("**", "").replace("\\", "").strip("#*|> ").replace("|", " ").split())
        if text:
            return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return ""
