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
"""YAML registration of operators: the right file, the renamed class, the entry of a new class; or what to do by hand.

A finding may come from a review rule (which names the YAML or the Python file) or from a log (which names only the
operator). ``find`` turns each into the YAML file and the pair of class and module, under which ``Check_Op_Yaml`` shows
the same problem.
"""

from __future__ import annotations

import ast
import dataclasses
import difflib
import re
from typing import Final

from bot.gate.finding import Finding
from bot.repair.guard_paths import is_test
from bot.repair.op_entry_edits import appended, put_file, replace_scalars
from bot.repair.op_registry import (
    CLASS_KEY,
    FILE_KEY,
    SUFFIX,
    WITHOUT_CLASS,
    WITHOUT_YAML,
    Entry,
    OpFile,
    Ops,
    Problem,
    family,
    names_of,
    ops_directory,
    problems,
    read_entries,
)
from bot.repair.reason import Reason, because
from bot.repair.recipes.base import Edit, Nature, Recipe, Scene, Tree
from bot.repair.recipes.text import Source, decode

LOG_TOOL: Final = "op_yaml"
_TELLING: Final = 80  # characters of a class from which on its text tells which operator it is, whatever its name
_ALIKE: Final = 0.6  # of the text of two classes, their names aside; below it a new class is not an old one renamed


def ops_of(directory: str, tree: Tree) -> Ops:
    """The operator directory as git has it."""
    modules = tuple(
        path.rpartition("/")[2].removesuffix(".py")
        for path in tree.grep("class")
        if path.endswith(".py") and path.rpartition("/")[0] == directory
    )
    yamls = tuple(path for path in tree.grep(CLASS_KEY) if ops_directory(path) == directory)
    return Ops(directory, modules, yamls, tree.read)


def find(finding: Finding, pr_files: tuple[str, ...], tree: Tree) -> Finding | Reason:
    """The finding with the YAML file that has to change, and with the pair it is about as its function."""
    if finding.tool == LOG_TOOL:
        found = _by_operator(finding, tree)
    elif finding.file.endswith(".py"):
        found = _by_class(finding, tree)
    else:
        found = _by_line(finding, tree)
    if isinstance(found, Reason):
        return found
    path, problem = found
    if path not in pr_files:
        return _outside(path, problem, tree)
    return dataclasses.replace(
        finding, file=path, line=problem.line, rule=problem.rule, function=problem.symbol, message=problem.symbol
    )


def _read(path: str, tree: Tree) -> OpFile | None:
    try:
        return read_entries((tree.read(path) or b"").decode("utf-8").removeprefix("\ufeff"))
    except ValueError:
        return None


def _problems(path: str, ops: Ops, tree: Tree) -> list[Problem]:
    file = _read(path, tree)
    return problems(path, file, ops) if file else []


def _by_operator(finding: Finding, tree: Tree) -> tuple[str, Problem] | Reason:
    paths = [path for path in tree.grep(CLASS_KEY) if ops_directory(path)]
    directories = {directory: ops_of(directory, tree) for directory in {ops_directory(path) for path in paths}}
    told = finding.function  # an operator; a class or a module where only Python itself spoke
    found = [
        (path, one)
        for path in paths
        for one in _problems(path, directories[ops_directory(path)], tree)
        if one.rule == WITHOUT_CLASS and told in {*one.entries, one.kind, one.module}
    ]
    if len(found) == 1:
        return found[0]
    return because("not-reproduced", check="Check_Op_Yaml") if not found else _several(finding, found)


def _by_line(finding: Finding, tree: Tree) -> tuple[str, Problem] | Reason:
    ops = ops_of(ops_directory(finding.file), tree)
    told = _problems(finding.file, ops, tree)
    mine = [one for one in told if one.rule == WITHOUT_CLASS and one.kind == finding.function]
    if len(mine) > 1:
        mine = [one for one in mine if one.line == finding.line]
    return (finding.file, mine[0]) if mine else because("not-reproduced", check="Check_Op_Yaml")


