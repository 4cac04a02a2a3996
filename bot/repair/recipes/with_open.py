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
"""pylint R1732 for ``open``: a ``with`` block where the file's whole life is in sight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from bot.gate.finding import Finding
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.syntax import Parsed, parse

_READS: Final = frozenset({"read", "readlines", "readline", "write", "writelines"})


def use_with(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """``f = open(…) … f.close()`` in one block, or ``open(…).read()`` as one statement; all else is refused."""
    parsed = parse(content, scene.path)
    if isinstance(parsed, Reason):
        return parsed
    calls = [
        call
        for call in parsed.on_line(cst.Call, finding.line)
        if isinstance(call.func, cst.Name) and call.func.value == "open"
    ]
    if len(calls) != 1:
        return because("unsafe", why="only a plain open() whose close() is in sight can be rewritten")
    call = calls[0]
    line = next((node for node in parsed.ancestors(call) if isinstance(node, cst.SimpleStatementLine)), None)
    block = parsed.parents[line] if line is not None else None
    if line is None or len(line.body) != 1 or not isinstance(block, cst.IndentedBlock | cst.Module):
        return because("unsafe", why="the statement shares its line")
    if any(isinstance(node, cst.ClassDef) for node in [parsed.parents.get(block, block)]):
        return because("unsafe", why="in a class body the name would become an attribute")
    if parsed.parents[call] is line.body[0]:
        return _whole_life(parsed, call, line, block)
    return _at_once(parsed, call, line)


def _with(call: cst.Call, name: str, body: list[cst.BaseStatement], line: cst.SimpleStatementLine) -> cst.With:
    item = cst.WithItem(call, cst.AsName(cst.Name(name)))
    return cst.With([item], cst.IndentedBlock(body), leading_lines=line.leading_lines)


def _at_once(parsed: Parsed, call: cst.Call, line: cst.SimpleStatementLine) -> Edit | Reason:
    attribute = parsed.parents[call]
    outer = parsed.parents[attribute]
    reads = isinstance(attribute, cst.Attribute) and attribute.attr.value in _READS and isinstance(outer, cst.Call)
    statement = line.body[0]
    if not reads or not isinstance(statement, cst.Assign | cst.Return | cst.Expr | cst.AnnAssign):
        return because("unsafe", why="the file is handed on before it is closed")
    if any(isinstance(node, cst.Lambda | cst.GeneratorExp) for node in parsed.ancestors(call)):
        return because("unsafe", why="the file is opened later, inside a lambda or a generator")
    name = _free_name(parsed)
    replaced = line.deep_replace(call, cst.Name(name))
    assert isinstance(replaced, cst.SimpleStatementLine)
    new = _with(call, name, [replaced.with_changes(leading_lines=[])], line)
    return Edit(parsed.replace(line, new), Nature.CODE, parsed.span(line))


def _free_name(parsed: Parsed) -> str:
    taken = {node.value for node in parsed.each(cst.Name)}
    return next(
        name for name in ("file", "opened", "opened_file", *(f"file{n}" for n in range(2, 10_000))) if name not in taken
    )


def _whole_life(
    parsed: Parsed, call: cst.Call, line: cst.SimpleStatementLine, block: cst.IndentedBlock | cst.Module
) -> Edit | Reason:
    statement = line.body[0]
    name = _bound_name(statement)
    if not isinstance(statement, cst.Assign) or not name:
        return because("unsafe", why="the file is not bound to one plain name")
    body = list(block.body)
    start = body.index(line)
    closers = [index for index in range(start + 1, len(body)) if _closes(body[index], name)]
    if not closers:
        return because("unsafe", why=f"{name}.close() is not in the same block")
    stop = closers[0]
    inner = body[start + 1 : stop]
    if not inner or len(closers) > 1:
        return because("unsafe", why="nothing is done with the file, or it is closed twice")
    refusal = _other_lives(parsed, name, statement, body[start : stop + 1])
    if refusal is not None:
        return refusal
    new = _with(
        call, name, [part for part in inner if isinstance(part, cst.BaseStatement | cst.SimpleStatementLine)], line
    )
    whole = [*body[:start], new, *body[stop + 1 :]]
    changed = block.with_changes(body=whole)
    code = parsed.source.encode(changed.code) if isinstance(changed, cst.Module) else parsed.replace(block, changed)
    return Edit(code, Nature.CODE, (parsed.span(line)[0], parsed.span(body[stop])[1]))


def _bound_name(statement: cst.BaseSmallStatement) -> str:
    """``f`` of ``f = …``; empty for any other form."""
    if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        target = statement.targets[0].target
        return target.value if isinstance(target, cst.Name) else ""
    return ""


def _other_lives(
    parsed: Parsed, name: str, statement: cst.Assign, life: Sequence[cst.BaseStatement | cst.BaseSmallStatement]
) -> Reason | None:
    """Why the file may live on elsewhere than between its opening and its closing."""
    uses = [node for node in parsed.each(cst.Name) if node.value == name]
    allowed = {id(node) for part in life for node in _names(part, name)}
    if any(id(node) not in allowed for node in uses):
        return because("unsafe", why=f"{name} is used elsewhere too")
    if not all(_plain_use(parsed, node, statement) for node in uses):
        return because("unsafe", why=f"{name} is handed on or bound again")
    if _leaves_early(life):
        return because("unsafe", why="the block may be left before the file is closed")
    return None


def _names(node: cst.CSTNode, name: str) -> list[cst.Name]:
    found: list[cst.Name] = []
    todo = [node]
    while todo:
        item = todo.pop()
        if isinstance(item, cst.Name) and item.value == name:
            found.append(item)
        todo += item.children
    return found


def _closes(node: cst.CSTNode, name: str) -> bool:
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return False
    if node.trailing_whitespace.comment or any(row.comment for row in node.leading_lines):
        return False  # the comment would be lost with the statement
    part = node.body[0]
    return (
        isinstance(part, cst.Expr)
        and isinstance(part.value, cst.Call)
        and not part.value.args
        and isinstance(part.value.func, cst.Attribute)
        and part.value.func.attr.value == "close"
        and isinstance(part.value.func.value, cst.Name)
        and part.value.func.value.value == name
    )


def _plain_use(parsed: Parsed, node: cst.Name, statement: cst.Assign) -> bool:
    """A method call on the file, a loop over it, or its one binding; anything else may keep it open on purpose."""
    parent = parsed.parents[node]
    if isinstance(parent, cst.AssignTarget):
        return parsed.parents[parent] is statement
    if isinstance(parent, cst.Attribute):
        called = isinstance(parsed.parents[parent], cst.Call)
        return (
            parent.value is node
            and called
            and not any(
                isinstance(item, cst.Lambda | cst.FunctionDef) and statement not in _below(item)
                for item in parsed.ancestors(node)
            )
        )
    if isinstance(parent, cst.For):
        return parent.iter is node
    if isinstance(parent, cst.Arg):
        holder = parsed.parents[parent]
        name = parsed.code(holder.func) if isinstance(holder, cst.Call) else ""
        return name in {
            "json.load",
            "json.dump",
            "yaml.safe_load",
            "yaml.safe_dump",
            "pickle.load",
            "pickle.dump",
            "print",
            "len",
            "list",
        }
    return False


def _below(node: cst.CSTNode) -> set[cst.CSTNode]:
    found: set[cst.CSTNode] = set()
    todo = [node]
    while todo:
        item = todo.pop()
        found.add(item)
        todo += item.children
    return found


def _leaves_early(inner: Sequence[cst.CSTNode]) -> bool:
    return any(isinstance(node, cst.Yield | cst.Await) for part in inner for node in _below(part))


RECIPES: Final = (
    Recipe(
        name="with-open",
        tools=frozenset({"pylint"}),
        rules=frozenset({"R1732"}),
        apply=use_with,
        check="Check_Pylint",
        natures=frozenset({Nature.CODE}),
    ),
)
