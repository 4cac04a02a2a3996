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
"""make: ``make[2]: *** [target] Error 1`` and errors of a makefile itself."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.paths import repo_path
from bot.diagnosis.tool import Tool, Window, at, literal
from bot.gate.finding import FailureClass, Finding

_TARGET = re.compile(
    r"(?P<tool>(?:g|mingw32-|b)?make)(?:\[\d{1,3}\])?: \*\*\* \[(?:(?P<file>[^\]:]{1,300}):(?P<line>\d{1,7}): )?"
    r"(?P<target>[^\]]{1,400})\] (?P<what>Error (?P<code>\d{1,6})|[A-Z][\w ().-]{1,80})"
)
_STOP = re.compile(
    r"(?:(?:g|mingw32-|b)?make(?:\[\d{1,3}\])?"
    r"|(?P<file>[^:\s]{1,300}):(?P<line>\d{1,7})): \*\*\* (?P<message>.*?)\.?  Stop\."
)


class _Make:
    """make itself ends with 2, so once a target has failed, "Error 2" lines only report the failure upwards."""

    def __init__(self) -> None:
        self._failed = False

    def hit(self, window: Window) -> Iterable[Finding]:
        text = window.line.text
        if match := _TARGET.match(text):
            if match["code"] == "2" and self._failed:
                return
            self._failed = True
            yield Finding(
                tool="make",
                rule="target",
                file=repo_path(match["file"] or ""),
                line=int(match["line"] or 0),
                function=match["target"],
                message=f"*** [{match['target']}] {match['what']}",
                failure_class=FailureClass.INFRASTRUCTURE if match["what"] == "Killed" else FailureClass.CODE,
                **at(window.line),
            )
        elif match := _STOP.match(text):
            self._failed = True
            yield Finding(
                tool="make",
                rule="makefile",
                file=repo_path(match["file"] or ""),
                line=int(match["line"] or 0),
                message=match["message"].strip()[:1000],
                **at(window.line),
            )

    def close(self) -> Iterable[Finding]:
        return ()


TOOL = Tool("make", literal(": *** "), _Make)
