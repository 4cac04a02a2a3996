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
"""What the rules ask of a platform: both backends have it, but for what is listed here with the reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import hyper_parallel
from hyper_parallel.platform import get_platform
from hyper_parallel.platform.mindspore.errors import MissingFunction

RULES = Path(hyper_parallel.__file__).parent / "ops"
LACKING = {
    "diagonal": "mint has no function diagonal, and no operator whose result is a view of a diagonal",
    "log_scan": "mint has no function logcumsumexp",
    "view_as_real": "MindSpore's var and std take no complex tensors",
    "join_complex_variance": "MindSpore's var and std take no complex tensors",
}
"""Functions that MindSpore's platform lacks: calls whose rule asks for one run on replicated inputs."""


def asked() -> Iterator[str]:
    """Names of attributes of `platform` and `self.platform` in the rules."""
    for file in sorted(RULES.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                owner = node.value
                named = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
                if named == "platform":
                    yield node.attr


def offered(backend: str) -> set[str]:
    return set(dir(type(get_platform(backend))))


def test_torch_offers_all_that_rules_ask_for() -> None:
    assert set(asked()) <= offered("torch")
    assert len(set(asked())) > 40


def test_mindspore_offers_all_but_what_is_listed() -> None:
    assert set(asked()) - offered("mindspore") == set(LACKING)


@pytest.mark.parametrize("name", sorted(LACKING))
def test_what_is_lacking_is_refused_as_a_layout_error(name: str) -> None:
    with pytest.raises(MissingFunction, match=name):
        getattr(get_platform("mindspore"), name)
