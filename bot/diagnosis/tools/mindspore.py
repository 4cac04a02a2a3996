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
"""MindSpore: log lines of level ERROR and above, and the blocks between dashed lines of its exceptions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.classes import class_of_message
from bot.diagnosis.model import Line
from bot.diagnosis.tool import Tool, Window, at, literal, stateless
from bot.diagnosis.tools.ascend import acl_code, class_of_code
from bot.gate.finding import Finding, Severity

# [ERROR] DEVICE(160186,fffd…,python):2023-01-10-09:25:45.337.259 [mindspore/ccsrc/…/x.cc:761] Func] msg
_LOG = re.compile(
    r"\[(?P<level>ERROR|CRITICAL|EXCEPTION)\] (?P<module>[A-Z_]{2,30})\(\d{1,10},[0-9a-fx]{1,20},[^)]{0,60}\):"
    r"(?P<time>[\d-]{10,11}[\d:.]{8,20}) \[(?P<file>[^\]:]{1,300}):(?P<line>\d{1,7})\]"
    r" (?:(?P<function>[\w:~<>]{1,200})\] ?)?(?P<message>.*)"
)
_HEAD = re.compile(r"- (?P<title>Framework Error Message|The Function Call Stack|C\+\+ Call Stack):?")
_PLACE = re.compile(r"(?P<file>mindspore/[\w./-]{1,300}):(?P<line>\d{1,7}) (?P<function>\S{1,300})")


def _read(window: Window) -> Iterable[Finding]:
    text = window.line.text
    if match := _LOG.search(text[:4000]):
        message = match["message"].strip()
        code = acl_code(message)
        yield Finding(
            tool="mindspore",
            rule=code or match["module"],
            file=match["file"],
            line=int(match["line"]),
            function=match["function"] or "",
            message=message[:1000] or match["level"],
            severity=Severity.ERROR if match["level"] == "ERROR" else Severity.FATAL,
            failure_class=class_of_code(code) if code else class_of_message(message),
            time=match["time"],
            **at(window.line),
        )
    elif match := _HEAD.match(text.strip()):
        yield from _block(window, match["title"])


def _block(window: Window, title: str) -> Iterable[Finding]:
    """Reads what stands below the dashed line under a heading, up to the next dashed or empty line."""
    body: list[Line] = []
    for line in window.ahead(20):
        words = line.text.strip()
        if words.startswith("---"):
            if body:
                break
            continue
        if (
            not words
            or _HEAD.match(words)
            or words.startswith(("ERROR: script", "[Pipeline]"))
            or (title == "C++ Call Stack" and not _PLACE.match(words))
        ):
            break
        body.append(line)
    if not body:
        return
    first = body[0].text.strip()
    place = _PLACE.match(first)
    if title == "Framework Error Message":
        yield Finding(
            tool="mindspore",
            rule="framework",
            message=first[:1000],
            failure_class=class_of_message(first),
            **at(window.line, *body),
        )
    elif place and title == "C++ Call Stack":
        yield Finding(
            tool="mindspore",
            rule="call-stack",
            file=place["file"],
            line=int(place["line"]),
            function=place["function"],
            message=f"{place['function']} ({place['file']}:{place['line']})",
            severity=Severity.INFO,
            **at(window.line, *body),
        )


TOOL = Tool(
    "mindspore",
    (
        r"\[(?:ERROR|CRITICAL|EXCEPTION)\] [A-Z_]+\(\d+,[0-9a-fx]+,",
        *literal("- Framework Error Message", "- C++ Call Stack"),
    ),
    stateless(_read),
)
