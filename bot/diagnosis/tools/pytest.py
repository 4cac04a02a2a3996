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
"""pytest: failures and errors of a session, joined from their blocks and the short summary; see also pytest_crash."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bot.diagnosis.classes import class_of_import, class_of_message
from bot.diagnosis.model import Line
from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, literal
from bot.gate.finding import FailureClass, Finding, Severity

_SUMMARY = re.compile(r"(?P<status>FAILED|ERROR|SUBFAIL(?:ED)?(?:\([^)]{0,200}\)|\[[^\]]{0,200}\])?) (?P<rest>\S.*)$")
_HEADER = re.compile(r"_+ (?P<name>[^\s_](?:.*\S)?|_\w(?:.*\S)?) _+$")
_LOCATION = re.compile(r"(?P<file>\S{1,400}\.py):(?P<line>\d{1,7}):(?: (?P<what>in \S{1,200}|[\w.]{1,100}))?$")
# what ``--tb=line`` prints of a failure instead of a block
_ONE_LINE = re.compile(r"(?P<file>\S{1,400}\.py):(?P<line>\d{1,7}): (?!in )(?P<message>\S.*)$")
_SECTION = re.compile(
    r"=+ (?P<name>ERRORS|FAILURES|short test summary info|test session starts|warnings summary|PASSES) =+$"
)
_TAIL = re.compile(r"(?:=+ )?(?:\d{1,7} \w{1,20},? |no tests ran ).{0,200}in \d[\d.]{0,12}s\b")
_EXCEPTION = re.compile(
    r"(?P<name>[A-Za-z_][\w.]{0,150}): |(?P<bare>[A-Za-z_][\w.]{0,150}(?:Error|Exception|Exit|Interrupt))$"
)
_FRAME = re.compile(r'\s{1,20}File "(?P<file>[^"]{1,400})", line (?P<line>\d{1,7})')
_WAIT_STATUS = re.compile(r"(?:AssertionError: )?assert (?P<status>-?\d{1,10}) == 0\b")
_STATUS_NAME = re.compile(r"[>E]\s{1,20}assert \w{0,40}(?:ret|code|status|rc|res)\w{0,40} == 0", re.IGNORECASE)
# Messages that only repeat that a child process failed: the cause is elsewhere.
_WRAPPER = re.compile(
    r"torchrun failed with exit code|Distributed job exited with exception|List cases failed: "
    r"|returned non-zero exit status"
)
_COLLECT, _SETUP, _TEARDOWN = "ERROR collecting ", "ERROR at setup of ", "ERROR at teardown of "
MAX_EVIDENCE = 20


@dataclass(slots=True)
class _Block:
    """One ``____ name ____`` section."""

    name: str
    kind: str
    first: int
    last: int
    errors: list[str] = field(default_factory=list)
    places: list[tuple[str, int]] = field(default_factory=list)
    wait_status: bool = False


@dataclass(slots=True)
class _Entry:
    """One line of the short summary."""

    status: str
    rest: str
    line: int


@dataclass(slots=True)
class _Session:
    """What one worker (or the only process) has printed since its session began."""

    rank: int
    blocks: list[_Block] = field(default_factory=list)
    entries: list[_Entry] = field(default_factory=list)
    current: _Block | None = None
    in_sections: bool = False
    outer: list[tuple[list[_Block], list[_Entry]]] = field(default_factory=list)

    def enter(self) -> None:
        """A session began before the one before had ended: a test that runs pytest, with its output shown."""
        if self.blocks or self.entries:
            if len(self.outer) < 20:
                self.outer.append((self.blocks, self.entries))
            self.blocks, self.entries = [], []
        self.current = None

    def leave(self) -> None:
        """A session has ended; the one around it goes on."""
        if self.outer:
            self.blocks, self.entries = self.outer.pop()
            self.in_sections = True

    def block(self, line: Line) -> _Block:
        """The block that a line belongs to; a nameless one when no header was seen (grepped worker logs)."""
        if self.current is None:
            self.current = _Block("", "call", line.number, line.number)
            self.blocks.append(self.current)
        self.current.last = line.number
        return self.current


class _Pytest:
    """Keeps one session per rank, because the output of ranks is interleaved."""

    def __init__(self) -> None:
        self._sessions: dict[int, _Session] = {}

    def hit(self, window: Window) -> Iterable[Finding]:
        line = window.line
        session = self._sessions.get(line.rank)
        if session is None:
            session = self._sessions[line.rank] = _Session(line.rank)
        text = line.text.rstrip()
        first = text[:1]
        if first == "E":
            if text.startswith("E   ") or text == "E":
                self._error_line(session, window, text)
            elif match := _SUMMARY.match(text):
                self._summary_line(session, match, line)
        elif first in "FS" and (match := _SUMMARY.match(text)):
            self._summary_line(session, match, line)
        elif first == "_" and session.in_sections and (match := _HEADER.match(text)):
            _open_block(session, match["name"], line)
        elif match := _SECTION.match(text):
            if match["name"] == "test session starts":
                session.enter()
            session.in_sections = match["name"] in ("ERRORS", "FAILURES")
            session.current = None
        elif session.in_sections and not _named(session) and (match := _ONE_LINE.match(text)):
            _close_nameless(session, match, line)
        elif session.current is not None and (match := _LOCATION.match(text)):
            session.block(line).places.append((match["file"], int(match["line"])))
        elif _TAIL.match(text):
            yield from self._finish(session)
            session.leave()

    def _error_line(self, session: _Session, window: Window, text: str) -> None:
        block = session.block(window.line)
        if len(block.errors) < 200:
            block.errors.append(text[4:])
        match = _WAIT_STATUS.match(text[4:].lstrip())
        if match:
            number = int(match["status"])
            named = any(_STATUS_NAME.match(line.text) for line in window.back(6))
            block.wait_status |= named or (number > 0 and number % 256 == 0)

    def _summary_line(self, session: _Session, match: re.Match[str], line: Line) -> None:
        rest = match["rest"]
        if "::" not in rest and ".py" not in rest.partition(" - ")[0]:
            return
        session.current, session.in_sections = None, False
        session.entries.append(_Entry(match["status"][:6].rstrip("(["), rest, line.number))

    def close(self) -> Iterable[Finding]:
        for session in self._sessions.values():
            yield from self._finish(session)
            while session.outer:
                session.leave()
                yield from self._finish(session)

    def _finish(self, session: _Session) -> Iterator[Finding]:
        blocks, entries = session.blocks, session.entries
        session.blocks, session.entries, session.current = [], [], None
        by_name: dict[tuple[str, str], list[_Block]] = {}
        for block in blocks:
            by_name.setdefault((block.kind, block.name), []).append(block)
        nameless = by_name.get(("call", ""), [])
        names = {block.name for block in blocks}
        used: set[int] = set()
        for entry in entries:
            test, message = split_id(entry.rest, names)
            found = _block_of(entry.status, test, by_name)
            if found is None:
                only = nameless[0] if len(nameless) == 1 and session.rank >= 0 else None
                found = only or _nameless_of(test, message, nameless, used)
            if found is not None:
                used.add(id(found))
            yield _finding(entry, test, message, found, session.rank)
        for block in blocks:
            if id(block) not in used and (block.name or block.errors):
                yield _finding(None, block.name, "", block, session.rank)


def _open_block(session: _Session, name: str, line: Line) -> None:
    kind = "call"
    for prefix, what in ((_COLLECT, "collect"), (_SETUP, "setup"), (_TEARDOWN, "teardown")):
        if name.startswith(prefix):
            name, kind = name[len(prefix) :], what
    session.current = _Block(name, kind, line.number, line.number)
    session.blocks.append(session.current)


def _named(session: _Session) -> bool:
    return session.current is not None and session.current.name != ""


def _close_nameless(session: _Session, match: re.Match[str], line: Line) -> None:
    """``file:line: message`` ends the report of one failure; newer versions print its error lines before."""
    block = session.block(line)
    block.errors = block.errors or [match["message"]]
    block.places.append((match["file"], int(match["line"])))
    session.current = None


def _nameless_of(test: str, short: str, blocks: list[_Block], used: set[int]) -> _Block | None:
    """The nameless block that tells of a test: its place is in the test's file, its message that of the summary."""
    path = test.partition("::")[0]
    begin = short.removesuffix("...").strip()
    for block in blocks[:200]:
        there = any(place.endswith(path) for place, _ in block.places)
        if there and id(block) not in used and (not begin or block.errors[0].strip().startswith(begin)):
            return block
    return None


