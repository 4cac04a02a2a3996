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
"""Python: tracebacks that no test runner wrapped, such as those of workers; the rank is kept."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.classes import class_of_import, class_of_message
from bot.diagnosis.model import Line
from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, literal
from bot.gate.finding import Finding

_FRAME = re.compile(r'\s{1,20}File "(?P<file>[^"]{1,400})", line (?P<line>\d{1,7})(?:, in (?P<function>.{1,200}))?')
_RAISED = re.compile(r"(?P<name>[A-Za-z_][\w.]{0,200})(?:: (?P<message>.*))?\s*$")
_FAR, _NEAR, _PATIENCE = 250, 20, 40
_HEAD = "Traceback (most recent call last):"
_CHAIN = ("During handling of the above exception", "The above exception was the direct cause")
_FOREIGN = ("/site-packages/", "/dist-packages/", "/lib/python", "<")
# What a launcher raises because a child failed; the child's own words are elsewhere.
_WRAPPERS = ("ChildFailedError", "CalledProcessError")


class _Python:
    """Looks less far when tracebacks keep leading nowhere, so that a log made of their heads stays cheap."""

    def __init__(self) -> None:
        self._fruitless = 0

    def hit(self, window: Window) -> Iterable[Finding]:
        found = list(_read(window, _FAR if self._fruitless < _PATIENCE else _NEAR))
        self._fruitless = 0 if found else self._fruitless + 1
        return found

    def close(self) -> Iterable[Finding]:
        return ()


def _read(window: Window, limit: int) -> Iterable[Finding]:
    head = window.line.text
    begin = head.find(_HEAD)
    prefix = head[:begin]
    if begin < 0 or prefix.startswith("E  ") or "INTERNALERROR" in prefix:
        return
    frames: list[re.Match[str]] = []
    lines = [window.line]
    raised: re.Match[str] | None = None
    mixed = False
    for line in window.ahead(limit):
        if line.rank != window.line.rank:
            mixed = True  # another rank's line in between
            continue
        text = line.text[len(prefix) :] if prefix and line.text.startswith(prefix) else line.text
        if raised is not None and not text.strip().startswith((*_CHAIN, _HEAD)) and text.strip():
            break
        if text.startswith(_HEAD) and raised is None:
            break  # the one before was cut off
        if frame := _FRAME.match(text):
            frames.append(frame)
        elif text and not text.startswith(" ") and not text.startswith((*_CHAIN, _HEAD)):
            raised = _RAISED.match(text)
            if raised is None:
                break
            lines.append(line)
            continue
        elif text.startswith(_HEAD):
            raised = None
            frames.clear()
        if text.strip() or raised is None:
            lines.append(line)
    if raised is None or not frames:
        return
    if not mixed:
        window.skip_to = lines[-1].number
    yield _finding(raised, frames, lines)


def _finding(raised: re.Match[str], frames: list[re.Match[str]], lines: list[Line]) -> Finding:
    own = [frame for frame in frames if not any(part in frame["file"] for part in _FOREIGN)]
    place = (own or frames)[-1]
    name = raised["name"].rpartition(".")[2]
    message = f"{raised['name']}: {raised['message'] or ''}".rstrip(": ")
    missing = name in ("ModuleNotFoundError", "ImportError")
    return Finding(
        tool="python",
        rule="worker-exit" if name in _WRAPPERS else name,
        file=repo_path(place["file"]),
        line=int(place["line"]),
        function=(place["function"] or "").strip(),
        message=message[:1000],
        failure_class=class_of_import(message) if missing else class_of_message(message),
        # a traceback may be part of a passing test or of a retry that went well
        confidence=0.8,
        **at(lines[0], *lines[1:]),
    )


TOOL = Tool("python", literal(_HEAD), _Python)
