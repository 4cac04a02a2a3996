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
"""Words of the one comment that is edited in place: state, final report, description, patch, evidence of flakes."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "report.title.sticky": {"zh": "## GateBot：小结", "en": "## GateBot: summary"},
    "report.title.summary": {"zh": "## GateBot：门禁进行中", "en": "## GateBot: gate in progress"},
    "report.title.final": {"zh": "## GateBot：最终报告", "en": "## GateBot: final report"},
    "report.state": {"zh": "**状态**：{state}", "en": "**State**: {state}"},
    "report.status": {"zh": "**结果**：`{outcome}` — {meaning}", "en": "**Result**: `{outcome}` — {meaning}"},
    "report.reason": {"zh": "**原因**：{reason}", "en": "**Reason**: {reason}"},
    "report.build": {
        "zh": "**最近构建**：{build}，结果 {result}",
        "en": "**Last build**: {build}, result {result}",
    },
    "report.build_none": {"zh": "**最近构建**：无", "en": "**Last build**: none"},
    "report.head": {"zh": "**提交**：{head}", "en": "**Commit**: {head}"},
    "report.wall": {"zh": "**用时**：{time}", "en": "**Wall time**: {time}"},
    "report.result.running": {"zh": "未完成", "en": "not finished"},
    "report.heading.timeline": {"zh": "### 时间线", "en": "### Timeline"},
    "report.heading.commits": {"zh": "### 修复提交", "en": "### Fix commits"},
    "report.heading.unresolved": {"zh": "### 未解决的问题", "en": "### Unresolved"},
    "report.heading.counters": {"zh": "### 计数", "en": "### Counters"},
    "report.heading.next": {"zh": "### 下一步", "en": "### What to do next"},
    "report.none": {"zh": "无", "en": "none"},
    "report.commit": {"zh": "- {sha} {subject}（{rules}；{places}）", "en": "- {sha} {subject} ({rules}; {places})"},
    "report.event": {"zh": "- {at} {what}", "en": "- {at} {what}"},
    "report.table.head": {
        "zh": "| 阶段 | 规则 | 位置 | 判断 | 说明 |",
        "en": "| stage | rule | place | verdict | message |",
    },
    "report.table.row": {
        "zh": "| {stage} | {rule} | {place} | {verdict} | {message} |",
        "en": "| {stage} | {rule} | {place} | {verdict} | {message} |",
    },
    "report.table.more": {"zh": "另有 {count} 项未列出。", "en": "{count} more not shown."},
    "report.verdict.pr": {"zh": "由本 PR 引起", "en": "caused by this change"},
    "report.verdict.pr_repairable": {"zh": "由本 PR 引起，可自动修复", "en": "caused by this change, repairable"},
    "report.verdict.unrelated": {"zh": "与本 PR 无关", "en": "unrelated to this change"},
    "report.verdict.infrastructure": {"zh": "环境故障", "en": "infrastructure"},
    "report.verdict.process": {"zh": "流程问题", "en": "process"},
    "report.verdict.unknown": {"zh": "未判定", "en": "undecided"},
    "report.counters": {
        "zh": "修复提交 {patches}/{patch_ceiling} · 重跑 {flakes}/{flake_ceiling} · 评论 {comments} · 临时注释 {outs}",
        "en": (
            "patches {patches}/{patch_ceiling} · flake retests {flakes}/{flake_ceiling} · comments {comments} · "
            "comment-outs {outs}"
        ),
    },
    "report.seconds": {"zh": "{count} 秒", "en": "{count} s"},
    "report.minutes": {"zh": "{count} 分 {rest} 秒", "en": "{count} min {rest} s"},
    "report.hours": {"zh": "{count} 小时 {rest} 分", "en": "{count} h {rest} min"},
    # What the terminal states mean.
    "report.meaning.ci-pipeline-passed": {"zh": "门禁通过", "en": "the gate is green"},
    "report.meaning.patch-ceiling": {"zh": "自动修复次数用完", "en": "no repair attempts left"},
    "report.meaning.flake-ceiling": {"zh": "重跑次数用完", "en": "no retests left"},
    "report.meaning.needs-human-guidance": {"zh": "需要人工处理", "en": "a person must take over"},
    "report.meaning.upstream-sticky-flake": {"zh": "目标分支的问题", "en": "a problem of the target branch"},
    "report.meaning.scope-creep-refused": {"zh": "修复超出改动范围", "en": "the fix lies outside the change"},
    "report.meaning.user-interrupt": {"zh": "按要求停止", "en": "stopped on request"},
    "report.meaning.closed": {"zh": "PR 已结束", "en": "the pull request is over"},
    # What the author does next, by terminal state.
    "report.next.ci-pipeline-passed": {
        "zh": "两个标签都已具备，可以请评审人合入。",
        "en": "Both labels are there; ask the reviewers to merge.",
    },
    "report.next.patch-ceiling": {
        "zh": "请查看上面未解决的问题，修改后推送新提交，门禁会自动重新开始。",
        "en": "Please look at the unresolved findings above, mend them and push; the gate then starts again by itself.",
    },
    "report.next.flake-ceiling": {
        "zh": "请稍后评论 `/retest`，或变基到目标分支的最新提交；如果持续出现，请联系仓库维护者。",
        "en": "Please comment `/retest` later, or rebase onto the target branch; if it goes on, ask the maintainers.",
    },
    "report.next.needs-human-guidance": {
        "zh": "请按上面的原因处理：修改后推送新提交，或处理完成后评论 `/retest`，门禁会重新开始。",
        "en": "Please act on the reason above: push a new commit, or comment `/retest` when it is settled.",
    },
    "report.next.upstream-sticky-flake": {
        "zh": "给维护者的证据在本评论下方。目标分支修复后，请变基或评论 `/retest`。",
        "en": "The evidence for the maintainers is below. When the branch is mended, rebase or `/retest`.",
    },
    "report.next.scope-creep-refused": {
        "zh": "请扩大这个 PR 的范围、另开一个 PR，或请维护者决定。",
        "en": "Please widen this pull request, open another one, or let the maintainers decide.",
    },
    "report.next.user-interrupt": {
        "zh": "需要继续时，评论 `/check-pr` 或 `/retest`。",
        "en": "To go on, comment `/check-pr` or `/retest`.",
    },
    "report.next.closed": {"zh": "无需操作。", "en": "Nothing to do."},
    # What comes next while the case is open.
    "report.next.phase.new": {"zh": "评论 `/check-pr` 开始门禁。", "en": "Comment `/check-pr` to start the gate."},
    "report.next.phase.description": {
        "zh": "补全 PR 描述后会自动重新检查。",
        "en": "The check is repeated by itself when the description is edited.",
    },
    "report.next.phase.checking": {
        "zh": "等待标签，之后自动触发流水线。",
        "en": "Waiting for the label; the pipeline follows by itself.",
    },
    "report.next.phase.starting": {"zh": "等待构建开始。", "en": "Waiting for the build to begin."},
    "report.next.phase.building": {"zh": "等待构建结束。", "en": "Waiting for the build to end."},
    "report.next.phase.labels": {"zh": "等待标签。", "en": "Waiting for the labels."},
    "report.next.phase.repairing": {
        "zh": "修复提交推送后自动重新开始门禁。",
        "en": "The gate starts again by itself when the fix commit is pushed.",
    },
    "report.next.phase.offered": {
        "zh": "评论 `/autofix`，GateBot 会修复上面可自动修复的问题；也可以自行修改后推送。",
        "en": "Comment `/autofix` and GateBot repairs what is repairable above, or push a change of your own.",
    },
    "report.next.phase.draft": {
        "zh": "取消草稿状态后自动开始门禁，也可以评论 `/check-pr`。",
        "en": "The gate starts when the draft is marked ready, or on `/check-pr`.",
    },
    # The template notice.
    "report.template.title": {"zh": "### PR 描述", "en": "### Description"},
    "report.template.missing": {
        "zh": "PR 描述还缺少以下 {count} 项，补全后会自动重新检查：",
        "en": "The description still lacks {count} item(s); the check is repeated when it is edited:",
    },
    "report.template.robot": {
        "zh": "门禁机器人没有通过 PR 描述检查，请修改后保存，会自动重新检查：",
        "en": "The gate robot refused the description; the check is repeated when it is edited:",
    },
    "report.template.robot_silent": {
        "zh": "门禁机器人没有通过 PR 描述检查，但没有说明原因。请对照模板修改描述，会自动重新检查。",
        "en": "The gate robot refused the description without saying why; please compare it with the template.",
    },
    "report.template.item": {"zh": "- {item}", "en": "- {item}"},
    "report.template.complete": {
        "zh": "PR 描述已补全，感谢！",
        "en": "The description is complete now, thank you!",
    },
    # A proposed fix.
    "report.patch": {
        "zh": "### 建议的修复\n\n针对提交 {head}。保存为 `fix.patch` 后执行 `git apply fix.patch`：\n\n{patch}",
        "en": ("### Proposed fix\n\nFor commit {head}. Save as `fix.patch` and run `git apply fix.patch`:\n\n{patch}"),
    },
    "report.patch_cut": {
        "zh": "### 建议的修复\n\n针对提交 {head}。补丁过长，下面只是开头部分，不能直接应用：\n\n{patch}",
        "en": (
            "### Proposed fix\n\nFor commit {head}. The patch is long; this is only its beginning and does not "
            "apply:\n\n{patch}"
        ),
    },
    # A section that does not fit.
    "report.cut": {"zh": "（内容过长，已省略）", "en": "(too long, left out)"},
    # Evidence for maintainers.
    "report.retest.title": {
        "zh": "### 构建 {build} 的失败不是本 PR 引起的，正在重跑（第 {count}/{most} 次）",
        "en": "### Build {build} did not fail because of this change; running it again ({count}/{most})",
    },
    "report.flake.title": {
        "zh": "### 与本 PR 无关的失败",
        "en": "### Failures unrelated to this change",
    },
    "report.flake.builds": {"zh": "出现在构建：{builds}", "en": "Seen in builds: {builds}"},
    "report.flake.item": {"zh": "- {name}：{why}", "en": "- {name}: {why}"},
    "report.flake.question": {
        "zh": "请维护者确认：在目标分支跳过、等待修复，还是真实的回归？",
        "en": "Maintainers, please decide: skip it on the target branch, wait for a fix, or is it a real regression?",
    },
    # The answer to /diagnose.
    "report.diagnosis.title": {"zh": "## GateBot：构建 {build} 诊断", "en": "## GateBot: diagnosis of build {build}"},
    "report.diagnosis.nothing": {
        "zh": "日志中没有找到能够确认的原因。最相关的日志：",
        "en": "The log shows no cause that can be confirmed. Its most telling lines:",
    },
    "report.diagnosis.incomplete": {
        "zh": "日志不完整，结论可能有遗漏。",
        "en": "The log is incomplete, so something may be missing here.",
    },
    "report.diagnosis.why": {"zh": "判断依据：", "en": "Why:"},
    # The answer to /help.
    "report.help.title": {"zh": "## GateBot：命令", "en": "## GateBot: commands"},
    "report.help.head": {"zh": "| 命令 | 作用 | 谁可以用 |", "en": "| command | what it does | who may use it |"},
    "report.help.row": {"zh": "| {usage} | {what} | {role} |", "en": "| {usage} | {what} | {role} |"},
    "report.help.note": {
        "zh": "命令单独占一行；代码块、引用和 HTML 注释中的命令不会执行。",
        "en": "A command stands on a line of its own; in code, quotes and HTML comments it is not carried out.",
    },
}
