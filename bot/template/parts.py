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
"""What one section of a template asks for: fields, check-lists, an issue link, a label."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bot.template.lines import Line, without_code_spans
from bot.template.marks import (
    allows_none,
    is_instruction,
    is_optional_hint,
    is_optional_title,
    is_placeholder,
    key_of,
    mode_of,
    plain_text,
    said_mode,
    strip_marks,
)
from bot.template.model import Box, Field, Group, IssueLink, KindLine, Mode
from bot.template.shapes import (
    BoxLine,
    FieldLine,
    asks_for_issue,
    boxes_of,
    field_of,
    is_bullet,
    is_closing_word,
    is_rule,
    is_table_rule,
    kind_of,
    table_cells,
    without_bullet,
)

_ONLY_MARKS = re.compile(r"^\s*(?:[（(\[【][^）)\]】]*[）)\]】]\s*)*[:：]?\s*$")
_EXAMPLE = re.compile(
    r"^(?:[（(\[【<].*[）)\]】>]|`[^`]*`|[_*]+.*[_*]+|[^/／|。]{1,10}(?:\s*[/／|]\s*[^/／|。]{1,10})+|(?:例如?|如|比如|示例|e\.g\.?|eg)[:：\s、.].*)$",
    re.IGNORECASE,
)
_OPEN_LABEL = re.compile(r"[<>{}\[\]…]|^x+$|^\.+$|标签|label|类型", re.IGNORECASE)


@dataclass(frozen=True)
class Parts:
    """The parts of one section, in order; ``prose`` is the visible text that is none of them."""

    fields: tuple[Field, ...] = ()
    groups: tuple[Group, ...] = ()
    issue: IssueLink | None = None
    kind: KindLine | None = None
    prose: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Whether there is a part at all."""
        return bool(self.fields or self.groups or self.issue or self.kind)


@dataclass
class _Reader:
    """Collects parts line by line. ``label`` is the line a check-list may be named by, ``boxes`` the open list."""

    title: str
    fields: list[Field] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    issue: IssueLink | None = None
    kinds: list[tuple[str, str]] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    label: str = ""
    label_is_field: bool = False
    label_indent: int = 0
    boxes: list[Box] = field(default_factory=list)
    box_label: str = ""
    in_table: bool = False
    in_field: bool = False

    def close_list(self) -> None:
        """End the open check-list."""
        if self.boxes:
            self.groups.extend(_groups(self.title, self.box_label, self.hints, self.boxes))
            self.boxes, self.box_label, self.hints = [], "", []

    def forget_label(self) -> None:
        """The last line can no longer name a check-list."""
        self.label, self.label_is_field = "", False


def read_parts(title: str, lines: list[Line]) -> Parts:
    """Read the lines under one heading (``title`` with its marks)."""
    reader = _Reader(title)
    all_hints = " ".join([title, *(hint for line in lines for hint in line.hints), *(line.text for line in lines)])
    for line in lines:
        reader.hints.extend(line.hints)
        if line.code or not line.text.strip() or is_rule(line.text):
            continue
        _read_line(reader, line, all_hints)
    reader.close_list()
    kind = _kind(reader.kinds, f"{title} {' '.join(reader.prose)} {' '.join(h for line in lines for h in line.hints)}")
    return Parts(tuple(reader.fields), tuple(reader.groups), reader.issue, kind, tuple(reader.prose))


def _read_line(reader: _Reader, line: Line, all_hints: str) -> None:
    text = line.text
    boxes = boxes_of(text)
    if boxes and not line.quoted:
        _read_boxes(reader, line, boxes)
        return
    reader.close_list()
    cells = table_cells(text)
    if cells is not None:
        _read_row(reader, text, cells)
        return
    reader.in_table = False
    named = field_of(text)
    in_field, reader.in_field = reader.in_field, False
    if kind := kind_of(text):
        reader.kinds.append(kind)
        reader.forget_label()
    elif asks_for_issue(plain_text(without_code_spans(text))):
        name = strip_marks(named.name) if named and not is_closing_word(named.name) else ""
        optional = is_optional_title(text) or is_optional_title(named.name if named else "")
        reader.issue = reader.issue or IssueLink(name, allows_none(all_hints), optional)
        reader.forget_label()
    elif named and not line.quoted and is_blank_to_fill(named):
        optional = (
            is_optional_title(named.name) or is_optional_title(named.rest) or any(map(is_optional_hint, line.hints))
        )
        reader.fields.append(Field(strip_marks(named.name), optional or is_optional_hint(named.rest)))
        reader.in_field = True
        reader.label, reader.label_indent = f"{named.name} {named.rest}", line.indent
        reader.label_is_field = bool(_ONLY_MARKS.match(named.rest)) or "选" in named.rest
    elif in_field and is_placeholder(text):
        reader.in_field = True  # the hint of the field above it, on a line of its own
    else:
        reader.prose.append(text)
        reader.hints.append(text)
        names_list = not line.quoted and (text.rstrip().endswith((":", "：")) or is_bullet(text))
        reader.label = without_bullet(text) if names_list and not is_instruction(without_bullet(text)) else ""
        reader.label_is_field, reader.label_indent = False, line.indent


