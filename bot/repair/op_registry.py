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
"""Operator registration as data: what YAML entries name and what the operator files define. Nothing is imported.

An operator directory holds ``parallel_<name>.py`` and ``yaml/**/*.yaml``. An entry names a class
(``distributed_op_class``) and the module that defines it (``distributed_op_file``); ``__default__`` fills in for the
entries of its file. Files of another form (plain texts as values) have no entries.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import yaml

CLASS_KEY: Final = "distributed_op_class"
FILE_KEY: Final = "distributed_op_file"
LABEL_KEY: Final = "dist_op_name"
DEFAULT: Final = "__default__"
SUFFIX: Final = "DistributedOp"
WITHOUT_CLASS: Final = "op-yaml-without-class"
WITHOUT_YAML: Final = "op-class-without-yaml"
_ELSEWHERE: Final = "distributed_op_module"  # an older key: the class lies outside of the operator directory
_PLACE: Final = re.compile(r"(?P<ops>(?:.*/)?ops)/yaml/(?:.*/)?[^/]+\.yaml")
_LONGEST: Final = 300_000  # characters of one file; the readers are slow, and a pull request may bring any file
_STRING: Final = "tag:yaml.org,2002:str"
_NULL: Final = "tag:yaml.org,2002:null"

Read = Callable[[str], bytes | None]


def ops_directory(path: str) -> str:
    """The operator directory that a YAML file belongs to; empty for other files."""
    found = _PLACE.fullmatch(path)
    return found["ops"] if found else ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One operator of a YAML file, or its ``__default__`` block.

    Attributes:
        name: Operator name.
        line: 1-based line of the name.
        own: The scalars that stand in the entry itself, by key.
        keys: The keys of the entry, in its order.
        node: The mapping, ``None`` for an empty entry.
        shared: Whether anchors or merge keys make parts of it belong to other entries too.
    """

    name: str
    line: int
    own: Mapping[str, yaml.ScalarNode]
    keys: tuple[str, ...] = ()
    node: yaml.MappingNode | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True)
class OpFile:
    """One YAML file of registrations."""

    text: str
    entries: tuple[Entry, ...]
    default: Entry | None
    aliased: bool = False

    def scalar(self, entry: Entry, key: str) -> yaml.ScalarNode | None:
        """What counts for an entry: its own value, else the default's."""
        return entry.own.get(key) or (self.default.own.get(key) if self.default else None)

    def value(self, entry: Entry, key: str) -> str:
        """The text of ``scalar``; empty when there is none."""
        found = self.scalar(entry, key)
        return str(found.value) if found is not None else ""


