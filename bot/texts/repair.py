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
"""Sentences of the repair room: why a finding was left to a person. Chinese first, English second."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, dict[str, str]]] = {
    "repair.no-recipe": {
        "zh": "没有针对 {tool} {rule} 的自动修复方法，需要人工处理。",
        "en": "There is no automatic fix for {tool} {rule}; a person has to look at it.",
    },
    "repair.no-file": {
        "zh": "日志没有指明文件，也无法在本次 PR 修改的文件中找到“{name}”。",
        "en": "The log names no file, and “{name}” was not found in the files of this pull request.",
    },
    "repair.outside-pr": {
        "zh": "文件 {file} 不在本次 PR 的修改范围内，不会改动它。",
        "en": "{file} is not among the files of this pull request, so it is left alone.",
    },
    "repair.not-a-plain-file": {
        "zh": "{file} 不是普通文件（符号链接、子模块或已删除），不会改动它。",
        "en": "{file} is not a plain file (link, submodule or deleted), so it is left alone.",
    },
    "repair.too-large": {
        "zh": "{file} 超过 {limit} 字节，不做自动修改。",
        "en": "{file} is larger than {limit} bytes and is not edited automatically.",
    },
    "repair.binary": {"zh": "{file} 是二进制文件。", "en": "{file} is a binary file."},
    "repair.read-only": {
        "zh": "{file} 是测试、CI 或模板文件，只允许文档字符串、空白、import 顺序或未使用 import 的修改。",
        "en": "{file} is a test, CI or template file: only docstrings, white space, import order or an unused import "
        "may change there.",
    },
    "repair.not-reproduced": {
        "zh": "在当前提交上重新运行 {check} 没有看到这个问题，可能日志属于更早的提交。",
        "en": "Running {check} again on this commit does not show the problem; the log may belong to an older commit.",
    },
    "repair.check-unavailable": {
        "zh": "无法在这里重新运行 {check}：{why}。没有验证就不提交修改。",
        "en": "{check} cannot be run here: {why}. Nothing is changed without that proof.",
    },
    "repair.still-there": {
        "zh": "修改之后 {check} 仍然报告这个问题，已撤销修改。",
        "en": "{check} still shows the problem after the edit, so the edit was taken back.",
    },
    "repair.new-finding": {
        "zh": "修改会带来新的问题（{what}），已撤销修改。",
        "en": "The edit would cause a new finding ({what}), so it was taken back.",
    },
    "repair.unproven": {
        "zh": "无法证明修改只涉及{nature}，已撤销修改。",
        "en": "It could not be proved that the edit changes nothing but {nature}, so it was taken back.",
    },
    "repair.not-found-here": {
        "zh": "第 {line} 行没有找到 {what}。",
        "en": "{what} was not found on line {line}.",
    },
    "repair.unreadable": {
        "zh": "{file} 无法解析：{why}。",
        "en": "{file} cannot be parsed: {why}.",
    },
    "repair.too-many": {
        "zh": "同一文件中需要逐个验证的修改太多，其余留给人工处理。",
        "en": "Too many edits in one file need to be proved one by one; the rest is left to a person.",
    },
    "repair.guard-path": {
        "zh": "安全检查未通过：{file} 不允许修改",
        "en": "A guard rail refused the change: {file} may not be changed",
    },
    "repair.guard-mode": {
        "zh": "安全检查未通过：{file} 的文件类型或权限发生变化",
        "en": "A guard rail refused the change: the type or mode of {file} would change",
    },
    "repair.guard-size": {
        "zh": "安全检查未通过：修改过大（{what}）",
        "en": "A guard rail refused the change: the change is too large ({what})",
    },
    "repair.guard-suppression": {
        "zh": "安全检查未通过：{file} 中新增了跳过测试或屏蔽检查的内容（{what}）",
        "en": "A guard rail refused the change: {file} would gain a skip or a suppression ({what})",
    },
    "repair.guard-tests-removed": {
        "zh": "安全检查未通过：{file} 中的测试或断言会减少",
        "en": "A guard rail refused the change: {file} would lose tests or assertions",
    },
    "repair.guard-secret": {
        "zh": "安全检查未通过：{file} 中新增的内容疑似密钥（{what}）",
        "en": "A guard rail refused the change: {file} would gain what looks like a secret ({what})",
    },
    "repair.guard-empty": {
        "zh": "安全检查未通过：没有任何改动",
        "en": "A guard rail refused the change: nothing would change",
    },
    "repair.no-push-right": {
        "zh": "没有向源分支推送的权限，改为给出补丁。",
        "en": "The source branch does not accept our push, so a patch is offered instead.",
    },
    "repair.head-moved": {
        "zh": "PR 已有新的提交，本次修复作废。",
        "en": "The pull request has a newer commit; this repair is void.",
    },
    # codespell
    "repair.ambiguous-word": {
        "zh": "“{word}”有多种改法（{candidates}），需要人工选择。",
        "en": "“{word}” has several corrections ({candidates}); a person has to choose.",
    },
    "repair.word-in-code": {
        "zh": "“{word}”出现在代码、字符串、链接或标识符中，修改可能改变行为。",
        "en": "“{word}” is part of code, a string, a link or an identifier; changing it might change behaviour.",
    },
    "repair.word-is-a-name": {
        "zh": "“{word}”也是代码中的名字，只改注释会与代码不一致。",
        "en": "“{word}” is also a name in the code; changing only the prose would contradict it.",
    },
    "repair.unknown-prose": {
        "zh": "无法判断 {file} 中哪些是注释或正文。",
        "en": "It is not known which parts of {file} are prose.",
    },
    # imports
    "repair.import-in-init": {
        "zh": "__init__.py 中的 import 可能是对外导出，不自动删除。",
        "en": "An import in __init__.py may be a re-export, so it is not removed automatically.",
    },
    "repair.import-conditional": {
        "zh": "该 import 位于 try 或条件分支中，可能用于探测依赖是否存在。",
        "en": "The import sits in a try or a condition and may probe whether a dependency exists.",
    },
    "repair.import-used": {
        "zh": "“{name}”在{where}中被提到，可能仍被使用。",
        "en": "“{name}” is mentioned in {where} and may still be used.",
    },
    "repair.import-side-effect": {
        "zh": "导入 {name} 可能有副作用（{why}）。",
        "en": "Importing {name} may have side effects ({why}).",
    },
    "repair.import-comment": {
        "zh": "该 import 行的注释表明它是有意保留的。",
        "en": "The comment on the import says that it is kept on purpose.",
    },
    "repair.import-fixture": {
        "zh": "“{name}”可能是 pytest fixture 或插件钩子，删除会使测试失效。",
        "en": "“{name}” may be a pytest fixture or hook; removing it could break tests.",
    },
    "repair.import-exported": {
        "zh": "其他文件（{where}）从这里导入“{name}”。",
        "en": "Another file ({where}) takes “{name}” from here.",
    },
    # calls and statements
    "repair.call-unpacks": {
        "zh": "调用中使用了 ** 展开，可能已经包含 {what}。",
        "en": "The call unpacks a mapping with **, which may already hold {what}.",
    },
    "repair.unsafe": {"zh": "无法保证行为不变：{why}", "en": "The same behaviour cannot be promised: {why}"},
    "repair.string-content": {
        "zh": "空白位于字符串内容中，修改会改变字符串的值。",
        "en": "The white space is inside a string; changing it would change the string's value.",
    },
    "repair.docstring-form": {
        "zh": "{name} 的文档字符串形式特殊（拼接、f-string 或字节串），不自动修改。",
        "en": "The docstring of {name} has an unusual form (joined, f-string or bytes) and is left alone.",
    },
}
