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
"""The forms a line can take: heading, field, check-box, table row, issue link, label."""

from __future__ import annotations

import itertools
import re
import unicodedata
from dataclasses import dataclass

from bot.template.lines import without_code_spans

BOLD_LEVEL, CHINESE_LEVEL, NUMBER_LEVEL = 8, 7, 9

_ATX = re.compile(r"^ {0,3}(?!#I[A-Z0-9]{4,}\s*$)(#{1,6})(?:[ \t\u3000]+|(?=[^\s#\d]))(.*?)[ \t]*#*[ \t]*$")
_HTML_HEADING = re.compile(r"^\s*<h([1-6])[^>]*>(.*?)</h\1>\s*$", re.IGNORECASE)
_BOLD = re.compile(r"^ {0,3}(?:\d{1,2}\s*[.、)）．]\s*)?(\*\*|__)(?=\S)(.+?)\1(.*)$")
_BRACKET = re.compile(r"^ {0,3}【([^【】]{1,40})】(.*)$")
_CHINESE = re.compile(
    r"^ {0,3}(?:第?[一二三四五六七八九十]{1,3}\s*[、.．:：]|[（(][一二三四五六七八九十]{1,3}[)）]、?)\s*(\S.*)$"
)
_NUMBER = re.compile(r"^ {0,3}(?:\d{1,2}(?:\.\d{1,2})*\s*(?:[、.．)）:：]\s*|\s+)|[（(]\d{1,2}[)）]\s*)(\S.*)$")
_NUMBERING = re.compile(
    r"^\s*(?:第?[一二三四五六七八九十]{1,3}\s*[、.．:：]|[（(][一二三四五六七八九十\d]{1,3}[)）]、?|"
    r"\d{1,2}(?:[.．]\d{1,2})+(?:\s|[、.．)）:：])|\d{1,2}\s*[、.．)）:：](?!\d))\s*"
)
_BULLET = re.compile(r"^\s*(?:[-*+•·]\s+|[-•·](?=\*\*)|\d{1,2}\s*[.、)）．]\s*)")
_TICKS = "xXｘＸ√✓✔☑✅vVyY是"
_BOX = re.compile(rf"(?:\[\s*([{_TICKS}×✗✘\-]?)\s*\](?![(\[:])|[【［]\s*([{_TICKS}]?)\s*[】］]|([□☐☑✅☒▢■]))\s*")
_LEAD = re.compile(r"^\s*(?:(?:[-*+•]|\d{1,2}[.)、])\s*)?$")
_BOLD_FIELD = re.compile(r"^(\*\*|__)(?=\S)(.{1,60}?)\1(.*)$")
_PLAIN_FIELD = re.compile(r"^`?([^:：。；;!！?？|<>`]{1,40}?)`?\s*([:：])(?!//)\s*(.*)$")
_FIXES = re.compile(
    r"(?:\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?)\b\s*[:：]?\s*(?:issue\s*)?(?:[#＃]|https?://|"
    r"[<(（\[][^<>()（）\[\]]{0,20}(?:[#＃]|issue|编号|单号|链接|link|url|https?:)|$)|"
    r"(?:修复|关闭|解决|关联)(?:了|的)?\s*(?:issue|问题单?|缺陷)?\s*[:：]?\s*[#＃])",
    re.IGNORECASE,
)
_ISSUE_URL = r"https?://[^\s<>()]+/issues?/[A-Za-z]?[A-Za-z0-9]*\d[A-Za-z0-9]*"
_ISSUE_NUMBER = r"(?:[\w.-]+/[\w.-]+)?#(?:0*[1-9]\d*|I[A-Z0-9]{4,})(?![\w<])"
_REFERENCE = re.compile(rf"{_ISSUE_URL}|(?<![\w#&]){_ISSUE_NUMBER}|\[\s*#?0*[1-9]\d*\s*\]\(", re.IGNORECASE)
_CLOSING = re.compile(
    rf"(?:\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?)\b|修复|关闭|解决|关联|相关|issue)[^\n#]{{0,20}}?(?:{_ISSUE_URL}|\[?{_ISSUE_NUMBER})",
    re.IGNORECASE,
)
_LONGEST_REFERENCE = 500
_KIND = re.compile(r"^\s{0,3}(?:[-*+]\s+)?/(kind|priority|sig|area)\s+(\S.*?)\s*$", re.IGNORECASE)
_TABLE_ROW = re.compile(r"^\s*\|(.*)\|\s*$")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_RULE = re.compile(r"^\s*(?:[-*_]\s*){3,}$|^\s*[=~]{3,}\s*$")


