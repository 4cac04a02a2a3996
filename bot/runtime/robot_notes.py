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

_CHECK_FAILED = re.compile(r"check-pr\s*未通过|检查项未通过|未关联issue|check[_ -]?pr\s+failed", re.IGNORECASE)
_REFUSED = re.compile(r"门禁触发失败|请通过\s*/check-pr\s*获取")
_RUNNING = re.compile(r"pipeline\s+#?(\d+)\s+is\s+running|流水线[^\n#]*#(\d+)[^\n]*(?:运行中|已启动)", re.IGNORECASE)
_RESULT_ROW = re.compile(r"\|[^\n|]*\*\*(?:SUCCESS|FAILURE|UNSTABLE|ABORTED)\*\*[^\n|]*\|", re.IGNORECASE)
_RESULT_TABLE = re.compile(r"<table[^>]*>.*?(?:阶段|任务名|状态)", re.IGNORECASE | re.DOTALL)
_BUILD_LINK = re.compile(r"/job/[^\s)\"'<>]+?/(\d+)(?=[/)\"'\s<>]|\Z)|\[#?(\d{1,9})\]\(https?://")
_TAG = re.compile(r"<[^<>]{0,500}>")
_HEADING = re.compile(r"(?:原因如下|检查项未通过)\s*[:：]?\s*\Z")
MAX_REASONS = 20


def read_robot_note(body: str, at: datetime, note_id: int) -> RobotNote | None:
    """The meaning of one comment of the robot; ``None`` when it says nothing to the gate (a welcome, a CLA notice)."""
    text = body[:65_536]
    if _REFUSED.search(text):
        return RobotNote(kind="trigger_refused", at=at, note_id=note_id, reasons=_reasons(text))
    if _CHECK_FAILED.search(text):
        return RobotNote(kind="check_failed", at=at, note_id=note_id, reasons=_reasons(text))
    if _RESULT_ROW.search(text) or _RESULT_TABLE.search(text):
        return RobotNote(kind="pipeline_result", at=at, note_id=note_id, build_number=_build_number(text))
    if match := _RUNNING.search(text):
        number = int(match[1] or match[2])
        return RobotNote(kind="pipeline_running", at=at, note_id=note_id, build_number=number)
    return None


def _build_number(text: str) -> int:
    numbers = [int(match[1] or match[2]) for match in _BUILD_LINK.finditer(text)]
    return max(numbers, default=0)


def _reasons(text: str) -> tuple[str, ...]:
    """The lines that say what is missing, without headings and markup."""
    found: list[str] = []
    for line in _TAG.sub("\n", text).splitlines():
        reason = line.strip().lstrip("-*•·>0123456789.、) ").strip()
        if reason and not _HEADING.search(reason) and reason not in found:
            found.append(reason[:300])
    return tuple(found[:MAX_REASONS])
