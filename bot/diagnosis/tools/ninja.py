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
"""ninja: ``FAILED: target`` with its command, and errors of the build file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.tool import Tool, Window, at, literal, stateless
from bot.gate.finding import Finding

_FAILED = re.compile(r"FAILED: (?:\[code=(?P<code>\d{1,6})\] )?(?P<target>\S.*)")
_ERROR = re.compile(r"ninja: (?:error|fatal): (?P<message>\S.*)")


def _read(window: Window) -> Iterable[Finding]:
    text = window.line.text
    if match := _ERROR.match(text):
        yield Finding(tool="ninja", rule="ninja", message=match["message"].strip()[:1000], **at(window.line))
    elif match := _FAILED.match(text):
        yield Finding(
            tool="ninja",
            rule="target",
            function=match["target"].strip()[:400],
            message=f"FAILED: {match['target'].strip()}"[:1000],
            **at(window.line),
        )


TOOL = Tool("ninja", literal("FAILED: ", "ninja: error: ", "ninja: fatal: "), stateless(_read))
