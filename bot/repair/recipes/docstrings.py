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
"""pylint C0114, C0115, C0116: a one-line docstring made of the name and what the code plainly does."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath
from typing import Final

from bot.gate.finding import Finding
from bot.repair.checks.dt_design import FIELDS
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene
from bot.repair.recipes.describe import describe
from bot.repair.recipes.text import Source, decode_python, split_lines

_WIDTH: Final = 96
_SPECIAL: Final = {
    "__init__": "Initialize the object",
    "__repr__": "Return the text for debugging",
    "__str__": "Return the text form",
    "__len__": "Return the number of items",
    "__iter__": "Iterate over the items",
    "__next__": "Return the next item",
    "__enter__": "Enter the context",
    "__exit__": "Leave the context",
    "__call__": "Call the object",
    "__eq__": "Compare for equality",
    "__hash__": "Return the hash",
    "__contains__": "Tell whether the item is contained",
    "__getitem__": "Return the item of a key",
    "__setitem__": "Set the item of a key",
    "__delitem__": "Delete the item of a key",
    "__bool__": "Return the truth value",
    "__getattr__": "Return an attribute that is not found otherwise",
    "setUp": "Prepare each test",
    "tearDown": "Clean up after each test",
    "main": "Run the program",
    "forward": "Compute the output",
    "construct": "Compute the output",
    "backward": "Compute the gradients",
}
_ASKS: Final = ("is", "has", "can", "should", "needs", "supports")
_VERBS: Final = frozenset(
    """
    add apply ask assert broadcast build calculate call cast check clear clone close collect combine compare compile
    compute concat configure connect convert copy count create decode delete deserialize detach disable dispatch
    dump emit enable encode ensure estimate evaluate export extract fetch fill filter find finish flatten format
    free gather generate get group handle import infer init initialize insert install invoke join launch list load
    lock log lookup make map mark match measure merge move normalize notify open pack pad parse permute plan pop
    prepare print process profile prune push put query raise read rebuild receive record redistribute reduce refresh
    register release reload remove rename render repeat replace report request reset reshape resize resolve restore
    retry return reverse rotate run sample save scale scan scatter schedule search select send serialize set setup
    shard shift shuffle show skip sort split squeeze stack start stop store sum switch sync synchronize tell test
    track train transfer transform transpose try unlock unpack update use validate verify view visit wait warn wrap
    write
    """.split()  # noqa: SIM905 - a plain list of words reads better than 150 quoted ones
)

Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def add_docstring(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Put a docstring below the ``def`` or ``class`` on the finding's line."""
    source = decode_python(content, scene.path)
    if isinstance(source, Reason):
        return source
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError) as error:
        return because("unreadable", file=scene.path, why=str(error))
    nodes = [
        node for node in ast.walk(tree) if isinstance(node, Documented) and _names_line(node, source, finding.line)
    ]
    if len(nodes) != 1 or ast.get_docstring(nodes[0]) is not None:
        return because("not-found-here", line=str(finding.line), what="a def or class without docstring")
    node = nodes[0]
    lines = source.lines()
    first = node.body[0]
    row = min([first.lineno, *(item.lineno for item in getattr(first, "decorator_list", []))])
    pad = lines[row - 1][: first.col_offset]
    if pad.strip():
        return because("unsafe", why="the body stands on the line of its header")
    header = _header_end(lines, node, row)
    text = _rows(node, pad, scene.path)
    new = "".join(lines[:header]) + "".join(f"{line}{source.newline}" for line in text) + "".join(lines[header:])
    return Edit(source.encode(new), Nature.DOCSTRING, (header, header + 1))


def _names_line(node: Documented, source: Source, line: int) -> bool:
    if node.lineno == line:
        return True
    # Some reports name the first decorator.
    return any(item.lineno == line for item in node.decorator_list)


def _header_end(lines: list[str], node: Documented, body_row: int) -> int:
    """Count of lines up to and with the header's colon; comments and blanks below belong to the body."""
    at = body_row - 1
    while at > node.lineno and (not lines[at - 1].strip() or lines[at - 1].lstrip().startswith("#")):
        at -= 1
    return at


