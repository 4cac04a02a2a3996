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
"""Finds the template's headings, fields and lists again in a description, however the author reworded them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from bot.template.lines import Line, read_lines
from bot.template.marks import key_of, title_keys
from bot.template.model import Section, Template
from bot.template.shapes import Heading, boxes_of, field_of, heading_of, table_cells

_SIMILAR = 0.7
_WEAK_LEVEL = 10
_BOLD_LEAD = re.compile(r"^\s*(?:[-*+]\s+)?(\*\*|__)(?=\S)(.{1,60}?)\1\s*(.*)$")
MAX_LINES = 3_000  # a description of more lines than the forge stores is cut, so that matching stays quick


@dataclass(frozen=True)
class Caption:
    """One way to read a line as the name of something. ``strong`` marks real headings."""

    keys: tuple[str, ...]
    rest: str
    level: int
    strong: bool
    style: str


@dataclass
class Body:
    """A description with the template's places found in it.

    Attributes:
        lines: All lines.
        captions: For each line, how it may be read.
        section_at: Line number of each template section's heading, by section index.
        part_at: Line number of a part's name, by (section index, part name).
        owner: For each line, the index of the section it belongs to; -1 under a heading the template does not know.
        rests: What follows the name on the lines used as heading or part name.
    """

    lines: list[Line]
    captions: list[tuple[Caption, ...]]
    section_at: dict[int, int] = field(default_factory=dict)
    part_at: dict[tuple[int, str], int] = field(default_factory=dict)
    owner: list[int] = field(default_factory=list)
    rests: dict[int, str] = field(default_factory=dict)

    def lines_of(self, sections: set[int]) -> Iterator[tuple[int, Line]]:
        """Lines that belong to the sections, headings excluded but with what follows a heading on its line."""
        headings = set(self.section_at.values())
        for number, line in enumerate(self.lines):
            if self.owner[number] not in sections:
                continue
            if number not in headings:
                yield number, line
            elif self.rests.get(number):
                yield number, Line(self.rests[number])

    def part_lines(self, section: int, name: str) -> list[tuple[int, Line]] | None:
        """The lines a named part takes up, its own rest first; None when the name is not there."""
        start = self.part_at.get((section, name))
        if start is None:
            return None
        taken = [(start, Line(self.rests.get(start, "")))]
        if table_cells(self.lines[start].text) is not None:
            return taken
        for number in range(start + 1, len(self.lines)):
            if self.owner[number] != self.owner[start] or self._ends_part(start, number):
                break
            taken.append((number, self.lines[number]))
        return taken

    def _ends_part(self, start: int, number: int) -> bool:
        if number in self.part_at.values() or number in self.section_at.values():
            return True
        line, first = self.lines[number], self.lines[start]
        if line.code or not line.text.strip() or line.indent > first.indent:
            return False
        named, begun = field_of(line.text), field_of(first.text)
        return bool(named and begun and named.bullet == begun.bullet and named.bold == begun.bold and named.bullet)


def find_places(template: Template, source: str) -> Body:
    """Match headings first (exact, then similar, then weaker forms), then the parts inside their sections."""
    lines = read_lines(source)[:MAX_LINES]
    body = Body(lines, [() if line.code else tuple(_captions(line)) for line in lines])
    wanted = {n: title_keys(s.title) for n, s in enumerate(template.sections) if s.title}
    part_keys = {key for s in template.sections for name in part_names(s) for key in title_keys(name)[:2]}
    _match_exact(body, wanted, strong=True, whole=True)
    _match_exact(body, wanted, strong=True, whole=False)
    _match_similar(body, wanted, part_keys)
    _match_exact(body, wanted, strong=False, whole=True)
    _assign_owners(body, template)
    for number, section in enumerate(template.sections):
        _match_parts(body, number, section)
    return body


def part_names(section: Section) -> list[str]:
    """Names under which parts of a section stand."""
    names = [item.name for item in section.fields] + [group.label for group in section.groups if group.label]
    return names + ([section.issue.label] if section.issue and section.issue.label else [])


def is_similar(left: str, right: str) -> float:
    """How alike two keys are, 0 to 1: one inside the other counts, so that "相关Issue" finds "相关的Issue（必填）"."""
    shorter, longer = sorted((left, right), key=len)
    if len(shorter) < 2:
        return 0.0
    if shorter in longer and (len(shorter) * 3 >= len(longer) or len(shorter) >= 4):
        return 0.75 + 0.25 * len(shorter) / len(longer)
    ratio = SequenceMatcher(None, left, right, autojunk=False).ratio()
    return ratio if ratio >= _SIMILAR else 0.0


def _captions(line: Line) -> Iterator[Caption]:
    text = line.text
    if not text.strip() or line.quoted or len(text) > 400:
        return
    heading = heading_of(text) if line.indent < 4 else None
    if heading and key_of(heading.title):
        yield _heading_caption(heading)
    named = field_of(text)
    if named and key_of(named.name):
        yield Caption(title_keys(named.name), named.rest, _WEAK_LEVEL, False, "field")
    if not named and not heading and (lead := _BOLD_LEAD.match(text)):
        yield Caption(title_keys(lead[2]), lead[3], _WEAK_LEVEL, False, "field")
    boxes = boxes_of(text)
    if boxes and boxes.prefix:
        yield Caption(title_keys(boxes.prefix), text[len(boxes.prefix) :], _WEAK_LEVEL, False, "boxes")
    cells = table_cells(text)
    if cells and len(cells) > 1:
        yield Caption(title_keys(cells[0]), " ".join(cells[1:]), _WEAK_LEVEL, False, "row")
    elif not boxes and len(text) <= 80:
        yield Caption(title_keys(text), "", _WEAK_LEVEL, False, "plain")


def _heading_caption(heading: Heading) -> Caption:
    strong = heading.style not in ("chinese", "number")
    return Caption(title_keys(heading.title), heading.rest, heading.level, strong, heading.style)


def _match_exact(body: Body, wanted: dict[int, tuple[str, ...]], *, strong: bool, whole: bool) -> None:
    """Give each line that names a section exactly to the first such section not found yet."""
    used = set(body.section_at.values())
    for number, captions in enumerate(body.captions):
        if number in used:
            continue
        for caption in captions:
            if strong and not (caption.strong or caption.style in ("chinese", "number")):
                continue
            found = _first_section(body, wanted, caption, whole=whole)
            if found is not None:
                body.section_at[found] = number
                body.rests[number] = caption.rest
                break


def _first_section(body: Body, wanted: dict[int, tuple[str, ...]], caption: Caption, *, whole: bool) -> int | None:
    for section, keys in wanted.items():
        if section in body.section_at or not caption.keys or not keys:
            continue
        same = set(caption.keys[:2]) & set(keys[:2]) if whole else set(caption.keys) & set(keys)
        if same:
            return section
    return None


def _match_similar(body: Body, wanted: dict[int, tuple[str, ...]], part_keys: set[str]) -> None:
    """Give reworded headings to the sections they resemble most, best pair first."""
    used = set(body.section_at.values())
    scored = []
    for number, captions in enumerate(body.captions):
        if number in used or not captions or not captions[0].strong or part_keys & set(captions[0].keys):
            continue
        for section, keys in wanted.items():
            if section not in body.section_at and len(captions[0].keys[0]) <= 80:
                score = max((is_similar(a, b) for a in captions[0].keys[:2] for b in keys[:2]), default=0.0)
                scored.append((-score, number, section))
    for score, number, section in sorted(scored):
        if score < 0 and section not in body.section_at and number not in body.section_at.values():
            body.section_at[section] = number
            body.rests[number] = body.captions[number][0].rest


def _assign_owners(body: Body, template: Template) -> None:
    """Walk down the description: a line belongs to the last section heading above it.

    A heading the template does not know ends the section when it is a ``#`` heading of at least the same rank (in a
    section with a bold heading: of rank 1 or 2); a deeper one, or bold text, is the author's way to order the content.
    """
    by_line = {line: section for section, line in body.section_at.items()}
    titles = {
        title_keys(section.title)[0]: n for n, section in reversed(list(enumerate(template.sections))) if section.title
    }
    titles = {key: n for key, n in titles.items() if n in body.section_at}
    owner = 0 if template.sections and not template.sections[0].title else -1
    level = _WEAK_LEVEL
    for number, captions in enumerate(body.captions):
        top = captions[0] if captions else None
        again = _named_again(top, titles)
        if number in by_line or again is not None:
            owner = by_line.get(number, again if again is not None else -1)
            level = top.level if top else _WEAK_LEVEL
        elif top and top.style in ("atx", "html") and top.level <= (level if level <= 6 else 2) and owner != 0:
            owner = -1
        body.owner.append(owner)


def _named_again(caption: Caption | None, titles: dict[str, int]) -> int | None:
    """The section that a heading names a second time: authors paste their text below the untouched template."""
    if caption is None or not caption.strong or caption.rest:
        return None
    return titles.get(caption.keys[0])


def _match_parts(body: Body, number: int, section: Section) -> None:
    """Find the named parts of one section: inside it first, then anywhere that nothing else has claimed."""
    names = {name: title_keys(name) for name in part_names(section)}
    for inside, similar in ((True, False), (True, True), (False, False)):
        for name, keys in names.items():
            if (number, name) in body.part_at:
                continue
            line = _find_part(body, number, keys, inside=inside, similar=similar)
            if line is not None:
                body.part_at[number, name] = line[0]
                body.rests[line[0]] = line[1]


def _find_part(
    body: Body, number: int, keys: tuple[str, ...], *, inside: bool, similar: bool
) -> tuple[int, str] | None:
    used = {*body.section_at.values(), *body.part_at.values()}
    for line, captions in enumerate(body.captions):
        if line in used or (body.owner[line] == number) is not inside:
            continue
        for caption in captions:
            if set(caption.keys[:2]) & set(keys[:2]):
                return line, caption.rest
            named = caption.style in ("field", "boxes", "row") or caption.strong
            if similar and named and caption.keys and max(is_similar(caption.keys[0], key) for key in keys[:2]) > 0:
                return line, caption.rest
    return None
