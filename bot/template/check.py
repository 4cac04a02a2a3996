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
"""A description against a template: which of the things asked for are missing.

A section or field is filled when it holds something the author wrote: the template's own text, HTML comments and
placeholders ("在此行填写…", "TODO") do not count; "无" and "不涉及" typed by the author do.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from bot.template.lines import Line
from bot.template.marks import answers_none, is_placeholder, key_of, plain_text
from bot.template.match import Body, find_places, is_similar
from bot.template.model import Box, Field, Group, IssueLink, KindLine, MissingItem, Mode, Section, Template, Verdict
from bot.template.parse import parse_template
from bot.template.shapes import (
    asks_for_issue,
    boxes_of,
    closing_references,
    field_of,
    heading_of,
    is_rule,
    is_table_rule,
    kind_of,
    references,
    without_bullet,
)


@dataclass
class _BodyBox:
    """A check-box of the description; ``claimed`` once it answered a box of the template."""

    line: int
    key: str
    text: str
    ticked: bool
    claimed: bool = False


def check_description(template_text: str, body: str) -> Verdict:
    """Check a description against the text of a template; see :func:`check`."""
    template = parse_template(template_text)
    if not template.sections:
        return Verdict(note="template.note.empty")
    if not any(_requires(section) for section in template.sections):
        return Verdict(note="template.note.nothing-required")
    return check(template, body)


def check(template: Template, body: str) -> Verdict:
    """Check a description against a parsed template. Items come in the order of the template.

    A section that is gone with everything in it is one item; otherwise each part of it that is missing is one.
    """
    places = find_places(template, body)
    boxes = _body_boxes(places)
    missing: list[MissingItem] = []
    for number, section in enumerate(template.sections):
        if section.optional or not _requires(section):
            continue
        found = _check_section(template, places, boxes, number)
        gone = section.title and number not in places.section_at and not _anything_left(places, boxes, number, section)
        if found and gone:
            found = [MissingItem("section", section.title, "", "section.absent")]
        missing.extend(found)
    return Verdict(tuple(missing))


def _requires(section: Section) -> bool:
    if section.optional:
        return False
    parts: list[Field | Group | IssueLink | KindLine] = [*section.fields, *section.groups]
    parts += [part for part in (section.issue, section.kind) if part]
    return section.needs_text or any(not part.optional for part in parts)


def _anything_left(places: Body, boxes: list[_BodyBox], number: int, section: Section) -> bool:
    """Whether any part of a section without its heading is still in the description."""
    if any(place == number for place, _name in places.part_at):
        return True
    keys = {box.key for group in section.groups for box in group.boxes}
    return any(box.key in keys for box in boxes)


def _check_section(template: Template, places: Body, boxes: list[_BodyBox], number: int) -> list[MissingItem]:
    section = template.sections[number]
    missing: list[MissingItem] = []
    waived = any(box.ticked and box.key == section.waiver for box in boxes)
    if section.needs_text and not waived and not _has_text(template, places, number):
        reason = "section.empty" if number in places.section_at or not section.title else "section.absent"
        missing.append(MissingItem("section", section.title, "", reason))
    for blank in section.fields:
        if not blank.optional:
            missing.extend(_check_field(section, places, number, blank))
    for group in section.groups:
        if not group.optional:
            missing.extend(_check_group(section, places, boxes, number, group))
    if section.issue and not section.issue.optional:
        missing.extend(_check_issue(template, section, places, number, section.issue))
    if section.kind and not section.kind.optional:
        missing.extend(_check_kind(section, places, section.kind))
    return missing


def _subtree(template: Template, number: int) -> set[int]:
    below = {number}
    for index, section in enumerate(template.sections):
        if section.parent in below:
            below.add(index)
    return below


def _has_text(template: Template, places: Body, number: int) -> bool:
    section = template.sections[number]
    known = {box.key for group in section.groups for box in group.boxes}
    names = {key_of(blank.name) for blank in section.fields}
    for _line_number, line in places.lines_of(_subtree(template, number)):
        if (section.groups and boxes_of(line.text)) or (section.kind and kind_of(line.text)):
            continue
        named = field_of(line.text) if names else None
        if named and key_of(named.name) in names:
            continue
        if is_substance(line, section.lines | known):
            return True
    return False


def is_substance(line: Line, template_keys: frozenset[str] | set[str]) -> bool:
    """Whether a line holds something the author wrote."""
    text = line.text
    if line.code:
        return bool(text.strip()) and key_of(text) not in template_keys
    if is_rule(text) or is_table_rule(text):
        return False
    if asks_for_issue(text) and not references(text) and len(key_of(text)) <= 12:
        return False
    heading = heading_of(text)
    if heading and heading.style in ("atx", "html"):
        return False
    if "![" in text or "://" in text:
        return key_of(text) not in template_keys
    boxes = boxes_of(text)
    bare = " ".join(label for _ticked, label in boxes.boxes) if boxes else without_bullet(text)
    key = key_of(plain_text(bare))
    if not key or key in template_keys or key_of(text) in template_keys:
        return False
    begun = max((known for known in template_keys if key.startswith(known)), key=len, default="")
    if len(begun) >= 5 and is_placeholder(bare):
        return not is_placeholder(key[len(begun) :])  # the answer stands behind a hint that was left in place
    kept = any(key in known and len(key) * 10 >= len(known) * 7 for known in template_keys)
    return not is_placeholder(bare) and not kept


def _check_field(section: Section, places: Body, number: int, blank: Field) -> list[MissingItem]:
    lines = places.part_lines(number, blank.name)
    if lines is None:
        return [MissingItem("field", section.title, blank.name, "field.absent")]
    if any(is_substance(line, section.lines) for _number, line in lines):
        return []
    return [MissingItem("field", section.title, blank.name, "field.empty")]


def _body_boxes(places: Body) -> list[_BodyBox]:
    found = []
    for number, line in enumerate(places.lines):
        boxes = None if line.code or line.quoted else boxes_of(line.text)
        for ticked, text in boxes.boxes if boxes else ():
            found.append(_BodyBox(number, key_of(plain_text(text)), plain_text(text), ticked))
    return found


def _check_group(section: Section, places: Body, boxes: list[_BodyBox], number: int, group: Group) -> list[MissingItem]:
    inside = _group_lines(places, number, group)
    near = [box for box in boxes if box.line in inside]
    far = [] if number in places.section_at else [box for box in boxes if box.line not in inside]
    answers = {box.key: _claim(box, near) or _claim(box, far) for box in group.boxes}
    if group.mode is Mode.ALL:
        return _unticked(section, group, answers)
    ticked = [answer.text for answer in answers.values() if answer and answer.ticked]
    own = [box.text for box in near if box.ticked and not box.claimed]
    chosen = ticked + own
    options = tuple(box.text for box in group.boxes)
    label = group.label or section.title
    reason = "choice" if group.label else "only-choice"
    if group.mode is Mode.ONE and len(chosen) > 1:
        return [MissingItem("choice", section.title, label, f"{reason}.many", tuple(chosen))]
    blanks = _open_blanks(section, group, answers)
    if blanks:
        return blanks
    if chosen or _named_in_words(places, inside, near, group):
        return []
    return [MissingItem("choice", section.title, label, f"{reason}.none", options)]


def _group_lines(places: Body, number: int, group: Group) -> set[int]:
    """Lines where the boxes of a list are looked for: under its label when that is there, else in its section."""
    if group.label and (lines := places.part_lines(number, group.label)) is not None:
        return {line for line, _text in lines}
    others = {
        line
        for (place, name), _start in places.part_at.items()
        if place == number and name != group.label
        for line, _text in places.part_lines(place, name) or ()
        if group.label
    }
    return {line for line, owner in enumerate(places.owner) if owner == number and line not in others}


def _claim(box: Box, candidates: list[_BodyBox]) -> _BodyBox | None:
    """The description's box that answers a box of the template: the same text, or one that goes on, or one alike."""
    free = [candidate for candidate in candidates if not candidate.claimed]
    exact = [candidate for candidate in free if candidate.key == box.key]
    begun = [c for c in free if len(box.key) >= 2 and c.key.startswith(box.key)]
    alike = [
        c for c in free if len(box.key) >= 4 and is_similar(c.key, box.key) >= 0.8 and _ratio(c.key, box.key) >= 0.8
    ]
    found = next(iter(exact or begun or alike), None)
    if found:
        found.claimed = True
    return found


