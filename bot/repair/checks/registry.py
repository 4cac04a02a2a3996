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
"""All checks that can be re-run here, by stage name."""

from __future__ import annotations

from typing import Final

from bot.repair.checks import codespell, dt_design, licence, markdown, native, op_yaml, plain_text, pylint, return_types
from bot.repair.checks.base import Check

CHECKS: Final[dict[str, Check]] = {
    check.name: check
    for check in (
        pylint.CHECK,
        codespell.CHECK,
        dt_design.CHECK,
        plain_text.TAB,
        plain_text.UTF8,
        markdown.CHECK,
        native.CLANG_FORMAT,
        native.CPPLINT,
        native.CMAKELINT,
        native.SHELLCHECK,
        licence.CHECK,
        return_types.CHECK,
        op_yaml.CHECK,
    )
}