def _by_class(finding: Finding, tree: Tree) -> tuple[str, Problem] | Reason:
    """The YAML of a Python file's class: one that still names a class that is gone, or the one of its family."""
    directory, _, name = finding.file.rpartition("/")
    module, ops = name.removesuffix(".py"), ops_of(directory, tree)
    gone = finding.function not in (names.classes if (names := ops.names(module)) else ())
    found = []
    for path in ops.yamls:
        for one in _problems(path, ops, tree):
            same = one.kind == finding.function and one.module == module
            if same and one.rule == (WITHOUT_CLASS if gone else WITHOUT_YAML):
                found.append((path, one))
    if len(found) == 1:
        return found[0]
    if not found and not gone and finding.function in ops.unregistered(module):
        why = f"no YAML file names {module} or is called {module.removeprefix('parallel_')}.yaml; make one"
        return because("op-yaml-by-hand", file=f"{directory}/yaml", why=why)
    return because("not-reproduced", check="Check_Op_Yaml") if not found else _several(finding, found)


def _several(finding: Finding, found: list[tuple[str, Problem]]) -> Reason:
    paths = ", ".join(path for path, _ in found)
    return because("op-yaml-by-hand", file=paths, why=f"{finding.function} could belong to more than one of them")


def _outside(path: str, problem: Problem, tree: Tree) -> Reason:
    """The file is not the pull request's: say what to write there, where that is certain."""
    source = decode(tree.read(path) or b"", path)
    if isinstance(source, Reason):
        return source
    done = _mend(path, source, problem, tree)
    return done if isinstance(done, Reason) else because("op-yaml-outside", file=path, what=done[1])


def pair_yaml(content: bytes, finding: Finding, scene: Scene) -> Edit | Reason:
    """Correct the file, the class, or append the entry; only the lines that name them change."""
    source = decode(content, scene.path)
    if isinstance(source, Reason):
        return source
    file = read_entries(source.text)
    ops = ops_of(ops_directory(scene.path), scene.tree)
    mine = [
        one for one in problems(scene.path, file, ops) if (one.rule, one.symbol) == (finding.rule, finding.function)
    ]
    if len(mine) != 1:
        return because("not-found-here", line=str(finding.line), what=finding.function.partition("@")[0])
    done = _mend(scene.path, source, mine[0], scene.tree)
    return done if isinstance(done, Reason) else Edit(source.encode(done[0]), Nature.OP_ENTRY)


def _mend(path: str, source: Source, problem: Problem, tree: Tree) -> tuple[str, str] | Reason:
    """The new text, and what was done in words."""
    file = read_entries(source.text)
    ops = ops_of(ops_directory(path), tree)
    try:
        if problem.rule == WITHOUT_YAML:
            return _register(path, file, problem, ops, tree, source.newline)
        mine = [entry for entry in file.entries if entry.name in problem.entries]
        if any(entry.shared for entry in mine) or (file.default and file.default.shared):
            raise ValueError("anchors or merge keys tie its entries together")
        holders = ops.holders(problem.kind)
        if len(holders) == 1:
            return _move(file, mine, holders[0], source.newline), f"{FILE_KEY}: {holders[0]}"
        if holders:
            raise ValueError(f"{problem.kind} is defined in {', '.join(sorted(holders))}")
        name = _renamed(problem, ops, tree)
        scalars = [scalar for entry in mine if (scalar := file.scalar(entry, CLASS_KEY)) is not None]
        if file.default and any(scalar is file.default.own.get(CLASS_KEY) for scalar in scalars):
            heirs = {entry.name for entry in file.entries if CLASS_KEY not in entry.own}
            if not heirs <= set(problem.entries):
                raise ValueError("the default's class also counts for entries of other files")
        return replace_scalars(file.text, scalars, name), f"{CLASS_KEY}: {name}"
    except ValueError as error:
        return because("op-yaml-by-hand", file=path, why=str(error))


def _move(file: OpFile, mine: list[Entry], module: str, newline: str) -> str:
    """Name the module that has the class: where the file is named now, or in the entry itself."""
    own = [entry for entry in mine if FILE_KEY in entry.own]
    heirs = [entry for entry in mine if FILE_KEY not in entry.own]
    scalars = [entry.own[FILE_KEY] for entry in own]
    default = file.default.own.get(FILE_KEY) if file.default else None
    everyone = {entry.name for entry in file.entries if FILE_KEY not in entry.own}
    if default is not None and heirs and everyone == {entry.name for entry in heirs}:
        return replace_scalars(file.text, [*scalars, default], module)
    if heirs and scalars:
        raise ValueError("some of its entries name a file and some do not")
    return put_file(file.text, heirs, module, newline) if heirs else replace_scalars(file.text, scalars, module)


