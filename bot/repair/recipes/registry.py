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
"""All recipes; adding one touches its own module and one line here."""

from __future__ import annotations

from typing import Final

from bot.gate.finding import Finding
from bot.repair.recipes import (
    bare_except,
    codespell,
    comparisons,
    docstrings,
    dt_design,
    flow,
    headings,
    import_layout,
    licence,
    long_lines,
    markdown,
    mutable_default,
    native,
    op_yaml,
    plain_text,
    return_types,
    shell_declare,
    small_python,
    subprocess_check,
    unused_import,
    unused_variable,
    whitespace,
    with_open,
)
from bot.repair.recipes.base import Recipe

RECIPES: Final[tuple[Recipe, ...]] = (
    *plain_text.RECIPES,
    *native.RECIPES,
    *markdown.RECIPES,
    *licence.RECIPES,
    *return_types.RECIPES,
    *bare_except.RECIPES,
    *codespell.RECIPES,
    *comparisons.RECIPES,
    *docstrings.RECIPES,
    *dt_design.RECIPES,
    *flow.RECIPES,
    *headings.RECIPES,
    *import_layout.RECIPES,
    *long_lines.RECIPES,
    *mutable_default.RECIPES,
    *op_yaml.RECIPES,
    *shell_declare.RECIPES,
    *small_python.RECIPES,
    *subprocess_check.RECIPES,
    *unused_import.RECIPES,
    *unused_variable.RECIPES,
    *whitespace.RECIPES,
    *with_open.RECIPES,
)


def recipe_for(finding: Finding) -> Recipe | None:
    """The first recipe that is for the finding."""
    return next((recipe for recipe in RECIPES if recipe.applies(finding)), None)
