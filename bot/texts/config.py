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
"""What is wrong with the settings. Ids of single values are the validator's own names of the mistake."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "config.head": {"zh": "{source}：有 {count} 项设置不对", "en": "{source}: {count} wrong setting(s)"},
    "config.line": {"zh": "  {key}：{what}", "en": "  {key}: {what}"},
    "config.line_got": {"zh": "  {key}：{what}，实际是 {got}", "en": "  {key}: {what}, but got {got}"},
    "config.environment": {"zh": "环境变量", "en": "the environment"},
    "config.whole_file": {"zh": "（整个文件）", "en": "(whole file)"},
    "config.unreadable": {"zh": "{path}：无法读取：{why}", "en": "{path}: cannot be read: {why}"},
    "config.not_yaml": {"zh": "{path}：不是 YAML：{why}", "en": "{path}: is not YAML: {why}"},
    "config.not_keys": {
        "zh": "{path}：应由键和值组成，实际是 {kind}",
        "en": "{path}: should hold keys and values, but holds a {kind}",
    },
    "config.secret_in_file": {
        "zh": "{source}：{key}：密钥不能写在文件里；请设置环境变量 {variable}，或把 {variable}_FILE 设为保存它的文件名",
        "en": "{source}: {key}: a secret may not stand in the file; set {variable}, or {variable}_FILE to the name of "
        "a file that holds it",
    },
    "config.secret_twice": {
        "zh": "{variable} 和 {variable}_FILE 都设置了；请只保留一个",
        "en": "{variable} and {variable}_FILE are both set; keep one",
    },
    "config.secret_unreadable": {
        "zh": "{variable}_FILE：{file} 无法读取：{why}",
        "en": "{variable}_FILE: {file} cannot be read: {why}",
    },
    "config.extra_forbidden": {
        "zh": "没有这个键；这里可用的有：{allowed}",
        "en": "unknown key; allowed here: {allowed}",
    },
    "config.literal_error": {"zh": "应为以下之一：{expected}", "en": "should be one of {expected}"},
    "config.greater_than_equal": {"zh": "应不小于 {ge}", "en": "should be at least {ge}"},
    "config.greater_than": {"zh": "应大于 {gt}", "en": "should be greater than {gt}"},
    "config.less_than_equal": {"zh": "应不大于 {le}", "en": "should be at most {le}"},
    "config.string_too_short": {
        "zh": "至少要有 {min_length} 个字符",
        "en": "should have {min_length} or more characters",
    },
    "config.string_too_long": {
        "zh": "最多只能有 {max_length} 个字符",
        "en": "should have {max_length} or fewer characters",
    },
    "config.too_short": {"zh": "至少要有 {min_length} 项", "en": "should have {min_length} or more items"},
    "config.string_type": {"zh": "应为文本", "en": "should be a text"},
    "config.path_type": {"zh": "应为路径", "en": "should be a path"},
    "config.bool_parsing": {"zh": "应为 true 或 false", "en": "should be true or false"},
    "config.bool_type": {"zh": "应为 true 或 false", "en": "should be true or false"},
    "config.int_parsing": {"zh": "应为整数", "en": "should be a whole number"},
    "config.int_type": {"zh": "应为整数", "en": "should be a whole number"},
    "config.int_from_float": {"zh": "应为整数", "en": "should be a whole number"},
    "config.float_parsing": {"zh": "应为数字", "en": "should be a number"},
    "config.float_type": {"zh": "应为数字", "en": "should be a number"},
    "config.tuple_type": {"zh": "应为列表", "en": "should be a list"},
    "config.dict_type": {"zh": "应由键和值组成", "en": "should hold keys and values"},
    "config.model_type": {"zh": "应由键和值组成", "en": "should hold keys and values"},
    "config.store": {
        "zh": "应以 sqlite:/// 或 postgresql:// 开头",
        "en": "should begin with sqlite:/// or postgresql://",
    },
    "config.owner_name": {"zh": "应写成 owner/name，实际是 {name}", "en": "should be owner/name, but got {name}"},
    "config.self_needs_jenkins": {
        "zh": "gate.owner: self 需要 jenkins.url，因为构建由 GateBot 启动",
        "en": "gate.owner: self needs jenkins.url, because GateBot starts the builds",
    },
    "config.role_commands": {
        "zh": "只能写这些命令：{known}，实际有 {unknown}",
        "en": "should name commands of {known}, but got {unknown}",
    },
    "config.positive_waits": {"zh": "应为大于 0 的秒数", "en": "should be positive numbers of seconds"},
    "config.other": {"zh": "不合要求：{message}", "en": "{message}"},
}
