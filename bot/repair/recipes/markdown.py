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
"""Check_Markdownlint: the tool's own ``--fix``, one rule at a time; a language for fences that have none."""

from __future__ import annotations

from typing import Final

from bot.gate.finding import Finding
from bot.repair.checks.markdown import lint
from bot.repair.guard_proof import proves
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.text import place_at, split_end
from bot.repair.tools import CancelToken

# Rules about white space whose fix leaves the rendered page as it was.
_LAYOUT: Final = (
    "MD009",
    "MD010",
    "MD012",
    "MD018",
    "MD019",
    "MD022",
    "MD023",
    "MD027",
    "MD030",
    "MD031",
    "MD032",
    "MD047",
)


def tool_fix(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Let markdownlint-cli2 mend this rule; refused when the rendered page would differ."""
    rule = finding.rule[:5]
    _, (new,) = lint([content], [rule], CancelToken(), only=True, fix=True)
    if new == content:
        return because("not-found-here", line=str(finding.line), what=rule)
    if not proves(Nature.WHITESPACE, content, new, scene.path):
        return because("unsafe", why="the rendered page would change")
    return Edit(new, Nature.WHITESPACE)


def fence_language(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """MD040: ``text`` is true of every fence; a shell prompt makes it ``shell``."""
    place = place_at(content, scene.path, finding.line, "a fence")
    if isinstance(place, Reason):
        return place
    body, end = split_end(place.line)
    bare = body.strip().lstrip("> ")
    if len(bare) < 3 or set(bare) not in ({"`"}, {"~"}):
        return because("not-found-here", line=str(finding.line), what="a fence without language")
    inside = []
    for row in place.lines[finding.line :]:
        if row.strip().lstrip("> ").startswith(bare):
            break
        inside.append(row.strip())
    shell = bool(inside) and any(row.startswith("$ ") for row in inside)
    named = f"{body.rstrip()}{'shell' if shell else 'text'}{end}"
    return Edit(place.replaced(named), Nature.PROSE, (finding.line, finding.line))


RECIPES: Final = (
    Recipe(
        name="markdown-fence-language",
        tools=frozenset({"markdownlint", "mdl"}),
        rules=frozenset({"MD040", "MD040/fenced-code-language"}),
        apply=fence_language,
        check="Check_Markdownlint",
        natures=frozenset({Nature.PROSE}),
    ),
    *(
        Recipe(
            name=f"markdown-{rule}",
            tools=frozenset({"markdownlint", "mdl"}),
            rules=frozenset({rule}),
            apply=tool_fix,
            check="Check_Markdownlint",
            natures=frozenset({Nature.WHITESPACE}),
            whole_file=True,
        )
        for rule in _LAYOUT
    ),
)
