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
"""What the author reads, word for word."""

from __future__ import annotations

import pytest

from bot.template.model import MissingItem, Verdict
from bot.template.sticky import summaries

EXPECTED = [
    (
        MissingItem("section", "测试", "", "section.absent"),
        "缺少「测试」一节",
        "请把标题「测试」加回描述中，并在其下写明内容。",
        "The section “测试” is missing",
        "Put the heading “测试” back into the description and write the content under it.",
    ),
    (
        MissingItem("section", "测试", "", "section.empty"),
        "「测试」一节没有填写",
        "请在标题「测试」下写明内容；模板自带的提示语和注释不算填写。",
        "The section “测试” is not filled in",
        "Write the content under the heading “测试”; hints and comments of the template do not count.",
    ),
    (
        MissingItem("field", "信息", "模块", "field.absent"),
        "「信息」缺少「模块」一项",
        "请把「模块：」加回「信息」中，并在冒号后填写。",
        "“信息” lacks the field “模块”",
        "Put “模块:” back into “信息” and fill it in after the colon.",
    ),
    (
        MissingItem("field", "", "模块", "field.empty"),
        "「模板开头」中的「模块」没有填写",
        "请在「模块：」后（或其下一行）填写；模板自带的提示语不算填写。",
        "“模块” in “top of the template” is not filled in",
        "Write after “模块:” (or on the line below); hints of the template do not count.",
    ),
    (
        MissingItem("checkbox", "自检", "已跑用例", "checkbox.unticked"),
        "「自检」中的「已跑用例」没有勾选",
        "确认做到后，请把这一项前面的 [ ] 改成 [x]。",
        "“已跑用例” in “自检” is not ticked",
        "Once it holds, change the [ ] in front of it to [x].",
    ),
    (
        MissingItem("checkbox", "自检", "已跑用例", "checkbox.absent"),
        "「自检」缺少必勾项「已跑用例」",
        "请把「- [x] 已跑用例」加回「自检」中，确认做到后勾选。",
        "“自检” lacks the box “已跑用例”, which must be ticked",
        "Put “- [x] 已跑用例” back into “自检” and tick it once it holds.",
    ),
    (
        MissingItem("choice", "信息", "类型", "choice.none", ("缺陷", "特性")),
        "「信息」中的「类型」还没有选择",
        "请从「缺陷、特性」中选择，把所选项前面的 [ ] 改成 [x]。",
        "Nothing is chosen for “类型” in “信息”",
        "Choose from “缺陷, 特性”: change the [ ] in front of your choice to [x].",
    ),
    (
        MissingItem("choice", "信息", "类型", "choice.many", ("缺陷", "特性")),
        "「信息」中的「类型」只能选一项，现在选了多项",
        "请只保留一项 [x]，其余改回 [ ]；现在勾选的是：缺陷、特性。",
        "“类型” in “信息” takes one choice, but several are ticked",
        "Keep one [x] and change the others back to [ ]; ticked now: 缺陷, 特性.",
    ),
    (
        MissingItem("choice", "类型", "类型", "only-choice.none", ("缺陷", "特性")),
        "「类型」还没有选择",
        "请从「缺陷、特性」中选择，把所选项前面的 [ ] 改成 [x]。",
        "Nothing is chosen in “类型”",
        "Choose from “缺陷, 特性”: change the [ ] in front of your choice to [x].",
    ),
    (
        MissingItem("choice", "类型", "类型", "only-choice.many", ("缺陷", "特性")),
        "「类型」只能选一项，现在选了多项",
        "请只保留一项 [x]，其余改回 [ ]；现在勾选的是：缺陷、特性。",
        "“类型” takes one choice, but several are ticked",
        "Keep one [x] and change the others back to [ ]; ticked now: 缺陷, 特性.",
    ),
    (
        MissingItem("issue", "关联", "", "issue.none"),
        "「关联」没有关联 Issue",
        "请写明关联的 Issue，例如「Fixes #12」或 Issue 的完整链接。",
        "No issue is linked in “关联”",
        "Name the issue, for example “Fixes #12” or the full link of the issue.",
    ),
    (
        MissingItem("kind", "类型", "kind", "kind.none", ("bug", "feature")),
        "「类型」没有写明 /kind 标签",
        "请单独写一行「/kind 标签」，行首不带 > 和空格。可选标签：bug、feature。",
        "No /kind label is given in “类型”",
        "Write “/kind label” on a line of its own, without > or blanks before it. Labels: bug, feature.",
    ),
    (
        MissingItem("kind", "类型", "kind", "kind.open"),
        "「类型」没有写明 /kind 标签",
        "请单独写一行「/kind 标签」，行首不带 > 和空格，并把标签换成实际的名称。",
        "No /kind label is given in “类型”",
        "Write “/kind label” on a line of its own, without > or blanks before it, with a real label.",
    ),
    (
        MissingItem("kind", "类型", "kind", "kind.many", ("bug", "feature")),
        "「类型」的 /kind 标签只能保留一个，现在有多个",
        "请只保留一行「/kind 标签」；现在写的是：bug、feature。",
        "“类型” takes one /kind label, but there are several",
        "Keep one line “/kind label”; written now: bug, feature.",
    ),
]


@pytest.mark.parametrize(
    ("item", "zh", "zh_fix", "en", "en_fix"), EXPECTED, ids=lambda value: getattr(value, "reason", "")
)
def test_every_reason(item: MissingItem, zh: str, zh_fix: str, en: str, en_fix: str) -> None:
    assert (item.message(), item.fix()) == (zh, zh_fix)
    assert (item.message("en"), item.fix("en")) == (en, en_fix)


def test_template_text_is_harmless_in_the_comment() -> None:
    (line,) = summaries(Verdict((MissingItem("section", "@all `</b>`\n/retest", "", "section.empty"),)))
    assert line.startswith("**「@\u200ball \\`&lt;/b&gt;\\` /retest」一节没有填写**")
