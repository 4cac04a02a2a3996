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
"""Jenkins' ``tree`` query: which properties of an object are exported, and which part of a list."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(r"\s*([\w$.-]+|\*|[\[\],]|\{[^}]*\})")
_RANGE = re.compile(r"\{(?:(?P<only>\d+)|(?P<low>\d*),(?P<high>\d*))\}")


class TreeSyntaxError(ValueError):
    """The query does not parse; Jenkins answers 400."""


@dataclass(slots=True)
class Node:
    """One requested property: its own children (none: everything below, shallow) and the range of a list."""

    children: dict[str, Node] = field(default_factory=dict)
    low: int = 0
    high: int | None = None


def parse_tree(text: str) -> Node:
    """Parse ``a,b[c,d]{M,N}``. The range is M inclusive, N exclusive; ``{M,}``, ``{,N}`` and ``{N}`` are allowed.

    Raises:
        TreeSyntaxError: The text is not of this grammar.
    """
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise TreeSyntaxError(f"unexpected character at {position} of {text!r}")
        tokens.append(match.group(1))
        position = match.end()
    root = Node()
    rest = _parse_list(tokens, root)
    if rest:
        raise TreeSyntaxError(f"unexpected {rest[0]!r} in {text!r}")
    return root


def apply_tree(value: Any, node: Node) -> Any:
    """The part of a document that a query asks for; ``_class`` always comes along, an object without it stays empty."""
    if isinstance(value, list):
        return [apply_tree(entry, node) for entry in value[node.low : node.high]]
    if not isinstance(value, Mapping):
        return value
    wanted = dict(node.children)
    if (everything := wanted.pop("*", None)) is not None:
        wanted = dict.fromkeys(value, everything) | wanted
    if not wanted:
        return shallow(value)
    chosen = {"_class": value["_class"]} if "_class" in value else {}
    return chosen | {name: apply_tree(value[name], child) for name, child in wanted.items() if name in value}


def shallow(value: Any, depth: int = 1) -> Any:
    """A document without what Jenkins exports only deeper: nested runs shrink to ``_class``, ``number`` and ``url``."""
    if isinstance(value, list):
        return [shallow(entry, depth) for entry in value]
    if not isinstance(value, Mapping):
        return value
    if depth <= 0 and "number" in value and "url" in value:
        return {name: value[name] for name in ("_class", "number", "url") if name in value}
    return {name: shallow(entry, depth - 1) for name, entry in value.items()}


def _parse_list(tokens: list[str], parent: Node) -> list[str]:
    while tokens:
        name, *tokens = tokens
        if not re.fullmatch(r"[\w$.-]+|\*", name):
            raise TreeSyntaxError(f"a name should stand where {name!r} is")
        node = parent.children.setdefault(name, Node())
        if tokens and tokens[0] == "[":
            tokens = _parse_list(tokens[1:], node)
            if not tokens or tokens[0] != "]":
                raise TreeSyntaxError("a bracket is not closed")
            tokens = tokens[1:]
        if tokens and tokens[0].startswith("{"):
            _read_range(tokens[0], node)
            tokens = tokens[1:]
        if not tokens or tokens[0] != ",":
            return tokens
        tokens = tokens[1:]
    return tokens


def _read_range(text: str, node: Node) -> None:
    match = _RANGE.fullmatch(text)
    if match is None:
        raise TreeSyntaxError(f"{text!r} is no range")
    if match["only"]:
        node.low, node.high = int(match["only"]), int(match["only"]) + 1
        return
    node.low = int(match["low"] or 0)
    node.high = int(match["high"]) if match["high"] else None
