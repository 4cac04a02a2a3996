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
"""Template Markdown to :class:`Template`: first the outline, then (``parts.py``) what each section asks for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bot.template.lines import Line, read_lines
from bot.template.marks import (
    asks_for_text,
    is_instruction,
    is_instruction_title,
    is_optional_hint,
    is_optional_title,
    is_waiver,
    key_of,
    strip_marks,
)
from bot.template.model import Section, Template
from bot.template.parts import is_blank_to_fill, read_parts
from bot.template.shapes import CHINESE_LEVEL, Heading, field_of, heading_of, is_closing_word, without_bullet

_STRONG = ("atx", "html", "bold", "bracket")
_LONGEST_TITLE = 60
_SHORTEST_HINT = 8
MAX_LINES = 2_000
MAX_SECTIONS = 150  # a template of more headings than that is no form that people fill in


@dataclass
class _Draft:
    """A section while its lines are collected."""

    raw_title: str
    level: int
    parent: int
    lines: list[Line] = field(default_factory=list)
    at: int = -1


def parse_template(source: str) -> Template:
    """Read a template of any of the usual forms; never raises.

    Text before the first heading becomes a section without a title. An empty template has no sections.
    """
    drafts = _outline(read_lines(source)[:MAX_LINES])[:MAX_SECTIONS]
    sections = [_section(draft) for draft in drafts]
    shown = [_shown_keys(draft) for draft in drafts]
    keys = [shown[number] | _hint_keys(draft) for number, draft in enumerate(drafts)]
    for number in range(len(sections) - 1, -1, -1):
        parent = sections[number].parent
        if parent >= 0:
            keys[parent] |= keys[number] | set(_title_lines(drafts[number].raw_title))
    sections = [
        replace(section, lines=frozenset(keys[number]), shown=frozenset(shown[number]))
        for number, section in enumerate(sections)
    ]
    return Template(_inherit(sections))


def _outline(lines: list[Line]) -> list[_Draft]:
    lines = _join_underlined(lines)
    headings = [None if line.code or line.indent > 3 else _heading(line) for line in lines]
    styles = {heading.style for heading in headings if heading}
    drafts = [_Draft("", 0, -1)]
    for number, (line, heading) in enumerate(zip(lines, headings, strict=True)):
        if heading is None or not _counts(heading, styles, drafts[-1], lines, number):
            drafts[-1].lines.append(line)
            continue
        parent = len(drafts) - 1
        while parent > 0 and drafts[parent].level >= heading.level:
            parent = drafts[parent].parent
        rest = Line(heading.rest, hints=line.hints)
        drafts.append(_Draft(heading.title, heading.level, parent or -1, [rest], number))
    if not any(line.text.strip() or line.hints for line in drafts[0].lines) and len(drafts) == 1:
        return []
    return drafts


def _join_underlined(lines: list[Line]) -> list[Line]:
    """``Title`` over ``=====`` becomes ``# Title`` (``-----`` is left alone: it is mostly meant as a rule)."""
    joined: list[Line] = []
    for line in lines:
        above = joined[-1] if joined else None
        if above and not above.code and above.text.strip() and set(line.text.strip()) == {"="}:
            joined[-1] = Line(f"# {above.text.strip()}", hints=above.hints)
        else:
            joined.append(line)
    return joined


def _heading(line: Line) -> Heading | None:
    """A heading of the template; sentences and instructions in bold are not."""
    heading = heading_of(line.text)
    if heading is None or line.quoted or not key_of(heading.title):
        return None
    if heading.style in ("atx", "html"):
        return heading
    if is_closing_word(heading.title):
        return None
    if len(heading.title) > _LONGEST_TITLE or heading.title.endswith(("。", "！", "!", "；", "，")):
        return None
    return None if is_instruction(heading.title) else heading


def _counts(heading: Heading, styles: set[str], current: _Draft, lines: list[Line], number: int) -> bool:
    """Whether a heading-like line is a heading in this template, given the forms the template uses."""
    if heading.style in ("atx", "html"):
        return True
    if heading.style in ("bold", "bracket"):
        # "**name：** hint" under a "##" heading, or right below a bold one, is a blank to fill in; so is each of
        # several bold names in a row under a "##" heading.
        under_title = 0 < current.level <= 6
        if under_title and not heading.rest:
            return not (_names_blank(lines, number) and _in_row(lines, number))
        below_bold = current.level > 6 and _only_blanks(current) and number > 0 and bool(lines[number - 1].text.strip())
        return not (heading.rest and (under_title or (below_bold and not _in_row(lines, current.at, below=False))))
    if styles & {"atx", "html"}:
        return False
    if heading.style == "chinese":
        return True
    if styles & set(_STRONG):
        return False
    return "chinese" not in styles or (current.level >= CHINESE_LEVEL and _stands_alone(lines, number))


