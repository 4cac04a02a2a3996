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
"""What the robot writes, in the words and shapes that the community's robots are known to use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.sandbox.robot.description import Verdict

_WORDS = {"SUCCESS": "SUCCESS", "FAILED": "FAILURE", "ABORTED": "ABORTED"}


@dataclass(frozen=True, slots=True)
class Row:
    """A stage in the result table."""

    stage: str
    result: str  # SUCCESS, FAILURE, ABORTED


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished build as the table tells it."""

    project: str
    number: int
    url: str
    result: str
    head_sha: str
    rows: tuple[Row, ...]


def check_failed(verdict: Verdict) -> str:
    """Why ``/check-pr`` did not pass."""
    parts = ["当前/check-pr未通过，原因如下:"]
    if verdict.description:
        parts += ["", "以下Pull Request描述检查项未通过:", *(f"- {item}" for item in verdict.description)]
    if verdict.issue:
        parts += ["", "以下issue检查项未通过:", *(f"- {item}" for item in verdict.issue)]
    return "\n".join(parts)


def trigger_refused(user: str) -> str:
    """A ``/retest`` without ``pr-check-pass``."""
    return f"@{user} 门禁触发失败，当前PR没有pr-check-pass标签，请通过/check-pr获取pr-check-pass标签后再触发门禁。"


def started(number: int) -> str:
    """The start notice."""
    return f"The pipeline #{number} is running..."


def result_table(outcome: Outcome) -> str:
    """The result as a Markdown table: one summary row of the project, one row per stage."""
    sign = ":white_check_mark:" if outcome.result == "SUCCESS" else ":x:"
    link = f"[{outcome.number}]({outcome.url})"
    lines = [
        "| Project | Check Name | Build Result | Build Details |",
        "| --- | --- | --- | --- |",
        f"| {outcome.project} |  | {sign} **{outcome.result}** | {link} |",
    ]
    lines += [
        f"|  | {row.stage} | **{row.result}** | [{outcome.number}]({outcome.url}console) |" for row in outcome.rows
    ]
    return "\n".join(lines)


def result_html(outcome: Outcome) -> str:
    """The same as the HTML table of the other gate: ``rowspan`` on the first column, signs as entities."""
    head = "".join(f"<th>{name}</th>" for name in ("阶段", "任务名", "状态", "详情"))
    rows = []
    for index, row in enumerate(outcome.rows):
        first = f'<td rowspan="{len(outcome.rows)}">门禁</td>' if index == 0 else ""
        sign = "&#9989;" if row.result == "SUCCESS" else "❌"
        link = f'<a href="{outcome.url}console">&gt;&gt;&gt;</a>'
        rows.append(f"<tr>{first}<td>{row.stage}</td><td>{sign}</td><td>{link}</td></tr>")
    headline = f"流水线 {outcome.project} #{outcome.number} [ commitID：{outcome.head_sha[:8]} ] 已完成"
    return f"{headline}\n<table><tr>{head}</tr>{''.join(rows)}</table>"


def rows_of(stages: Sequence[tuple[str, str]]) -> tuple[Row, ...]:
    """Rows of name and stage-view status; the checkout is no check of its own unless it failed."""
    return tuple(
        Row(name, _WORDS.get(status, status)) for name, status in stages if name != "Checkout" or status != "SUCCESS"
    )
