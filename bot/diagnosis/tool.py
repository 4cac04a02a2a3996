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
"""What a tool parser is, and the registry that finds them: adding a tool means adding one file in ``tools``."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from bot.diagnosis.clean import clean_line
from bot.diagnosis.model import Line
from bot.gate.finding import Finding


class Window:
    """The line that holds a trigger, and the lines around it.

    Attributes:
        line: The cleaned line with the trigger.
        skip_to: A reader sets this to the number of the last line that it has used up; triggers of the same tool
            up to there are not reported to it again.
    """

    __slots__ = ("_buffer", "_end", "_start", "line", "skip_to")

    def __init__(self, buffer: bytes, start: int, end: int, number: int) -> None:
        self._buffer, self._start, self._end = buffer, start, end
        self.line = clean_line(buffer[start:end], number)
        self.skip_to = 0

    def ahead(self, limit: int) -> Iterator[Line]:
        """Yields at most ``limit`` lines after the trigger line (fewer where the log ends)."""
        buffer, start, number = self._buffer, self._end + 1, self.line.number
        size = len(buffer)
        for _ in range(limit):
            if start >= size:
                return
            end = buffer.find(b"\n", start)
            end = size if end < 0 else end
            number += 1
            yield clean_line(buffer[start:end], number)
            start = end + 1

    def back(self, limit: int) -> Iterator[Line]:
        """Yields at most ``limit`` lines before the trigger line, nearest first."""
        buffer, end, number = self._buffer, self._start - 1, self.line.number
        for _ in range(limit):
            if end < 0:
                return
            start = buffer.rfind(b"\n", 0, end) + 1
            number -= 1
            yield clean_line(buffer[start:end], number)
            end = start - 1


class Reader(Protocol):
    """Reads one log for one tool. A new one is made for every log."""

    def hit(self, window: Window) -> Iterable[Finding]:
        """Called for every line that holds one of the tool's triggers, in the order of the log."""
        ...

    def close(self) -> Iterable[Finding]:
        """Called once after the last line."""
        ...


@dataclass(frozen=True, slots=True)
class Tool:
    """A parser as the registry knows it.

    Attributes:
        name: Name of the tool; also ``Finding.tool``.
        triggers: Regular expressions (see ``scan.build_scanner``), at least one of which is on every line that the
            reader must see.
        reader: Makes a reader.
        stages: Gate stages that run this tool, the usual one first.
    """

    name: str
    triggers: tuple[str, ...]
    reader: Callable[[], Reader]
    stages: tuple[str, ...] = ()


class _Stateless:
    def __init__(self, parse: Callable[[Window], Iterable[Finding]]) -> None:
        self._parse = parse

    def hit(self, window: Window) -> Iterable[Finding]:
        return self._parse(window)

    def close(self) -> Iterable[Finding]:
        return ()


def stateless(parse: Callable[[Window], Iterable[Finding]]) -> Callable[[], Reader]:
    """Wraps a function that needs no memory between hits."""
    return lambda: _Stateless(parse)


def at(line: Line, *more: Line) -> dict[str, Any]:
    """Fields of a finding that say where in the log it stands: evidence, first and last line, rank."""
    if not more:
        return {
            "evidence": (line.text[:400],),
            "first_line": line.number,
            "last_line": line.number,
            "rank": line.rank,
        }
    lines = sorted((line, *more))
    return {
        "evidence": evidence(lines),
        "first_line": lines[0].number,
        "last_line": lines[-1].number,
        "rank": line.rank,
    }


def literal(*texts: str) -> tuple[str, ...]:
    """Escapes plain texts into triggers."""
    return tuple(re.escape(text).replace("\\ ", " ") for text in texts)


def evidence(lines: Iterable[Line]) -> tuple[str, ...]:
    """The words of some lines, each cut to 400 characters, at most 40 of them."""
    return tuple(line.text[:400] for line, _ in zip(lines, range(40), strict=False))


@lru_cache(maxsize=1)
def all_tools() -> tuple[Tool, ...]:
    """Every ``TOOL`` and ``TOOLS`` of the modules in ``bot.diagnosis.tools``, ordered by name."""
    package = importlib.import_module("bot.diagnosis.tools")
    found: list[Tool] = []
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        found.extend(getattr(module, "TOOLS", ()) or (module.TOOL,))
    return tuple(sorted(found, key=lambda tool: tool.name))
