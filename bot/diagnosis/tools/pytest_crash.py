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
"""pytest that did not get to its summary: interpreter crash, thread time-out, INTERNALERROR, conftest, usage, xdist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bot.diagnosis.classes import class_of_import
from bot.diagnosis.model import Line
from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, evidence, literal, stateless
from bot.gate.finding import FailureClass, Finding, Severity

_FRAME = re.compile(r'\s{1,20}File "(?P<file>[^"]{1,400})", line (?P<line>\d{1,7})(?:,)? in (?P<function>.{1,200})$')
_CONFTEST = re.compile(r"ImportError while loading conftest '(?P<file>[^']{1,400})'")
_PLACE = re.compile(r"(?P<file>\S{1,400}\.py):(?P<line>\d{1,7}): in ")
_USAGE = re.compile(r"ERROR: (?P<message>(?:not found|file or directory not found|usage): ?.*)")
_BANNER = re.compile(r"\++ Timeout \++$")
_FATAL = "Fatal Python error: "
_INTERNAL = "INTERNALERROR>"
_FOREIGN = ("/site-packages/", "/dist-packages/", "/lib/python", "<")


def _read(window: Window) -> Iterable[Finding]:
    text = window.line.text
    # the word may follow a line of dots that had not ended
    if _FATAL in text[:300]:
        yield from _crash(window)
    elif _BANNER.match(text):
        yield from _timeout(window)
    elif text.startswith(_INTERNAL):
        yield from _internal(window)
    elif match := _CONFTEST.match(text):
        yield from _conftest(window, match["file"])
    elif match := _USAGE.match(text):
        yield _finding(window, [window.line], "usage", match["message"].strip())
    elif text.startswith("no tests ran in ") or " no tests ran in " in text[:100]:
        yield _finding(window, [window.line], "no-tests", "no tests ran", severity=Severity.WARNING, confidence=0.4)


def _finding(window: Window, lines: list[Line], rule: str, message: str, **fields: object) -> Finding:
    values: dict[str, object] = {"severity": Severity.ERROR, "failure_class": FailureClass.CODE, **fields}
    return Finding(
        tool="pytest",
        rule=rule,
        message=message[:1000],
        evidence=evidence(lines),
        first_line=lines[0].number,
        last_line=lines[-1].number,
        rank=window.line.rank,
        **values,  # type: ignore[arg-type]
    )


def _is_own(file: str) -> bool:
    return not any(part in file for part in _FOREIGN)


def _frames(lines: Iterable[Line]) -> list[tuple[str, int, str]]:
    matches = (_FRAME.match(line.text) for line in lines)
    return [(match["file"], int(match["line"]), match["function"].strip()) for match in matches if match]


def _test_of(frames: list[tuple[str, int, str]]) -> tuple[str, int, str]:
    """File, line and test id out of frames, innermost first; empty where the frames name no test of the repository."""
    own = [frame for frame in frames if _is_own(frame[0])]
    test = next((frame for frame in own if frame[2].startswith("test")), None)
    if test is None:
        return (repo_path(own[0][0]), own[0][1], "") if own else ("", 0, "")
    return repo_path(test[0]), test[1], f"{repo_path(test[0])}::{test[2]}"


def _crash(window: Window) -> Iterator[Finding]:
    lines = [window.line]
    current: list[Line] = []
    in_current = False
    for line in window.ahead(200):
        text = line.text
        if text.startswith(("Current thread ", "Thread 0x")):
            in_current = text.startswith("Current")
        elif not (text.startswith("  File ") or text.startswith("  ...") or not text.strip()):
            break
        elif in_current:
            current.append(line)
        lines.append(line)
    while len(lines) > 1 and not lines[-1].text.strip():
        lines.pop()
    file, number, test = _test_of(_frames(current))
    window.skip_to = lines[-1].number
    message = window.line.text[window.line.text.find(_FATAL) :].strip() + (f" in {test}" if test else "")
    yield _finding(window, lines, "crash", message, file=file, line=number, function=test, severity=Severity.FATAL)


def _timeout(window: Window) -> Iterator[Finding]:
    lines = [window.line]
    main: list[Line] = []
    in_main = False
    for line in window.ahead(400):
        lines.append(line)
        if _BANNER.match(line.text):
            break
        if line.text.startswith("~"):
            in_main = "MainThread" in line.text
        elif in_main:
            main.append(line)
    frames = _frames(main)[::-1]
    if len(lines) < 3 and not frames:
        return
    file, number, test = _test_of(frames)
    window.skip_to = lines[-1].number
    message = "pytest-timeout stopped the process" + (f" in {test}" if test else "")
    proof = [line for line in lines if _FRAME.match(line.text) is None or _is_own(line.text)]
    yield _finding(
        window,
        [proof[0], *proof[1:-1], lines[-1]],
        "timeout",
        message,
        file=file,
        line=number,
        function=test,
        failure_class=FailureClass.FLAKE,
    )


def _internal(window: Window) -> Iterator[Finding]:
    lines = [window.line]
    for line in window.ahead(400):
        if not line.text.startswith(_INTERNAL):
            break
        lines.append(line)
    window.skip_to = lines[-1].number
    words = [line._replace(text=line.text[len(_INTERNAL) + 1 :]) for line in lines]
    spoken = [line.text for line in words if line.text.strip() and not line.text.startswith(" ")]
    own = [frame for frame in _frames(words) if _is_own(frame[0])]
    file, number, function = own[-1] if own else ("", 0, "")
    yield _finding(
        window,
        lines,
        "internal-error",
        spoken[-1].strip() if spoken else "INTERNALERROR",
        file=repo_path(file) if file else "",
        line=number,
        function=function,
        # A hook of the repository's conftest is code; pytest or a plugin falling over is the environment.
        failure_class=FailureClass.CODE if own else FailureClass.INFRASTRUCTURE,
    )


def _conftest(window: Window, conftest: str) -> Iterator[Finding]:
    lines = [window.line]
    message, file, number = "", conftest, 0
    for line in window.ahead(60):
        text = line.text
        if text.startswith(("ImportError while loading conftest", "=", "_")) or (
            message and not text.startswith("E  ")
        ):
            break
        lines.append(line)
        if match := _PLACE.match(text):
            file, number = match["file"], int(match["line"])
        elif text.startswith("E   ") and not text.startswith("E    "):
            message = text[4:].strip()
    window.skip_to = lines[-1].number
    yield _finding(
        window,
        lines,
        "conftest",
        message or window.line.text.strip(),
        file=repo_path(file),
        line=number,
        failure_class=class_of_import(message),
    )


TOOL = Tool(
    "pytest_crash",
    literal(
        "Fatal Python error: ",
        "+ Timeout +",
        "INTERNALERROR> ",
        "ImportError while loading conftest '",
        "ERROR: not found: ",
        "ERROR: file or directory not found: ",
        "ERROR: usage: ",
        "no tests ran in ",
    ),
    stateless(_read),
    stages=("UT", "ut", "ST", "st", "Smoke_CPU", "Smoke_Ascend", "Smoke_GPU"),
)
