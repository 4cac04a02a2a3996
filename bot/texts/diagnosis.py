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
"""Sentences of the log diagnosis."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "diagnosis.head": {
        "zh": "日志共 {lines} 行，发现 {findings} 条问题，归纳为 {causes} 个原因（置信度 {confidence}）。",
        "en": "Log: {lines} lines, {findings} findings, {causes} causes (confidence {confidence}).",
    },
    "diagnosis.stages": {"zh": "失败的阶段：{stages}", "en": "Failed stages: {stages}"},
    "diagnosis.evidence-not-in-console": {
        "zh": "控制台日志中没有真正的错误：子进程失败了，但它的输出只在工作目录的日志文件里。",
        "en": "The console does not hold the real error: a child process wrote it only to files in the workspace.",
    },
    "diagnosis.more": {
        "zh": "另有 {number} 个原因未列出，请用 --json 查看全部。",
        "en": "And {number} more causes; --json lists them all.",
    },
    "diagnosis.excerpt": {"zh": "第 {first}–{last} 行（{why}）", "en": "Lines {first}-{last} ({why})"},
    "diagnosis.nothing": {"zh": "没有找到失败的迹象。", "en": "No sign of a failure was found."},
    "diagnosis.empty": {"zh": "日志是空的。", "en": "The log is empty."},
    "diagnosis.binary": {"zh": "这是二进制文件，不是日志", "en": "this is a binary file, not a log"},
    "diagnosis.broken_gzip": {"zh": "gzip 数据损坏或不完整", "en": "the gzip data is broken or cut off"},
    "diagnosis.reading": {"zh": "正在读取日志", "en": "Reading the log"},
    "diagnosis.unreadable": {"zh": "无法读取 {path}：{why}", "en": "Cannot read {path}: {why}"},
    "diagnosis.secondary": {"zh": "由其他错误引起", "en": "follows from another error"},
    "diagnosis.column_count": {"zh": "次数", "en": "count"},
    "diagnosis.column_class": {"zh": "类别", "en": "class"},
    "diagnosis.column_stage": {"zh": "阶段", "en": "stage"},
    "diagnosis.column_rule": {"zh": "规则", "en": "rule"},
    "diagnosis.column_place": {"zh": "位置", "en": "place"},
    "diagnosis.column_message": {"zh": "信息", "en": "message"},
    "diagnosis.class_code": {"zh": "代码", "en": "code"},
    "diagnosis.class_infrastructure": {"zh": "环境", "en": "infrastructure"},
    "diagnosis.class_flake": {"zh": "可能偶发", "en": "maybe flaky"},
    "diagnosis.class_process": {"zh": "流程", "en": "process"},
    "diagnosis.class_unknown": {"zh": "未知", "en": "unknown"},
}


def words(language: str) -> dict[str, str]:
    """The sentences in one language, for the terminal (plain templates, keyed without the room's name).

    Args:
        language: ``en…`` gives English, everything else Chinese.
    """
    key = "en" if language.lower().startswith("en") else "zh"
    return {name.removeprefix("diagnosis."): variants[key] for name, variants in TEXTS.items()}
