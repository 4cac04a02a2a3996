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
"""Sentences of the dashboard."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "web.title": {"zh": "GateBot 看板", "en": "GateBot dashboard"},
    "web.cases": {"zh": "合并请求", "en": "Pull requests"},
    "web.no_cases": {"zh": "还没有合并请求。", "en": "No pull request yet."},
    "web.column_case": {"zh": "合并请求", "en": "Pull request"},
    "web.column_phase": {"zh": "阶段", "en": "Phase"},
    "web.column_head": {"zh": "提交", "en": "Head"},
    "web.column_build": {"zh": "构建", "en": "Build"},
    "web.column_counters": {"zh": "修复 / 重试", "en": "Patches / retests"},
    "web.column_next": {"zh": "下次查看", "en": "Next look"},
    "web.column_changed": {"zh": "最近变化", "en": "Last change"},
    "web.column_at": {"zh": "时间", "en": "Time"},
    "web.column_what": {"zh": "事件", "en": "What"},
    "web.column_who": {"zh": "操作者", "en": "Who"},
    "web.column_result": {"zh": "结果", "en": "Result"},
    "web.column_detail": {"zh": "详情", "en": "Detail"},
    "web.column_test": {"zh": "测试", "en": "Test"},
    "web.column_failures": {"zh": "失败 / 总数", "en": "Failed / runs"},
    "web.column_place": {"zh": "位置", "en": "Place"},
    "web.column_rule": {"zh": "规则", "en": "Rule"},
    "web.column_verdict": {"zh": "归因", "en": "Verdict"},
    "web.column_message": {"zh": "信息", "en": "Message"},
    "web.column_command": {"zh": "命令", "en": "Command"},
    "web.column_role": {"zh": "谁可以用", "en": "Who may"},
    "web.timeline": {"zh": "时间线", "en": "Timeline"},
    "web.no_timeline": {"zh": "还没有事件。", "en": "Nothing happened yet."},
    "web.builds": {"zh": "构建", "en": "Builds"},
    "web.no_builds": {"zh": "还没有构建。", "en": "No build yet."},
    "web.findings": {"zh": "最近一次构建的问题", "en": "Findings of the newest build"},
    "web.effects": {"zh": "对外动作", "en": "Effects"},
    "web.audit": {"zh": "审计记录", "en": "Audit trail"},
    "web.history": {"zh": "失败测试的历史", "en": "History of the failed tests"},
    "web.flaky": {"zh": "不稳定的测试", "en": "Flaky tests"},
    "web.commands": {"zh": "评论命令", "en": "Commands in comments"},
    "web.trouble": {
        "zh": "最近的问题（第 {failures} 次，稍后重试）：",
        "en": "Last trouble (number {failures}, will be retried): ",
    },
    "web.counters": {
        "zh": "修复提交 {patches}/{patch_ceiling} · 偶发重试 {flakes}/{flake_ceiling} · 轮次 {rounds} · 唤醒 {wakeups}",
        "en": "Fixes {patches}/{patch_ceiling} · retests {flakes}/{flake_ceiling} · rounds {rounds} · wakes {wakeups}",
    },
    "web.never": {"zh": "等待事件", "en": "on the next event"},
    "web.not_found": {"zh": "没有这个合并请求。", "en": "There is no such pull request."},
    "web.back": {"zh": "返回列表", "en": "Back to the list"},
    "web.phase.new": {"zh": "新建", "en": "new"},
    "web.phase.description": {"zh": "描述待补全", "en": "description incomplete"},
    "web.phase.checking": {"zh": "描述检查中", "en": "description being checked"},
    "web.phase.starting": {"zh": "等待构建", "en": "waiting for a build"},
    "web.phase.building": {"zh": "构建中", "en": "building"},
    "web.phase.labels": {"zh": "等待标签", "en": "waiting for labels"},
    "web.phase.repairing": {"zh": "修复中", "en": "repairing"},
    "web.phase.offered": {"zh": "等待 /autofix", "en": "waits for /autofix"},
    "web.phase.draft": {"zh": "草稿", "en": "draft"},
    "web.phase.ended": {"zh": "已结束", "en": "ended"},
    "web.role.anyone": {"zh": "任何人", "en": "anyone"},
    "web.role.author": {"zh": "作者", "en": "the author"},
    "web.role.collaborator": {"zh": "协作者", "en": "collaborators"},
    "web.role.maintainer": {"zh": "维护者", "en": "maintainers"},
}
