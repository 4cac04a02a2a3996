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
"""commit_message, pr_body, recipes: what they accept and refuse, and that they agree with the gate's own code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.gate.finding import Finding
from bot.repair.commit import subject_of
from bot.repair.recipes.registry import RECIPES

ROOT = Path(__file__).parents[2]
MESSAGE = "skills/autogit/scripts/commit_message.py"
BODY = "skills/autogit/scripts/pr_body.py"
RECIPE_LIST = "skills/gate-doctor/scripts/recipes.py"
VALUES = """
PR 类型: [新特性]
做了什么: 新增 vander 的切分规则,切开的输入不必再收集。
关联的 Issue: "Fixes #12"
设计说明: {涉及的模块: hyper_parallel/ops, 对外接口变化: 无}
测试计划: check_op.py 全部通过。
自检清单: [已在本地执行, 新增或修改, 提交信息, 如涉及]
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("feat: rules for vander\n\nThe fallback gathered the input.\n", ""),
        ("fix(ops)!: a cut dim of length one\n\nIt was paired with another.\n# git's own line\n", ""),
        ("rules for vander\n\nwhy\n", "标题应为"),
        ("feat: rules for vander\nwhy\n", "空一行"),
        ("feat: rules for vander\n", "正文应说明"),
        ("feat: rules for vander.\n\nwhy\n", "句号"),
        (f"feat: {'x' * 120}\n\nwhy\n", "至多"),
        ("feat: rules\n\nwhy\n\nCo-authored-by: T <no-reply@example.com>\n", "署名"),
        ("# only a comment\n", "为空"),
        ("Merge branch 'master' into feature/vander\n", ""),
        ('Revert "feat: rules"\n\nThis reverts commit 1234567.\n', ""),
        ("feat: rules\n\nwhy\n# --- >8 ---\n# what follows is the diff\n+Generated-by: a tool\n", ""),
    ],
)
def test_a_commit_message_is_judged(run, text, expected):
    done = run(MESSAGE, "-", stdin=text)
    assert done.returncode == (1 if expected else 0), done.stdout
    assert expected in done.stdout


def test_a_commit_for_the_gate_names_stage_and_rule(run, tmp_path):
    path = tmp_path / "message"
    path.write_text("fix: name the exception\n\nA bare except hid the cause.\n", encoding="utf-8")
    assert "阶段与规则" in run(MESSAGE, "--gate", path).stdout
    path.write_text("fix: mend it for the UT\n\nA well-known thing hid the cause.\n", encoding="utf-8")
    assert "阶段与规则" in run(MESSAGE, "--gate", path).stdout
    found = (Finding("pylint", "m", rule="W0702"), Finding("codespell", "m", rule="typo"))
    for title in ("fix: name the exception (Check_Pylint W0702)", subject_of(found), "fix: 误差 (UT test_mean)"):
        path.write_text(f"{title}\n\nA bare except hid the cause.\n", encoding="utf-8")
        assert run(MESSAGE, "--gate", path).returncode == 0, title


def test_a_filled_description_passes_the_gates_checker(run, tmp_path):
    values, out = tmp_path / "values.yaml", tmp_path / "body.md"
    values.write_text(VALUES, encoding="utf-8")
    done = run(BODY, values, "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    text = out.read_text(encoding="utf-8")
    assert "- [x] 新特性" in text
    assert "- [ ] 缺陷修复" in text
    assert "- **涉及的模块：** hyper_parallel/ops" in text
    assert text.count("Fixes #") == 1
    assert "<!--" not in text


def test_a_description_that_lacks_a_section_does_not(run, tmp_path):
    values, out = tmp_path / "values.yaml", tmp_path / "body.md"
    values.write_text(re.sub(r"测试计划.*\n", "", VALUES), encoding="utf-8")
    done = run(BODY, values, "--out", out)
    assert done.returncode == 1
    assert "测试计划" in done.stdout


@pytest.mark.parametrize(
    "bad", ["没有这一节: x\n", "PR 类型: [没有这一项]\n", "设计说明: {没有这一行: x}\n", "- x\n", "a: [\n"]
)
def test_values_that_fit_nowhere_are_an_error(run, tmp_path, bad):
    values = tmp_path / "values.yaml"
    values.write_text(bad, encoding="utf-8")
    done = run(BODY, values, "--out", tmp_path / "body.md")
    assert done.returncode == 2
    assert not (tmp_path / "body.md").exists()


def test_recipes_are_listed_and_filtered(run):
    assert run(RECIPE_LIST).stdout.count("\n") == len(RECIPES) + 2
    assert "subprocess-check" in run(RECIPE_LIST, "w1510").stdout
    done = run(RECIPE_LIST, "typo")
    assert done.returncode == 1
    assert "no recipe names typo" in done.stderr
    assert "| Check_Codespell | codespell | * | codespell |" in done.stdout
    assert "bare-except" not in done.stdout


def test_every_stage_with_a_recipe_is_in_the_table():
    table = (ROOT / "skills/gate-doctor/references/stages.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` .*\| (是|否) \|$", table, re.MULTILINE))
    assert {recipe.check for recipe in RECIPES} == {stage for stage, has in rows.items() if has == "是"}