def _rows(node: Documented, pad: str, path: str) -> list[str]:
    if not isinstance(node, ast.ClassDef) and node.name.startswith("test_"):
        fields = describe(node)
        return [f'{pad}"""', *(f"{pad}{field}: {fields[field]}" for field in FIELDS), f'{pad}"""']
    text = class_text(node.name) if isinstance(node, ast.ClassDef) else function_text(node)
    return [f'{pad}"""{text}"""']


def words_of(name: str) -> list[str]:
    """``DeviceMesh`` and ``_device_mesh`` to ``device mesh``; runs of capitals stay."""
    parts = []
    for part in name.strip("_").split("_"):
        parts += re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+", part) or ([part] if part else [])
    return [part if len(part) > 1 and part.isupper() else part.lower() for part in parts]


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    while len(text) > _WIDTH - 8 and " " in text:
        text = text.rpartition(" ")[0]
    return f"{text[: _WIDTH - 8]}."


def class_text(name: str) -> str:
    """``DeviceMesh`` to ``Device mesh.``."""
    words = words_of(name)
    if words and words[0] == "test":
        return _sentence(f"Tests of {' '.join(words[1:])}" if len(words) > 1 else "Tests")
    if words and words[-1] in {"error", "exception"} and len(words) > 1:
        return _sentence(f"Raised for: {' '.join(words[:-1])}")
    return _sentence(" ".join(words) or name)


def function_text(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """``build_mesh`` to ``Build mesh.``; names without a verb say what is returned, if something is."""
    if node.name in _SPECIAL:
        return _sentence(_SPECIAL[node.name])
    words = words_of(node.name)
    if not words:
        return _sentence(node.name)
    decorators = {ast.unparse(item) for item in node.decorator_list}
    if words[0] in _ASKS and len(words) > 1:
        return _sentence(f"Return whether it {' '.join(words)}")
    if words[0] in _VERBS and not decorators & {"property", "cached_property", "functools.cached_property"}:
        return _sentence(" ".join(words))
    if node.name.startswith("__") and node.name.endswith("__"):
        return _sentence(f"Implement {' '.join(words)}")
    if _returns_value(node):
        return _sentence(f"Return {' '.join(words)}")
    return _sentence(f"Handle {' '.join(words)}")


def _returns_value(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    todo: list[ast.AST] = list(node.body)
    while todo:
        item = todo.pop()
        if isinstance(item, ast.Return) and item.value is not None:
            return True
        if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            todo += ast.iter_child_nodes(item)
    return False


def add_module_docstring(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Put a module docstring below the header comments."""
    source = decode_python(content, scene.path)
    if isinstance(source, Reason):
        return source
    lines = split_lines(source.text)
    at = 0
    while at < len(lines) and lines[at].startswith("#"):
        at += 1
    stem = PurePosixPath(scene.path).stem
    name = PurePosixPath(scene.path).parent.name if stem == "__init__" else stem
    text = f'"""{class_text(name)}"""{source.newline}'
    if at == len(lines) and lines and not lines[-1].endswith(("\n", "\r")):
        return because("unsafe", why="the last comment has no line end")
    new = "".join(lines[:at]) + text + "".join(lines[at:])
    return Edit(source.encode(new), Nature.DOCSTRING, (max(at, 1), at + 1))


RECIPES: Final = (
    Recipe(
        name="missing-docstring",
        tools=frozenset({"pylint"}),
        rules=frozenset({"C0115", "C0116"}),
        apply=add_docstring,
        check="Check_Pylint",
        natures=frozenset({Nature.DOCSTRING}),
    ),
    Recipe(
        name="missing-module-docstring",
        tools=frozenset({"pylint"}),
        rules=frozenset({"C0114"}),
        apply=add_module_docstring,
        check="Check_Pylint",
        natures=frozenset({Nature.DOCSTRING}),
        whole_file=True,
    ),
)
