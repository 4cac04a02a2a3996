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
"""pylint W1510: ``subprocess.run`` without ``check``. ``check=False`` is the default made visible."""

from __future__ import annotations

from typing import Final

import libcst as cst

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.syntax import Parsed, nearest, parse

_WIDTH: Final = 100


def add_check(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Add ``check=False`` behind the last argument, in the call's own layout."""
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    calls = [
        call for call in parsed.on_line(cst.Call, finding.line) if _is_run(call) and "check" not in _keywords(call)
    ]
    # "app.run(…)" may stand beside it: a callee that is known to be subprocess's goes first.
    calls = [call for call in calls if parsed.code(call.func) in _runners(parsed)] or calls
    for call in nearest(parsed, calls, finding.column):
        if any(arg.star == "**" for arg in call.args):
            return because("call-unpacks", what="check")
        if not call.args or isinstance(call.args[-1].value, cst.GeneratorExp):
            continue
        content = parsed.replace(call, _with_check(parsed, call))
        if _widest(parsed, content, call) > _WIDTH and not isinstance(call.args[-1].comma, cst.Comma):
            content = parsed.replace(call, _on_own_line(parsed, call))
        return Edit(content, Nature.CODE, parsed.span(call))
    return because("not-found-here", line=str(finding.line), what="subprocess.run")


def _is_run(call: cst.Call) -> bool:
    name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    return isinstance(name, cst.Name) and name.value == "run"


def _runners(parsed: Parsed) -> set[str]:
    """How this module spells ``subprocess.run``."""
    found = {"subprocess.run"}
    for node in parsed.each(cst.Import):
        for alias in node.names:
            if parsed.code(alias.name) == "subprocess" and alias.asname is not None:
                found.add(f"{parsed.code(alias.asname.name)}.run")
    for origin in parsed.each(cst.ImportFrom):
        if (
            origin.module is None
            or parsed.code(origin.module) != "subprocess"
            or isinstance(origin.names, cst.ImportStar)
        ):
            continue
        for alias in origin.names:
            if parsed.code(alias.name) == "run":
                found.add(parsed.code(alias.asname.name) if alias.asname else "run")
    return found


def _keywords(call: cst.Call) -> set[str]:
    return {arg.keyword.value for arg in call.args if arg.keyword is not None}


def _check_false() -> cst.Arg:
    tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(keyword=cst.Name("check"), value=cst.Name("False"), equal=tight)


def _with_check(parsed: Parsed, call: cst.Call) -> cst.Call:
    last = call.args[-1]
    if not isinstance(last.comma, cst.Comma):
        added = _check_false().with_changes(whitespace_after_arg=last.whitespace_after_arg)
        before = last.with_changes(
            comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")), whitespace_after_arg=cst.SimpleWhitespace("")
        )
        return call.with_changes(args=[*call.args[:-1], before, added])
    after = last.comma.whitespace_after
    start = parsed.places[last].start
    lead = parsed.source.lines()[start.line - 1][: start.column]
    if lead.strip() or not isinstance(after, cst.ParenthesizedWhitespace):
        gap: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
        added = _check_false().with_changes(comma=last.comma)
    else:
        # The last argument stands on its own line: so does the new one; a comment stays with the argument it speaks of.
        gap = after.with_changes(empty_lines=[], indent=False, last_line=cst.SimpleWhitespace(lead))
        bare = after.first_line.with_changes(whitespace=cst.SimpleWhitespace(""), comment=None)
        added = _check_false().with_changes(
            comma=last.comma.with_changes(whitespace_after=after.with_changes(first_line=bare))
        )
    before = last.with_changes(comma=last.comma.with_changes(whitespace_after=gap))
    return call.with_changes(args=[*call.args[:-1], before, added])


def _on_own_line(parsed: Parsed, call: cst.Call) -> cst.Call:
    last = call.args[-1]
    start = parsed.places[call.args[0]].start
    line = parsed.source.lines()[start.line - 1]
    pad = line[: start.column] if not line[: start.column].strip() else " " * start.column
    gap = cst.ParenthesizedWhitespace(
        first_line=cst.TrailingWhitespace(newline=cst.Newline(value=parsed.source.newline)),
        indent=False,
        last_line=cst.SimpleWhitespace(pad),
    )
    added = _check_false().with_changes(whitespace_after_arg=last.whitespace_after_arg)
    before = last.with_changes(comma=cst.Comma(whitespace_after=gap), whitespace_after_arg=cst.SimpleWhitespace(""))
    return call.with_changes(args=[*call.args[:-1], before, added])


def _widest(parsed: Parsed, content: bytes, call: cst.Call) -> int:
    first, last = parsed.span(call)
    lines = content.decode(parsed.source.encoding).splitlines()
    return max(len(line) for line in lines[first - 1 : last])


RECIPES: Final = (
    Recipe(
        name="subprocess-check",
        tools=frozenset({"pylint"}),
        rules=frozenset({"W1510"}),
        apply=add_check,
        check="Check_Pylint",
        natures=frozenset({Nature.CODE}),
    ),
)
