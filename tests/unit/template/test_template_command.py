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
"""``check-template`` as a program: exit codes, JSON, standard input, unreadable files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TEMPLATE = "## 描述\n<!-- 写清楚 -->\n\n## 关联\nFixes #\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    template, body = tmp_path / "template.md", tmp_path / "body.md"
    template.write_text(TEMPLATE, encoding="utf-8")
    body.write_text("## 描述\r\n修复\r\n## 关联\r\nFixes #\r\n", encoding="utf-8")
    return str(template), str(body)


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "utf8", "-m", "bot.template", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, encoding="utf-8", check=False)


def test_json_lists_each_missing_item(files: tuple[str, str]) -> None:
    done = run("--template", files[0], "--body", files[1], "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {
        "passed": False,
        "template": files[0],
        "note": "",
        "missing": [
            {
                "kind": "issue",
                "section": "关联",
                "field": "",
                "message": "「关联」没有关联 Issue",
                "fix": "请写明关联的 Issue，例如「Fixes #12」或 Issue 的完整链接。",
            }
        ],
    }


def test_plain_text_and_english(files: tuple[str, str]) -> None:
    done = run("--template", files[0], "--body", files[1], "--lang", "en")
    assert done.stdout.splitlines() == [
        "❌ Pull request description: 1 item(s) to complete",
        "- No issue is linked in “关联”",
        "  Name the issue, for example “Fixes #12” or the full link of the issue.",
    ]


def test_a_complete_description_from_standard_input_passes(files: tuple[str, str]) -> None:
    done = run("--template", files[0], "--body", "-", stdin="\ufeff## 描述\n修复\n## 关联\nFixes #12\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "✅ PR 描述检查：已通过\n", "")


def test_an_empty_template_passes_with_a_note(files: tuple[str, str], tmp_path: Path) -> None:
    empty = tmp_path / "empty.md"
    empty.write_text("\n", encoding="utf-8")
    done = run("--template", str(empty), "--body", files[1], "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["note"] == "没有找到 PR 模板，或模板为空，跳过描述检查。"


def test_unreadable_files_are_named(files: tuple[str, str], tmp_path: Path) -> None:
    binary = tmp_path / "binary.md"
    binary.write_bytes(b"\xff\xfe\x00")
    for template, body, told in (
        (str(tmp_path / "none.md"), files[1], "none.md"),
        (files[0], str(tmp_path), str(tmp_path)),
        (files[0], str(binary), "binary.md"),
        ("-", "-", "-"),
    ):
        done = run("--template", template, "--body", body)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"无法读取 {template if told == 'none.md' else body}：" in done.stderr