def read_entries(text: str) -> OpFile:
    """The entries of a YAML text.

    Raises:
        ValueError: It is no YAML, is too long, or a name occurs twice.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"more than {_LONGEST} characters")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        aliased = any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error).partition("\n")[0]) from error
    if not isinstance(root, yaml.MappingNode):
        return OpFile(text, (), None, aliased)
    found: dict[str, Entry] = {}
    for key, value in root.value:
        name = str(key.value)
        if name in found:
            raise ValueError(f"the name {name} occurs twice")
        if isinstance(value, yaml.MappingNode):
            found[name] = _entry(key, value, aliased)
        elif value.tag == _NULL:
            found[name] = Entry(name, key.start_mark.line + 1, {})
    default = found.pop(DEFAULT, None)
    return OpFile(text, tuple(found.values()), default, aliased)


def _entry(key: yaml.Node, value: yaml.MappingNode, aliased: bool) -> Entry:
    keys = tuple(str(part.value) for part, _ in value.value)
    own = {
        str(part.value): scalar
        for part, scalar in value.value
        if isinstance(scalar, yaml.ScalarNode) and scalar.tag == _STRING
    }
    return Entry(str(key.value), key.start_mark.line + 1, own, keys, value, aliased or "<<" in keys)


@dataclass(frozen=True, slots=True)
class Names:
    """What a module binds: its own classes, all names, and whether it may bind more than can be seen."""

    classes: Mapping[str, ast.ClassDef]
    bound: frozenset[str]
    open: bool = False

    def has(self, name: str) -> bool:
        """Whether the name is, or may be, an attribute of the module."""
        return self.open or name in self.bound

    def operators(self) -> list[str]:
        """Classes that a YAML may register: by their ending, not private, not a base of another class here."""
        bases = {base.rpartition(".")[2] for node in self.classes.values() for base in map(ast.unparse, node.bases)}
        return [name for name in self.classes if name.endswith(SUFFIX) and name[0] != "_" and name not in bases]


def names_of(content: bytes) -> Names:
    """Module-level names; a module that cannot be parsed, is too long, or fills itself at run time, is ``open``."""
    if len(content) > _LONGEST:
        return Names({}, frozenset(), open=True)
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return Names({}, frozenset(), open=True)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    bound = frozenset(_bound(tree.body))
    return Names(classes, bound, open=bool(bound & {"*", "__getattr__"}))


def _bound(body: Iterable[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.ClassDef):
                yield inner.name
            elif isinstance(inner, ast.Import | ast.ImportFrom):
                yield from (alias.asname or alias.name for alias in inner.names)
            elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id
            elif isinstance(inner, ast.Call) and ast.unparse(inner.func) in {"globals", "setattr"}:
                yield "*"  # names made at run time


@dataclass(frozen=True, slots=True)
class Problem:
    """A pair that does not fit, in one YAML file.

    Attributes:
        rule: ``op-yaml-without-class`` or ``op-class-without-yaml``.
        kind: The class.
        module: The module that should define it, or does; empty when the YAML names none.
        line: 1-based line of the class in the YAML; 0 where it has none.
        entries: Names of the operators that it concerns.
    """

    rule: str
    kind: str
    module: str
    line: int
    entries: tuple[str, ...] = ()

    @property
    def symbol(self) -> str:
        """Its identity within the file."""
        return f"{self.kind}@{self.module}"


@dataclass(frozen=True)
class Ops:
    """One operator directory, as it is while this object lives: what its files say is read once.

    Attributes:
        directory: Its path.
        modules: Names of its modules, without ``.py``.
        yamls: Paths of its YAML files.
        read: Gives the bytes of a file.
    """

    directory: str
    modules: tuple[str, ...]
    yamls: tuple[str, ...]
    read: Read
    _known: dict[str, Names | None] = field(default_factory=dict)

    def names(self, module: str) -> Names | None:
        """What a module binds; ``None`` when there is no such module."""
        if module not in self._known:
            content = self.read(f"{self.directory}/{module}.py") if module.isidentifier() else None
            package = self.read(f"{self.directory}/{module}/__init__.py") if module.isidentifier() else None
            found = names_of(content) if content is not None else None
            self._known[module] = Names({}, frozenset(), open=True) if package is not None else found
        return self._known[module]

    def holders(self, kind: str) -> list[str]:
        """Modules that define the class themselves."""
        return [name for name in self.modules if (found := self.names(name)) and kind in found.classes]

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of every YAML file: what is not among them is certainly not registered."""
        texts = ((self.read(path) or b"").decode("utf-8", "replace") for path in self.yamls)
        return frozenset(word for text in texts for word in re.findall(r"\w+", text))

    @cached_property
    def bases(self) -> frozenset[str]:
        """Names of the classes that others derive from."""
        found = (self.names(name) for name in self.modules)
        nodes = (node for names in found if names for node in names.classes.values())
        return frozenset(ast.unparse(base).rpartition(".")[2] for node in nodes for base in node.bases)

    def unregistered(self, module: str) -> list[str]:
        """Operator classes of a module that no YAML names and no other class derives from."""
        names = self.names(module)
        if names is None:
            return []
        return [kind for kind in names.operators() if kind not in self.words and kind not in self.bases]


def family(path: str, file: OpFile) -> frozenset[str]:
    """Modules that a YAML file is about: of its own name, and those its entries name."""
    stem = path.rpartition("/")[2].removesuffix(".yaml")
    blocks = (*file.entries, *((file.default,) if file.default else ()))
    return frozenset({f"parallel_{stem}", *(file.value(entry, FILE_KEY) for entry in blocks)} - {""})


def problems(path: str, file: OpFile, ops: Ops) -> list[Problem]:
    """What does not fit in one YAML file: entries without their class, classes of its family without an entry."""
    broken: dict[tuple[str, str], list[Entry]] = {}
    for entry in file.entries:
        kind, module = file.value(entry, CLASS_KEY), file.value(entry, FILE_KEY)
        if not kind or _ELSEWHERE in entry.keys or (file.default and _ELSEWHERE in file.default.keys):
            continue
        candidates = (module,) if module else ops.modules
        if not any(names.has(kind) for name in candidates if (names := ops.names(name))):
            broken.setdefault((kind, module), []).append(entry)
    result = []
    for (kind, module), entries in broken.items():
        scalars = (file.scalar(entry, CLASS_KEY) for entry in entries)
        line = min(scalar.start_mark.line + 1 for scalar in scalars if scalar is not None)
        result.append(Problem(WITHOUT_CLASS, kind, module, line, tuple(entry.name for entry in entries)))
    for module in sorted(family(path, file)):
        result += [Problem(WITHOUT_YAML, kind, module, 0) for kind in ops.unregistered(module)]
    return result
