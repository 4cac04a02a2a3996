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
"""What a template asks for, and what a description lacks. All values are frozen."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from bot.texts.template import TEXTS


class Mode(StrEnum):
    """How many boxes of a check-list must be ticked."""

    ONE = "one"
    ANY = "any"
    ALL = "all"


@dataclass(frozen=True)
class Box:
    """One check-box of the template.

    Attributes:
        text: As shown; for a box with a blank (``- [ ] 设计文档：在此行填写链接``) only what stands before the colon.
        key: What it is compared by.
        optional: Need not be ticked.
        indent: Leading blanks; tells nested boxes from their parent.
        hint: Key of the placeholder in its blank; a ticked box must have that replaced.
    """

    text: str
    key: str
    optional: bool = False
    indent: int = 0
    hint: str = ""


@dataclass(frozen=True)
class Group:
    """A check-list: its label (empty when it stands right under the heading) and how many boxes count."""

    label: str
    mode: Mode
    boxes: tuple[Box, ...]
    optional: bool = False


@dataclass(frozen=True)
class Field:
    """A named blank such as ``- **特性名：**``."""

    name: str
    optional: bool = False


@dataclass(frozen=True)
class IssueLink:
    """A ``Fixes #`` line; ``may_be_none`` when the template itself allows "无"."""

    label: str = ""
    may_be_none: bool = False
    optional: bool = False


@dataclass(frozen=True)
class KindLine:
    """``/kind <label>`` lines: the labels on offer (empty when the template leaves the label open)."""

    verb: str
    labels: tuple[str, ...] = ()
    only_one: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Section:
    """A heading of the template and what stands under it.

    Attributes:
        title: The heading as shown, without numbering, marks and Markdown; empty for text before the first heading.
        level: 1–6 for ``#`` headings, larger for weaker forms.
        parent: Index of the enclosing section in :attr:`Template.sections`, or -1.
        optional: Marked optional, here or on an enclosing section.
        needs_text: The author must write something of their own here.
        lines: Keys of all template text under the heading, comments too, which is not the author's.
        shown: Keys of the visible lines right under the heading.
        waiver: Key of a lone check-box that, ticked, stands for the text ("不涉及"); empty when there is none.
    """

    title: str
    level: int
    parent: int
    optional: bool = False
    needs_text: bool = False
    lines: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()
    fields: tuple[Field, ...] = ()
    groups: tuple[Group, ...] = ()
    issue: IssueLink | None = None
    kind: KindLine | None = None
    waiver: str = ""


@dataclass(frozen=True)
class Template:
    """A parsed template."""

    sections: tuple[Section, ...] = ()


@dataclass(frozen=True)
class MissingItem:
    """One thing to put right.

    Attributes:
        kind: ``section``, ``field``, ``checkbox``, ``choice``, ``issue`` or ``kind``.
        section: Title of the section concerned; empty when the template has no heading there.
        field: Name of the field, box or list; empty for a whole section.
        reason: Text id in ``bot.texts.template`` without its ``.what`` or ``.fix`` ending.
        options: Choices on offer, for the text.
    """

    kind: str
    section: str
    field: str
    reason: str
    options: tuple[str, ...] = ()

    def message(self, language: str = "zh") -> str:
        """What is missing, in one sentence."""
        return self._text("what", language)

    def fix(self, language: str = "zh") -> str:
        """What the author should do, in one sentence."""
        return self._text("fix", language)

    def _text(self, part: str, language: str) -> str:
        joiner = "、" if language == "zh" else ", "
        values = {
            "section": self.section or TEXTS["template.place.top"][language],
            "field": self.field or self.section,
            "options": joiner.join(self.options),
        }
        return TEXTS[f"template.{self.reason}.{part}"][language].format(**values)


@dataclass(frozen=True)
class Verdict:
    """The description checked: ``note`` is a text id when there was nothing to check."""

    missing: tuple[MissingItem, ...] = field(default=())
    note: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing
