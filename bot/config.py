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
"""Settings: one YAML file, and environment variables (or files they name) for secrets.

The file never holds a secret, so it may be committed and shown. Every error names the key, what it may hold and, for
secrets, the variable to set.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from bot.errors import TellOperator
from bot.gate.policy import Policy
from bot.texts import LANGUAGES, catalogue, fields, plain

# Environment variable to (section, key). Each also exists with the suffix _FILE, naming a file that holds the value.
SECRETS: dict[str, tuple[str, str]] = {
    "GATEBOT_GITCODE_TOKEN": ("gitcode", "token"),
    "GATEBOT_WEBHOOK_SECRETS": ("webhook", "secrets"),
    "GATEBOT_JENKINS_USER": ("jenkins", "user"),
    "GATEBOT_JENKINS_TOKEN": ("jenkins", "token"),
    "GATEBOT_STORAGE_URL": ("storage", "url"),
    "GATEBOT_DASHBOARD_TOKEN": ("server", "dashboard_token"),
}
DEFAULT_FILE = "gatebot.yaml"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ServerSettings(_Section):
    """Where GateBot listens."""

    host: str = Field("127.0.0.1", description="Address to listen on; 0.0.0.0 for all.")
    port: int = Field(8080, ge=0, le=65535, description="Port; 0 takes any free one.")
    public_url: str = Field("", description="The dashboard's address as people reach it; put into links.")
    dashboard_token: SecretStr = Field(
        SecretStr(""), description="When set, the dashboard asks for it. From GATEBOT_DASHBOARD_TOKEN."
    )
    shutdown_seconds: float = Field(20.0, ge=0, description="How long a stop waits for wake-ups that are under way.")


class WebhookSettings(_Section):
    """What the receiver accepts."""

    secrets: tuple[SecretStr, ...] = Field(
        (), description="Secrets that are valid now, the newest first. From GATEBOT_WEBHOOK_SECRETS, one per line."
    )
    max_body_bytes: int = Field(1_048_576, ge=1024, description="Larger bodies are answered 413.")

    @field_validator("secrets", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return [part for part in value.replace(",", "\n").split("\n") if part.strip()]
        return value


class GitCodeSettings(_Section):
    """How to reach the forge. Defaults are the documented ones; each may be changed because sources disagree."""

    api_url: str = Field("https://api.gitcode.com/api/v5", description="Base of the REST API.")
    token: SecretStr = Field(SecretStr(""), description="From GATEBOT_GITCODE_TOKEN.")
    auth: Literal["bearer", "private-token"] = Field("bearer", description="Header that carries the token.")
    git_user: str = Field("oauth2", description="User name beside the token for git over HTTPS.")
    calls_per_minute: int = Field(45, ge=1, description="Own limit; the forge documents 50.")
    calls_per_hour: int = Field(3800, ge=1, description="Own limit; the forge documents 4000.")
    timeout_seconds: float = Field(30.0, gt=0, description="Time for one call.")


class JenkinsSettings(_Section):
    """How to reach the build server."""

    url: str = Field("https://build.mindspore.cn", description="Base address, with the context path if there is one.")
    job: str = Field("Hyper-Parallel_Atomgit_Gate", description="Gate job; folders separated by '/'.")
    user: SecretStr = Field(SecretStr(""), description="From GATEBOT_JENKINS_USER; empty reads anonymously.")
    token: SecretStr = Field(SecretStr(""), description="From GATEBOT_JENKINS_TOKEN.")
    timeout_seconds: float = Field(60.0, gt=0, description="Time for one call; logs stream longer.")


class StorageSettings(_Section):
    """Where state is kept."""

    url: str = Field(
        "sqlite:///var/gatebot.sqlite",
        description="sqlite:///path, or postgresql://… (then from GATEBOT_STORAGE_URL, because it holds a password).",
    )
    work_dir: Path = Field(Path("var/work"), description="Git mirrors and work trees.")
    keep_days: int = Field(90, ge=1, description="Days after which ended cases and their records are deleted.")

    @field_validator("url")
    @classmethod
    def _known_store(cls, value: str) -> str:
        if not re.match(r"sqlite://|postgres(ql(\+psycopg)?)?://", value):
            raise PydanticCustomError("store", "should begin with sqlite:/// or postgresql://")
        return value


class RuntimeSettings(_Section):
    """How much at once, and how often."""

    replica: str = Field("local", min_length=1, max_length=60, description="Name of this process; unique and stable.")
    parallel_cases: int = Field(8, ge=1, le=200, description="Pull requests worked on at once.")
    settle_seconds: float = Field(
        2.0, ge=0, description="Quiet time after an event before its case wakes: a burst of hooks becomes one wake-up."
    )
    sweep_minutes: float = Field(15.0, gt=0, description="How often to look for pull requests whose hook never came.")
    sweep_on_start: bool = Field(True, description="Sweep once when the service starts.")
    max_failures: int = Field(
        12, ge=1, description="Wake-ups that may fail in a row before the case is parked until the next event."
    )


class RepairSettings(_Section):
    """Who signs fix commits."""

    author_name: str = Field("gate-bot", min_length=1, description="Author of fix commits.")
    author_email: str = Field("gate-bot@example.com", min_length=3, description="Mail address of fix commits.")


class CommentSettings(_Section):
    """How our comments look."""

    hidden_markers: bool = Field(
        True, description="End comments with an HTML comment to find them again; false matches by author and text."
    )


class CommandSettings(_Section):
    """Slash commands."""

    aliases: dict[str, str] = Field({}, description="Further names, such as {重试: retest}.")
    on_edit: bool = Field(False, description="Whether an edited comment may give a command.")


class Settings(_Section):
    """Everything ``gatebot`` can be told."""

    repositories: tuple[str, ...] = Field((), description="owner/name of each repository to serve; empty serves all.")
    dry_run: bool = Field(False, description="Decide and log, but change nothing outside.")
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    server: ServerSettings = ServerSettings()
    webhook: WebhookSettings = WebhookSettings()
    gitcode: GitCodeSettings = GitCodeSettings()
    jenkins: JenkinsSettings = JenkinsSettings()
    storage: StorageSettings = StorageSettings()
    runtime: RuntimeSettings = RuntimeSettings()
    repair: RepairSettings = RepairSettings()
    comments: CommentSettings = CommentSettings()
    commands: CommandSettings = CommandSettings()
    gate: Policy = Policy()

    @field_validator("repositories")
    @classmethod
    def _full_names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            owner, _, rest = name.partition("/")
            if not owner or not rest or "/" in rest or " " in name:
                raise PydanticCustomError("owner_name", "should be owner/name, but got {name}", {"name": repr(name)})
        return value

    @model_validator(mode="after")
    def _self_owner_may_start(self) -> Settings:
        if self.gate.owner == "self" and not self.jenkins.url:
            raise PydanticCustomError("self_needs_jenkins", "gate.owner: self needs jenkins.url")
        return self

    def serves(self, repo: str) -> bool:
        """Whether events of a repository are ours."""
        return not self.repositories or repo in self.repositories


def load(path: Path | None, environ: Mapping[str, str], language: str = "") -> Settings:
    """Read the settings.

    Args:
        path: The YAML file; ``None`` takes ``GATEBOT_CONFIG``, else ``gatebot.yaml`` here if it exists, else defaults.
        environ: The environment, for secrets and ``GATEBOT_CONFIG``.
        language: Of the errors; empty takes the file's own ``gate.language`` where that can be read, else Chinese.

    Raises:
        TellOperator: The file is missing, is not YAML, holds an unknown key, a wrong value or a secret.
    """
    chosen = chosen_file(path, environ)
    raw = {} if chosen is None else _read(chosen, language or LANGUAGES[0])
    language = language or _language_of(raw)
    _refuse_secrets(raw, str(chosen), language)
    merged = _with_secrets(raw, environ, language)
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        source = str(chosen or plain("config.environment", language))
        raise TellOperator(explain(error, source, language)) from None


def chosen_file(path: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file that ``load`` reads for these arguments; ``None`` where there is only the environment."""
    if path or environ.get("GATEBOT_CONFIG"):
        return path or Path(environ["GATEBOT_CONFIG"])
    return Path(DEFAULT_FILE) if Path(DEFAULT_FILE).is_file() else None