def _renamed(problem: Problem, ops: Ops, tree: Tree) -> str:
    """The new name of a class that is gone from its module.

    Raises:
        ValueError: It is not certain that one class is the other.
    """
    base = tree.read_base(f"{ops.directory}/{problem.module}.py") if problem.module.isidentifier() else None
    before = names_of(base) if base is not None else None
    old = before.classes.get(problem.kind) if before else None
    if before is None or old is None:
        raise ValueError(
            f"neither an operator file nor the target branch defines {problem.kind}; add the class or correct the name"
        )
    new = ops.unregistered(problem.module)
    names = ops.names(problem.module)
    if len(new) != 1 or names is None:
        raise ValueError(
            f"{problem.kind} is gone from {problem.module}, and its new name is not certain ({', '.join(new) or '-'})"
        )
    if new[0] in before.classes or not _same_operator(old, names.classes[new[0]]):
        raise ValueError(f"{new[0]} does not look like {problem.kind} renamed; it may be another operator")
    return new[0]


def _same_operator(old: ast.ClassDef, new: ast.ClassDef) -> bool:
    bodies = _body(old), _body(new)
    names = [node.name.removesuffix(SUFFIX).lower() for node in (old, new)]
    telling = min(map(len, bodies)) >= _TELLING or _ratio(*names) >= _ALIKE
    return telling and _ratio(*bodies) >= _ALIKE


def _ratio(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, False).ratio()


def _body(node: ast.ClassDef) -> str:
    return ast.unparse(ast.Module(body=node.body, type_ignores=[])).replace(node.name, "")[:5_000]


def _register(
    path: str, file: OpFile, problem: Problem, ops: Ops, tree: Tree, newline: str
) -> tuple[str, str] | Reason:
    base = tree.read_base(f"{ops.directory}/{problem.module}.py")
    if base is not None and problem.kind in names_of(base).bound:
        raise ValueError(f"{problem.kind} was there before without an entry, which may be meant so")
    others = [name for name in ops.yamls if name != path and _is_family(name, problem.module, tree)]
    if others:
        raise ValueError(f"{problem.module} has entries in {', '.join(others)} too")
    name = _operator_name(problem, ops, tree)
    for other in {*ops.yamls, path}:
        known = file if other == path else _read(other, tree)
        if known is None or any(entry.name == name for entry in known.entries):
            raise ValueError(f"the name {name} is registered in {other} already, or that file cannot be read")
    text, entry = appended(file, name, problem.kind, problem.module, newline)
    return text, entry.strip()


def _is_family(path: str, module: str, tree: Tree) -> bool:
    file = _read(path, tree)
    return file is None or module in family(path, file)


def _operator_name(problem: Problem, ops: Ops, tree: Tree) -> str:
    """The operator's name, as the pull request's own tests construct it, or as class and file agree on it.

    Raises:
        ValueError: It is not certain, or the class wants options that only a person knows.
    """
    names = ops.names(problem.module)
    node = names.classes[problem.kind] if names else None
    if node is None or _wants_options(node):
        raise ValueError(f"{problem.kind} reads options that its entry must give")
    stem = problem.kind.removesuffix(SUFFIX)
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem).lower()
    tests = [path for path in tree.grep(problem.kind) if path.endswith(".py") and is_test(path)]
    literal = {name for path in tests for name in _constructed(tree.read(path) or b"", problem.kind)}
    if len(literal) > 1:
        raise ValueError(
            f"the tests construct {problem.kind} under several names ({', '.join(sorted(literal))}); add the entries"
        )
    if literal:
        name = literal.pop()
        # A test may use any word; one that does not begin as the class does is no name to rely on.
        if re.fullmatch(r"[A-Za-z_]\w*", name) and _plain(name).startswith(_plain(stem)):
            return name
        raise ValueError(
            f"the tests construct {problem.kind} as {name!r}, which does not look like its operator; add the entry"
        )
    if problem.module == f"parallel_{snake}":
        return snake
    raise ValueError(
        f"neither its tests nor the name of {problem.module}.py tell the operator of {problem.kind}; add the entry"
    )


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _wants_options(node: ast.ClassDef) -> bool:
    return any(
        isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Attribute) and inner.value.attr == "options"
        for inner in ast.walk(node)
    )


def _constructed(content: bytes, kind: str) -> set[str]:
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    return {
        str(node.args[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] == kind
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    }


RECIPES: Final = (
    Recipe(
        name="op-yaml",
        tools=frozenset({"rules", LOG_TOOL}),
        rules=frozenset({WITHOUT_CLASS, WITHOUT_YAML}),
        apply=pair_yaml,
        check="Check_Op_Yaml",
        natures=frozenset({Nature.OP_ENTRY}),
        find=find,
    ),
)
