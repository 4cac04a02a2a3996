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
"""The gate robot's own check of a description."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.sandbox.robot.description import check
from bot.sandbox.robot.texts import Outcome, check_failed, result_html, result_table, rows_of, started, trigger_refused

TEMPLATE = (Path(__file__).parents[3] / "config" / "PULL_REQUEST_TEMPLATE.zh-CN.md").read_text(encoding="utf-8")
COMPLETE = """
**PR 类型（单选）**
- [ ] 缺陷修复
- [x] 新特性
- [ ] 重构
- [ ] 文档

**做了什么，为什么需要**
新增 add，别处要用。

**关联的 Issue**
Fixes #12

**设计说明**
- **涉及的模块：** pkg
- **对外接口变化：** 无

**测试计划与测试结果（Test Plan and Test Result）**
pytest，全部通过

**自检清单**
- [x] 已在本地执行代码检查，没有新增告警
- [x] 新增或修改的测试都写了说明
- [x] 提交信息与 PR 标题一致
- [ ] （如涉及）已同步更新文档
"""


def test_complete_description_passes() -> None:
    assert check(TEMPLATE, COMPLETE).passed


def test_untouched_template_lacks_everything() -> None:
    verdict = check(TEMPLATE, TEMPLATE)
    assert verdict.description == (
        "选项未通过检查： **PR 类型（单选）**：请至少选择一项",
        "模板中'做了什么，为什么需要' 信息为空，请补充。",
        "模板中'涉及的模块' 信息为空，请补充。",
        "模板中'对外接口变化' 信息为空，请补充。",
        "模板中'测试计划与测试结果（Test Plan and Test Result）' 信息为空，请补充。",
        "选项未通过检查： **自检清单**：已在本地执行代码检查，没有新增告警",
        "选项未通过检查： **自检清单**：新增或修改的测试都写了说明",
        "选项未通过检查： **自检清单**：提交信息与 PR 标题一致",
    )
    assert verdict.issue == ("Pull Request未关联issue，请在描述中补充 Fixes #<编号>。",)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("新增 add，别处要用。", "<!-- 只有注释 -->", "模板中'做了什么，为什么需要' 信息为空，请补充。"),
        ("**涉及的模块：** pkg", "**涉及的模块：** 在此行填写模块名", "模板中'涉及的模块' 信息为空，请补充。"),
        ("- [x] 提交信息", "- [ ] 提交信息", "选项未通过检查： **自检清单**：提交信息与 PR 标题一致"),
        ("- [x] 新特性", "- [ ] 新特性", "选项未通过检查： **PR 类型（单选）**：请至少选择一项"),
    ],
)
def test_each_gap_is_named(old: str, new: str, complaint: str) -> None:
    assert check(TEMPLATE, COMPLETE.replace(old, new)).description == (complaint,)


def test_issue_counts_when_linked_at_the_forge_or_in_its_section_but_not_in_a_comment() -> None:
    without = COMPLETE.replace("Fixes #12", "<!-- Fixes #12 -->")
    assert not check(TEMPLATE, without).passed
    assert check(TEMPLATE, without, linked_issues=1).passed
    assert check(TEMPLATE, COMPLETE.replace("Fixes #12", "#12")).passed
    assert check(TEMPLATE, COMPLETE.replace("Fixes #12", "Closes https://gitcode.com/o/r/issues/12")).passed


def test_repository_without_a_template_wants_a_text_and_an_issue() -> None:
    assert check("", "Fixes #1").passed
    assert check("", "").description == ("Pull Request描述信息为空，请补充。",)


OUTCOME = Outcome(
    "hyper-parallel",
    3903,
    "http://ci/job/Gate/3903/",
    "FAILURE",
    "db336d3386067d09cb4cb115caa5e93e4a69cf5b",
    rows_of([("Checkout", "SUCCESS"), ("Check_Pylint", "FAILED"), ("Smoke_CPU", "SUCCESS")]),
)


def test_texts_are_those_of_the_community() -> None:
    assert started(3903) == "The pipeline #3903 is running..."
    assert "门禁触发失败" in trigger_refused("dev-a")
    assert "请通过/check-pr获取pr-check-pass" in trigger_refused("dev-a")
    assert check_failed(check(TEMPLATE, "")).startswith(
        "当前/check-pr未通过，原因如下:\n\n以下Pull Request描述检查项未通过:\n"
    )
    assert result_table(OUTCOME).splitlines()[2:] == [
        "| hyper-parallel |  | :x: **FAILURE** | [3903](http://ci/job/Gate/3903/) |",
        "|  | Check_Pylint | **FAILURE** | [3903](http://ci/job/Gate/3903/console) |",
        "|  | Smoke_CPU | **SUCCESS** | [3903](http://ci/job/Gate/3903/console) |",
    ]


def test_html_table_of_the_other_gate() -> None:
    html = result_html(OUTCOME)
    assert html.startswith("流水线 hyper-parallel #3903 [ commitID：db336d33 ] 已完成\n<table>")
    assert '<td rowspan="2">门禁</td><td>Check_Pylint</td><td>❌</td>' in html
    assert "<td>Smoke_CPU</td><td>&#9989;</td>" in html