def missing_secrets(settings: Settings) -> list[str]:
    """The variables without which ``gatebot serve`` can neither speak to the forge nor be spoken to."""
    needed = {
        "GATEBOT_GITCODE_TOKEN": settings.gitcode.token.get_secret_value(),
        "GATEBOT_WEBHOOK_SECRETS": "".join(secret.get_secret_value() for secret in settings.webhook.secrets),
    }
    return [name for name, value in needed.items() if not value.strip()]


def explain(error: ValidationError, source: str, language: str) -> str:
    """One line per wrong key: its name, what is wrong, and the values it may hold. Values of secrets are not shown."""
    lines = [plain("config.head", language, source=source, count=error.error_count())]
    for item in error.errors(include_url=False, include_context=True):
        key = ".".join(str(part) for part in item["loc"]) or plain("config.whole_file", language)
        what, got = _what(item, language), item["input"]
        if item["type"] == "extra_forbidden" or isinstance(got, dict | list) or _is_secret(item["loc"]):
            lines.append(plain("config.line", language, key=key, what=what))
        else:
            lines.append(plain("config.line_got", language, key=key, what=what, got=repr(got)))
    return "\n".join(lines)


def _what(item: ErrorDetails, language: str) -> str:
    """What a value should be; in the validator's own English where there is no text for its kind of mistake."""
    text_id = f"config.{item['type']}"
    if text_id not in catalogue():
        text_id = "config.other"
    context = item.get("ctx", {})
    known = {
        **context,
        "expected": str(context.get("expected", "")).replace(" or ", ", "),
        "allowed": ", ".join(allowed_keys(item["loc"][:-1])),
        "message": item["msg"],
    }
    return plain(text_id, language, **{name: known[name] for name in fields(text_id, language)})


