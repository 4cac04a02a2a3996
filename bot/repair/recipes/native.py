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
"""C++, CMake and shell: clang-format, white space that cpplint and cmakelint want, shellcheck's own fixes."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any, Final

from bot.gate.finding import Finding
from bot.repair.checks.native import CLANG_FORMAT_STYLE, shellcheck_comments
from bot.repair.guard_proof import proves
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Apply, Edit, Nature, Recipe, Scene
from bot.repair.recipes.plain_text import end_file, expand_tabs
from bot.repair.recipes.strings import string_spans
from bot.repair.recipes.text import Source, decode, place_at, split_end
from bot.repair.tools import CancelToken, find_tool, run_tool


def clang_format(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Format the reported lines with the target branch's style."""
    style = scene.rules.get(CLANG_FORMAT_STYLE)
    if style is None:
        return because("unsafe", why="the repository has no .clang-format")
    lines = sorted({item.line for item in scene.findings or (finding,) if item.line})
    with tempfile.TemporaryDirectory(prefix="gatebot-style-") as directory:
        rules = Path(directory) / "style"
        rules.write_bytes(style)
        argv = [find_tool("clang-format"), f"--style=file:{rules}", f"--assume-filename={scene.path}"]
        argv += [f"--lines={line}:{line}" for line in lines]
        result = run_tool(argv, tree=Path(directory), cancel=CancelToken(), stdin=content)
    if result.code != 0:
        return because("unreadable", file=scene.path, why=result.stderr.decode("utf-8", "replace")[:200])
    if result.stdout == content:
        return because("not-found-here", line=str(finding.line), what="unformatted code")
    for nature in (Nature.WHITESPACE, Nature.COMMENT):
        if proves(nature, content, result.stdout, scene.path):
            return Edit(result.stdout, nature)
    return because("unsafe", why="the style would reorder includes or change tokens")


