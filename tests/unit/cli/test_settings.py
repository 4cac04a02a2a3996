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
"""Settings: one file, secrets from the environment, errors that name the key and what it may hold."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from pydantic import BaseModel, ValidationError

from bot.config import Settings, load, masked, schema
from bot.errors import TellOperator
from bot.texts import catalogue

ROOT = Path(__file__).resolve().parents[3]


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "gatebot.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(tmp_path: Path, text: str, environ: dict[str, str] | None = None, language: str = "en") -> str:
    with pytest.raises(TellOperator) as caught:
        load(write(tmp_path, text), environ or {}, language)
    return str(caught.value)


def test_without_a_file_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = load(None, {})
    assert settings == Settings()
    assert settings.gate.poll_seconds == (60, 270, 1200, 1800)
    assert settings.gitcode.calls_per_minute == 45


def test_a_file_in_the_working_directory_is_found_and_the_variable_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "log_level: debug\n")
    assert load(None, {}).log_level == "debug"
    other = tmp_path / "other.yaml"
    other.write_text("log_level: error\n", encoding="utf-8")
    assert load(None, {"GATEBOT_CONFIG": str(other)}).log_level == "error"


def test_an_unknown_key_is_named_with_the_keys_that_are_allowed(tmp_path: Path) -> None:
    message = refusal(tmp_path, "server:\n  prot: 80\n")
    assert "server.prot: unknown key; allowed here: host, port, public_url, shutdown_seconds" in message
    assert "dashboard_token" not in message


def test_a_wrong_value_is_named_with_the_values_that_are_allowed(tmp_path: Path) -> None:
    message = refusal(tmp_path, "gitcode:\n  auth: basic\ngate:\n  owner: nobody\nserver:\n  port: 70000\n")
    assert message.splitlines()[1:] == [
        "  server.port: should be at most 65535, but got 70000",
        "  gitcode.auth: should be one of 'bearer', 'private-token', but got 'basic'",
        "  gate.owner: should be one of 'robot', 'self', but got 'nobody'",
    ]
    assert "3 wrong setting(s)" in message


def test_errors_are_chinese_unless_english_is_chosen(tmp_path: Path) -> None:
    wrong = "server:\n  port: 70000\n  prot: 1\n"
    file = tmp_path / "gatebot.yaml"
    assert refusal(tmp_path, wrong, language="") == (
        f"{file}：有 2 项设置不对\n"
        "  server.port：应不大于 65535，实际是 70000\n"
        "  server.prot：没有这个键；这里可用的有：host, port, public_url, shutdown_seconds"
    )
    assert "应不大于 65535" in refusal(tmp_path, f"gate:\n  language: [en]\n{wrong}", language="")
    assert "should be at most 65535" in refusal(tmp_path, f"gate:\n  language: en\n{wrong}", language="")
    assert "应不大于 65535" in refusal(tmp_path, f"gate:\n  language: en\n{wrong}", language="zh")
    assert refusal(tmp_path, "a: [\n", language="").startswith(f"{file}：不是 YAML：")
    assert "不能写在文件里；请设置环境变量 GATEBOT_GITCODE_TOKEN" in refusal(
        tmp_path, "gitcode:\n  token: abc\n", language=""
    )


@pytest.mark.parametrize(
    ("text", "zh", "en"),
    [
        ("repositories: [a]", "repositories：应写成 owner/name，实际是 'a'", "should be owner/name, but got 'a'"),
        ("repositories: a", "repositories：应为列表，实际是 'a'", "should be a list, but got 'a'"),
        (
            "dry_run: perhaps",
            "dry_run：应为 true 或 false，实际是 'perhaps'",
            "should be true or false, but got 'perhaps'",
        ),
        ("repair: 3", "repair：应由键和值组成，实际是 3", "should hold keys and values, but got 3"),
        ("runtime: {replica: ''}", "runtime.replica：至少要有 1 个字符，实际是 ''", "should have 1 or more characters"),
        (
            "gitcode: {timeout_seconds: 0}",
            "gitcode.timeout_seconds：应大于 0.0，实际是 0",
            "should be greater than 0.0",
        ),
        ("gitcode: {timeout_seconds: a}", "gitcode.timeout_seconds：应为数字，实际是 'a'", "should be a number"),
        ("storage: {keep_days: 1.5}", "storage.keep_days：应为整数，实际是 1.5", "should be a whole number"),
        ("webhook: {max_body_bytes: 5}", "webhook.max_body_bytes：应不小于 1024，实际是 5", "should be at least 1024"),
        ("gate: {poll_seconds: []}", "gate.poll_seconds：至少要有 1 项", "should have 1 or more items"),
        ("gate: {poll_seconds: [0]}", "gate.poll_seconds：应为大于 0 的秒数", "should be positive numbers of seconds"),
        (
            "gate: {roles: {zz: anyone}}",
            "gate.roles：只能写这些命令：autofix, check-pr",
            "should name commands of autofix",
        ),
        (
            "gate: {owner: self}\njenkins: {url: ''}",
            "（整个文件）：gate.owner: self 需要 jenkins.url，因为构建由 GateBot 启动",
            "(whole file): gate.owner: self needs jenkins.url, because GateBot starts the builds",
        ),
    ],
)
def test_each_kind_of_mistake_is_told_in_both_languages(tmp_path: Path, text: str, zh: str, en: str) -> None:
    assert f"\n  {zh}" in refusal(tmp_path, text, language="zh")
    assert en in refusal(tmp_path, text)


def test_every_kind_of_mistake_that_the_settings_can_have_has_its_text() -> None:
    """Values of each YAML type in each place: none is answered in the validator's own English."""
    kinds: set[str] = set()

    def visit(model: type[BaseModel], path: tuple[str, ...]) -> None:
        for name, field in model.model_fields.items():
            for value in (None, "", "x" * 99, -1, 10**9, 1.5, True, [], [3], {}, {"x": 3}):
                raw: object = value
                for part in reversed((*path, name)):
                    raw = {part: raw}
                try:
                    Settings.model_validate(raw)
                except ValidationError as error:
                    kinds.update(item["type"] for item in error.errors())
            if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
                visit(field.annotation, (*path, name))

    visit(Settings, ())
    assert len(kinds) > 15
    assert {f"config.{kind}" for kind in kinds} <= set(catalogue())


