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
"""Reading the two logs of a Jenkins build: the first lines of the clean one, and the live one.

Since Jenkins 2.509 ``progressiveText`` no longer strips console notes and may lose lines while the build runs, so it
only tells that a build is alive; whoever wants to know why a build failed reads ``consoleText`` after its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# ConsoleNote: ESC[8mha: + base64 + ESC[0m. On a complete line only: a chunk border may cut a note in two.
_NOTE = re.compile(rb"\x1b\[8mha:[A-Za-z0-9+/=]*\x1b\[0m")
_CSI = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")
_STAMP = re.compile(r"^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] ?")
_REVISION = re.compile(r"Checking out Revision ([0-9a-f]{40}) \((?P<ref>[^)]*)\)")
_PULL_REF = re.compile(r"(?:merge-requests|pull|pulls)/(\d+)/(?:head|MERGE|merge)\b")
_VARIABLE = re.compile(
    r"\b(?:gitee|gitcode)?PullRequestLastCommit\s*[=:]\s*([0-9a-f]{40})\b"
    r"|\bcommitID\s*[:：]\s*([0-9a-f]{40})\b",
    re.IGNORECASE,
)

MAX_CARRY = 1 << 20  # a line longer than this is given out in pieces rather than kept


@dataclass(frozen=True, slots=True)
class Progress:
    """One look at the live log.

    Attributes:
        lines: Complete new lines, clean of notes and escape sequences.
        start: The position to ask for next: the server's own offset, never the number of bytes received.
        carry: Bytes of an unfinished line, to be handed in at the next look.
        more: True while the server says that the build may still write.
        restarted: True when the server began again at 0, so that lines may be repeats.
    """

    lines: tuple[str, ...] = ()
    start: int = 0
    carry: bytes = b""
    more: bool = True
    restarted: bool = False


def read_progress(before: Progress, headers: Mapping[str, str], body: bytes) -> Progress:
    """What one answer of ``progressiveText`` adds to the look before it."""
    size = _size(headers, before.start)
    more = headers.get("X-More-Data", "").lower() == "true"
    restarted = size < before.start  # the log is shorter than what was read: the server starts over
    carry = b"" if restarted else before.carry
    *whole, rest = (carry + body).split(b"\n")
    if rest and (not more or len(rest) > MAX_CARRY):
        whole, rest = [*whole, rest], b""
    return Progress(tuple(clean_line(line) for line in whole), size, rest, more, restarted)


def clean_line(line: bytes) -> str:
    """Text of one complete line: notes first, then every escape sequence; bytes that are no UTF-8 become U+FFFD."""
    return _CSI.sub(b"", _NOTE.sub(b"", line)).rstrip(b"\r").decode("utf-8", "replace")


def head_sha_in(lines: Iterable[str], pull_request: int) -> str:
    """Head sha of the pull request, when the log says plainly which one was checked out; empty otherwise.

    A checkout of a shared library or of the target branch also prints a revision, so a revision counts only beside
    the pull request's own ref.
    """
    for raw in lines:
        line = _STAMP.sub("", raw)
        if match := _VARIABLE.search(line):
            return (match.group(1) or match.group(2)).lower()
        if match := _REVISION.search(line):
            ref = _PULL_REF.search(match.group("ref"))
            if ref and int(ref.group(1)) == pull_request:
                return match.group(1)
    return ""


def _size(headers: Mapping[str, str], fallback: int) -> int:
    value = headers.get("X-Text-Size", "")
    return int(value) if value.isdecimal() else fallback
