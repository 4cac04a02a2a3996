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
"""Reads the result table that a gate robot posts: Markdown of micro-compass, HTML of OpenLiBing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser

_LINK = re.compile(r"\[(?P<text>[^\]]{0,300})\]\((?P<url>[^)\s]{1,1000})\)")
_URL = re.compile(r"https?://[^\s|)>\"']{1,1000}")
_RULE = re.compile(r":?-{1,40}:?")
_RESULTS = {
    "success": (
        "SUCCESS",
        "PASSED",
        "PASS",
        "SUCC",
        "✅",
        "✔",
        "☑",
        ":white_check_mark:",
        ":heavy_check_mark:",
        "成功",
        "通过",
    ),
    "failure": (
        "FAILED",
        "FAILURE",
        "FAIL",
        "ERROR",
        "❌",
        "✖",
        "✗",
        ":x:",
        ":negative_squared_cross_mark:",
        "失败",
        "不通过",
    ),
    "unstable": ("UNSTABLE", "⚠", ":warning:", "不稳定", "告警"),
    "running": ("RUNNING", "IN_PROGRESS", "PENDING", "⏳", "运行中", "执行中", "进行中", "等待"),
    "aborted": ("ABORTED", "CANCELLED", "CANCELED", "STOPPED", "取消", "中止", "终止"),
    "skipped": ("SKIPPED", "NOT_EXECUTED", "NOT_BUILT", "IGNORED", "跳过", "未执行"),
}
# "不通过" holds "通过": the longer word decides
_WORDS = sorted(
    ((word, result) for result, words in _RESULTS.items() for word in words), key=lambda item: -len(item[0])
)
MAX_ROWS = 1000


@dataclass(frozen=True, slots=True)
class RobotRow:
    """One row of a result table.

    Attributes:
        stage: Name of the stage or task, such as ``Check_Pylint`` or ``Smoke_Ascend``.
        result: ``success``, ``failure``, ``unstable``, ``running``, ``aborted``, ``skipped``; empty when not known.
        url: First link of the row; empty when it has none.
        group: What the first column says above the stage (project, phase); empty when there is nothing.
    """

    stage: str
    result: str
    url: str = ""
    group: str = ""


def read_robot_table(body: str) -> tuple[RobotRow, ...]:
    """Reads all rows that hold a result, in the order of the comment.

    Args:
        body: The comment, Markdown or HTML.

    Returns:
        The rows; empty when the comment holds no result table. Every stage name counts, not only ``Check_…``.
    """
    rows = _html_rows(body) if re.search(r"<table\b", body, re.IGNORECASE) else _markdown_rows(body)
    found = []
    group = ""
    for cells in rows[:MAX_ROWS]:
        row = _row(cells, group)
        if row is not None:
            group = row.group
            found.append(row)
    return tuple(found)


def _result_of(text: str) -> str:
    """The result that a cell names, and only if it says hardly anything else."""
    plain = re.sub(r"[*`~\s]+", " ", text).strip().upper()
    if not plain or len(plain) > 40:
        return ""
    for word, result in _WORDS:
        if word.isascii() and word.isalpha():
            if re.search(rf"(?<![A-Z]){word}(?![A-Z])", plain):
                return result
        elif word.upper() in plain:
            return result
    return ""


def _row(cells: list[tuple[str, str]], group: str) -> RobotRow | None:
    results = [(_result_of(text), index) for index, (text, _) in enumerate(cells)]
    at = next((index for result, index in results if result), -1)
    if at < 1:
        return None
    names = [re.sub(r"[*`]", "", text).strip() for text, _ in cells[:at]]
    stage = next((name for name in reversed(names) if name), "")
    if not stage:
        return None
    first = names[0] if len(names) > 1 and names[0] and names[0] != stage else ""
    url = next((link for _, link in [*cells[at:], *cells[:at]] if link), "")
    return RobotRow(stage, results[at][0], url, first or (group if len(names) > 1 else ""))


def _markdown_rows(body: str) -> list[list[tuple[str, str]]]:
    rows = []
    for line in body.splitlines():
        line = line.strip()
        if line.count("|") < 2:
            continue
        parts = [
            part.replace("\\|", "|").strip()
            for part in re.split(r"(?<!\\)\|", line.strip("|") if line[0] != "|" else line[1:])
        ]
        if parts and not parts[-1] and line.endswith("|"):
            parts.pop()
        if all(not part or _RULE.fullmatch(part) for part in parts):
            continue
        rows.append([_cell(part) for part in parts])
    return rows


def _cell(text: str) -> tuple[str, str]:
    link = _LINK.search(text)
    if link:
        return _LINK.sub(lambda match: match["text"], text), link["url"]
    bare = _URL.search(text)
    return unescape(re.sub(r"<[^>]{0,300}>", "", text)), bare[0] if bare else ""


@dataclass(slots=True)
class _Span:
    rows_left: int
    cell: tuple[str, str]


@dataclass(slots=True)
class _Row:
    cells: list[tuple[str, str]] = field(default_factory=list)
    column: int = 0


class _Tables(HTMLParser):
    """Collects the cells of all tables, repeating a cell in every row that its ``rowspan`` covers."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[tuple[str, str]]] = []
        self._row: _Row | None = None
        self._text: list[str] | None = None
        self._link = ""
        self._span = 1
        self._open: dict[int, _Span] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "table":
            self._open.clear()
        elif tag == "tr":
            self._end_row()
            self._row = _Row()
        elif tag in ("td", "th") and self._row is not None:
            self._end_cell()
            self._fill(self._row)
            span = values.get("rowspan") or "1"
            self._span = min(int(span), MAX_ROWS) if span.isascii() and span.isdigit() else 1
            self._text, self._link = [], ""
        elif tag == "a" and self._text is not None and not self._link:
            self._link = values.get("href") or ""
        elif tag == "img" and self._text is not None:
            self._text.append(values.get("alt") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._end_cell()
        elif tag in ("tr", "table"):
            self._end_row()

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def _fill(self, row: _Row) -> None:
        """Puts the cells in place that earlier rows stretch down into this one."""
        while (span := self._open.get(row.column)) is not None:
            row.cells.append(span.cell)
            span.rows_left -= 1
            if span.rows_left <= 0:
                del self._open[row.column]
            row.column += 1

    def _end_cell(self) -> None:
        if self._row is None or self._text is None:
            return
        cell = (" ".join("".join(self._text).split()), self._link)
        self._row.cells.append(cell)
        if self._span > 1:
            self._open[self._row.column] = _Span(self._span - 1, cell)
        self._row.column += 1
        self._text = None

    def _end_row(self) -> None:
        if self._row is None:
            return
        self._end_cell()
        self._fill(self._row)
        if self._row.cells and len(self.rows) < MAX_ROWS:
            self.rows.append(self._row.cells)
        self._row = None


def _html_rows(body: str) -> list[list[tuple[str, str]]]:
    parser = _Tables()
    parser.feed(body)
    parser.close()
    return parser.rows