def test_a_repository_must_be_a_full_name(tmp_path: Path) -> None:
    assert "should be owner/name, but got 'hyper-parallel'" in refusal(tmp_path, "repositories: [hyper-parallel]\n")


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ("gitcode:\n  token: abc\n", "GATEBOT_GITCODE_TOKEN"),
        ("webhook:\n  secrets: [abc]\n", "GATEBOT_WEBHOOK_SECRETS"),
        ("jenkins:\n  token: abc\n", "GATEBOT_JENKINS_TOKEN"),
        ("storage:\n  url: postgresql://bot:abc@db/gatebot\n", "GATEBOT_STORAGE_URL"),
    ],
)
def test_a_secret_in_the_file_is_refused_and_the_variable_is_named(tmp_path: Path, text: str, variable: str) -> None:
    message = refusal(tmp_path, text)
    assert variable in message
    assert "abc" not in message


def test_secrets_come_from_variables_and_from_files(tmp_path: Path) -> None:
    held = tmp_path / "token"
    held.write_text("from-file\n", encoding="utf-8")
    settings = load(
        write(tmp_path, "webhook:\n  max_body_bytes: 2048\n"),
        {"GATEBOT_GITCODE_TOKEN_FILE": str(held), "GATEBOT_WEBHOOK_SECRETS": "new\nold"},
    )
    assert settings.gitcode.token.get_secret_value() == "from-file"
    assert [secret.get_secret_value() for secret in settings.webhook.secrets] == ["new", "old"]
    assert settings.webhook.max_body_bytes == 2048


def test_a_secret_given_twice_or_in_a_missing_file_is_refused(tmp_path: Path) -> None:
    twice = {"GATEBOT_GITCODE_TOKEN": "a", "GATEBOT_GITCODE_TOKEN_FILE": "/b"}
    assert "both set" in refusal(tmp_path, "", twice)
    assert "GATEBOT_GITCODE_TOKEN_FILE" in refusal(
        tmp_path, "", {"GATEBOT_GITCODE_TOKEN_FILE": str(tmp_path / "absent")}
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]\n", "holds a list"),
        ("a: [\n", "is not YAML"),
        ("server: 3\n", "server: should hold keys and values, but got 3"),
    ],
)
def test_a_file_that_is_no_settings_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(tmp_path, text)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TellOperator, match=r"absent\.yaml：无法读取："):
        load(tmp_path / "absent.yaml", {})


def test_no_secret_shows_in_the_masked_form_nor_in_repr(tmp_path: Path) -> None:
    settings = load(
        write(tmp_path, ""),
        {
            "GATEBOT_GITCODE_TOKEN": "s3cret-one",
            "GATEBOT_WEBHOOK_SECRETS": "s3cret-two",
            "GATEBOT_STORAGE_URL": "postgresql://bot:s3cret-three@db/gatebot",
        },
    )
    shown = json.dumps(masked(settings))
    assert "s3cret" not in shown
    assert "postgresql://bot:***@db/gatebot" in shown
    assert "s3cret-one" not in repr(settings)


def test_the_schema_takes_the_example_and_refuses_what_the_loader_refuses() -> None:
    rules = schema()
    jsonschema.Draft202012Validator.check_schema(rules)
    check = jsonschema.Draft202012Validator(rules)
    example = yaml.safe_load((ROOT / "config" / "gatebot.example.yaml").read_text(encoding="utf-8"))
    assert list(check.iter_errors(example)) == []
    assert list(check.iter_errors({"server": {"prot": 80}}))
    assert list(check.iter_errors({"gitcode": {"token": "abc"}}))
    assert list(check.iter_errors({"gate": {"owner": "nobody"}}))


def test_the_example_loads_and_the_exported_schema_is_the_one_in_the_repository() -> None:
    settings = load(ROOT / "config" / "gatebot.example.yaml", {})
    assert settings.repositories == ("mindspore/hyper-parallel",)
    stored = json.loads((ROOT / "config" / "gatebot.schema.json").read_text(encoding="utf-8"))
    assert stored == schema()


def test_a_store_that_is_neither_sqlite_nor_postgresql_is_refused_without_showing_its_password(tmp_path: Path) -> None:
    said = refusal(tmp_path, "", {"GATEBOT_STORAGE_URL": "mysql://u:pw-canary@h/d"})
    assert "storage.url: should begin with sqlite:/// or postgresql://" in said
    assert "canary" not in said
    for url in (
        "sqlite:///a.sqlite",
        "sqlite://",
        "postgres://u@h/d",
        "postgresql://u@h/d",
        "postgresql+psycopg://h/d",
    ):
        assert load(None, {"GATEBOT_STORAGE_URL": url}).storage.url == url
