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
"""msrun: what the launcher itself says when a worker has failed (the workers' own lines go to their tools)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.tool import Tool, Window, at, literal, stateless
from bot.gate.finding import FailureClass, Finding

_EXIT = re.compile(r".{0,120}?(?P<message>(?:Worker|Scheduler) process \d{1,10} exit with exception\.?.*)")
_NODES = re.compile(r".{0,120}?(?P<message>Time out nodes are \[(?P<nodes>[^\]]{0,1000})\].*)")
_JOB = re.compile(r"(?:\w{1,40}Error: )?(?P<message>Distributed job exited with exception\..*)")


def _read(window: Window) -> Iterable[Finding]:
    text = window.line.text[:3000]
    if text.startswith("E  "):
        return  # pytest's own words for it
    if match := (_EXIT.match(text) or _JOB.match(text)):
        yield Finding(tool="msrun", rule="worker-exit", message=match["message"].strip()[:1000], **at(window.line))
    elif (match := _NODES.match(text)) and match["nodes"].strip():
        yield Finding(
            tool="msrun",
            rule="timeout",
            message=match["message"].strip()[:1000],
            failure_class=FailureClass.FLAKE,
            **at(window.line),
        )


TOOL = Tool(
    "msrun",
    literal(" exit with exception", "Time out nodes are [", "Distributed job exited with exception"),
    stateless(_read),
)
