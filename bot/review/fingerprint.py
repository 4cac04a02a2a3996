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
"""The name of a comment that outlives moved lines: rule, file and the line's own text, never its number. Pure.

The name stands at the end of the comment as ``<!-- gatebot:line-<source>:<16 hex digits> -->``; ``source`` is what
found it (``build`` or ``review``), because only the same source can say that a finding is gone.
"""

from __future__ import annotations

import hashlib
import re

from bot.gate.finding import Finding

_MARK = re.compile(r"<!-- gatebot:line-(?P<source>[a-z]+):(?P<name>[0-9a-f]{16}) -->\s*\Z")
_DIGITS = re.compile(r"\d+")


def fingerprint(finding: Finding, line_text: str, ordinal: int = 0) -> str:
    """Sixteen hexadecimal digits.

    Args:
        finding: What was found.
        line_text: Text of its line; empty when unknown, then the message without its numbers stands in.
        ordinal: Tells equal findings on equal lines of one file apart: 0 for the first, 1 for the next.
    """
    text = " ".join(line_text.split())
    if not text:
        text = f"\0{finding.function}\0{_DIGITS.sub('#', finding.message)}"
    parts = (finding.tool, finding.rule, finding.file, text, str(ordinal))
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def mark(source: str, name: str) -> str:
    """The hidden mark of a comment."""
    return f"<!-- gatebot:line-{source}:{name} -->"


def read_mark(body: str) -> tuple[str, str] | None:
    """Source and name of a comment that ends in a mark; ``None`` for any other text."""
    match = _MARK.search(body[-200:])
    return (match["source"], match["name"]) if match else None
