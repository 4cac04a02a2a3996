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
"""Pure: which recipe for which finding, in which order, and what a file looks like after its steps."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from libcst import CSTValidationError

from bot.gate.finding import Finding
from bot.repair.guard_paths import is_read_only
from bot.repair.guard_proof import holds_for_read_only, proves, within
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Recipe, Scene
from bot.repair.tools import ToolMissing


@dataclass(frozen=True, slots=True)
class Step:
    """One application of a recipe to a file; a whole-file recipe's step answers several findings."""

    recipe: Recipe
    path: str
    findings: tuple[Finding, ...]


def steps_for(path: str, pairs: list[tuple[Recipe, Finding]]) -> tuple[Step, ...]:
    """Order the steps of one file: line-addressed ones from the bottom up, because an edit moves the lines below it."""
    single: dict[tuple[str, str, int, str], list[Finding]] = {}
    whole: dict[str, list[Finding]] = {}
    recipes = {recipe.name: recipe for recipe, _ in pairs}
    for recipe, finding in pairs:
        if recipe.whole_file:
            whole.setdefault(recipe.name, []).append(finding)
        else:  # the same finding twice (two forms of one message in a log) is one step
            single.setdefault((recipe.name, finding.rule, finding.line, finding.message), []).append(finding)
    steps = [Step(recipes[key[0]], path, tuple(found)) for key, found in single.items()]
    steps.sort(key=lambda step: (-step.findings[0].line, -step.findings[0].column))
    return (*steps, *(Step(recipes[name], path, tuple(found)) for name, found in whole.items()))


def take(step: Step, content: bytes, scene: Scene) -> bytes | Reason:
    """Apply one step and prove its nature on the bytes; the old content must be kept when this refuses."""
    try:
        edit = step.recipe.apply(content, step.findings[0], dataclasses.replace(scene, findings=step.findings))
    except ToolMissing as error:
        return because(
            "check-unavailable", check=step.recipe.check, why=f"{error} is not installed or does not run here"
        )
    except (SyntaxError, ValueError, RecursionError, CSTValidationError) as error:
        # Text that one parser takes and another does not, a letter the file's encoding lacks: nothing to be mended
        # here.
        return because("unreadable", file=step.path, why=str(error).partition("\n")[0][:120])
    if isinstance(edit, Reason):
        return edit
    return accept(step, content, edit)


def accept(step: Step, content: bytes, edit: Edit) -> bytes | Reason:
    """The edit's bytes, if it is what it claims to be and stays on its lines."""
    if edit.nature not in step.recipe.natures or not proves(edit.nature, content, edit.content, step.path):
        return because("unproven", nature=edit.nature.value)
    if not within(edit.span, content, edit.content):
        return because("unproven", nature=f"lines {edit.span[0]} to {edit.span[1]}")
    if is_read_only(step.path) and not holds_for_read_only(content, edit.content, step.path):
        return because("read-only", file=step.path)
    return edit.content