def allowed_keys(section: tuple[int | str, ...]) -> list[str]:
    """The keys a section of the file may hold, except secrets."""
    model: type[BaseModel] = Settings
    for part in section:
        field = model.model_fields.get(str(part))
        if field is None or not isinstance(field.annotation, type) or not issubclass(field.annotation, BaseModel):
            return []
        model = field.annotation
    name = str(section[-1]) if section else ""
    secret = {key for section_name, key in SECRETS.values() if section_name == name and key != "url"}
    return sorted(set(model.model_fields) - secret)


def schema() -> dict[str, Any]:
    """JSON Schema of the YAML file (secrets excluded, as they may not stand in it)."""
    whole = Settings.model_json_schema(mode="validation")
    whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    whole["title"] = "GateBot settings"
    for definition in whole.get("$defs", {}).values():
        properties = definition.get("properties", {})
        for name in [key for key, value in properties.items() if _holds_secret(value)]:
            del properties[name]
    return whole


def masked(settings: Settings) -> dict[str, Any]:
    """The settings in force, fit to be shown: secrets as stars, passwords cut out of URLs."""
    shown: dict[str, Any] = json.loads(settings.model_dump_json())
    shown["storage"]["url"] = _without_password(settings.storage.url)
    return shown


def _language_of(raw: Mapping[str, Any]) -> str:
    held = raw.get("gate")
    chosen = held.get("language") if isinstance(held, dict) else ""
    return chosen if chosen in LANGUAGES else LANGUAGES[0]


def _read(path: Path, language: str) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TellOperator(plain("config.unreadable", language, path=path, why=error)) from error
    try:
        raw = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise TellOperator(plain("config.not_yaml", language, path=path, why=error)) from error
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise TellOperator(plain("config.not_keys", language, path=path, kind=type(raw).__name__))
    return raw


def _refuse_secrets(raw: Mapping[str, Any], source: str, language: str) -> None:
    for variable, (section, key) in SECRETS.items():
        held = raw.get(section)
        if not isinstance(held, dict) or key not in held:
            continue
        if key == "url" and "@" not in str(held[key]):
            continue
        name = f"{section}.{key}"
        raise TellOperator(plain("config.secret_in_file", language, source=source, key=name, variable=variable))


def _with_secrets(raw: Mapping[str, Any], environ: Mapping[str, str], language: str) -> dict[str, Any]:
    merged: dict[str, Any] = {key: dict(value) if isinstance(value, dict) else value for key, value in raw.items()}
    for variable, (section, key) in SECRETS.items():
        value = environ.get(variable)
        if file := environ.get(f"{variable}_FILE"):
            if value:
                raise TellOperator(plain("config.secret_twice", language, variable=variable))
            try:
                value = Path(file).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                told = plain("config.secret_unreadable", language, variable=variable, file=file, why=error)
                raise TellOperator(told) from error
        if value:
            held = merged.setdefault(section, {})
            if isinstance(held, dict):
                held[key] = value
    return merged


def _is_secret(location: tuple[int | str, ...]) -> bool:
    return tuple(str(part) for part in location[:2]) in set(SECRETS.values())


def _holds_secret(definition: Mapping[str, Any]) -> bool:
    return definition.get("format") == "password" or definition.get("items", {}).get("format") == "password"


def _without_password(url: str) -> str:
    head, at, tail = url.rpartition("@")
    if not at:
        return url
    scheme, _, user = head.partition("://")
    return f"{scheme}://{user.partition(':')[0]}:***@{tail}"