def strip_line(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Blanks off the end of a line that does not end inside a string."""
    place = place_at(content, scene.path, finding.line, "blanks")
    if isinstance(place, Reason):
        return place
    spans = string_spans(place.source.text, scene.path)
    body, end = split_end(place.line)
    kept = body.rstrip(" \t")
    if kept == body:
        return because("not-found-here", line=str(finding.line), what="blanks at the end")
    if spans is None or any(high > len(kept) for _, high in spans[finding.line - 1]) or kept.endswith("\\"):
        return because("string-content")
    return Edit(place.replaced(kept + end), Nature.WHITESPACE, (finding.line, finding.line))


def comment_space(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """cpplint whitespace/comments: two blanks before ``//`` behind code, one after it."""
    place = place_at(content, scene.path, finding.line, "//")
    if isinstance(place, Reason):
        return place
    body, end = split_end(place.line)
    strings = string_spans(place.source.text, scene.path) or [[] for _ in place.lines]
    found = [match.start() for match in re.finditer("//", body)]
    found = [at for at in found if not any(low <= at < high for low, high in strings[finding.line - 1])]
    if not found or "/*" in body[: found[0]]:
        return because("not-found-here", line=str(finding.line), what="//")
    code, comment = body[: found[0]], body[found[0] + 2 :]
    if code.strip():
        code = f"{code.rstrip()}  "
    gap = "" if not comment or comment[0] in " /!<" else " "
    changed = f"{code}//{gap}{comment}"
    if changed == body:
        return because("not-found-here", line=str(finding.line), what="crowded comment")
    return Edit(place.replaced(changed + end), Nature.WHITESPACE, (finding.line, finding.line))


def cmake_gap(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """cmakelint whitespace/extra: no blanks between a command and its bracket."""
    place = place_at(content, scene.path, finding.line, "a command")
    if isinstance(place, Reason):
        return place
    changed = re.sub(r"^(\s*\w+)[ \t]+\(", r"\1(", place.line)
    if changed == place.line:
        return because("not-found-here", line=str(finding.line), what="blanks before the bracket")
    return Edit(place.replaced(changed), Nature.WHITESPACE, (finding.line, finding.line))


def cmake_line_ends(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """cmakelint whitespace/newline: plain ``\\n`` line ends, and one at the end."""
    source = decode(content, scene.path)
    if isinstance(source, Reason):
        return source
    text = source.text.replace("\r\n", "\n")
    text = text if text.endswith("\n") else f"{text}\n"
    if text == source.text:
        return because("not-found-here", line=str(finding.line), what="a carriage return")
    return Edit(source.encode(text), Nature.WHITESPACE)


# Quoting these cannot change the number of words on purpose: they hold one path, number or name.
_ONE_WORD: Final = re.compile(
    r"(?:^|_)(?:dir|path|file|home|root|name|prefix|suffix|id|num|rank|port|pid|url|user|host|version|pwd|log)$", re.I
)
_SPLIT: Final = re.compile(
    r"(?:^|_)(?:opts?|args?|flags?|options?|params?|files|dirs|paths|list|cmd|command|names|items)$|s$", re.I
)
_ONE_VALUE: Final = re.compile(
    r"""(?:"[\w./:${}@%+-]*"|'[\w./:@%+-]*'|[\w./:${}@%+-]*"""
    r"""|"?\$\((?:pwd|dirname|basename|realpath|mktemp|date|nproc|id|uname|whoami)\b[^()]*\)"?)\s*(?:[;#&|].*)?"""
)
_FIXED_RULES: Final = frozenset({"SC2086", "SC2068", "SC2164", "SC2006", "SC2250"})


def shellcheck_fix(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Apply shellcheck's own fix of this finding, where quoting cannot undo a split that is meant."""
    source = decode(content, scene.path)
    if isinstance(source, Reason):
        return source
    code = int(finding.rule.removeprefix("SC") or 0)
    comments = [item for item in shellcheck_comments(content, CancelToken()) if item["code"] == code]
    here = [item for item in comments if item["line"] == finding.line]
    if finding.column:
        here.sort(key=lambda item: abs(item["column"] - finding.column))
    if not here:
        return because("not-found-here", line=str(finding.line), what=finding.rule)
    edits: list[dict[str, Any]] = []
    for item in here:
        refusal = _shell_refusal(source, item)
        if refusal is not None:
            return refusal
        edits += _array_quotes(item) if code == 2068 else item["fix"]["replacements"] if item["fix"] else []
    if not edits:
        return because("unsafe", why=f"shellcheck offers no fix of its own for {finding.rule}")
    lines = source.lines()
    for edit in sorted(edits, key=lambda one: (one["line"], one["column"], one["precedence"]), reverse=True):
        if edit["line"] != edit["endLine"] or "\t" in lines[edit["line"] - 1]:
            return because("unsafe", why="the fix spans lines, or tabs make its columns uncertain")
        line = lines[edit["line"] - 1]
        lines[edit["line"] - 1] = line[: edit["column"] - 1] + edit["replacement"] + line[edit["endColumn"] - 1 :]
    return Edit(source.encode("".join(lines)), Nature.CODE, (finding.line, finding.line))


def _array_quotes(item: dict[str, Any]) -> list[dict[str, Any]]:
    base = {"line": item["line"], "endLine": item["endLine"], "replacement": '"', "precedence": 1}
    return [{**base, "column": column, "endColumn": column} for column in (item["column"], item["endColumn"])]


def _shell_refusal(source: Source, item: dict[str, Any]) -> Reason | None:
    line = split_end(source.lines()[item["line"] - 1])[0]
    if not line.isascii():
        return because("unsafe", why="columns in a line with non-ASCII text are uncertain")
    word = line[item["column"] - 1 : item["endColumn"] - 1]
    if item["code"] == 2006 and "\\" in line:
        return because("unsafe", why="a backslash means something else inside backquotes")
    if item["code"] == 2164:
        top = not line[:1].isspace() and source.text.startswith("#!")
        return (
            None if top else because("unsafe", why="inside a function or a sourced file it may need return, not exit")
        )
    if item["code"] != 2086:
        return None
    match = re.fullmatch(r"\$\{?(\w+)\}?", word)
    if match is None:
        return because("unsafe", why=f"{word} is more than a plain variable")
    name = match[1]
    if (
        name.isdigit()
        or _only_one_word(source.text, name)
        or (_ONE_WORD.search(name) and not _assigned(source.text, name))
    ):
        return None
    return because("unsafe", why=f"{name} may be meant to be split into words")


def _assigned(text: str, name: str) -> list[str]:
    return re.findall(rf"(?:^|[\s;({{&|]){re.escape(name)}\+?=(.*)$", text, re.MULTILINE)


def _only_one_word(text: str, name: str) -> bool:
    """Whether every assignment in the script plainly gives one word."""
    if _SPLIT.search(name) or re.search(rf"\bread\b[^\n]*\b{re.escape(name)}\b|\bfor\s+{re.escape(name)}\b", text):
        return False
    values = _assigned(text, name)
    return bool(values) and all(_ONE_VALUE.fullmatch(value.strip()) for value in values)


def _recipe(
    name: str,
    tool: str,
    rules: set[str],
    apply: Apply,
    check: str,
    *,
    whole: bool = False,
    natures: frozenset[Nature] | None = None,
) -> Recipe:
    return Recipe(
        name=name,
        tools=frozenset({tool}) | ({"clang_format"} if tool == "clang-format" else frozenset()),
        apply=apply,
        check=check,
        natures=natures or frozenset({Nature.WHITESPACE}),
        rules=frozenset(rules),
        whole_file=whole,
    )


_BLANKS: Final = frozenset({Nature.WHITESPACE, Nature.COMMENT})
RECIPES: Final = (
    _recipe("clang-format", "clang-format", set(), clang_format, "Check_ClangFormat", whole=True, natures=_BLANKS),
    _recipe("cpplint-line-end", "cpplint", {"whitespace/end_of_line"}, strip_line, "Check_Cpplint"),
    _recipe("cpplint-last-newline", "cpplint", {"whitespace/ending_newline"}, end_file, "Check_Cpplint", whole=True),
    _recipe("cpplint-tab", "cpplint", {"whitespace/tab"}, expand_tabs, "Check_Cpplint", whole=True, natures=_BLANKS),
    _recipe("cpplint-comment", "cpplint", {"whitespace/comments"}, comment_space, "Check_Cpplint"),
    _recipe("cmake-line-end", "cmakelint", {"whitespace/eol"}, strip_line, "Check_Cmakelint"),
    _recipe("cmake-line-ends", "cmakelint", {"whitespace/newline"}, cmake_line_ends, "Check_Cmakelint", whole=True),
    _recipe("cmake-tab", "cmakelint", {"whitespace/tabs"}, expand_tabs, "Check_Cmakelint", whole=True, natures=_BLANKS),
    _recipe("cmake-extra-blank", "cmakelint", {"whitespace/extra"}, cmake_gap, "Check_Cmakelint"),
    _recipe(
        "shellcheck",
        "shellcheck",
        set(_FIXED_RULES),
        shellcheck_fix,
        "Check_ShellCheck",
        natures=frozenset({Nature.CODE}),
    ),
)
