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
"""CMake: ``CMake Error at file:line (command):`` with its indented paragraph, and errors without a place."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.model import Line
from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, literal, stateless
from bot.gate.finding import Finding

_AT = re.compile(
    r"CMake Error (?:at|in) (?P<file>[^:]{1,400}?)(?::(?P<line>\d{1,7}))?(?:"
    r" \((?P<command>[\w.]{1,100})\))?:\s*(?P<rest>.*)$"
)
_PLAIN = re.compile(r"CMake Error: (?P<message>\S.*)")


def _read(window: Window) -> Iterable[Finding]:
    text = window.line.text
    if match := _AT.match(text):
        lines = _paragraph(window)
        spoken = [line.text.strip() for line in lines]
        first = next((index for index, words in enumerate(spoken) if words), 0)
        stops = (at for at in range(first, len(spoken)) if not spoken[at] or spoken[at].startswith("Call Stack"))
        end = next(stops, len(spoken))
        message = " ".join([match["rest"], *spoken[first:end]]).strip()
        if lines:
            window.skip_to = lines[-1].number
        yield Finding(
            tool="cmake",
            rule=match["command"] or "cmake",
            file=repo_path(match["file"]),
            line=int(match["line"] or 0),
            message=message[:1000] or text.strip(),
            **at(window.line, *lines),
        )
    elif match := _PLAIN.match(text):
        yield Finding(tool="cmake", rule="cmake", message=match["message"].strip()[:1000], **at(window.line))


def _paragraph(window: Window) -> list[Line]:
    lines: list[Line] = []
    for line in window.ahead(60):
        text = line.text
        if text.strip() and not text.startswith(" ") and not text.startswith("Call Stack"):
            break
        if not text.strip() and lines and not lines[-1].text.strip():
            break
        lines.append(line)
    while lines and not lines[-1].text.strip():
        lines.pop()
    return lines


TOOL = Tool("cmake", literal("CMake Error"), stateless(_read))
