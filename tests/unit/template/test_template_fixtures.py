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
"""Templates of every usual form with descriptions; what is missing was written down by hand for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.template.check import check_description

FIXTURES = Path(__file__).parents[2] / "fixtures" / "templates"


def cases() -> Iterator[Any]:
    for path in sorted(FIXTURES.glob("*.yaml")):
        template = path.with_suffix(".md").read_text(encoding="utf-8")
        for case in yaml.safe_load(path.read_text(encoding="utf-8")):
            body = template if case["body"] == "@template" else case["body"]
            expected = [tuple(item) for item in case["missing"]]
            yield pytest.param(template, body, expected, id=f"{path.stem}: {case['name']}")


def found(template: str, body: str) -> list[tuple[str, str, str]]:
    return [(item.kind, item.section, item.field) for item in check_description(template, body).missing]


@pytest.mark.parametrize(("template", "body", "expected"), list(cases()))
def test_exactly_the_expected_items_are_missing(template: str, body: str, expected: list[tuple[str, str, str]]) -> None:
    assert sorted(found(template, body)) == sorted(expected)


@pytest.mark.parametrize(("template", "body", "expected"), list(cases()))
def test_line_ends_and_blanks_at_line_ends_change_nothing(
    template: str, body: str, expected: list[tuple[str, str, str]]
) -> None:
    crlf = body.replace("\n", "  \r\n")
    assert sorted(found(template.replace("\n", "\r\n"), "\ufeff" + crlf)) == sorted(expected)
