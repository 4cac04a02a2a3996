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
"""``gatebot diagnose``: reads a local log without forge or Jenkins, prints JSON or a readable report."""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from rich.console import Console
from rich.markup import escape
from rich.progress import wrap_file
from rich.table import Table

from bot.diagnosis.engine import Diagnoser
from bot.diagnosis.model import Cause, Diagnosis
from bot.diagnosis.templates import GreenTemplates
from bot.texts import diagnosis as texts

CHUNK = 1 << 20
_LONG = 16 << 20
"""Bytes from which reading takes long enough to be watched."""
_WITH_GZIP_HEADER = 31
_GZIP = b"\x1f\x8b"
_MAGIC = (
    b"\x7fELF",
    b"PK\x03\x04",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"%PDF-",
    b"BZh",
    b"\xfd7zXZ\x00",
    b"\x28\xb5\x2f\xfd",
)
_SHOWN_CAUSES = 20
_SHOWN_LINES = 60


class NotALog(Exception):
    """The input is no text.

    Args:
        code: Key of the sentence that says what it is instead.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def as_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as plain data; keys are those of the dataclasses."""
    data = asdict(diagnosis)
    for cause in data["causes"]:
        cause["finding"] = {
            key: cause["finding"][key] for key in ("tool", "rule", "file", "line", "function", "message")
        }
    return data


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    """The log in chunks; a gzip stream is unpacked, because build servers archive their logs so.

    Raises:
        NotALog: It begins like a binary file, or is a gzip stream that is broken or cut off.
        OSError: It cannot be read.
    """
    raw = iter(lambda: stream.read(CHUNK), b"")
    first = next(raw, b"")
    chunks = chain([first], raw)
    if first.startswith(_GZIP):
        chunks = chain(_unpacked(chunks))
        first = next(chunks, b"")
        chunks = chain([first], chunks)
    if first.startswith(_MAGIC) or first[:8192].count(0) * 10 > len(first[:8192]):
        raise NotALog("binary")
    yield from chunks


def _unpacked(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Unpacks gzip members one after the other, a bounded piece at a time."""
    unpacker = zlib.decompressobj(_WITH_GZIP_HEADER)
    try:
        for chunk in chunks:
            rest = chunk
            while rest:
                if unpacker.eof:
                    unpacker = zlib.decompressobj(_WITH_GZIP_HEADER)
                piece = unpacker.decompress(rest, CHUNK)
                rest = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
                if piece:
                    yield piece
    except zlib.error as error:
        raise NotALog("broken_gzip") from error
    if not unpacker.eof:
        raise NotALog("broken_gzip")


def learn_green(paths: Sequence[str]) -> GreenTemplates | None:
    """Reads logs of green builds.

    Raises:
        OSError: A file cannot be read.
    """
    if not paths:
        return None
    green = GreenTemplates()
    for path in paths:
        with Path(path).open("rb") as stream:
            for chunk in _chunks(stream):
                green.feed(chunk)
        green.end()
    return green


@contextmanager
def _opened(path: str, doing: str) -> Iterator[BinaryIO]:
    """A file, or standard input for ``-``; a terminal shows how far a long file is read."""
    if path == "-":
        yield sys.stdin.buffer
        return
    console = Console(stderr=True)
    with Path(path).open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size < _LONG or not console.is_terminal:
            yield stream
            return
        with wrap_file(stream, size, description=doing, console=console, transient=True) as watched:
            yield watched


def read_log(path: str, green: GreenTemplates | None = None, doing: str = "") -> Diagnosis:
    """Diagnoses a file, or standard input for ``-``.

    Args:
        path: Path of the log.
        green: What green builds of the same job print.
        doing: What a terminal is told while a long file is read.

    Raises:
        NotALog: It is a binary file.
        OSError: It cannot be read.
    """
    diagnoser = Diagnoser(green=green)
    with _opened(path, doing) as stream:
        for chunk in _chunks(stream):
            diagnoser.feed(chunk)
    return diagnoser.close()


def run(log_path: str, *, as_json_text: bool = False, language: str = "zh", green: Sequence[str] = ()) -> int:
    """Runs the command.

    Args:
        log_path: Path of the log, ``-`` for standard input.
        as_json_text: Print one JSON document instead of the report.
        language: ``zh`` or ``en`` for the report.
        green: Paths of logs of green builds of the same job.

    Returns:
        0 when the log was read, whatever it says; 2 when it cannot be read.
    """
    words = texts.words(language)
    try:
        diagnosis = read_log(log_path, learn_green(green), words["reading"])
    except OSError as error:
        print(words["unreadable"].format(path=error.filename or log_path, why=error.strerror), file=sys.stderr)
        return 2
    except NotALog as error:
        print(words["unreadable"].format(path=log_path, why=words[error.code]), file=sys.stderr)
        return 2
    if as_json_text:
        json.dump(as_json(diagnosis), sys.stdout, ensure_ascii=False)
        print()
    else:
        _report(diagnosis, words, Console(soft_wrap=True, highlight=False, emoji=False))
    return 0


def _shown(text: str) -> str:
    """Text of a log as it is: no markup of ours, and nothing that a terminal would obey."""
    return escape("".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in text))


def _report(diagnosis: Diagnosis, words: dict[str, str], console: Console) -> None:
    console.print(
        words["head"].format(
            lines=diagnosis.lines,
            findings=len(diagnosis.findings) + diagnosis.dropped,
            causes=len(diagnosis.causes),
            confidence=f"{diagnosis.confidence:.0%}",
        )
    )
    if diagnosis.failed_stages:
        console.print(words["stages"].format(stages=escape(", ".join(diagnosis.failed_stages))))
    for note in diagnosis.notes:
        console.print(f"[yellow]{words[note]}[/yellow]")
    if diagnosis.causes:
        console.print(_cause_table(diagnosis.causes, words))
    if len(diagnosis.causes) > _SHOWN_CAUSES:
        console.print(words["more"].format(number=len(diagnosis.causes) - _SHOWN_CAUSES))
    shown = 0
    for part in diagnosis.excerpt:
        if shown >= _SHOWN_LINES:
            break
        console.print(
            f"[bold]{words['excerpt'].format(first=part.first_line, last=part.last_line, why=escape(part.why))}[/bold]"
        )
        for offset, text in enumerate(part.text):
            console.print(f"[dim]{part.first_line + offset:>7}[/dim] {_shown(text[:300])}")
        shown += len(part.text)
    if not diagnosis.causes and not diagnosis.excerpt:
        console.print(words["nothing" if diagnosis.lines else "empty"])


def _cause_table(causes: Sequence[Cause], words: dict[str, str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for key in ("column_count", "column_class", "column_stage", "column_rule", "column_place", "column_message"):
        table.add_column(words[key], overflow="fold", justify="right" if key == "column_count" else "left")
    for cause in causes[:_SHOWN_CAUSES]:
        one = cause.finding
        place = f"{one.file}:{one.line}" if one.file and one.line else one.file or one.function
        ranks = f" [rank {','.join(map(str, cause.ranks[:8]))}]" if cause.ranks else ""
        table.add_row(
            str(cause.count),
            words[f"class_{one.failure_class.value}"],
            escape(one.stage or "-"),
            _shown(f"{one.tool} {one.rule}".strip()),
            _shown(place or "-"),
            _shown(one.message[:200] + ranks) + (f" [dim]({words['secondary']})[/dim]" if cause.secondary else ""),
        )
    return table