def split_id(rest: str, names: Iterable[str] = ()) -> tuple[str, str]:
    """Splits a summary line behind its first word into test id and message.

    A parameter id may hold blanks, ``::``, brackets and `` - ``, so the names of the failure blocks decide where it
    ends if they can; else the first ``]`` that is followed by `` - `` or ends the line.

    Args:
        rest: For example ``a.py::test_p[a b] - assert 1 == 2``.
        names: Names as the failure blocks print them.

    Returns:
        Test id and message; the message may be empty.
    """
    path, double_colon, tail = rest.partition("::")
    if not double_colon or " - " in path:
        test, _, message = rest.partition(" - ")
        return test.strip(), message.strip()
    known = names if isinstance(names, (set, frozenset)) else set(names)
    if "[" not in tail:
        test, _, message = tail.partition(" - ")
        return f"{path}::{test.strip()}", message.strip()
    cuts = [match.end() - 3 for match in re.finditer(r" - ", tail)] + [len(tail)]
    for cut in cuts[:50]:
        if block_name(tail[:cut].strip()) in known:
            return f"{path}::{tail[:cut].strip()}", tail[cut + 3 :].strip()
    bracket = tail.index("[")
    dash = tail.find(" - ")
    if 0 <= dash < bracket:
        return f"{path}::{tail[:dash].strip()}", tail[dash + 3 :].strip()
    end = tail.find("] - ", bracket)
    end = end + 1 if end >= 0 else len(tail)
    return f"{path}::{tail[:end].strip()}", tail[end + 3 :].strip()


