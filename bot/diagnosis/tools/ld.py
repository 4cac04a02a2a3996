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
"""Linkers: GNU ld, gold, lld and Apple's ld."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, literal
from bot.gate.finding import Finding

_REFERENCE = re.compile(
    r"(?:(?:/\S{0,200}?|\w{1,20}-)?ld(?:\.\w{1,10})?: )?(?P<file>[^:]{1,400}):(?:\((?P<section>[^)]{1,200})\)"
    r"|(?P<line>\d{1,7})):"
    r"(?: first defined here)? ?(?P<message>(?:undefined reference to|multiple definition of) .*)"
)
_FUNCTION = re.compile(r".{0,400}: in function [`'‘](?P<function>.{1,300}?)['’]:?\s*$", re.IGNORECASE)
_LLD = re.compile(r"(?:\S{0,200}/)?ld(?:64)?\.\w{1,10}: error: (?P<message>.*)")
_CANNOT = re.compile(r"(?:\S{0,200}/)?ld(?:\.\w{1,10})?: (?P<message>cannot find .*|library not found for .*)")
_APPLE = re.compile(r"Undefined symbols? for architecture \w{1,20}:")
_END = re.compile(
    r"collect2: (?:error|fatal error): (?P<message>ld .*)|clang\S{0,10}: error: (?P<clang>linker command failed .*)"
)


class _Ld:
    """Remembers whether the linker has said why, so that its last line counts only when it has not."""

    def __init__(self) -> None:
        self._told = False

    def hit(self, window: Window) -> Iterable[Finding]:
        text = window.line.text
        if match := _END.match(text):
            if not self._told:
                yield self._finding(window, "ld", match["message"] or match["clang"])
            self._told = False
        elif match := _REFERENCE.match(text):
            before = next(iter(window.back(1)), None)
            function = _FUNCTION.match(before.text) if before else None
            fields = {"file": repo_path(match["file"]), "line": int(match["line"] or 0)}
            fields["function"] = function["function"] if function else ""
            rule = match["message"].partition(" ")[0] + "-symbol"
            lines = [before] if before and function else []
            yield self._finding(window, rule, match["message"], *lines, **fields)
        elif match := (_LLD.match(text) or _CANNOT.match(text)):
            yield self._finding(window, "ld", match["message"])
        elif _APPLE.match(text):
            more = []
            for line in window.ahead(30):
                if not line.text.startswith(" "):
                    break
                more.append(line)
            message = " ".join([text, *(line.text.strip() for line in more[:2])])
            yield self._finding(window, "undefined-symbol", message, *more)

    def _finding(self, window: Window, rule: str, message: str, *lines: object, **fields: object) -> Finding:
        self._told = True
        return Finding(tool="ld", rule=rule, message=message.strip()[:1000], **fields, **at(window.line, *lines))  # type: ignore[arg-type]

    def close(self) -> Iterable[Finding]:
        return ()


TOOL = Tool(
    "ld",
    literal(
        "undefined reference to ",
        "multiple definition of ",
        "ld returned ",
        "linker command failed",
        "ld: cannot find ",
        "library not found for ",
        "Undefined symbol",
        ": error: undefined ",
        ": error: duplicate symbol",
    ),
    _Ld,
)
