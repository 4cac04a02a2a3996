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
"""Sentences of ``gatebot demo``."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "demo.title": {
        "zh": "GateBot 演示：一个合并请求从打开到门禁通过",
        "en": "GateBot demo: a pull request from opening to a green gate",
    },
    "demo.where": {
        "zh": "本机 GitCode {forge}  ·  本机 Jenkins {jenkins}  ·  看板 {dashboard}",
        "en": "local GitCode {forge}  ·  local Jenkins {jenkins}  ·  dashboard {dashboard}",
    },
    "demo.opens": {
        "zh": "打开合并请求 #{number}：描述不完整，还藏着一个拼写错误、一个多余的 import 和一个缺少说明的测试",
        "en": "opens pull request #{number}: an incomplete description, a misspelt word, an unused import and a test "
        "without its docstring fields",
    },
    "demo.completes": {"zh": "补全描述", "en": "completes the description"},
    "demo.comments": {"zh": "评论：{text}", "en": "comments: {text}"},
    "demo.comments_line": {"zh": "行内评论 {place}：{text}", "en": "comments on {place}: {text}"},
    "demo.resolves": {"zh": "解决行内评论 {place}", "en": "resolves the comment on {place}"},
    "demo.edits": {"zh": "更新评论：{text}", "en": "edits its comment: {text}"},
    "demo.label_on": {"zh": "加标签 {label}", "en": "puts on the label {label}"},
    "demo.label_off": {"zh": "去标签 {label}", "en": "takes off the label {label}"},
    "demo.pushes": {"zh": "推送提交 {sha}：{subject}", "en": "pushes {sha}: {subject}"},
    "demo.build_starts": {
        "zh": "构建 #{number} 开始（真实的 pylint、codespell、lizard、pytest）",
        "en": "build #{number} starts (real pylint, codespell, lizard, pytest)",
    },
    "demo.build_ends": {"zh": "构建 #{number} 结束：{result}{stages}", "en": "build #{number} ends: {result}{stages}"},
    "demo.diff": {"zh": "修复提交的内容", "en": "What the fix commit changed"},
    "demo.report": {"zh": "合并请求上的最终报告", "en": "The final report on the pull request"},
    "demo.counters": {
        "zh": "GitCode 调用 {calls} 次 · 评论 {comments} 条 · 构建 {builds} 次 · 修复提交 {commits} 个 · "
        "沙箱时间 {virtual} · 实际用时 {wall} 秒",
        "en": "{calls} GitCode calls · {comments} comments · {builds} builds · {commits} fix commits · "
        "sandbox time {virtual} · {wall} s of real time",
    },
    "demo.passed": {
        "zh": "通过：两个标签都已具备，最终报告已写在合并请求上。",
        "en": "Passed: both labels are on, the final report stands on the pull request.",
    },
    "demo.failed": {"zh": "没有通过：{why}", "en": "Not passed: {why}"},
    "demo.timeout": {
        "zh": "{seconds} 秒内没有结束，停在 {phase}。",
        "en": "no end within {seconds} s; it stands at {phase}.",
    },
    "demo.keep": {
        "zh": "沙箱继续运行，可以打开：\n  合并请求 {pull}\n  Jenkins  {jenkins}\n  看板     {dashboard}\n"
        "按 Ctrl-C 结束。",
        "en": "The sandbox keeps running; look at:\n  pull request {pull}\n  Jenkins      {jenkins}\n"
        "  dashboard    {dashboard}\nCtrl-C ends it.",
    },
    "demo.who.clock": {"zh": "时钟", "en": "clock"},
    "demo.who.jenkins": {"zh": "Jenkins", "en": "Jenkins"},
}
