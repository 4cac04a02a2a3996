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
"""Concrete syntax trees with places: what the Python recipes share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

from bot.repair.reason import Reason, because
from bot.repair.recipes.text import Source, decode_python

Node = TypeVar("Node", bound=cst.CSTNode)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A module with the place and the parent of every node."""

    source: Source
    module: cst.Module
    places: dict[cst.CSTNode, CodeRange]
    parents: dict[cst.CSTNode, cst.CSTNode]

    def each(self, kind: type[Node]) -> Iterator[Node]:
        """Nodes of a kind in source order."""
        found = [node for node in self.places if isinstance(node, kind)]
        yield from sorted(found, key=lambda node: (self.places[node].start.line, self.places[node].start.column))

    def on_line(self, kind: type[Node], line: int) -> list[Node]:
        """Nodes of a kind that start on a line, in source order."""
        return [node for node in self.each(kind) if self.places[node].start.line == line]

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """First and last line of a node."""
        place = self.places[node]
        return place.start.line, place.end.line

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Parents from the nearest outwards."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def replace(self, old: cst.CSTNode, new: cst.CSTNode) -> bytes:
        """Bytes of the module with one node replaced; everything else stays as it was written."""
        changed = self.module.deep_replace(old, new)
        assert isinstance(changed, cst.Module)
        return self.source.encode(changed.code)

    def code(self, node: cst.CSTNode) -> str:
        """A node as source text."""
        return self.module.code_for_node(node)


def parse(content: bytes, path: str) -> Parsed | Reason:
    """Parse a Python file, or say why it cannot be edited, such as when it would not be written back as it was."""
    source = decode_python(content, path)
    if isinstance(source, Reason):
        return source
    try:
        wrapper = MetadataWrapper(cst.parse_module(source.text), unsafe_skip_copy=True)
    except (cst.ParserSyntaxError, RecursionError) as error:
        return because("unreadable", file=path, why=str(error).partition("\n")[0])
    if source.encode(wrapper.module.code) != content:
        return because("unreadable", file=path, why="its exact bytes cannot be kept")
    places = wrapper.resolve(PositionProvider)
    parents = wrapper.resolve(ParentNodeProvider)
    return Parsed(
        source,
        wrapper.module,
        {node: place for node, place in places.items() if isinstance(place, CodeRange)},
        dict(parents),
    )


def nearest(parsed: Parsed, nodes: list[Node], column: int) -> list[Node]:
    """Nodes by distance from a reported column (tools count it from 0 or from 1)."""
    return sorted(nodes, key=lambda node: abs(parsed.places[node].start.column - column))
