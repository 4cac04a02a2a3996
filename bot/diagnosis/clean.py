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
"""Takes off what a console adds to a tool's own words: ANSI codes, notes, progress bars, time stamps, ranks.

Blocks of bytes are cleaned without ever changing the number of newlines, so line numbers stay those of the input.
"""

from __future__ import annotations

import re

from bot.diagnosis.model import Line

MAX_LINE = 8_192
"""Characters of a line that a parser gets to see; the middle of a longer one is cut out."""

# A Jenkins console note first (its payload is base64 between two CSI sequences), then CSI, OSC and two-byte escapes.
_ESCAPES = re.compile(
    rb"\x1b\[8mha:[A-Za-z0-9+/=]*(?:\x1b\[0m)?"
    rb"|\x1b\[[0-?]*[ -/]*[@-~]"
    rb"|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
    rb"|\x1b[ -/]+[0-~]"
    rb"|\x1b[0-~]?"
)
# Where the ESC byte was lost on the way (pasted logs): only forms that no tool prints on purpose.
_BARE_COLOUR = re.compile(
    r"\[(?:\d{1,3}(?:;\d{1,3}){0,4})?m(?![\w\]])|\[0?K(?=\W|$)|\[(?:0|1|[349]\d|\d{1,2}(?:;\d{1,3}){1,4})m"
)

_PREFIX = re.compile(
    # ISO and friends: [2026-05-16T02:18:23.087Z], 2026-05-16T02:18:23.0870000Z, 2026-05-16 02:18:23,087
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?"
    r"(?:[ \t]\d\d[OE](?:\+|[ \t]|$)|[ \t]|$)"
    # timestamper's short forms: 02:18:23  and [02:18:23]
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d{1,6})?\]?(?:[ \t]+|$)"
    # parallel branch of a Pipeline
    r"|\[(?P<branch>(?:Check|Smoke|Compile)_\w{1,40}|UT|ST|ut|st)\][ \t]?"
    # docker compose
    r"|[A-Za-z][\w.-]{0,60}[_-]\d{1,3}[ \t]{1,40}\|[ \t]"
    # ranks: torch, torchrun --tee, vLLM and friends, mpirun
    r"|\[rank(?P<rank>\d{1,6})\]:[ \t]?"
    r"|\[default(?P<tee>\d{1,6})\]:[ \t]?"
    r"|\((?:Worker\w{0,20}?(?P<vllm>\d{1,6})|\w{1,30}) pid=\d{1,9}\)[ \t]"
    r"|\[\d{1,6},(?P<mpi>\d{1,6})\]<std(?:out|err)>:[ \t]?"
    # msrun's grep over worker logs: path/worker_3.log:123:hit  path/worker_3.log-124-context
    r"|(?P<msrun>[./~][^\s:]{0,300}?/?(?:worker_(?P<worker>\d{1,6})|scheduler)\.log)(?::\d{1,9}:|-\d{1,9}-)"
)
_PREFIX_START = frozenset("[(./~0123456789")
_MAY_BE_COMPOSE = re.compile(r"[A-Za-z][\w.-]{0,60}[_-]\d{1,3}[ \t]{1,40}\|")


def clean_block(block: bytes) -> bytes:
    """Removes escapes and overwritten progress output from whole lines.

    Args:
        block: Complete lines, as they came.

    Returns:
        The same number of lines, separated by ``\\n``.
    """
    if b"\x1b" in block:
        block = _ESCAPES.sub(b"", block)
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
        if b"\r" in block:
            block = _collapse_returns(block)
    return block


def _collapse_returns(block: bytes) -> bytes:
    """Keeps of every line what a terminal would show last: the text behind the last carriage return."""
    pieces: list[bytes] = []
    position = 0
    hit = block.find(b"\r")
    while hit >= 0:
        start = block.rfind(b"\n", position, hit) + 1 or position
        end = block.find(b"\n", hit)
        end = len(block) if end < 0 else end
        shown = block[start:end].rstrip(b"\r\t ")
        pieces.append(block[position:start])
        pieces.append(shown[shown.rfind(b"\r") + 1 :])
        position = end
        hit = block.find(b"\r", end)
    pieces.append(block[position:])
    return b"".join(pieces)


def cut_long(raw: bytes) -> bytes:
    """Keeps head and tail of an over-long line."""
    if len(raw) <= MAX_LINE:
        return raw
    half = MAX_LINE // 2
    return raw[:half] + b" ... " + raw[-half:]


def clean_line(raw: bytes, number: int) -> Line:
    """Decodes one line of a cleaned block and takes its prefixes off.

    Args:
        raw: Bytes of the line without its newline.
        number: 1-based number of the line in the input.

    Returns:
        The line; bytes that are not UTF-8 become U+FFFD.
    """
    return strip_prefixes(cut_long(raw).decode("utf-8", "replace"), number)


def strip_prefixes(text: str, number: int) -> Line:
    """Takes time stamps, branch names and rank marks off the front of a line, at most six of them."""
    rank, branch = -1, ""
    for _ in range(6):
        if not text or (text[0] not in _PREFIX_START and not _MAY_BE_COMPOSE.match(text)):
            break
        match = _PREFIX.match(text)
        if match is None:
            break
        text = text[match.end() :]
        kind = match.lastgroup
        if kind == "branch":
            branch = match["branch"]
        elif kind is not None:
            found = match["rank"] or match["tee"] or match["vllm"] or match["mpi"] or match["worker"]
            rank = int(found) if found else rank
    return Line(number, text, rank, branch)


def strip_bare_colour(text: str) -> str:
    """Removes colour codes whose ESC byte was lost when the log was copied."""
    return _BARE_COLOUR.sub("", text) if "[" in text else text
