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
"""Small helpers on a file's lines that keep bytes as they are: line ends, BOM, encoding."""

from __future__ import annotations

import codecs
import io
import tokenize
from dataclasses import dataclass

from bot.repair.reason import Reason, because


@dataclass(frozen=True, slots=True)
class Source:
    """A decoded Python or text file that encodes back to exactly the same bytes."""

    text: str
    encoding: str
    bom: bool

    def encode(self, text: str) -> bytes:
        """Bytes of an edited text in the file's own encoding.

        Raises:
            UnicodeEncodeError: When the edit holds a character that the encoding lacks.
        """
        body = text.encode(self.encoding)
        return codecs.BOM_UTF8 + body if self.bom else body

    @property
    def newline(self) -> str:
        """The file's prevailing line end."""
        return "\r\n" if self.text.count("\r\n") * 2 > self.text.count("\n") else "\n"

    def lines(self) -> list[str]:
        """Lines with their ends; only ``\\n``, ``\\r\\n`` and ``\\r`` end a line, as for Python."""
        return split_lines(self.text)


def split_lines(text: str) -> list[str]:
    """Split at ``\\n``, ``\\r\\n`` and lone ``\\r`` only, keeping the ends (``str.splitlines`` knows more)."""
    return list(io.StringIO(text, newline=""))


def decode_python(content: bytes, path: str) -> Source | Reason:
    """Decode by PEP 263, or say why not."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        bom = content.startswith(codecs.BOM_UTF8)
        body = content[3:] if bom else content
        name = "utf-8" if encoding == "utf-8-sig" else encoding
        return Source(body.decode(name), name, bom)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        return because("unreadable", file=path, why=str(error))


def decode_text(content: bytes, path: str) -> Source | Reason:
    """Decode as UTF-8, or say why not."""
    bom = content.startswith(codecs.BOM_UTF8)
    try:
        return Source((content[3:] if bom else content).decode("utf-8"), "utf-8", bom)
    except UnicodeDecodeError as error:
        return because("unreadable", file=path, why=str(error))


def decode(content: bytes, path: str) -> Source | Reason:
    """Decode by the kind of file."""
    return decode_python(content, path) if path.endswith((".py", ".pyi")) else decode_text(content, path)


def split_end(line: str) -> tuple[str, str]:
    """A line without its end, and the end."""
    for end in ("\r\n", "\n", "\r"):
        if line.endswith(end):
            return line[: -len(end)], end
    return line, ""


@dataclass(frozen=True, slots=True)
class Place:
    """One line of a file; ``number`` counts from 1, ``lines`` have their ends."""

    source: Source
    lines: tuple[str, ...]
    number: int

    @property
    def line(self) -> str:
        """The line with its end."""
        return self.lines[self.number - 1]

    def replaced(self, line: str) -> bytes:
        """The file with another text, ends included, for this line."""
        return self.source.encode("".join((*self.lines[: self.number - 1], line, *self.lines[self.number :])))


def place_at(content: bytes, path: str, number: int, what: str) -> Place | Reason:
    """The 1-based line of a file, or a refusal when it cannot be read or there is no such line."""
    source = decode(content, path)
    if isinstance(source, Reason):
        return source
    lines = source.lines()
    line = line_at(lines, number, what)
    return line if isinstance(line, Reason) else Place(source, tuple(lines), number)


def line_at(lines: list[str], number: int, what: str) -> str | Reason:
    """The 1-based line, or a refusal when there is none."""
    if 1 <= number <= len(lines):
        return lines[number - 1]
    return because("not-found-here", line=str(number), what=what)
