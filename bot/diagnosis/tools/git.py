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
"""git: fetches that fail, refs that are not there, merge conflicts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.diagnosis.tool import Tool, Window, at, literal, stateless
from bot.gate.finding import FailureClass, Finding, Severity

_CONFLICT = re.compile(r"CONFLICT \((?P<kind>[\w/ ]{1,60})\): (?P<message>\S.*)")
_CONFLICT_FILE = re.compile(r"Merge conflict in (?P<file>\S.*)|^(?P<other>\S{1,400}) (?:deleted|renamed|added) in ")
_FATAL = re.compile(r"(?:stderr: )?(?P<level>fatal|error): (?P<message>\S.*)")
_NETWORK = re.compile(
    r"unable to access|[Cc]ould not (?:read from remote|resolve)|RPC failed|early EOF|index-pack failed"
    r"|hung up unexpectedly"
    r"|unable to connect|unexpected disconnect|Authentication failed|repository .* not found|[Tt]imed out|HTTP/2 stream"
    r"|the remote end|unable to look up|could not fetch|clone of .* failed|[Cc]ould not read (?:Username|Password)"
)
_REF = re.compile(r"couldn't find remote ref|reference is not a tree|not our ref|bad object|pathspec .* did not match")
# Version detection of build scripts asks git outside a repository; nobody minds.
_NOISE = re.compile(r"not a git repository|[Nn]o names found|No tags can describe|ambiguous argument 'HEAD'")
_ERROR_WORDS = re.compile(r"RPC failed|failed to push|pathspec .* did not match|could not apply|Server does not allow")


def _read(window: Window) -> Iterable[Finding]:
    text = window.line.text.strip()
    if match := _CONFLICT.match(text):
        named = _CONFLICT_FILE.search(match["message"][:600])
        yield Finding(
            tool="git",
            rule="merge-conflict",
            file=(named["file"] or named["other"] or "").strip() if named else "",
            message=text[:1000],
            **at(window.line),
        )
        return
    match = _FATAL.match(text)
    if match is None or _NOISE.search(text[:500]):
        return
    message = match["message"][:1000]
    network = bool(_NETWORK.search(message))
    if match["level"] == "error" and not _ERROR_WORDS.search(message):
        return
    missing = bool(_REF.search(message))
    yield Finding(
        tool="git",
        rule="network" if network else "ref" if missing else "git",
        message=message,
        severity=Severity.FATAL if match["level"] == "fatal" else Severity.ERROR,
        # a ref that is not there yet may come a moment after a push (fact sheet 9.6)
        failure_class=FailureClass.INFRASTRUCTURE if network or missing else FailureClass.UNKNOWN,
        confidence=1.0 if network or missing else 0.6,
        **at(window.line),
    )


TOOL = Tool(
    "git",
    literal(
        "CONFLICT (",
        "fatal: ",
        "error: RPC failed",
        "error: failed to push",
        "error: pathspec",
        "error: Server does not",
    ),
    stateless(_read),
)
