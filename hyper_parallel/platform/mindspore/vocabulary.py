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
"""From MindSpore's primitives to the names and parameters that the rule book uses.

`hyper_parallel/ops/yaml/mindspore/primitives.yaml` has one line per primitive, e.g.

    SumExt: sum(input, dim, keepdim, *, dtype)

Positional arguments get these names in this order; those after `*` are handed on as keywords. `name=@attribute` is read
from an old-style primitive's attributes, `name=!value` is always that value. Names with a leading `~` are left out,
those with a leading `-` too unless they are true, for which there are no words. `=> first of 3` says that the
primitive returns three results, of which callers use the first. Values are translated too: a dtype's number into the
dtype, the number of a loss's reduction into its word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mindspore import Tensor
from mindspore import int32 as ms_int32
from mindspore._c_expression import typing as ms_typing

_FILE = Path(__file__).parents[2] / "ops" / "yaml" / "mindspore" / "primitives.yaml"
_SYNONYMS = {"axis": "dim", "keep_dims": "keepdim", "keepdims": "keepdim", "self": "input", "x": "input", "y": "other"}
_REDUCTIONS = {0: "sum", 1: "mean", 2: "none"}


@dataclass(frozen=True)
class Entry:
    """One line of the file."""

    name: str
    positional: tuple[str, ...]
    keyword: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]
    results: int = 1
    constants: tuple[tuple[str, Any], ...] = ()

    def translate(
        self, primitive: Any, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]] | None:
        """(args, kwargs) in the rule book's words; None where they do not fit."""
        if len(args) > 1 and len(self.positional) == 2 and self.positional[1].startswith("*"):
            args = (args[0], _flat(args[1:]))
        names = [n.removeprefix("*") for n in self.positional] + list(self.keyword)
        if len(args) > len(names):
            return None
        given = dict(zip(names, args, strict=False))
        for key, value in kwargs.items():
            key = key if key in names else _SYNONYMS.get(key, key)
            if key in given or key not in names:
                return None
            given[key] = value
        for name, attribute in self.attributes:
            given[name] = getattr(primitive, attribute)
        given.update(self.constants)
        if any(name.startswith("-") and value for name, value in given.items()):
            return None
        given = {name: _value(name, value) for name, value in given.items()}
        front: list[Any] = []
        for name in names[: len(self.positional)]:
            if name not in given:
                break
            front.append(given.pop(name))
        kept = {n: v for n, v in given.items() if n[0] not in "-~" and not (v is None and n in {"dtype", "generator"})}
        return tuple(front), kept


def _flat(values: Sequence[Any]) -> tuple[Any, ...]:
    if len(values) == 1 and isinstance(values[0], list | tuple):
        return tuple(values[0])
    return tuple(values)


def _value(name: str, value: Any) -> Any:
    if name == "dtype" and isinstance(value, int) and not isinstance(value, bool):
        return ms_typing.type_id_to_type(value)
    if name == "out_int32" and not isinstance(value, bool):
        return _value("dtype", value) == ms_int32
    if name == "reduction" and isinstance(value, int):
        return _REDUCTIONS.get(value, value)
    if isinstance(value, list) and not any(isinstance(v, Tensor) for v in value):
        return tuple(value)
    return value


@cache
def entries() -> dict[str, Entry]:
    """All entries by primitive."""
    import yaml

    lines = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return {str(primitive): parse(str(text)) for primitive, text in lines.items()}


@cache
def simple() -> dict[str, tuple[str, int]]:
    """Primitives of at most two positional parameters that need no translation: (name, parameters)."""
    found = {}
    for primitive, entry in entries().items():
        names = entry.positional
        special = entry.name.endswith("_") or entry.attributes or entry.constants or entry.results > 1
        if not special and len(names) in (1, 2) and "dtype" not in names and not any(n.startswith("*") for n in names):
            found[primitive] = (entry.name, len(names))
    return found


def parse(text: str) -> Entry:
    """Read `name(parameters)`, with `=> first of N` where the primitive returns more."""
    text, _, more = text.partition(" => ")
    name, _, rest = text.rstrip(")").partition("(")
    positional: list[str] = []
    keyword: list[str] = []
    attributes: list[tuple[str, str]] = []
    constants: list[tuple[str, Any]] = []
    into = positional
    for part in (p.strip() for p in rest.split(",")):
        if part == "*":
            into = keyword
        elif "=@" in part:
            key, _, attribute = part.partition("=@")
            attributes.append((key, attribute))
        elif "=!" in part:
            key, _, value = part.partition("=!")
            constants.append((key, {"true": True, "false": False}[value]))
        elif part:
            into.append(part)
    results = int(more.split()[-1]) if more else 1
    return Entry(name, tuple(positional), tuple(keyword), tuple(attributes), results, tuple(constants))
