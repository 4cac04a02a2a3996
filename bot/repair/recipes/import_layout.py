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
"""pylint C0410, C0411, C0413: one import a line, in the usual order, at the top."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import libcst as cst

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Apply, Edit, Nature, Recipe, Scene
from bot.repair.recipes.import_facts import ACTING, module_of, resolve, top_level_act
from bot.repair.recipes.syntax import Parsed, parse

_ORDER: Final = re.compile(
    r"(?:standard|third party|first party|local) import \"(?P<name>[^\"]+)\" should be placed before "
    r"[\w ]*imports? (?P<later>.+)$"
)
_POSITION: Final = re.compile(r"Import \"(?P<code>[^\"]+)\" should be placed at the top of the module")


def split_imports(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """``import a, b`` to one statement a line, in the same order."""
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    found = [node for node in parsed.on_line(cst.Import, finding.line) if len(node.names) > 1]
    if len(found) != 1:
        return because("not-found-here", line=str(finding.line), what="import a, b")
    node = found[0]
    line = parsed.parents[node]
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        return because("unsafe", why="the import shares its line with another statement")
    first, last = parsed.span(node)
    lines = parsed.source.lines()
    pad = lines[first - 1][: parsed.places[node].start.column]
    if pad.strip() or first != last:
        return because("unsafe", why="the import does not stand on a line of its own")
    end = parsed.source.newline
    comment = line.trailing_whitespace.comment
    rows = [f"{pad}import {parsed.code(alias.with_changes(comma=cst.MaybeSentinel.DEFAULT))}" for alias in node.names]
    if comment is not None:
        if re.search(r"noqa|pylint|type:|isort", comment.value):
            return because("import-comment")
        rows[0] += f"  {comment.value}"
    closed = lines[last - 1].endswith(("\n", "\r"))
    text = end.join(rows) + (end if closed else "")
    new = "".join(lines[: first - 1]) + text + "".join(lines[last:])
    return Edit(parsed.source.encode(new), Nature.IMPORT_ORDER, (first, last))


@dataclass(frozen=True, slots=True)
class _Import:
    """A top-level import statement on lines of its own: 0-based half-open line range with its comments above."""

    node: cst.Import | cst.ImportFrom
    index: int  # place in the module's body
    names: tuple[str, ...]
    modules: tuple[str, ...]
    start: int
    end: int


def _imports(parsed: Parsed) -> list[_Import]:
    found = []
    for index, line in enumerate(parsed.module.body):
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            continue
        node = line.body[0]
        if isinstance(node, cst.Import):
            modules = tuple(parsed.code(alias.name) for alias in node.names)
            names = modules
        elif isinstance(node, cst.ImportFrom):
            module = module_of(parsed, node)
            aliases = (
                [] if isinstance(node.names, cst.ImportStar) else [parsed.code(alias.name) for alias in node.names]
            )
            modules = (module,)
            names = (module, *(f"{module}.{name}" for name in aliases))
        else:
            continue
        first, last = parsed.span(node)
        above = first - 1
        lines = parsed.source.lines()
        # A comment right above goes along, unless it is the file's header.
        while above > 0 and lines[above - 1].startswith("#") and index > 0:
            above -= 1
        found.append(_Import(node, index, names, modules, above, last))
    return found


def order_imports(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Move each import that pylint names up, right before the first import it should precede."""
    moved = False
    refusal: Reason | None = None
    for item in scene.findings or (finding,):
        result = _order_one(content, item, scene)
        if isinstance(result, Reason):
            refusal = refusal or result
        else:
            content, moved = result, True
    if refusal is not None or not moved:
        return refusal or because("not-found-here", line=str(finding.line), what=finding.message[:60])
    return Edit(content, Nature.IMPORT_ORDER)