@dataclass(frozen=True)
class Heading:
    """A heading: ``title`` as written without its numbering, ``rest`` what follows on the line."""

    title: str
    level: int
    style: str
    rest: str = ""


@dataclass(frozen=True)
class FieldLine:
    """``name：rest``; ``bold`` and ``bullet`` tell the form."""

    name: str
    rest: str
    bold: bool
    bullet: bool


@dataclass(frozen=True)
class BoxLine:
    """Check-boxes of one line with the text before the first."""

    prefix: str
    boxes: tuple[tuple[bool, str], ...]


def heading_of(text: str) -> Heading | None:
    """Read a heading in any form: ``##``, ``<h3>``, ``**bold**``, ``【…】``, and the weak ``一、`` and ``1.``."""
    if match := _ATX.match(text):
        title, rest = _split_title(match[2])
        return Heading(title, len(match[1]), "atx", rest) if title else None
    if match := _HTML_HEADING.match(text):
        return Heading(without_numbering(match[2]), int(match[1]), "html")
    if match := _BOLD.match(text):
        return _bold_heading(match[2], match[3])
    if match := _BRACKET.match(text):
        return Heading(match[1].strip(), BOLD_LEVEL, "bracket", match[2].lstrip(" :：\u3000"))
    for pattern, level, style in ((_CHINESE, CHINESE_LEVEL, "chinese"), (_NUMBER, NUMBER_LEVEL, "number")):
        if match := pattern.match(text):
            bold = _BOLD.match(match[1])
            if bold and (heading := _bold_heading(bold[2], bold[3])):
                return Heading(heading.title, level, style, heading.rest)
            title, rest = _split_title(match[1])
            return Heading(title, level, style, rest)
    return None


def _bold_heading(inside: str, after: str) -> Heading | None:
    """Bold text is a heading when the line ends there, or a colon or a bracketed mark follows."""
    tail = after.strip()
    title, inner_rest = _split_title(inside)
    mark = re.match(r"^\s*([（(\[【*_][^）)\]】]*[）)\]】*_]+|[*＊])\s*", after)
    if mark:
        title, tail = f"{title} {mark[1].strip('*_ ') or '*'}", after[mark.end() :].strip()
    if tail and not tail.startswith((":", "：")) and not inside.rstrip().endswith((":", "：")):
        return None
    return Heading(title, BOLD_LEVEL, "bold", " ".join(filter(None, (inner_rest, tail.lstrip(":： \u3000")))))


def _split_title(text: str) -> tuple[str, str]:
    """Title and what follows its colon; numbering is taken off."""
    plain = without_numbering(text.strip())
    emphasised = re.fullmatch(r"(\*\*|__)(.+?)\1\s*([:：]?)\s*(.*)", plain)
    if emphasised:
        plain = f"{emphasised[2].rstrip(':： ')}{'：' if emphasised[4] else ''}{emphasised[4]}"
    match = re.match(r"^([^:：]{1,60})[:：](?!//)\s*(.*)$", plain)
    return (match[1].strip(), match[2].strip()) if match else (plain.rstrip(":： ").strip(), "")


def without_numbering(text: str) -> str:
    """A title without ``1.``, ``2.3``, ``一、`` or ``（二）`` in front."""
    return _NUMBERING.sub("", text, count=1).strip()