def block_name(test: str) -> str:
    """The name that a failure block prints for the part of a test id behind the file: dots between class and method."""
    name, bracket, parameters = test.partition("[")
    return name.replace("::", ".") + bracket + parameters


def _block_of(status: str, test: str, by_name: dict[tuple[str, str], list[_Block]]) -> _Block | None:
    path, _, tail = test.partition("::")
    name = block_name(tail) if tail else path
    kinds = ("collect", "setup", "teardown") if status == "ERROR" else ("call",)
    for kind in kinds:
        waiting = by_name.get((kind, name))
        if waiting:
            for index, block in enumerate(waiting[:50]):
                if any(place.endswith(path) for place, _ in block.places):
                    return waiting.pop(index)
            return waiting.pop(0)
    # xdist heads the report of a dead worker with the file, not with the test
    dead = by_name.get(("call", path))
    return dead.pop(0) if dead else None


def _message_of(block: _Block | None, short: str) -> str:
    """The full message: the ``E`` line that the (often cut) summary begins with, else the last exception's line."""
    if block is None or not block.errors:
        return short
    begin = short.removesuffix("...").strip()
    if begin:
        full = next((text for text in block.errors if text.lstrip().startswith(begin)), "")
        return (full or short).strip()
    raised = [text for text in block.errors if _EXCEPTION.match(text.lstrip())]
    return (raised[-1] if raised else block.errors[0]).strip()