def is_blank_to_fill(named: FieldLine) -> bool:
    """Whether ``name：rest`` in a template is a blank: bold names are, plain ones when nothing but a hint follows."""
    if not key_of(named.name) or is_instruction(named.name):
        return False
    rest = named.rest.strip()
    return named.bold or not key_of(rest) or is_placeholder(rest) or bool(_EXAMPLE.match(rest))


def _read_boxes(reader: _Reader, line: Line, found: BoxLine) -> None:
    if found.prefix:
        reader.close_list()
        reader.box_label = found.prefix
        reader.boxes = [_box(text, line.indent) for _ticked, text in found.boxes]
        reader.close_list()
        reader.forget_label()
        return
    if not reader.boxes:
        if reader.label_is_field and reader.fields:
            reader.fields.pop()
            reader.box_label = reader.label
        elif reader.label and (reader.label.rstrip().endswith((":", "：")) or line.indent > reader.label_indent):
            reader.box_label = reader.label
    reader.boxes.extend(_box(text, line.indent) for _ticked, text in found.boxes)
    reader.forget_label()


def _box(text: str, indent: int) -> Box:
    plain = plain_text(text)
    optional = is_optional_title(plain)
    name, colon, rest = re.sub(r"[:：]", "\0", plain, count=1).partition("\0")
    if colon and key_of(name) and key_of(rest) and (is_placeholder(rest) or _EXAMPLE.match(rest.strip())):
        return Box(name.strip(), key_of(name), optional, indent, hint=key_of(rest))
    return Box(plain, key_of(plain), optional, indent)


def _groups(title: str, label: str, hints: list[str], boxes: list[Box]) -> list[Group]:
    """One check-list, and one more for every box whose own text makes a choice of the boxes nested under it."""
    outer: list[Box] = []
    nested: list[Group] = []
    number = 0
    while number < len(boxes):
        box = boxes[number]
        outer.append(box)
        end = number + 1
        while end < len(boxes) and boxes[end].indent > box.indent:
            end += 1
        below = boxes[number + 1 : end]
        if below and said_mode(box.text):
            mode = mode_of(box.text, "", [item.text for item in below])
            nested.append(Group(box.text, mode, tuple(below), box.optional))
            number = end
        else:
            number += 1
    mode = mode_of(label or title, " ".join([*hints, title]), [box.text for box in outer])
    if mode is not Mode.ALL:
        outer = [box for box in outer if box.indent <= outer[0].indent]
        nested = []
    shown = strip_marks(label)
    return [Group(shown, mode, tuple(outer), is_optional_title(label) if label else False), *nested]


def _read_row(reader: _Reader, text: str, cells: tuple[str, ...]) -> None:
    """A table row with a name in front and an empty cell behind is a blank; the first row is the table's head."""
    head = not reader.in_table
    reader.in_table = True
    reader.forget_label()
    if head or is_table_rule(text) or len(cells) < 2:
        return
    rest = [cell for cell in cells[1:] if key_of(cell) and not is_placeholder(cell) and not _EXAMPLE.match(cell)]
    if key_of(cells[0]) and not is_placeholder(cells[0]) and len(rest) < len(cells) - 1:
        reader.fields.append(
            Field(strip_marks(cells[0]), is_optional_title(cells[0]) or any(map(is_optional_hint, cells[1:])))
        )


def _kind(kinds: list[tuple[str, str]], hints: str) -> KindLine | None:
    if not kinds:
        return None
    verb = kinds[0][0]
    words = [
        word
        for name, text in kinds
        if name == verb
        for word in re.split(r"[|｜,，、/\s]+", text)
        if word and word != verb
    ]
    labels = [word for word in words if not _OPEN_LABEL.search(word)]
    only_one = said_mode(hints) is Mode.ONE
    return KindLine(verb, tuple(dict.fromkeys(labels)), only_one, is_optional_title(hints))