def _ratio(left: str, right: str) -> float:
    return SequenceMatcher(None, left, right, autojunk=False).ratio()


def _unticked(section: Section, group: Group, answers: dict[str, _BodyBox | None]) -> list[MissingItem]:
    missing = []
    for box in group.boxes:
        answer = answers[box.key]
        if box.optional or (answer and answer.ticked):
            continue
        reason = "checkbox.unticked" if answer else "checkbox.absent"
        missing.append(MissingItem("checkbox", section.title, box.text, reason))
    return missing + _open_blanks(section, group, answers)


def _open_blanks(section: Section, group: Group, answers: dict[str, _BodyBox | None]) -> list[MissingItem]:
    """Ticked boxes whose own blank still holds the template's placeholder."""
    return [
        MissingItem("field", section.title, box.text, "field.empty")
        for box in group.boxes
        if box.hint and (answer := answers[box.key]) and answer.ticked and answer.key in (box.key, box.key + box.hint)
    ]


def _named_in_words(places: Body, inside: set[int], near: list[_BodyBox], group: Group) -> bool:
    """Whether the author took the boxes away and left (or wrote) the name of one choice."""
    if near:
        return False
    keys = {box.key for box in group.boxes}
    texts = [places.rests.get(line) or places.lines[line].text for line in sorted(inside)]
    return sum(1 for text in texts if key_of(without_bullet(text)) in keys) == 1


def _check_issue(
    template: Template, section: Section, places: Body, number: int, issue: IssueLink
) -> list[MissingItem]:
    # A line left exactly as the template has it is an example ("Fixes #123"), not a link.
    inside = (line for _number, line in places.lines_of(_subtree(template, number)))
    own = [line.text for line in inside if not line.code and key_of(line.text) not in section.shown]
    if any(references(text) for text in own):
        return []
    for line in places.lines:
        fresh = not line.code and not line.quoted and key_of(line.text) not in section.shown
        if fresh and closing_references(line.text):
            return []
    if issue.may_be_none and any(answers_none(text) for text in own):
        return []
    return [MissingItem("issue", section.title, issue.label, "issue.none")]


def _check_kind(section: Section, places: Body, kind: KindLine) -> list[MissingItem]:
    """A label must be given on a line of its own outside quotes; the untouched list of the template is no choice."""
    given: list[str] = []
    for line in places.lines:
        found = None if line.code or line.quoted else kind_of(line.text)
        if found and found[0] == kind.verb:
            given.append(found[1])
    real = [label for label in given if key_of(label) and not set("<>{}|｜") & set(label)]
    real = list(dict.fromkeys(real))
    if kind.labels and len(kind.labels) > 1 and set(kind.labels) <= set(real):
        real = []
    if kind.only_one and len(real) > 1:
        return [MissingItem("kind", section.title, kind.verb, "kind.many", tuple(real))]
    if real:
        return []
    reason = "kind.none" if kind.labels else "kind.open"
    return [MissingItem("kind", section.title, kind.verb, reason, kind.labels)]
