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
"""Exact wording of every short reply of the gate, in both languages."""

from __future__ import annotations

import pytest

from bot.texts import catalogue, code, fields, link, render

VALUES = {
    "command": code("/autofix"),
    "role": "R",
    "typed": code("/retset"),
    "meant": code("/retest"),
    "meaning": "M",
    "label": code("pr-check-pass"),
    "state": "S",
    "build": link("41", "https://ci.example.com/41/"),
    "result": "SUCCESS",
    "count": 2,
}

REPLIES = {
    "gate.reply.already_ended": (
        "当前没有正在进行的处理，无需停止。",
        "Nothing is under way, so there is nothing to stop.",
    ),
    "gate.reply.autofix_ceiling": (
        "已经推送过 2 个修复提交，达到上限，需要人工处理。",
        "2 fix commits were pushed already, which is the ceiling; a person must take over.",
    ),
    "gate.reply.autofix_nothing": (
        "构建 [41](https://ci.example.com/41/) 中没有可以自动修复的问题。",
        "Build [41](https://ci.example.com/41/) shows nothing that can be repaired automatically.",
    ),
    "gate.reply.autofix_outdated": (
        "最新构建 [41](https://ci.example.com/41/) 不属于当前提交，请先 `/retest`。",
        (
            "The newest build [41](https://ci.example.com/41/) does not belong to the present commit; p"
            "lease `/retest` first."
        ),
    ),
    "gate.reply.autofix_started": (
        "开始自动修复 2 个问题。",
        "Repairing 2 finding(s).",
    ),
    "gate.reply.build_running": (
        "构建 [41](https://ci.example.com/41/) 还在运行，结束后再试。",
        ("Build [41](https://ci.example.com/41/) is still running; please try again when it has ended."),
    ),
    "gate.reply.busy": (
        "当前状态：S。这一步完成之前不重复执行。",
        "Current state: S. The command is not repeated until this step is done.",
    ),
    "gate.reply.check_started": (
        "已开始检查 PR 描述，通过后会自动触发流水线。",
        "The check of the description has started; the pipeline follows when it passes.",
    ),
    "gate.reply.closed": (
        "这个 PR 已关闭或已合入，门禁命令不再执行。",
        "This pull request is closed or merged; gate commands are no longer carried out.",
    ),
    "gate.reply.did_you_mean": (
        "没有命令 `/retset`，您是想输入 `/retest` 吗？如果是，请另发一条评论。",
        ("There is no command `/retset`. Did you mean `/retest`? If so, please write it in a new comment."),
    ),
    "gate.reply.log_unreadable": (
        "没能读到失败构建的日志，请稍后再试。",
        "The log of the failed build could not be read; please try again later.",
    ),
    "gate.reply.no_build": (
        "还没有找到这个 PR 的构建。评论 `/retest` 可以触发流水线。",
        "No build of this pull request was found yet. Comment `/retest` to start the pipeline.",
    ),
    "gate.reply.not_allowed": (
        "命令 `/autofix` 需要的权限：R。",
        "Who may use `/autofix`: R.",
    ),
    "gate.reply.nothing_red": (
        ("最新构建 [41](https://ci.example.com/41/) 的结果是 SUCCESS，没有失败可以诊断或修复。"),
        (
            "The newest build [41](https://ci.example.com/41/) ended with SUCCESS; there is no failure "
            "to diagnose or repair."
        ),
    ),
    "gate.reply.retest_started": (
        "先重新检查 PR 描述，通过后触发流水线（M）。",
        "The description is checked again first, then the pipeline starts (M).",
    ),
    "gate.reply.role_unknown": (
        "暂时无法查询您的权限，`/autofix` 没有执行，请稍后再试。",
        ("Your role could not be checked just now, so `/autofix` was not carried out. Please try again later."),
    ),
    "gate.reply.stopped": (
        "已停止处理这个 PR。评论 `/check-pr` 或 `/retest` 可以重新开始。",
        "Stopped working on this pull request. Comment `/check-pr` or `/retest` to start again.",
    ),
    "gate.reply.too_early": (
        (
            "现在还不能 `/retest`：PR 没有标签 `pr-check-pass`。没有这个标签时流水线会被拒绝，或者什么都"
            "不运行就显示成功。已转到第一步：检查 PR 描述，通过后会自动触发流水线。"
        ),
        (
            "It is too early for `/retest`: the label `pr-check-pass` is missing. Without it the pipeli"
            "ne is refused, or reports success without running anything. Back to step one: the descript"
            "ion is checked, and the pipeline follows when it passes."
        ),
    ),
    "gate.reply.unknown": (
        "不认识命令 `/autofix`，输入 `/help` 查看全部命令。",
        "The command `/autofix` is not known; `/help` lists all commands.",
    ),
}


def test_no_reply_is_left_out() -> None:
    assert set(REPLIES) == {text_id for text_id in catalogue() if text_id.startswith("gate.reply.")}


@pytest.mark.parametrize("text_id", sorted(REPLIES))
def test_reply_in_full(text_id: str) -> None:
    values = {name: VALUES[name] for name in fields(text_id, "zh")}
    assert (render(text_id, "zh", **values), render(text_id, "en", **values)) == REPLIES[text_id]