def _names_blank(lines: list[Line], number: int) -> bool:
    """Whether a line has the form ``**name**：`` or ``1. **name**``."""
    if not 0 <= number < len(lines) or lines[number].code or lines[number].quoted:
        return False
    named = field_of(lines[number].text)
    return named is not None and named.bold


def _in_row(lines: list[Line], number: int, *, below: bool = True) -> bool:
    """Whether the line right above (or below) names a blank too: such lines are of one rank."""
    return _names_blank(lines, number - 1) or (below and _names_blank(lines, number + 1))


def _only_blanks(draft: _Draft) -> bool:
    """Whether nothing but ``**name：** hint`` lines stands under a heading that has nothing behind it."""
    named = [heading_of(line.text) for line in draft.lines if line.text.strip()]
    return not any(line.hints for line in draft.lines) and all(heading and heading.rest for heading in named)


def _stands_alone(lines: list[Line], number: int) -> bool:
    """Whether a numbered line is set off by blank lines, unlike the items of a list."""
    above = number == 0 or not lines[number - 1].text.strip()
    below = number + 1 >= len(lines) or not lines[number + 1].text.strip()
    return above and below


def _section(draft: _Draft) -> Section:
    parts = read_parts(draft.raw_title, draft.lines)
    hints = [line.text for line in draft.lines if not line.code] + [h for line in draft.lines for h in line.hints]
    optional = is_optional_title(draft.raw_title) or is_instruction_title(draft.raw_title)
    boxes = [box for group in parts.groups for box in group.boxes]
    waiver = boxes[0].key if len(boxes) == 1 and parts.prose and is_waiver(boxes[0].text) else ""
    return Section(
        title=strip_marks(draft.raw_title),
        level=draft.level,
        parent=draft.parent,
        optional=optional or (not parts.any and any(is_optional_hint(first) for first in hints if first.strip())),
        needs_text=bool(waiver) or not parts.any or any(asks_for_text(text) for text in parts.prose),
        fields=parts.fields,
        groups=() if waiver else parts.groups,
        issue=parts.issue,
        kind=parts.kind,
        waiver=waiver,
    )


def _shown_keys(draft: _Draft) -> set[str]:
    """Keys of the visible lines, in the shapes in which they may be left in a description."""
    keys: set[str] = set()
    for line in draft.lines:
        keys |= {key_of(line.text), key_of(without_bullet(line.text))}
        named = None if line.code else field_of(line.text)
        if named and is_blank_to_fill(named):
            keys |= {key_of(named.rest), key_of(named.name)}
        if line.text.strip().startswith("|"):
            keys |= {key_of(cell) for cell in line.text.split("|")}
    return keys - {""}


def _hint_keys(draft: _Draft) -> set[str]:
    """Keys of the lines of HTML comments, which authors may uncover; short ones may well be answers ("CPU", "无")."""
    keys = {key_of(text) for line in draft.lines for hint in line.hints for text in hint.split("\n")}
    return {key for key in keys if len(key) >= _SHORTEST_HINT}


def _title_lines(raw_title: str) -> tuple[str, str]:
    return key_of(raw_title), key_of(strip_marks(raw_title))


def _inherit(sections: list[Section]) -> tuple[Section, ...]:
    """Settle what depends on the tree: optional parents, and containers that need no text of their own."""
    settled: list[Section] = []
    for section in sections:
        above_optional = section.parent >= 0 and settled[section.parent].optional
        settled.append(replace(section, optional=section.optional or above_optional))
    for number, section in enumerate(settled):
        below = [other for other in settled if _is_below(settled, other, number)]
        has_hint = bool(section.lines - {key for other in below for key in (*other.lines, *_title_lines(other.title))})
        if section.level == 0:
            needs_text = section.needs_text and bool(section.fields or section.groups or section.issue or section.kind)
        elif below:
            needs_text = section.needs_text and has_hint and all(other.optional for other in below)
        else:
            needs_text = section.needs_text
        settled[number] = replace(section, needs_text=needs_text)
    return tuple(settled)


def _is_below(sections: list[Section], section: Section, ancestor: int) -> bool:
    while section.parent >= 0:
        if section.parent == ancestor:
            return True
        section = sections[section.parent]
    return False
