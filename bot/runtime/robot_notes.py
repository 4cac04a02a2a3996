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
"""What the gate robot's comments mean. Pure: text in, meaning out.

The sentences are those the community's robot writes, in Chinese; build numbers are taken from its start notice and from
the links of its result table.
"""

from __future__ import annotations

import re
from datetime import datetime

from bot.gate.facts import RobotNote

_CHECK_FAILED = re.compile(r"check-pr ?未通过|检查项未通过|未关联issue|check[_ -]?pr failed", re.IGNORECASE)
_REFUSED = re.compile(r"门禁触发失败|请通过 ?/check-pr ?获取")
_RUNNING = re.compile(
    r"pipeline #?(\d{1,9}) is running|流水线[^#]{0,100}#(\d{1,9}).{0,40}(?:运行中|已启动)", re.IGNORECASE
)
_RESULT_CELL = re.compile(r"\*\*(?:SUCCESS|FAILURE|UNSTABLE|ABORTED)\*\*", re.IGNORECASE)
_TABLE_WORDS = ("阶段", "任务名", "状态")
_NOT_IN_URLS = re.compile(r"[\s()\"'<>|]+")
_BUILD_IN_PATH = re.compile(r"/(\d{1,9})(?=/|\Z)")
_BUILD_LINK = re.compile(r"\[#?(\d{1,9})\]\(https?://")
_TAG = re.compile(r"<[^<>]{0,500}>")
_HEADING = re.compile(r"(?:原因如下|检查项未通过) ?[:：]?\Z")
_LONGEST_LINE = 2000  # of a longer line only the beginning is read: every pattern below costs no more than its line
MAX_REASONS = 20


def read_robot_note(body: str, at: datetime, note_id: int) -> RobotNote | None:
    """The meaning of one comment of the robot; ``None`` when it says nothing to the gate (a welcome, a CLA notice)."""
    text = body[:65_536]
    lines = [line[:_LONGEST_LINE] for line in text.splitlines()]
    if any(_REFUSED.search(line) for line in lines):
        return RobotNote(kind="trigger_refused", at=at, note_id=note_id, reasons=_reasons(lines))
    if any(_CHECK_FAILED.search(line) for line in lines):
        return RobotNote(kind="check_failed", at=at, note_id=note_id, reasons=_reasons(lines))
    table = "<table" in text.lower() and any(word in text for word in _TABLE_WORDS)
    if table or any(line.lstrip().startswith("|") and _RESULT_CELL.search(line) for line in lines):
        return RobotNote(kind="pipeline_result", at=at, note_id=note_id, build_number=_build_number(lines))
    for line in lines:
        if match := _RUNNING.search(line):
            return RobotNote(kind="pipeline_running", at=at, note_id=note_id, build_number=int(match[1] or match[2]))
    return None


def _build_number(lines: list[str]) -> int:
    """The newest build that the lines link to."""
    numbers = [0]
    for line in lines:
        numbers += [int(number) for number in _BUILD_LINK.findall(line)]
        for word in _NOT_IN_URLS.split(line):
            if "/job/" in word:
                numbers += [int(number) for number in _BUILD_IN_PATH.findall(word.partition("/job/")[2])]
    return max(numbers)


def _reasons(lines: list[str]) -> tuple[str, ...]:
    """The lines that say what is missing, without headings and markup."""
    found: dict[str, None] = {}
    for line in _TAG.sub("\n", "\n".join(lines)).splitlines():
        reason = line.strip().lstrip("-*•·>0123456789.、) ").strip()[:300]
        if reason and not _HEADING.search(reason) and len(found) < MAX_REASONS:
            found[reason] = None
    return tuple(found)
