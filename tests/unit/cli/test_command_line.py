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
"""``gatebot``: exit codes and what is printed, without any server."""

from __future__ import annotations

import ast
import io
import json
from pathlib import Path

import pytest
import yaml

import bot
from bot.cli import exit_code, main, told
from bot.errors import GateBotError, NotFound, Refused, RetryLater, TellOperator, TellUser
from bot.texts import catalogue

TEMPLATE = "**做了什么**\n<!-- 说明 -->\n\n**关联的 Issue**\nFixes #\n"
LOG = (
    "[2026-05-16T02:18:23.087Z] a.py:5: [W0611(unused-import), ] Unused import os\n"
    "[2026-05-16T02:18:24.087Z] Execute project of Check_Pylint is failed\n"
)


@pytest.fixture(autouse=True)
def _quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GATEBOT_CONFIG", "GATEBOT_GITCODE_TOKEN", "GATEBOT_WEBHOOK_SECRETS"):
        monkeypatch.delenv(name, raising=False)


def test_config_check_says_good_and_names_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "配置没有问题：默认值"
    bad = tmp_path / "bad.yaml"
    bad.write_text("gate:\n  owner: nobody\n", encoding="utf-8")
    assert main(["--config", str(bad), "config", "check"]) == 2
    assert "  gate.owner：应为以下之一：'robot', 'self'，实际是 'nobody'\n" in capsys.readouterr().err
    assert main(["--lang", "en", "--config", str(bad), "config", "check"]) == 2
    assert "  gate.owner: should be one of 'robot', 'self', but got 'nobody'\n" in capsys.readouterr().err
    assert main(["config", "check", "--config", str(bad), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["good"] is False


def test_config_check_names_the_file_it_found_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gatebot.yaml").write_text("log_level: info\n", encoding="utf-8")
    assert main(["config", "check"]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("：gatebot.yaml")


def test_config_check_names_the_secrets_that_the_service_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("GATEBOT_GITCODE_TOKEN", "GATEBOT_WEBHOOK_SECRETS"):
        monkeypatch.delenv(name, raising=False)
    assert main(["config", "check", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == {"good": True, "missing": ["GATEBOT_GITCODE_TOKEN", "GATEBOT_WEBHOOK_SECRETS"]}
    monkeypatch.setenv("GATEBOT_GITCODE_TOKEN", "token-1")
    assert main(["--lang", "en", "config", "check"]) == 0
    said = "Still missing: GATEBOT_WEBHOOK_SECRETS (or GATEBOT_WEBHOOK_SECRETS_FILE); gatebot serve does not work"
    assert capsys.readouterr().out.splitlines()[1].startswith(said)
    monkeypatch.setenv("GATEBOT_WEBHOOK_SECRETS", "secret-1")
    assert main(["config", "check"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_config_show_and_schema_are_readable_by_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "show"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["gate"]["owner"] == "robot"
    assert main(["config", "schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "GateBot settings"


@pytest.mark.parametrize(
    ("body", "code", "kinds"),
    [
        ("**做了什么**\n增加排序\n\n**关联的 Issue**\nFixes #12\n", 0, []),
        ("**做了什么**\n\n**关联的 Issue**\nFixes #\n", 1, ["section", "issue"]),
    ],
)
def test_check_template_tells_by_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, code: int, kinds: list[str]
) -> None:
    (tmp_path / "template.md").write_text(TEMPLATE, encoding="utf-8")
    (tmp_path / "body.md").write_text(body, encoding="utf-8")
    assert main(["check-template", "--template", "template.md", "--body", "body.md", "--json"]) == code
    said = json.loads(capsys.readouterr().out)
    assert said["passed"] is (code == 0)
    assert [item["kind"] for item in said["missing"]] == kinds


def test_check_template_cannot_read_what_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "template.md").write_text(TEMPLATE, encoding="utf-8")
    assert main(["check-template", "--template", "template.md", "--body", "absent.md"]) == 2
    assert "absent.md" in capsys.readouterr().err


def test_diagnose_reads_a_file_and_standard_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gate.log").write_text(LOG, encoding="utf-8")
    assert main(["diagnose", "--log", "gate.log", "--json"]) == 0
    from_file = json.loads(capsys.readouterr().out)
    assert [(f["rule"], f["first_line"], f["last_line"]) for f in from_file["findings"]] == [("W0611", 1, 1)]

    class Pipe(io.StringIO):
        buffer = io.BytesIO(LOG.encode())

    monkeypatch.setattr("sys.stdin", Pipe())
    assert main(["diagnose", "--log", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == from_file["findings"]
    assert main(["diagnose", "--log", "absent.log"]) == 2


def test_diagnose_wants_one_of_log_and_pull_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose"]) == 2
    assert main(["diagnose", "647", "--log", "x"]) == 2
    assert capsys.readouterr().err == 2 * "gatebot: diagnose：请给出 --log FILE 或一个合并请求，二者选一。\n"


def test_a_reference_without_a_repository_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["retest", "#647"]) == 2
    assert "请写成 owner/repo#647" in capsys.readouterr().err
    assert main(["--lang", "en", "retest", "#647"]) == 2
    assert "Write owner/repo#647" in capsys.readouterr().err
    assert main(["retest", "what?"]) == 2


def test_a_missing_token_names_the_variable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-pr", "mindspore/hyper-parallel#647", "--dry-run"]) == 2
    assert capsys.readouterr().err.startswith("gatebot: 没有配置 GitCode 访问令牌：请设置 GATEBOT_GITCODE_TOKEN 或 ")
    assert main(["--lang", "en", "check-pr", "mindspore/hyper-parallel#647", "--dry-run"]) == 2
    assert capsys.readouterr().err.startswith("gatebot: No GitCode token is configured: set GATEBOT_GITCODE_TOKEN or ")


def test_errors_after_the_settings_were_read_are_in_their_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gatebot.yaml").write_text("gate:\n  language: en\n", encoding="utf-8")
    assert main(["check-pr", "mindspore/hyper-parallel#647"]) == 2
    assert capsys.readouterr().err == (
        "gatebot: No GitCode token is configured: set GATEBOT_GITCODE_TOKEN or GATEBOT_GITCODE_TOKEN_FILE.\n"
        "  gitcode.token: no token is configured; set GATEBOT_GITCODE_TOKEN or GATEBOT_GITCODE_TOKEN_FILE\n"
    )


def test_every_hint_of_an_error_is_a_text() -> None:
    named = {
        keyword.value.value
        for path in sorted(Path(bot.__file__).parent.rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "TellOperator"
        for keyword in call.keywords
        if isinstance(keyword.value, ast.Constant)
    }
    assert named == {text_id for text_id in catalogue() if text_id.startswith("cli.hint.")}


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (RetryLater("x"), 3, "现在做不到，请稍后再试：x"),
        (NotFound("x"), 1, "没有找到：x"),
        (Refused("x"), 1, "对方不接受：x"),
        (TellUser("x"), 2, "x"),
        (TellOperator("x"), 2, "x"),
        (TellOperator("x", hint="cli.hint.api_url"), 2, "gitcode.api_url 返回了重定向：请改成最终地址。\n  x"),
    ],
    ids=["later", "not-found", "refused", "user", "operator", "operator-with-hint"],
)
def test_each_error_says_what_to_do_in_the_operators_language(error: GateBotError, code: int, said: str) -> None:
    assert exit_code(error) == code
    assert told(error, "zh") == said


def test_a_port_that_is_none_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEBOT_GITCODE_TOKEN", "token-1")
    (tmp_path / "gatebot.yaml").write_text("gitcode:\n  api_url: http://127.0.0.1:1\n", encoding="utf-8")
    assert main(["serve", "--port", "99999"]) == 2
    assert "gatebot: 无法监听 server.host 和 server.port" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["nonsense"], ["check-template"], ["config", "what"]])
def test_wrong_use_ends_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "usage: gatebot" in capsys.readouterr().err


def test_a_dry_run_of_the_service_keeps_its_own_sqlite_file_or_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "postgres.yaml"
    file.write_text("storage:\n  url: postgresql://db.example/gatebot\n", encoding="utf-8")
    assert main(["serve", "--dry-run", "--config", str(file)]) == 2
    assert "sqlite:///" in capsys.readouterr().err
