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
"""What framework-free code asks of the MindSpore platform is there: a missing name would cost a rule without a word."""

from __future__ import annotations

import ast
from pathlib import Path

from hyper_parallel.platform import get_platform
from hyper_parallel.platform.mindspore.errors import MissingFunction

ROOT = Path(__file__).parents[4] / "hyper_parallel"
DISPATCH = sorted(file for file in (ROOT / "dispatch").glob("*.py") if file.name != "fallback.py")
CORE = [ROOT / "redistribute.py", *DISPATCH]
"""`fallback.py` is not asked: MindSpore's own generic way is `platform.mindspore.replicated`."""


def asked(file: Path) -> set[str]:
    """Attributes read from a name or attribute called `platform`."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            owner = node.value
            name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
            if name == "platform":
                found.add(node.attr)
    return found


def test_the_core_gets_all_it_asks_for() -> None:
    platform = get_platform("mindspore")
    missing = set()
    for name in set().union(*map(asked, CORE)):
        try:
            getattr(platform, name)
        except MissingFunction:
            missing.add(name)
    assert missing == set()
    assert "all_gather" in asked(ROOT / "redistribute.py")
