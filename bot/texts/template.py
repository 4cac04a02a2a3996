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
"""What the template check says. One entry per text: Chinese first, English second; fields by name."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "template.place.top": {"zh": "模板开头", "en": "top of the template"},
    "template.section.absent.what": {
        "zh": "缺少「{section}」一节",
        "en": "The section “{section}” is missing",
    },
    "template.section.absent.fix": {
        "zh": "请把标题「{section}」加回描述中，并在其下写明内容。",
        "en": "Put the heading “{section}” back into the description and write the content under it.",
    },
    "template.section.empty.what": {
        "zh": "「{section}」一节没有填写",
        "en": "The section “{section}” is not filled in",
    },
    "template.section.empty.fix": {
        "zh": "请在标题「{section}」下写明内容；模板自带的提示语和注释不算填写。",
        "en": "Write the content under the heading “{section}”; hints and comments of the template do not count.",
    },
    "template.field.absent.what": {
        "zh": "「{section}」缺少「{field}」一项",
        "en": "“{section}” lacks the field “{field}”",
    },
    "template.field.absent.fix": {
        "zh": "请把「{field}：」加回「{section}」中，并在冒号后填写。",
        "en": "Put “{field}:” back into “{section}” and fill it in after the colon.",
    },
    "template.field.empty.what": {
        "zh": "「{section}」中的「{field}」没有填写",
        "en": "“{field}” in “{section}” is not filled in",
    },
    "template.field.empty.fix": {
        "zh": "请在「{field}：」后（或其下一行）填写；模板自带的提示语不算填写。",
        "en": "Write after “{field}:” (or on the line below); hints of the template do not count.",
    },
    "template.checkbox.unticked.what": {
        "zh": "「{section}」中的「{field}」没有勾选",
        "en": "“{field}” in “{section}” is not ticked",
    },
    "template.checkbox.unticked.fix": {
        "zh": "确认做到后，请把这一项前面的 [ ] 改成 [x]。",
        "en": "Once it holds, change the [ ] in front of it to [x].",
    },
    "template.checkbox.absent.what": {
        "zh": "「{section}」缺少必勾项「{field}」",
        "en": "“{section}” lacks the box “{field}”, which must be ticked",
    },
    "template.checkbox.absent.fix": {
        "zh": "请把「- [x] {field}」加回「{section}」中，确认做到后勾选。",
        "en": "Put “- [x] {field}” back into “{section}” and tick it once it holds.",
    },
    "template.choice.none.what": {
        "zh": "「{section}」中的「{field}」还没有选择",
        "en": "Nothing is chosen for “{field}” in “{section}”",
    },
    "template.choice.none.fix": {
        "zh": "请从「{options}」中选择，把所选项前面的 [ ] 改成 [x]。",
        "en": "Choose from “{options}”: change the [ ] in front of your choice to [x].",
    },
    "template.choice.many.what": {
        "zh": "「{section}」中的「{field}」只能选一项，现在选了多项",
        "en": "“{field}” in “{section}” takes one choice, but several are ticked",
    },
    "template.choice.many.fix": {
        "zh": "请只保留一项 [x]，其余改回 [ ]；现在勾选的是：{options}。",
        "en": "Keep one [x] and change the others back to [ ]; ticked now: {options}.",
    },
    "template.only-choice.none.what": {
        "zh": "「{section}」还没有选择",
        "en": "Nothing is chosen in “{section}”",
    },
    "template.only-choice.none.fix": {
        "zh": "请从「{options}」中选择，把所选项前面的 [ ] 改成 [x]。",
        "en": "Choose from “{options}”: change the [ ] in front of your choice to [x].",
    },
    "template.only-choice.many.what": {
        "zh": "「{section}」只能选一项，现在选了多项",
        "en": "“{section}” takes one choice, but several are ticked",
    },
    "template.only-choice.many.fix": {
        "zh": "请只保留一项 [x]，其余改回 [ ]；现在勾选的是：{options}。",
        "en": "Keep one [x] and change the others back to [ ]; ticked now: {options}.",
    },
    "template.issue.none.what": {
        "zh": "「{section}」没有关联 Issue",
        "en": "No issue is linked in “{section}”",
    },
    "template.issue.none.fix": {
        "zh": "请写明关联的 Issue，例如「Fixes #12」或 Issue 的完整链接。",
        "en": "Name the issue, for example “Fixes #12” or the full link of the issue.",
    },
    "template.kind.none.what": {
        "zh": "「{section}」没有写明 /{field} 标签",
        "en": "No /{field} label is given in “{section}”",
    },
    "template.kind.none.fix": {
        "zh": "请单独写一行「/{field} 标签」，行首不带 > 和空格。可选标签：{options}。",
        "en": "Write “/{field} label” on a line of its own, without > or blanks before it. Labels: {options}.",
    },
    "template.kind.open.what": {
        "zh": "「{section}」没有写明 /{field} 标签",
        "en": "No /{field} label is given in “{section}”",
    },
    "template.kind.open.fix": {
        "zh": "请单独写一行「/{field} 标签」，行首不带 > 和空格，并把标签换成实际的名称。",
        "en": "Write “/{field} label” on a line of its own, without > or blanks before it, with a real label.",
    },
    "template.kind.many.what": {
        "zh": "「{section}」的 /{field} 标签只能保留一个，现在有多个",
        "en": "“{section}” takes one /{field} label, but there are several",
    },
    "template.kind.many.fix": {
        "zh": "请只保留一行「/{field} 标签」；现在写的是：{options}。",
        "en": "Keep one line “/{field} label”; written now: {options}.",
    },
    "template.passed": {
        "zh": "✅ PR 描述检查：已通过",
        "en": "✅ Pull request description: passed",
    },
    "template.failed.head": {
        "zh": "❌ PR 描述检查：还有 {count} 处需要补充",
        "en": "❌ Pull request description: {count} item(s) to complete",
    },
    "template.note.empty": {
        "zh": "没有找到 PR 模板，或模板为空，跳过描述检查。",
        "en": "There is no pull request template, or it is empty: nothing to check.",
    },
    "template.note.nothing-required": {
        "zh": "模板中没有必填内容，跳过描述检查。",
        "en": "The template asks for nothing: nothing to check.",
    },
    "template.unreadable": {
        "zh": "无法读取 {path}：{why}",
        "en": "Cannot read {path}: {why}",
    },
}
