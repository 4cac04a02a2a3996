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
"""Path-scoped review rules as data: which files, which kind of check, which words.

Rules come from the packaged ``bot/review/rules/*.yaml`` and from ``.gatebot/rules/*.yaml`` on the pull request's target
branch, never from the pull request itself. A rule of the repository with the id of a packaged one takes its place;
``check: off`` turns it off.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from bot.errors import TellUser
from bot.gate.finding import Finding, Severity
from bot.review.globs import matches
from bot.review.kinds import KINDS
from bot.review.scene import Hit, Scene
from bot.review.words import RULES_TOOL

REPOSITORY_RULES = ".gatebot/rules/*.yaml"
_OFF = "off"


class Message(BaseModel):
    """What is wrong and how to mend it; ``{name}`` and the like are filled in by the check."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    zh: str = Field(min_length=1)
    en: str = Field(min_length=1)


class Rule(BaseModel):
    """One rule.

    Attributes:
        id: Shown in the comment and part of the fingerprint.
        paths: Globs of the files it looks at; ``**`` spans directories.
        exclude: Globs of files it leaves alone.
        check: A kind of ``bot.review.kinds``, or ``off``.
        parameters: What that kind wants to know.
        message: The words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,60}$")
    paths: tuple[str, ...] = Field(min_length=1)
    exclude: tuple[str, ...] = ()
    check: str
    parameters: dict[str, Any] = {}
    message: Message

    @field_validator("check", mode="before")
    @classmethod
    def _known(cls, value: object) -> object:
        value = _OFF if value is False else value  # YAML 1.1 reads a bare ``off`` as false
        if value != _OFF and value not in KINDS:
            raise ValueError(f"should be one of {', '.join(sorted(KINDS))} or off, but got {value}")
        return value

    def looks_at(self, path: str) -> bool:
        """Whether a path is this rule's business."""
        return any(matches(path, glob) for glob in self.paths) and not any(matches(path, glob) for glob in self.exclude)


def read_rules(text: str, where: str) -> tuple[Rule, ...]:
    """The rules of one YAML file.

    Args:
        text: ``rules:`` with a list of rules.
        where: Names the file in errors.

    Raises:
        TellUser: The file cannot be read; the message says where and why.
    """
    try:
        data = yaml.safe_load(text)
        items = data.get("rules") if isinstance(data, Mapping) else None
        if not isinstance(items, list):
            raise TellUser(f"{where}: should hold a list under 'rules'")
        rules = tuple(Rule.model_validate(item) for item in items)
        for rule in rules:
            if rule.check != _OFF:
                KINDS[rule.check].settle(rule.parameters)
    except (yaml.YAMLError, ValidationError, RecursionError, TypeError, ValueError, re.error) as error:
        raise TellUser(f"{where}: {' '.join(str(error).split())[:400]}") from error
    return rules


@functools.cache
def packaged_rules() -> tuple[Rule, ...]:
    """The rules that come with GateBot."""
    found: list[Rule] = []
    directory = resources.files("bot.review") / "rules"
    for entry in sorted(directory.iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".yaml"):
            found += read_rules(entry.read_text("utf-8"), entry.name)
    return tuple(found)


def merged(*sets: Iterable[Rule]) -> tuple[Rule, ...]:
    """Later rules take the place of earlier ones with their id; what is off is left out."""
    by_id: dict[str, Rule] = {}
    for rules in sets:
        by_id.update({rule.id: rule for rule in rules})
    return tuple(rule for rule in by_id.values() if rule.check != _OFF)


def run_rules(rules: Iterable[Rule], scene: Scene, language: str) -> tuple[Finding, ...]:
    """What the rules say about the changed files."""
    found: list[Finding] = []
    for rule in rules:
        kind = KINDS[rule.check]
        settled = kind.settle(rule.parameters)
        for path in sorted(scene.files):
            if rule.looks_at(path):
                found += [_finding(rule, hit, language) for hit in kind.run(path, scene, settled)]
    return tuple(found)


def _finding(rule: Rule, hit: Hit, language: str) -> Finding:
    template = rule.message.en if language.startswith("en") else rule.message.zh
    message = re.sub(r"\{(\w+)\}", lambda field: hit.values.get(field[1], field[0]), template)
    return Finding(
        tool=RULES_TOOL,
        rule=rule.id,
        file=hit.path,
        line=hit.line,
        function=hit.values.get("name", ""),
        message=message,
        severity=Severity.WARNING,
    )
