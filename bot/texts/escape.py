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
"""Making other people's words harmless inside our comments.

A comment of ours is read by people, by the gate robot (whose own parser may look at raw lines) and by other bots. So
quoted text must not notify anybody, must not start a line with a slash command, and must not break out of its place.
"""

from __future__ import annotations

import re

_ZERO_WIDTH = "\u200b"
# Control, zero-width and bidirectional characters hide or reorder text; tab and newline are dealt with by the callers.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_LINE_END = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_MARKDOWN = re.compile(r"([\\`*_\[\]|~])")
_COMMAND_START = re.compile(r"(?m)^([ \t\u3000]*)([/／])")
_MENTION = re.compile(r"[@＠]")


class Markup(str):
    """Text that is ready to stand in a comment as it is; ``render`` does not escape it again."""

    __slots__ = ()


def _plain(value: str) -> str:
    return _HIDDEN.sub("", _LINE_END.sub("\n", value))


def _defuse_mentions(value: str) -> str:
    return _MENTION.sub(lambda found: found.group() + _ZERO_WIDTH, value)


def _shorten(value: str, limit: int) -> str:
    return value if len(value) <= limit else value[: limit - 1] + "…"


def inline(value: str, *, limit: int = 300) -> Markup:
    """One line of plain text: no mark-up, no mention, no command, at most ``limit`` characters before escaping."""
    flat = _shorten(" ".join(_plain(value).split()), limit)
    escaped = _MARKDOWN.sub(r"\\\1", flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    return Markup(_COMMAND_START.sub(rf"{_ZERO_WIDTH}\2", _defuse_mentions(escaped)))


def ready(value: str) -> Markup:
    """A finished sentence of another room that lost its type on the way: mark-up stays, mentions and commands go."""
    lines = [_plain(line).strip().replace("<!--", "&lt;!--") for line in _LINE_END.sub("\n", value).split("\n")]
    joined = "\n  ".join(line for line in lines if line)
    defused = re.sub(f"([@＠])(?!{_ZERO_WIDTH})", rf"\1{_ZERO_WIDTH}", joined)
    return Markup(_COMMAND_START.sub(rf"\1{_ZERO_WIDTH}\2", defused))


def code(value: str, *, limit: int = 200) -> Markup:
    """A code span that also fits a table cell; empty text gives an empty string."""
    flat = _shorten(" ".join(_plain(value).split()), limit).replace("`", "'").replace("|", "\\|")
    return Markup(f"`{_defuse_mentions(flat)}`" if flat else "")


def quote(value: str, *, limit: int = 2000) -> Markup:
    """A block quote, line by line, so that no line of it can start a command."""
    lines = _defuse_mentions(_shorten(_plain(value), limit)).split("\n")
    return Markup("\n".join(f"> {line}".rstrip() for line in lines))


def fence(value: str, *, info: str = "", exact: bool = False, limit: int = 30_000) -> Markup:
    """A fenced block that its content cannot close.

    Args:
        value: What to show.
        info: Word after the opening fence, such as ``diff``.
        exact: Leave every visible character as it is, for patches that people apply.
        limit: Longer text is cut at a line end and marked as cut.
    """
    text = value if exact else _COMMAND_START.sub(rf"\1{_ZERO_WIDTH}\2", _defuse_mentions(_plain(value)))
    text = text.rstrip("\n")
    if len(text) > limit:
        text = text[:limit].rpartition("\n")[0] + "\n…"
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return Markup(f"{ticks}{info}\n{text}\n{ticks}")


def link(label: str, url: str) -> Markup:
    """A link, or the plain label where the address is empty or not a web address."""
    if not re.fullmatch(r"https?://[^\s<>()\"']+", url):
        return inline(label)
    return Markup(f"[{inline(label)}]({url})")
