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
from bot.repair.recipes import codespell, dt_design, subprocess_check, unused_import, whitespace
from bot.repair.recipes.base import Recipe

RECIPES: Final[tuple[Recipe, ...]] = (
    *codespell.RECIPES,
    *dt_design.RECIPES,
    *subprocess_check.RECIPES,
    *unused_import.RECIPES,
    *whitespace.RECIPES,
)


def recipe_for(finding: Finding) -> Recipe | None:
    """The first recipe that is for the finding."""
    return next((recipe for recipe in RECIPES if recipe.applies(finding)), None)