def _order_one(content: bytes, finding: Finding, scene: Scene) -> bytes | Reason:
    said = _ORDER.search(finding.message)
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    if said is None:
        return because("not-found-here", line=str(finding.line), what=finding.message[:60])
    imports = _imports(parsed)
    later = {name.lstrip(".") for name in re.findall(r"\"([^\"]+)\"", said["later"])}
    targets = [item for item in imports if later & {name.lstrip(".") for name in item.names}]
    movers = [item for item in imports if said["name"].lstrip(".") in {name.lstrip(".") for name in item.names}]
    movers = [item for item in movers if targets and item.index > targets[0].index]
    if not movers:
        return because("not-found-here", line=str(finding.line), what=f"import {said['name']}")
    return _move_up(parsed, imports, movers[-1], targets[0], scene)


def _move_up(parsed: Parsed, imports: list[_Import], mover: _Import, target: _Import, scene: Scene) -> bytes | Reason:
    between = {item.index: item for item in imports if target.index <= item.index < mover.index}
    if len(between) != mover.index - target.index:
        return because("unsafe", why="other statements stand between the imports, such as a change of sys.path")
    for item in between.values():
        for module in item.modules:
            act = _acts(module, scene)
            if act:
                return because("import-side-effect", name=module, why=act)
    lines = parsed.source.lines()
    # Behind the last import of the same standing that already precedes the target, so that the order stays.
    at = target.start
    block = lines[mover.start : mover.end]
    if any(re.search(r"isort|noqa:?\s*E402|side.?effect|order", line, re.IGNORECASE) for line in block if "#" in line):
        return because("import-comment")
    before, after = lines[: mover.start], lines[mover.end :]
    if before and not before[-1].strip() and (not after or not after[0].strip()):
        before.pop()
    if block and not block[-1].endswith(("\n", "\r")):
        block[-1] += parsed.source.newline
    return parsed.source.encode("".join(before[:at] + block + before[at:] + after))


def _acts(module: str, scene: Scene) -> str:
    if module.lstrip(".").partition(".")[0] in ACTING and not module.startswith("__future__"):
        return "known for it"
    for path in resolve(module, scene):
        why = top_level_act(scene.tree.read(path) or b"")
        if why:
            return f"{path}: {why}"
    return ""


