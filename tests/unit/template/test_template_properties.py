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
"""Made-up templates: a description with every item filled passes; emptying any one item names exactly that one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.template.check import check_description

TITLES = [
    "修改背景",
    "实现方案",
    "影响面",
    "验证情况",
    "兼容性",
    "资料变更",
    "回滚办法",
    "依赖升级",
    "Motivation",
    "性能数据",
]
FIELDS = ["模块名", "需求来源", "硬件环境", "负责人", "目标版本", "Reviewer"]
CHOICES = ["缺陷修复", "新特性", "代码重构", "文档更新", "Chore"]
STATEMENTS = ["已跑完全部用例", "没有新增告警", "我已阅读贡献指南", "提交信息符合规范"]
HINTS = ["", "<!-- 请写清楚 -->", "请填写", "> 请在此描述。", "<!--\n## 多行\n提示\n-->", "在此行填写内容", "TODO"]
ANSWERS = [
    "修复了越界",
    "无",
    "- 第一点\n- 第二点",
    "```\n# 日志\n3 passed\n```",
    "> 引用上游说明",
    "![图](a.png)",
    "见 #3",
]
STYLES = {
    "h2": "## {title}",
    "h3": "### {number}. {title}",
    "bold": "**{title}**",
    "bold-colon": "**{title}：**",
    "bracket": "【{title}】",
    "chinese": "{chinese}、{title}",
}
FIELD_STYLES = ["- **{name}：** {value}", "- **{name}**：{value}", "* {name}：{value}", "- {name}: {value}"]


@dataclass(frozen=True)
class Item:
    """One thing asked for: its lines in the template and in a description that has it."""

    kind: str
    section: str
    field: str
    in_template: str
    filled: str
    required: bool = True


@dataclass(frozen=True)
class Block:
    """A section of a made-up template: heading line, items, and the lead line of a check-list."""

    heading: str
    lead: str
    items: tuple[Item, ...]


@st.composite
def blocks(draw: st.DrawFn) -> list[Block]:
    titles = draw(st.lists(st.sampled_from(TITLES), min_size=1, max_size=6, unique=True))
    style = draw(st.sampled_from(sorted(STYLES)))
    made = []
    for number, title in enumerate(titles, 1):
        optional = draw(st.booleans()) and draw(st.booleans())
        heading = STYLES[style].format(number=number, chinese="一二三四五六"[number - 1], title=title)
        if optional:
            heading = heading.replace(title, title + draw(st.sampled_from(["（选填）", "(optional)", "（可选）"])))
        lead, items = draw(st.sampled_from([text_items, field_items, choice_items, tick_items, issue_items]))(
            draw, title
        )
        made.append(Block(heading, lead, tuple(replace(item, required=not optional) for item in items)))
    return made


def text_items(draw: st.DrawFn, title: str) -> tuple[str, list[Item]]:
    return "", [Item("section", title, "", draw(st.sampled_from(HINTS)), draw(st.sampled_from(ANSWERS)))]


def field_items(draw: st.DrawFn, title: str) -> tuple[str, list[Item]]:
    names = draw(st.lists(st.sampled_from(FIELDS), min_size=1, max_size=3, unique=True))
    style = draw(st.sampled_from(FIELD_STYLES))
    hint = draw(st.sampled_from(["", "请填写", "<!-- 必须写 -->", "xxx"]))
    answer = draw(st.sampled_from(["无", "dispatch", "\n  另起一行的答案", "\n  - 嵌套一\n  - 嵌套二"]))
    return "", [
        Item("field", title, name, style.format(name=name, value=hint), style.format(name=name, value=answer))
        for name in names
    ]


def choice_items(draw: st.DrawFn, title: str) -> tuple[str, list[Item]]:
    options = draw(st.lists(st.sampled_from(CHOICES), min_size=2, max_size=4, unique=True))
    chosen = draw(st.sampled_from(options))
    mark = draw(st.sampled_from(["[x]", "[X]", "[√]"]))
    plain = "\n".join(f"- [ ] {option}" for option in options)
    filled = "\n".join(f"- {mark if option == chosen else '[ ]'} {option}" for option in options)
    return draw(st.sampled_from(["请选择一项：", "<!-- 单选 -->", "（四选一）"])), [
        Item("choice", title, title, plain, filled)
    ]


def tick_items(draw: st.DrawFn, title: str) -> tuple[str, list[Item]]:
    texts = draw(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=4, unique=True))
    bullet = draw(st.sampled_from(["-", "*", "+"]))
    return "", [Item("checkbox", title, text, f"{bullet} [ ] {text}", f"{bullet} [x] {text}") for text in texts]


def issue_items(draw: st.DrawFn, title: str) -> tuple[str, list[Item]]:
    answer = draw(st.sampled_from(["Fixes #12", "Closes #3", "fixes https://gitcode.com/a/b/issues/9", "#4"]))
    return "<!-- 用法：Fixes #12 -->", [Item("issue", title, "", "Fixes #", answer)]


def render(made: list[Block], *, empty: Item | None = None, all_filled: bool = True) -> str:
    parts = []
    for block in made:
        parts += [block.heading, block.lead]
        parts += [item.filled if all_filled and item is not empty else item.in_template for item in block.items]
        parts.append("")
    return "\n".join(parts)


@given(blocks())
@settings(max_examples=150, deadline=None)
def test_a_description_with_every_item_filled_passes(made: list[Block]) -> None:
    assert check_description(render(made, all_filled=False), render(made)).missing == ()


@given(blocks(), st.data())
@settings(max_examples=300, deadline=None)
def test_emptying_one_item_names_exactly_that_one(made: list[Block], data: st.DataObject) -> None:
    template = render(made, all_filled=False)
    item = data.draw(st.sampled_from([item for block in made for item in block.items]))
    missing = check_description(template, render(made, empty=item)).missing
    found = [(entry.kind, entry.section, entry.field) for entry in missing]
    # A link anywhere in the description counts, so another section's link answers for this one.
    linked_elsewhere = item.kind == "issue" and any(
        other.kind == "issue" and other is not item and not other.filled.startswith("#4")
        for block in made
        for other in block.items
    )
    expected = [(item.kind, item.section, item.field)] if item.required and not linked_elsewhere else []
    assert found == expected


@given(blocks())
@settings(max_examples=100, deadline=None)
def test_the_untouched_template_lacks_every_required_item(made: list[Block]) -> None:
    template = render(made, all_filled=False)
    found = {(entry.kind, entry.section, entry.field) for entry in check_description(template, template).missing}
    assert found == {(i.kind, i.section, i.field) for block in made for i in block.items if i.required}


@given(
    st.text(alphabet="#*-[]() x\n\t|:：>`<!/一1.请填写Fixes选", max_size=300),
    st.text(alphabet="#*-[]x\n|：>` a1", max_size=200),
)
@settings(max_examples=300, deadline=None)
def test_no_text_at_all_makes_the_check_fail_with_an_error(template: str, body: str) -> None:
    verdict = check_description(template, body)
    assert verdict.passed is (len(verdict.missing) == 0)
    assert all(item.message(language) and item.fix(language) for item in verdict.missing for language in ("zh", "en"))
