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
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.diagnosis.robot_table import RobotRow, read_robot_table

MARKDOWN = """The build result:

| Project | Stage | Result | Link |
| --- | :---: | --- | --- |
| hyper-parallel |  | :x: | [3900](https://build.mindspore.cn/job/Gate/3900/) |
|  | Check_Pylint | **FAILURE** | [3903](https://build.mindspore.cn/job/Check/3903/console) |
|  | Smoke_Ascend | **SUCCESS** | [3904](https://build.mindspore.cn/job/Smoke/3904/) |
|  | UT | ABORTED | |
"""
HTML = """<b>流水线 gate #1706 [ commitID：121cc507 ] 已完成</b>
<table><tr><th>阶段</th><th>任务名</th><th>状态</th><th>详情</th></tr>
<tr><td rowspan="2">代码检查</td><td>codecheck</td><td>&#9989;</td><td><a href="https://x.example/1">&gt;&gt;&gt;</a></td></tr>
<tr><td>UT</td><td>❌</td><td><a href="https://x.example/2">&gt;&gt;&gt;</a></td></tr>
<tr><td>构建</td><td>Build_Arm</td><td>SUCCESS</td><td><a href="https://x.example/3">&gt;&gt;&gt;</a></td></tr></table>"""


def test_markdown_table_with_all_stage_names() -> None:
    project = "hyper-parallel"
    assert read_robot_table(MARKDOWN) == (
        RobotRow(project, "failure", "https://build.mindspore.cn/job/Gate/3900/"),
        RobotRow("Check_Pylint", "failure", "https://build.mindspore.cn/job/Check/3903/console"),
        RobotRow("Smoke_Ascend", "success", "https://build.mindspore.cn/job/Smoke/3904/"),
        RobotRow("UT", "aborted"),
    )


def test_html_table_with_rowspan() -> None:
    assert read_robot_table(HTML) == (
        RobotRow("codecheck", "success", "https://x.example/1", "代码检查"),
        RobotRow("UT", "failure", "https://x.example/2", "代码检查"),
        RobotRow("Build_Arm", "success", "https://x.example/3", "构建"),
    )


@pytest.mark.parametrize(
    ("word", "result"),
    [
        ("不通过", "failure"),
        ("通过", "success"),
        ("运行中", "running"),
        (":white_check_mark:", "success"),
        ("NOT_EXECUTED", "skipped"),
        ("UNSTABLE", "unstable"),
        ("IN_PROGRESS", "running"),
    ],
)
def test_words_for_results(word: str, result: str) -> None:
    assert read_robot_table(f"| UT | {word} |") == (RobotRow("UT", result),)


@pytest.mark.parametrize(
    "body", ["", "no table", "| a | b |\n|---|---|\n| 1 | 2 |", "The pipeline #12 is running...", "<table>"]
)
def test_no_result_table(body: str) -> None:
    assert read_robot_table(body) == ()


@given(st.text(alphabet="|<>/tabledr= \"'rowspan0123456789-:\nFAILED✅[](http)", max_size=300))
def test_any_comment_is_survived(body: str) -> None:
    assert isinstance(read_robot_table(body), tuple)


def test_a_huge_comment_is_cut() -> None:
    assert len(read_robot_table("| UT | FAILED |\n" * 50_000)) == 1000
