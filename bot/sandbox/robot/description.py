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
"""The robot's own look at a description: a small, blunt reading of the template, line by line.

It shares nothing with ``bot.template``: were both one piece of code, their agreement would prove nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(?P<hash>.+?)|\*\*(?P<bold>[^*]+)\*\*\s*(?P<tail>[^*]*?))\s*$")
_BOX = re.compile(r"^\s*[-*+]\s*\[(?P<mark>.?)\]\s*(?P<text>.+?)\s*$")
_FIELD = re.compile(r"^\s*(?:[-*+]\s*)?\*\*(?P<name>[^*]+?)[:：]?\*\*\s*[:：]?\s*(?P<value>.*?)\s*$")
_ISSUE = re.compile(
    r"(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?)\s*[:：]?\s*(?:#\d+|https?://\S+/issues/\w+)", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<!\w)#\d+")
_OPTIONAL = ("选填", "可选", "optional")
_CONDITIONAL = ("如涉及", "如适用", "if applicable")
_ONE_OF = ("单选", "类型")
_ISSUE_WORDS = ("issue", "问题单")


@dataclass(slots=True)
class Section:
    """A heading with the lines below it, comments already gone."""

    title: str
    lines: list[str] = field(default_factory=list)

    @property
    def optional(self) -> bool:
        """Whether it may stay empty."""
        return any(word in self.title.lower() for word in _OPTIONAL)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the robot complains about: items of the description, and of the linked issue."""

    description: tuple[str, ...] = ()
    issue: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether there is nothing to complain about."""
        return not self.description and not self.issue


def check(template: str, body: str, *, linked_issues: int = 0) -> Verdict:
    """Compare a description with the template of the base branch.

    Args:
        template: The template's text; empty when the repository has none.
        body: The description.
        linked_issues: How many issues the forge has linked already.
    """
    wanted, given = _sections(template), {_key(section.title): section for section in _sections(body)}
    if wanted:
        complaints = [text for section in wanted for text in _complaints(section, given.get(_key(section.title)))]
    else:
        complaints = [] if _COMMENT.sub("", body).strip() else ["Pull Request描述信息为空，请补充。"]
    linked = linked_issues > 0 or _names_issue(body, given)
    return Verdict(tuple(complaints), () if linked else ("Pull Request未关联issue，请在描述中补充 Fixes #<编号>。",))


def _complaints(wanted: Section, given: Section | None) -> list[str]:
    if wanted.optional or any(word in wanted.title.lower() for word in _ISSUE_WORDS):
        return []
    title = wanted.title.rstrip(":：")
    boxes = [match for line in wanted.lines if (match := _BOX.match(line))]
    if boxes:
        return _box_complaints(title, boxes, given)
    fields = [match["name"].strip(" :：") for line in wanted.lines if (match := _FIELD.match(line))]
    if fields:
        untouched = {line.strip() for line in wanted.lines}
        filled = {
            match["name"].strip(" :：")
            for line in (given.lines if given else [])
            if (match := _FIELD.match(line)) and match["value"] and line.strip() not in untouched
        }
        needed = [name for name in fields if not any(word in name for word in _OPTIONAL)]
        return [f"模板中'{name}' 信息为空，请补充。" for name in needed if name not in filled]
    boiler = {line.strip() for line in wanted.lines}
    own = [line for line in (given.lines if given else []) if line.strip() and line.strip() not in boiler]
    return [] if own else [f"模板中'{title}' 信息为空，请补充。"]


def _box_complaints(title: str, wanted: list[re.Match[str]], given: Section | None) -> list[str]:
    found = [match for line in (given.lines if given else []) if (match := _BOX.match(line))]
    ticked = {match["text"] for match in found if match["mark"].strip()}
    if any(word in title for word in _ONE_OF):
        return [] if ticked else [f"选项未通过检查： **{title}**：请至少选择一项"]
    needed = [match["text"] for match in wanted if not any(word in match["text"] for word in _CONDITIONAL)]
    return [f"选项未通过检查： **{title}**：{text}" for text in needed if text not in ticked]


def _names_issue(body: str, given: dict[str, Section]) -> bool:
    text = _COMMENT.sub("", body)
    if _ISSUE.search(text):
        return True
    sections = [section for section in given.values() if any(word in section.title.lower() for word in _ISSUE_WORDS)]
    return any(_NUMBER.search(line) for section in sections for line in section.lines)


def _sections(text: str) -> list[Section]:
    sections: list[Section] = []
    fenced = False
    for line in _COMMENT.sub("", text).splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        match = None if fenced else _HEADING.match(line)
        title = (match["hash"] or f"{match['bold']}{match['tail']}") if match else ""
        if title and not title.strip().endswith("**"):
            sections.append(Section(title.strip().strip("*").strip()))
        elif sections:
            sections[-1].lines.append(line)
    return sections


def _key(title: str) -> str:
    return re.sub(r"[\s:：*]|[（(].*?[)）]", "", title).lower()