def to_top(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Move imports that stand below harmless definitions up behind the last import of the top."""
    moved = False
    for item in scene.findings or (finding,):
        result = _to_top_one(content, item, scene)
        if isinstance(result, Reason):
            return result
        content, moved = result, True
    return Edit(content, Nature.IMPORT_ORDER) if moved else because("guard-empty")


def _to_top_one(content: bytes, finding: Finding, scene: Scene) -> bytes | Reason:
    said = _POSITION.search(finding.message)
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    if said is None:
        return because("not-found-here", line=str(finding.line), what=finding.message[:60])
    imports = _imports(parsed)
    top = _last_of_top(parsed, imports)
    movers = [item for item in imports if item.index > top[0] and _same_code(parsed.code(item.node), said["code"])]
    if not movers:
        return because("not-found-here", line=str(finding.line), what=said["code"])
    mover = movers[0]
    between = parsed.module.body[top[0] + 1 : mover.index]
    bound = _bound(mover.node, parsed)
    for node in between:
        why = _why_not_over(node, parsed, bound)
        if why:
            return because("unsafe", why=why)
    lines = parsed.source.lines()
    block = lines[mover.start : mover.end]
    before, after = lines[: mover.start], lines[mover.end :]
    if before and not before[-1].strip() and (not after or not after[0].strip()):
        before.pop()
    if not block[-1].endswith(("\n", "\r")):
        block[-1] += parsed.source.newline
    if any(re.search(r"noqa|isort|side.?effect|after|before", line, re.IGNORECASE) for line in block if "#" in line):
        return because("import-comment")
    at = top[1]
    gap = [] if imports and imports[0].index <= top[0] else [parsed.source.newline]
    return parsed.source.encode("".join(before[:at] + gap + block + before[at:] + after))


def _last_of_top(parsed: Parsed, imports: list[_Import]) -> tuple[int, int]:
    """Index in the body and end line of the last statement of the leading imports (or of the docstring)."""
    by_index = {item.index: item for item in imports}
    at, end = -1, len(parsed.module.header) if parsed.module.header else 0
    for index, node in enumerate(parsed.module.body):
        docstring = index == 0 and isinstance(node, cst.SimpleStatementLine) and isinstance(node.body[0], cst.Expr)
        if not docstring and index not in by_index:
            break
        at, end = index, parsed.span(node)[1]
    return at, end


def _same_code(first: str, second: str) -> bool:
    squeeze = [re.sub(r"[\s()]+|,\s*\)", "", text) for text in (first, second)]
    return squeeze[0] == squeeze[1]


def _bound(node: cst.Import | cst.ImportFrom, parsed: Parsed) -> set[str]:
    if isinstance(node.names, cst.ImportStar):
        return {"*"}
    names = set()
    for alias in node.names:
        name = parsed.code(alias.asname.name) if alias.asname else parsed.code(alias.name).partition(".")[0]
        names.add(name)
    return names


def _why_not_over(node: cst.CSTNode, parsed: Parsed, bound: set[str]) -> str:
    """Why an import may not be moved above a statement; empty when it may."""
    if "*" in bound:
        return "a wildcard import binds unknown names"
    if isinstance(node, cst.FunctionDef | cst.ClassDef):
        if node.decorators or (isinstance(node, cst.ClassDef) and (node.bases or node.keywords)):
            return "a decorated or derived definition stands between"
        return f"{node.name.value} would be bound in another order" if node.name.value in bound else ""
    if not isinstance(node, cst.SimpleStatementLine):
        return "a statement that runs stands between"
    return next((why for part in node.body if (why := _why_not_over_part(part, parsed, bound))), "")


def _why_not_over_part(part: cst.BaseSmallStatement, parsed: Parsed, bound: set[str]) -> str:
    if isinstance(part, cst.Import | cst.ImportFrom):
        return "the same name is imported twice" if _bound(part, parsed) & bound else ""
    if isinstance(part, cst.Expr) and isinstance(part.value, cst.SimpleString):
        return ""
    if not isinstance(part, cst.Assign | cst.AnnAssign) or part.value is None or not _quiet(part.value):
        return "a statement that runs stands between, such as a change of sys.path or of the environment"
    targets = [item.target for item in part.targets] if isinstance(part, cst.Assign) else [part.target]
    if any(not isinstance(target, cst.Name) for target in targets):
        return "a statement between changes another object"
    taken = any(isinstance(target, cst.Name) and target.value in bound for target in targets)
    return "the name is bound twice" if taken else ""


def _quiet(value: cst.BaseExpression) -> bool:
    if isinstance(value, cst.SimpleString | cst.Integer | cst.Float | cst.Name):
        return True
    if isinstance(value, cst.Tuple | cst.List | cst.Set):
        return all(isinstance(item, cst.Element) and _quiet(item.value) for item in value.elements)
    if isinstance(value, cst.Dict):
        return all(
            isinstance(item, cst.DictElement) and _quiet(item.key) and _quiet(item.value) for item in value.elements
        )
    return False


def _recipe(name: str, rule: str, apply: Apply, *, whole: bool) -> Recipe:
    return Recipe(
        name=name,
        tools=frozenset({"pylint"}),
        rules=frozenset({rule}),
        apply=apply,
        check="Check_Pylint",
        natures=frozenset({Nature.IMPORT_ORDER}),
        whole_file=whole,
    )


RECIPES: Final = (
    _recipe("one-import-a-line", "C0410", split_imports, whole=False),
    _recipe("import-order", "C0411", order_imports, whole=True),
    _recipe("import-position", "C0413", to_top, whole=True),
)
