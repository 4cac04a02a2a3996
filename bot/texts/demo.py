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
        "zh": "GateBot 演示：合并请求从打开到门禁通过",
        "en": "GateBot demo: pull requests from opening to a green gate",
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
    "demo.sticky": {"zh": "写小结评论：{text}", "en": "writes its summary: {text}"},
    "demo.sticky_edits": {"zh": "更新小结评论：{text}", "en": "edits its summary: {text}"},
    "demo.label_on": {"zh": "加标签 {label}", "en": "puts on the label {label}"},
    "demo.label_off": {"zh": "去标签 {label}", "en": "takes off the label {label}"},
    "demo.pushes": {"zh": "推送提交 {sha}：{subject}", "en": "pushes {sha}: {subject}"},
    "demo.build_starts": {
        "zh": "构建 #{number} 开始（真实的 pylint、codespell、lizard、pytest）",
        "en": "build #{number} starts (real pylint, codespell, lizard, pytest)",
    },
    "demo.build_ends": {"zh": "构建 #{number} 结束：{result}{stages}", "en": "build #{number} ends: {result}{stages}"},
    "demo.diff": {"zh": "修复提交的内容", "en": "What the fix commit changed"},
    "demo.lines": {"zh": "行内评论", "en": "Comments on lines"},
    "demo.line_open": {"zh": "未解决", "en": "open"},
    "demo.line_resolved": {"zh": "已解决", "en": "resolved"},
    "demo.report": {
        "zh": "合并请求上唯一的小结评论，现在是最终报告",
        "en": "The one summary comment on the pull request, now the final report",
    },
    "demo.counters": {
        "zh": "GitCode 调用 {calls} 次 · 评论 {comments} 条 · 构建 {builds} 次 · 修复提交 {commits} 个 · "
        "沙箱时间 {virtual} · 实际用时 {wall} 秒",
        "en": "{calls} GitCode calls · {comments} comments · {builds} builds · {commits} fix commits · "
        "sandbox time {virtual} · {wall} s of real time",
    },
    "demo.passed": {
        "zh": "通过：两个合并请求的标签都已具备，最终报告已写好，该解决的行内评论恰好都已解决。总用时 {wall} 秒。",
        "en": "Passed: both pull requests have both labels and their final reports, and exactly the right comments "
        "were resolved. {wall} s in all.",
    },
    "demo.second.title": {
        "zh": "第二幕：贡献者的仓库不让 GateBot 写入，由人来改",
        "en": "Second act: a fork that GateBot may not write to, so its owner mends",
    },
    "demo.second.opens": {
        "zh": "打开合并请求 #{number}：三处问题，GateBot 没有权限推送修复",
        "en": "opens pull request #{number}: three findings, and GateBot may not push a fix",
    },
    "demo.second.mends_two": {"zh": "改好三处中的两处，推送", "en": "mends two of the three findings and pushes"},
    "demo.second.mends_last": {"zh": "改好最后一处，推送", "en": "mends the last finding and pushes"},
    "demo.second.sticky": {
        "zh": "第一次构建之后的小结评论（含建议的修复）",
        "en": "The summary comment after the first build, with the proposed fix",
    },
    "demo.second.check": {
        "zh": "改好两处的推送解决了 {resolved}；仍未解决 {left}",
        "en": "The push that mended two resolved {resolved}; still open {left}",
    },
    "demo.second.wrong_first": {
        "zh": "第一次构建后应有三条未解决的行内评论",
        "en": "after the first build there should be three open comments on lines",
    },
    "demo.second.wrong_second": {
        "zh": "改好两处的推送应当恰好解决那两条评论",
        "en": "the push that mended two should have resolved exactly those two comments",
    },
    "demo.second.wrong_last": {
        "zh": "最后一次推送后所有行内评论都应已解决",
        "en": "after the last push all comments on lines should be resolved",
    },
    "demo.second.wrong_gate": {
        "zh": "第二个合并请求没有通过门禁",
        "en": "the second pull request did not pass the gate",
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
