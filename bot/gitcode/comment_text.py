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
"""Makes a comment's text fit: cut to the forge's limit, or tamed for its web firewall. Hidden markers survive both.

A marker is an HTML comment at the very end of the text; the bot finds its own comments by it, so it must not be lost.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_MARKER_LIMIT = 2_000
TAMED_LENGTH = 4_000
"""Characters left of a text that the firewall refused: enough for a summary, little of the log that tripped it."""


def fit(text: str, limit: int, notice: str) -> str:
    """Cut ``text`` to ``limit`` characters, closing an open code fence and ending in ``notice`` and the marker.

    A text within the limit comes back unchanged. The result is never longer than ``limit``, as long as ``notice`` and
    marker together are shorter than that.
    """
    if len(text) <= limit:
        return text
    visible, marker = split_marker(text)
    tail = f"\n\n{notice}" + (f"\n\n{marker}" if marker else "")
    head = visible[: max(0, limit - len(tail) - 8)]
    line_end = head.rfind("\n")
    if line_end > len(head) // 2:
        head = head[:line_end]
    fence = open_fence(head)
    if fence:
        head = head[: max(0, limit - len(tail) - len(fence) - 1)] + "\n" + fence
    return (head + tail)[:limit]


def tamed(text: str) -> str:
    """A shorter text without angle brackets, for one more try after the firewall's refusal."""
    visible, marker = split_marker(text)
    visible = fit(visible, TAMED_LENGTH, "**……已截断。** (Cut.)")
    visible = visible.replace("&", "&amp;").replace("<", "&lt;").replace("../", "..&#47;")
    return f"{visible}\n\n{marker}" if marker else visible


def split_marker(text: str) -> tuple[str, str]:
    """The visible text, and the HTML comment that ends it (empty when there is none)."""
    stripped = text.rstrip()
    if not stripped.endswith("-->"):
        return text, ""
    start = stripped.rfind("<!--")
    if start < 0 or len(stripped) - start > _MARKER_LIMIT:
        return text, ""
    return stripped[:start].rstrip(), stripped[start:]


def open_fence(text: str) -> str:
    """The fence that would close the code block in which ``text`` ends; empty outside of code blocks."""
    fence = ""
    for match in _FENCE.finditer(text):
        mark = match.group(1)
        if not fence:
            fence = mark
        elif mark[0] == fence[0] and len(mark) >= len(fence):
            fence = ""
    return fence