def field_of(text: str) -> FieldLine | None:
    """Read ``- **name：** rest``, ``**name**：rest``, ``- name：rest`` or ``name：rest``."""
    stripped = _BULLET.sub("", text, count=1)
    bullet, stripped = stripped != text, stripped.strip()
    if match := _BOLD_FIELD.match(stripped):
        name, inner = _split_title(match[2])
        after = match[3].strip()
        mark = re.match(r"^[（(][^（()）]*[)）]|^\*", after)
        if mark:
            name, after = f"{name} {mark[0]}", after[mark.end() :].strip()
        closed = match[2].rstrip().endswith((":", "：")) or bool(inner)
        if closed or after.startswith((":", "：")) or (bullet and not after):
            return FieldLine(name, " ".join(filter(None, (inner, after.lstrip(":： \u3000")))), True, bullet)
        return None
    if match := _PLAIN_FIELD.match(stripped):
        return FieldLine(match[1].strip(), match[3].strip(), False, bullet)
    return None


def boxes_of(text: str) -> BoxLine | None:
    """Read the check-boxes of a line: one at its start, or several after a label."""
    found = list(_BOX.finditer(text))
    if not found:
        return None
    prefix = text[: found[0].start()]
    at_start = bool(_LEAD.match(prefix))
    if at_start and _is_one_item(found, text):
        found = found[:1]
    elif not at_start and len(found) < 2 and not re.search(r"[:：]\**\s*$", prefix):
        return None
    boxes = []
    for number, match in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(text)
        boxes.append((_is_ticked(match), text[match.end() : end].strip(" \t,，、;；/|\u3000")))
    if at_start and not boxes[0][1]:
        return None
    return BoxLine(_BULLET.sub("", prefix, count=1).strip(" \t|\u3000") if not at_start else "", tuple(boxes))


def _is_one_item(found: list[re.Match[str]], text: str) -> bool:
    """A list item that merely mentions ``[x]`` again has one box; "□ A □ B" has two: short labels between boxes."""
    if len(found) == 1:
        return True
    between = [text[a.end() : b.start()].strip() for a, b in itertools.pairwise(found)]
    return not all(0 < len(label) <= 30 for label in between)


def _is_ticked(match: re.Match[str]) -> bool:
    mark = unicodedata.normalize("NFKC", match[1] or match[2] or "")
    return bool(mark and mark in _TICKS) or bool(match[3] and match[3] in "☑✅☒■")


def table_cells(text: str) -> tuple[str, ...] | None:
    """Cells of a table row."""
    match = _TABLE_ROW.match(text)
    return tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", match[1])) if match else None


def is_table_rule(text: str) -> bool:
    """The ``|---|---|`` line of a table."""
    return "|" in text and bool(_TABLE_RULE.match(text))


def is_rule(text: str) -> bool:
    """A horizontal rule or the underline of a heading."""
    return bool(_RULE.match(text))


def asks_for_issue(text: str) -> bool:
    """Whether a template line wants an issue link (``Fixes #``)."""
    return bool(_FIXES.search(without_code_spans(text)))


def is_closing_word(text: str) -> bool:
    """Whether a name is only the word in front of an issue link (``Fixes``)."""
    return bool(re.match(r"^\W*(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?)\W*$", text, re.IGNORECASE))


def closing_references(text: str) -> list[str]:
    """Issue references behind a closing word (``Fixes #12``, ``Closes owner/repo#3``, a full issue URL)."""
    return [match[0] for match in _CLOSING.finditer(_for_references(text))]


def references(text: str) -> list[str]:
    """All issue references of a line."""
    return [match[0] for match in _REFERENCE.finditer(_for_references(text))]


def _for_references(text: str) -> str:
    return unicodedata.normalize("NFKC", without_code_spans(text[:_LONGEST_REFERENCE]))


def kind_of(text: str) -> tuple[str, str] | None:
    """``/kind bug`` as (``kind``, ``bug``)."""
    match = _KIND.match(unicodedata.normalize("NFKC", without_code_spans(text)))
    return (match[1].lower(), match[2].strip()) if match else None


def is_bullet(text: str) -> bool:
    """Whether the line is a list item."""
    return bool(_BULLET.match(text))


def without_bullet(text: str) -> str:
    """A list item without its bullet or number."""
    return _BULLET.sub("", text, count=1).strip()
