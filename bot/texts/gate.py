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
"""What the gate says about a case: phases, reasons, key events and short replies."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    # Phases, as the state line of the summary and inside replies.
    "gate.phase.new": {"zh": "尚未开始", "en": "not started yet"},
    "gate.phase.description": {"zh": "等待作者补全 PR 描述", "en": "waiting for the description to be completed"},
    "gate.phase.checking": {"zh": "正在检查 PR 描述", "en": "the description is being checked"},
    "gate.phase.starting": {"zh": "已触发流水线，等待构建开始", "en": "pipeline requested, waiting for its build"},
    "gate.phase.building": {"zh": "构建进行中", "en": "a build is running"},
    "gate.phase.labels": {"zh": "构建成功，等待标签", "en": "build succeeded, waiting for labels"},
    "gate.phase.repairing": {"zh": "正在自动修复", "en": "a repair is under way"},
    "gate.phase.offered": {"zh": "可以自动修复，等待命令 `/autofix`", "en": "can be repaired, waiting for `/autofix`"},
    "gate.phase.draft": {"zh": "草稿，暂不运行门禁", "en": "draft, the gate is not run"},
    "gate.phase.ended": {"zh": "已结束", "en": "ended"},
    # Roles.
    "gate.role.anyone": {"zh": "任何人", "en": "anyone"},
    "gate.role.author": {"zh": "PR 作者或更高权限", "en": "the author of the pull request, or higher"},
    "gate.role.collaborator": {"zh": "仓库协作者或更高权限", "en": "a collaborator of the repository, or higher"},
    "gate.role.maintainer": {"zh": "仓库管理员", "en": "a maintainer of the repository"},
    # What /retest runs here; the community's documents disagree, so replies say it.
    "gate.retest.full": {"zh": "运行完整门禁", "en": "runs the full gate"},
    "gate.retest.failed": {"zh": "只重跑失败的任务", "en": "runs only the jobs that failed"},
    # Replies.
    "gate.reply.role_unknown": {
        "zh": "暂时无法查询您的权限，{command} 没有执行，请稍后再试。",
        "en": "Your role could not be checked just now, so {command} was not carried out. Please try again later.",
    },
    "gate.reply.not_allowed": {
        "zh": "命令 {command} 需要的权限：{role}。",
        "en": "Who may use {command}: {role}.",
    },
    "gate.reply.closed": {
        "zh": "这个 PR 已关闭或已合入，门禁命令不再执行。",
        "en": "This pull request is closed or merged; gate commands are no longer carried out.",
    },
    "gate.reply.unknown": {
        "zh": "不认识命令 {command}，输入 `/help` 查看全部命令。",
        "en": "The command {command} is not known; `/help` lists all commands.",
    },
    "gate.reply.did_you_mean": {
        "zh": "没有命令 {typed}，您是想输入 {meant} 吗？如果是，请另发一条评论。",
        "en": "There is no command {typed}. Did you mean {meant}? If so, please write it in a new comment.",
    },
    "gate.reply.stopped": {
        "zh": "已停止处理这个 PR。评论 `/check-pr` 或 `/retest` 可以重新开始。",
        "en": "Stopped working on this pull request. Comment `/check-pr` or `/retest` to start again.",
    },
    "gate.reply.already_ended": {
        "zh": "当前没有正在进行的处理，无需停止。",
        "en": "Nothing is under way, so there is nothing to stop.",
    },
    "gate.reply.check_started": {
        "zh": "已开始检查 PR 描述，通过后会自动触发流水线。",
        "en": "The check of the description has started; the pipeline follows when it passes.",
    },
    "gate.reply.retest_started": {
        "zh": "先重新检查 PR 描述，通过后触发流水线（{meaning}）。",
        "en": "The description is checked again first, then the pipeline starts ({meaning}).",
    },
    "gate.reply.too_early": {
        "zh": (
            "现在还不能 `/retest`：PR 没有标签 {label}。没有这个标签时流水线会被拒绝，或者什么都不运行就显示成功。"
            "已转到第一步：检查 PR 描述，通过后会自动触发流水线。"
        ),
        "en": (
            "It is too early for `/retest`: the label {label} is missing. Without it the pipeline is refused, or "
            "reports success without running anything. Back to step one: the description is checked, and the "
            "pipeline follows when it passes."
        ),
    },
    "gate.reply.busy": {
        "zh": "当前状态：{state}。这一步完成之前不重复执行。",
        "en": "Current state: {state}. The command is not repeated until this step is done.",
    },
    "gate.reply.no_build": {
        "zh": "还没有找到这个 PR 的构建。评论 `/retest` 可以触发流水线。",
        "en": "No build of this pull request was found yet. Comment `/retest` to start the pipeline.",
    },
    "gate.reply.build_running": {
        "zh": "构建 {build} 还在运行，结束后再试。",
        "en": "Build {build} is still running; please try again when it has ended.",
    },
    "gate.reply.nothing_red": {
        "zh": "最新构建 {build} 的结果是 {result}，没有失败可以诊断或修复。",
        "en": "The newest build {build} ended with {result}; there is no failure to diagnose or repair.",
    },
    "gate.reply.log_unreadable": {
        "zh": "没能读到失败构建的日志，请稍后再试。",
        "en": "The log of the failed build could not be read; please try again later.",
    },
    "gate.reply.autofix_outdated": {
        "zh": "最新构建 {build} 不属于当前提交，请先 `/retest`。",
        "en": "The newest build {build} does not belong to the present commit; please `/retest` first.",
    },
    "gate.reply.autofix_nothing": {
        "zh": "构建 {build} 中没有可以自动修复的问题。",
        "en": "Build {build} shows nothing that can be repaired automatically.",
    },
    "gate.reply.autofix_ceiling": {
        "zh": "已经推送过 {count} 个修复提交，达到上限，需要人工处理。",
        "en": "{count} fix commits were pushed already, which is the ceiling; a person must take over.",
    },
    "gate.reply.autofix_started": {
        "zh": "开始自动修复 {count} 个问题。",
        "en": "Repairing {count} finding(s).",
    },
    # Why a case ended.
    "gate.reason.passed": {"zh": "描述检查和流水线都已通过。", "en": "The description and the pipeline both passed."},
    "gate.reason.closed": {"zh": "PR 已关闭。", "en": "The pull request was closed."},
    "gate.reason.merged": {"zh": "PR 已合入。", "en": "The pull request was merged."},
    "gate.reason.stopped": {"zh": "{by} 用 `/stop` 停止了处理。", "en": "{by} stopped the work with `/stop`."},
    "gate.reason.budget": {
        "zh": "24 小时内已经运行了 {rounds} 轮门禁，为避免无限循环已停止。",
        "en": "The gate ran {rounds} times within 24 hours; stopped, so that it does not go round for ever.",
    },
    "gate.reason.description_stale": {
        "zh": "PR 描述长时间没有补全。",
        "en": "The description stayed incomplete for a long time.",
    },
    "gate.reason.check_silent": {
        "zh": "门禁机器人两次没有回应 `/check-pr`。",
        "en": "The gate robot did not answer `/check-pr` twice.",
    },
    "gate.reason.check_unreadable": {
        "zh": "无法读取 PR 模板，描述检查没有完成。",
        "en": "The template could not be read, so the description was not checked.",
    },
    "gate.reason.refused": {
        "zh": "门禁机器人多次拒绝触发流水线。",
        "en": "The gate robot refused to start the pipeline again and again.",
    },
    "gate.reason.no_build": {
        "zh": "触发流水线后没有出现构建，重试一次仍然没有。",
        "en": "No build appeared after the pipeline was requested, not even after a second try.",
    },
    "gate.reason.build_lost": {
        "zh": "构建丢失（已中止、已删除或没有执行），重试一次后再次丢失。",
        "en": "The build was lost (aborted, deleted or never run), and so was the second one.",
    },
    "gate.reason.build_slow": {
        "zh": "构建 {build} 运行时间过长，没有结束。",
        "en": "Build {build} has been running too long.",
    },
    "gate.reason.bypass": {
        "zh": "构建 {build} 显示成功，但耗时过短，不足以证明检查真正运行过，不能算通过。",
        "en": "Build {build} reports success, but it was so short that it proves nothing.",
    },
    "gate.reason.label_missing": {
        "zh": "等待标签 {label} 超时。",
        "en": "The label {label} did not appear in time.",
    },
    "gate.reason.log_unreadable": {
        "zh": "构建 {build} 失败，但日志无法读取。",
        "en": "Build {build} failed, but its log could not be read.",
    },
    "gate.reason.nothing_found": {
        "zh": "构建 {build} 失败，但日志中没有找到能够确认的原因。",
        "en": "Build {build} failed, but its log shows no cause that can be confirmed.",
    },
    "gate.reason.deep": {
        "zh": "有需要人工修改的失败：{items}。",
        "en": "Some failures need a person's change: {items}.",
    },
    "gate.reason.process": {
        "zh": "有必须由人处理的流程问题（许可证、CLA 等）：{items}。",
        "en": "Some failures are a matter of process (licence, CLA …) that only a person may settle: {items}.",
    },
    "gate.reason.scope": {
        "zh": "修复会超出这个 PR 的改动范围，已拒绝：{detail}。",
        "en": "The fix would leave the files of this pull request, so it was refused: {detail}.",
    },
    "gate.reason.sticky": {
        "zh": "与本 PR 无关的同一失败在最近两次构建中都出现：{items}。",
        "en": "The same failure, unrelated to this change, came in the last two builds: {items}.",
    },
    "gate.reason.broken_base": {
        "zh": "目标分支上同样失败：{items}。",
        "en": "The target branch fails in the same way: {items}.",
    },
    "gate.reason.flakes": {
        "zh": "连续 {count} 次重跑都遇到与本 PR 无关的失败。",
        "en": "{count} retests in a row met failures that are unrelated to this change.",
    },
    "gate.reason.patches": {
        "zh": "已经尝试 {count} 次自动修复，构建仍未通过。",
        "en": "After {count} repair attempt(s) the build still fails.",
    },
    "gate.reason.repair_refused": {
        "zh": "自动修复被安全检查拒绝：{detail}。",
        "en": "The repair was refused by its safety checks: {detail}.",
    },
    "gate.reason.source_gone": {"zh": "{why}。", "en": "{why}."},
    "gate.reason.repair_failed": {
        "zh": "自动修复两次没有完成：{detail}。",
        "en": "The repair could not be carried out twice: {detail}.",
    },
    "gate.reason.repair_slow": {
        "zh": "自动修复没有在限定时间内完成。",
        "en": "The repair did not finish in time.",
    },
    "gate.reason.proposed": {
        "zh": "修复补丁已放在评论中，等待作者采用。",
        "en": "A patch was put into a comment; the author may apply it.",
    },
    "gate.reason.proposed_because": {
        "zh": "{why}。修复补丁已放在评论中，等待作者采用。",
        "en": "{why}. A patch was put into a comment; the author may apply it.",
    },
    "gate.reason.offer_expired": {
        "zh": "可以自动修复，但一直没有收到 `/autofix`。",
        "en": "A repair was possible, but nobody asked for it with `/autofix`.",
    },
    "gate.reason.write_refused": {
        "zh": "GateBot 没有所需的写权限：{detail}。",
        "en": "GateBot lacks a permission to write: {detail}.",
    },
    "gate.reason.write_failed": {
        "zh": "多次写入失败：{detail}。",
        "en": "Writing failed again and again: {detail}.",
    },
    # Key events of the timeline.
    "gate.event.check_asked": {"zh": "请求检查 PR 描述", "en": "asked for a check of the description"},
    "gate.event.check_followed": {"zh": "跟随已有的 `/check-pr`", "en": "followed a `/check-pr` that was there"},
    "gate.event.check_passed": {"zh": "描述检查通过", "en": "the description passed"},
    "gate.event.description_missing": {"zh": "描述缺少 {count} 项", "en": "the description lacks {count} item(s)"},
    "gate.event.retest_asked": {"zh": "触发流水线", "en": "started the pipeline"},
    "gate.event.retest_followed": {"zh": "跟随已触发的流水线", "en": "followed a pipeline that was requested already"},
    "gate.event.build_started": {"zh": "构建 {build} 开始", "en": "build {build} began"},
    "gate.event.build_green": {"zh": "构建 {build} 成功", "en": "build {build} succeeded"},
    "gate.event.build_red": {
        "zh": "构建 {build} 失败，发现 {count} 个问题",
        "en": "build {build} failed with {count} finding(s)",
    },
    "gate.event.beyond": {
        "zh": "问题过多，只处理前 {count} 个，其余 {beyond} 个留到下一次构建",
        "en": "too many findings: the first {count} are dealt with, {beyond} more wait for the next build",
    },
    "gate.event.bypass": {
        "zh": "构建 {build} 过短，不能作为结果",
        "en": "build {build} was too short to prove anything",
    },
    "gate.event.pass_gone": {"zh": "描述检查的标签已失效", "en": "the label of the description check is gone"},
    "gate.event.flake_retest": {
        "zh": "失败与本 PR 无关，重跑（第 {count} 次，最多 {most} 次）",
        "en": "failures unrelated to the change, retest {count} of {most}",
    },
    "gate.event.repair_asked": {
        "zh": "修复构建 {build} 的 {count} 个问题",
        "en": "repairing {count} finding(s) of build {build}",
    },
    "gate.event.offered": {"zh": "{count} 个问题可以自动修复", "en": "{count} finding(s) can be repaired"},
    "gate.event.pushed": {"zh": "推送修复提交 {sha}：{subject}", "en": "pushed fix commit {sha}: {subject}"},
    "gate.event.head_moved": {"zh": "收到新提交 {sha}，从第一步重新开始", "en": "new commit {sha}, back to step one"},
    "gate.event.retargeted": {
        "zh": "目标分支改为 {base}，从第一步重新开始",
        "en": "the target branch is {base} now, back to step one",
    },
    "gate.event.again_check_silent": {"zh": "检查没有回应，重试", "en": "no answer to the check, trying again"},
    "gate.event.again_followed": {"zh": "没有等到构建，重新触发", "en": "no build came, starting again"},
    "gate.event.again_stuck": {"zh": "没有等到构建，重新触发", "en": "no build came, starting again"},
    "gate.event.again_lost": {"zh": "构建丢失，重新触发", "en": "the build was lost, starting again"},
    "gate.event.again_label": {"zh": "没有等到标签，重新触发", "en": "the label did not come, starting again"},
    "gate.event.again_bypass": {"zh": "构建过短，重新触发", "en": "the build was too short, starting again"},
    "gate.event.again_refused": {"zh": "触发被拒绝，重新检查描述", "en": "the start was refused, checking again"},
    "gate.event.again_write_failed": {"zh": "写入失败，重试", "en": "writing failed, trying again"},
    "gate.event.again_repair_failed": {
        "zh": "修复没有完成，重试",
        "en": "the repair was not carried out, trying again",
    },
    "gate.event.ended": {"zh": "结束：`{outcome}`", "en": "ended: `{outcome}`"},
}
