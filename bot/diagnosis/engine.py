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
"""Streams a log through the tool parsers: scan big blocks for triggers, look closely only where one hits."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from bot.diagnosis import stages
from bot.diagnosis.blocks import BlockReader
from bot.diagnosis.causes import find_causes, merge_duplicates, notes_for
from bot.diagnosis.excerpt import build_excerpt
from bot.diagnosis.model import Diagnosis
from bot.diagnosis.scan import Scanner, build_scanner
from bot.diagnosis.tail import Tail
from bot.diagnosis.templates import GreenTemplates
from bot.diagnosis.tool import Reader, Tool, Window, all_tools
from bot.gate.finding import Finding

LOOK_BYTES = 1 << 16
"""How far a parser can look around a trigger."""
MAX_FINDINGS = 50_000
"""Findings kept of one log; more are counted only."""


@lru_cache(maxsize=4)
def _scanner_for(tools: tuple[Tool, ...]) -> tuple[Scanner, tuple[int, ...]]:
    patterns: list[str] = []
    owners: list[int] = []
    for index, tool in enumerate(tools):
        patterns.extend(tool.triggers)
        owners.extend([index] * len(tool.triggers))
    patterns.extend(stages.TRIGGERS)
    owners.extend([-1] * len(stages.TRIGGERS))
    return build_scanner(patterns), tuple(owners)


class Diagnoser:
    """Reads one log incrementally: ``feed`` chunks as they come, then ``close``.

    Args:
        green: Templates of the last green logs of the same job; what they print too is noise.
        tools: Parsers to use; all registered ones by default.
    """

    def __init__(self, *, green: GreenTemplates | None = None, tools: tuple[Tool, ...] | None = None) -> None:
        self._tools = tools if tools is not None else all_tools()
        self._scan, self._owners = _scanner_for(self._tools)
        self._readers: list[Reader] = [tool.reader() for tool in self._tools]
        self._skip = [0] * len(self._tools)
        self._blocks = BlockReader()
        self._stages = stages.StageTracker()
        self._tail = Tail()
        self._green = green
        self._findings: list[Finding] = []
        self._dropped = 0
        self._buffer = b""
        self._buffer_line = 1
        self._done = 0
        self._done_line = 1
        self._hits: list[tuple[int, int]] = []

    def feed(self, chunk: bytes) -> None:
        """Takes the next bytes of the log, in chunks of any size."""
        for block in self._blocks.feed(chunk):
            self._take(block, last=False)

    def close(self) -> Diagnosis:
        """Reads what is left and concludes."""
        self.read_rest()
        return self.conclude()

    @property
    def silent(self) -> bool:
        """Whether no tool's parser has said anything so far."""
        return not self._findings

    def read_rest(self) -> None:
        """Parses what is left without drawing conclusions; ``conclude`` does that."""
        for block in self._blocks.close():
            self._take(block, last=False)
        self._take(b"", last=True)
        for index, reader in enumerate(self._readers):
            self._keep(reader.close(), index)

    def _take(self, block: bytes, *, last: bool) -> None:
        base = len(self._buffer)
        if block:
            self._tail.add(block)
            self._hits.extend((offset + base, pattern) for offset, pattern in self._scan(block))
            self._buffer += block
        size = len(self._buffer)
        limit = size if last else max(self._done, self._buffer.rfind(b"\n", 0, max(size - LOOK_BYTES, 0)) + 1)
        self._work(limit)
        keep = max(self._buffer.rfind(b"\n", 0, max(self._done - LOOK_BYTES, 0)) + 1, 0)
        if keep:
            self._buffer_line += self._buffer.count(b"\n", 0, keep)
            self._buffer = self._buffer[keep:]
            self._hits = [(offset - keep, pattern) for offset, pattern in self._hits]
            self._done -= keep

    def _work(self, limit: int) -> None:
        """Handles the hits in front of ``limit``, which is a line start or the end of the log."""
        buffer, hits, owners = self._buffer, self._hits, self._owners
        position, number = self._done, self._done_line
        index, count = 0, len(hits)
        while index < count and hits[index][0] < limit:
            offset = hits[index][0]
            start = buffer.rfind(b"\n", 0, offset) + 1
            end = buffer.find(b"\n", offset)
            end = len(buffer) if end < 0 else end
            number += buffer.count(b"\n", position, start)
            position = start
            speakers = set()
            while index < count and hits[index][0] <= end:
                speakers.add(owners[hits[index][1]])
                index += 1
            self._line(start, end, number, speakers)
        self._hits = hits[index:]
        self._done_line = number + buffer.count(b"\n", position, limit)
        self._done = limit

    def _line(self, start: int, end: int, number: int, speakers: set[int]) -> None:
        window = Window(self._buffer, start, end, number)
        for index in sorted(speakers):
            if index < 0:
                self._stages.see(window.line)
            elif number > self._skip[index]:
                window.skip_to = 0
                self._keep(self._readers[index].hit(window), index)
                if window.skip_to > number:
                    self._skip[index] = window.skip_to

    def _keep(self, findings: Iterable[Finding], index: int) -> None:
        for finding in findings:
            if len(self._findings) >= MAX_FINDINGS:
                self._dropped += 1
                continue
            self._findings.append(finding)

    def conclude(self, green: GreenTemplates | None = None) -> Diagnosis:
        """What the log says, after ``read_rest``.

        Args:
            green: As in the constructor, for whoever reads green logs only when no parser spoke.
        """
        lines = self._done_line - 1
        self._stages.finish(lines)
        homes = {tool.name: tool.stages for tool in self._tools}
        owned = {
            tool.stages[0]: tool.name for tool in self._tools if tool.stages and tool.stages[0].startswith("Check_")
        }
        placed = [
            stages.with_stage(finding, self._stages.stage_of(finding, homes.get(finding.tool, ()), owned))
            for finding in self._findings
        ]
        placed = merge_duplicates(placed)
        placed.extend(stages.unexplained(self._stages, placed, lambda stage: owned.get(stage, "")))
        placed.sort(key=lambda finding: (finding.first_line, finding.last_line))
        causes = find_causes(placed)
        excerpt, general = build_excerpt(self._tail, causes, green or self._green)
        confidence = max((cause.finding.confidence for cause in causes), default=general)
        return Diagnosis(
            findings=tuple(placed),
            causes=causes,
            excerpt=excerpt,
            failed_stages=tuple(sorted(self._stages.failed, key=lambda stage: self._stages.failed[stage])),
            lines=lines,
            confidence=confidence,
            dropped=self._dropped,
            notes=notes_for(placed),
        )


def diagnose(chunks: Iterable[bytes], *, green: GreenTemplates | None = None) -> Diagnosis:
    """Reads a whole log.

    Args:
        chunks: The log in chunks of any size; memory stays bounded whatever its length.
        green: Templates of the last green logs of the same job.

    Returns:
        Findings, causes and excerpt.
    """
    diagnoser = Diagnoser(green=green)
    for chunk in chunks:
        diagnoser.feed(chunk)
    return diagnoser.close()