def _finding(entry: _Entry | None, test: str, short: str, block: _Block | None, rank: int) -> Finding:
    message = _message_of(block, short)
    path, _, _tail = test.partition("::")
    file = path if path.endswith(".py") or "::" in test else ""
    line = 0
    if block is not None and block.places:
        own = [place for place in block.places if file and (place[0].endswith(file) or file.endswith(place[0]))]
        if own or not file:
            where, line = (own or block.places)[-1]
            file = file or where
        else:
            line = _line_in_error(block, file)
    rule = _rule_of(entry, block, message)
    if rule == "wrapped-exit" and (match := _WAIT_STATUS.search(message)):
        message = f"{message} ({wait_status_words(int(match['status']))})"
    errors = [f"E   {text}"[:400] for text in (block.errors if block else [])][:MAX_EVIDENCE]
    frames = [f"{repo_path(place)}:{number}"[:400] for place, number in (block.places if block else [])][-5:]
    summary = [f"{entry.status} {entry.rest}"[:400]] if entry else []
    first = block.first if block else entry.line if entry else 0
    last = block.last if block else entry.line if entry else 0
    return Finding(
        tool="pytest",
        rule=rule,
        file=repo_path(file),
        line=line,
        function=repo_path(test),
        message=message[:1000] or "(no message)",
        severity=Severity.ERROR,
        failure_class=_class_of(rule, message, block),
        evidence=tuple(errors + frames + summary),
        first_line=first,
        last_line=last,
        rank=rank,
    )


def _line_in_error(block: _Block, file: str) -> int:
    """A syntax error names its place in the message, not in a frame."""
    places = (_FRAME.match(text) for text in block.errors)
    return next((int(place["line"]) for place in places if place and place["file"].endswith(file)), 0)


def _rule_of(entry: _Entry | None, block: _Block | None, message: str) -> str:
    if block is not None and block.kind != "call":
        return {"collect": "collection", "setup": "fixture", "teardown": "fixture"}[block.kind]
    if entry is not None and entry.status == "ERROR":
        return "fixture" if "::" in entry.rest else "collection"
    if (block is not None and block.wait_status) or _WRAPPER.search(message):
        return "wrapped-exit"
    if message.startswith("[XPASS(strict)]"):
        return "xpass-strict"
    if "Timeout (>" in message or "from pytest-timeout" in message:
        return "timeout"
    if message.startswith("worker '") and " crashed while running " in message:
        return "crash"
    match = _EXCEPTION.match(message)
    name = (match["name"] or match["bare"]) if match else ""
    return name.rpartition(".")[2] if name else "AssertionError" if message.startswith("assert ") else "failed"


def _class_of(rule: str, message: str, block: _Block | None) -> FailureClass:
    text = message + "\n" + "\n".join(block.errors[:20] if block else ())
    if "No module named" in text or "cannot import name" in text:
        return class_of_import(text)
    if rule == "timeout":
        return FailureClass.FLAKE
    return class_of_message(text)


def wait_status_words(status: int) -> str:
    """Says what the return value of ``os.system`` means (a wait status, not an exit code)."""
    if status > 0 and status % 256 == 0:
        return f"wait status: exit code {status // 256}"
    if 0 < status % 256 < 128:
        return f"wait status: killed by signal {status % 128}"
    return f"exit code {status}"


TOOL = Tool(
    "pytest",
    (
        r"FAILED [^ ]+::",
        r"FAILED [^ ]+\.py",
        r"SUBFAIL",
        r"ERROR [^ ]+::",
        r"ERROR [^ ]+\.py",
        r"E   ",
        r"_ [^\n]+ _",
        r"\.py:\d+: ",
        *literal("= FAILURES =", "= ERRORS =", "= short test summary info =", "= test session starts ="),
        *literal("= warnings summary =", "= PASSES ="),
        r" in [\d.]+s",
    ),
    _Pytest,
    stages=("UT", "ut", "ST", "st", "Smoke_CPU", "Smoke_Ascend", "Smoke_GPU"),
)
