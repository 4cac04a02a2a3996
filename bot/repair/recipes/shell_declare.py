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
"""ShellCheck's SC2155: a declaration whose value comes from a command hides whether that command failed.

The declaration and the assignment become two lines. From then on the shell sees the command's status, so the edit is
refused wherever something looks at it: an errexit, an ERR trap, ``$?``, or the end of a function, a branch or a script.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.text import place_at, split_end

_DECLARATION: Final = re.compile(
    r"(?P<indent>[ \t]*)(?P<word>local|declare|typeset|export|readonly) +(?P<name>[A-Za-z_]\w*)=(?P<value>\S.*)"
)
_ENDS_AT_FAILURE: Final = re.compile(
    r"^#![^\n]*[ \t]-\w*e|\bset\b[^\n#]*[ \t](?:-[a-zA-Z]*e|-o[ \t]+errexit|-[a-zA-Z]*o[ \t]+errexit)"
    r"|\btrap\b[^\n]*\bERR\b",
    re.MULTILINE,
)
# Words after which a list or a block is over, so that the last status in it is its own.
_OVER: Final = re.compile(r"\}|\)|;;|(?:fi|done|esac|else|elif|then|do)\b")
_FRESH: Final = frozenset({"local", "declare", "typeset"})  # the new variable is empty until it is assigned
_GOES_ON: Final = ("&&", "||", "|", "\\", "!")


def separate(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """``local x=$(cmd)`` becomes ``local x`` and ``x=$(cmd)``; ``export`` and ``readonly`` follow their assignment."""
    place = place_at(content, scene.path, finding.line, "a declaration")
    if isinstance(place, Reason):
        return place
    body, end = split_end(place.line)
    match = _DECLARATION.fullmatch(body.rstrip())
    if match is None or not _is_one_word(match["value"]):
        return because("unsafe", why="it is more than one plain declaration")
    refusal = _refusal(place.source.text, place.lines, finding.line, match)
    if refusal:
        return because("unsafe", why=refusal)
    declared = f"{match['indent']}{match['word']} {match['name']}"
    assigned = f"{match['indent']}{match['name']}={match['value']}"
    both = (declared, assigned) if match["word"] in _FRESH else (assigned, declared)
    apart = "".join(f"{one}{end or place.source.newline}" for one in both)
    return Edit(place.replaced(apart), Nature.CODE, (finding.line, finding.line))


def _refusal(text: str, lines: Sequence[str], number: int, match: re.Match[str]) -> str:
    """Why the status of the command would be noticed, or another value be used; empty where neither can be."""
    if not text.startswith("#!"):
        return "a sourced file does not tell whether its caller ends at the first failure"
    if _ENDS_AT_FAILURE.search(text):
        return "the script ends at the first failure, and the command's would now count"
    before = lines[number - 2].strip() if number > 1 else ""
    if before.endswith(_GOES_ON):
        return "the declaration is part of a longer command"
    if match["word"] not in _FRESH:
        return ""  # the last of the two lines is still the declaration, whose status is that of before
    if re.search(rf"\b{re.escape(match['name'])}\b", match["value"]):
        return "the value is made from the variable's outer value"
    behind = next((row.strip() for row in lines[number:] if row.strip() and not row.strip().startswith("#")), "}")
    if _OVER.match(behind) or "$?" in behind:
        return "the status of the line is used"
    return ""


def _is_one_word(value: str) -> bool:
    """Whether a value is a single word on a single line: quotes and substitutions are closed, and nothing follows."""
    open_marks: list[str] = []
    at = 0
    while at < len(value):
        char, top = value[at], open_marks[-1] if open_marks else ""
        if char == "\\" and top != "'":
            at += 2
            continue
        if top in {"'", '"'} and char == top:
            open_marks.pop()
        elif top == "'":
            pass
        elif value.startswith("$(", at):
            open_marks.append(")")
            at += 1
        elif char == "(" and top == ")":
            open_marks.append(")")
        elif char == ")" and top == ")":
            open_marks.pop()
        elif char in "'\"" or (char == "`" and top != "`"):
            open_marks.append(char)
        elif char == "`":
            open_marks.pop()
        elif not top and (char.isspace() or char in ";&|<>()#"):
            return False
        at += 1
    return not open_marks and at == len(value)


RECIPES: Final = (
    Recipe(
        name="shell-declare",
        tools=frozenset({"shellcheck"}),
        rules=frozenset({"SC2155"}),
        apply=separate,
        check="Check_ShellCheck",
        natures=frozenset({Nature.CODE}),
    ),
)
