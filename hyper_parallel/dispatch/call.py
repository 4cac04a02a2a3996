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
"""One operator call as rules see it: parameters by name, tensors replaced by slots, layouts beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from hyper_parallel.errors import LayoutError, explain
from hyper_parallel.layout import Layout

Path = tuple[Any, ...]


@dataclass(frozen=True)
class Slot:
    """Stands for the `index`-th tensor of a call, counted through args, then kwargs, lists included."""

    index: int


@dataclass(frozen=True)
class OpCall:
    """What a rule may look at.

    Attributes:
        op: name, for messages.
        layouts: layout of every tensor argument, by slot.
        params: every parameter of the signature by name; tensors are `Slot`s.
    """

    op: str
    layouts: tuple[Layout, ...]
    params: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.params[name]

    def get(self, name: str, default: Any = None) -> Any:
        """A parameter, or `default` when the signature lacks it."""
        return self.params.get(name, default)

    def layout(self, name: str) -> Layout:
        """Layout of the tensor given for a parameter."""
        slot = self.params[name]
        if not isinstance(slot, Slot):
            raise LayoutError(explain(self.op, name, "a tensor", repr(slot)))
        return self.layouts[slot.index]

    def shape(self, name: str = "input") -> tuple[int, ...]:
        """Global shape of the tensor given for a parameter."""
        return self.layout(name).shape

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Global shapes by slot."""
        return [layout.shape for layout in self.layouts]

    def dim(self, name: str, ndim: int) -> int:
        """A dim parameter, wrapped to be non-negative.

        Raises:
            LayoutError: it is no int or out of range.
        """
        return wrap_dim(self.op, self.params[name], ndim)


def wrap_dim(op: str, dim: Any, ndim: int) -> int:
    """`dim` in [0, ndim); for 0-d tensors 0 and -1 are let through as 0."""
    span = max(ndim, 1)
    if isinstance(dim, bool) or not isinstance(dim, int) or not -span <= dim < span:
        raise LayoutError(explain(op, "dim", f"an int in [{-span}, {span})", dim))
    return dim % span


@dataclass(frozen=True)
class Signature:
    """Parsed form of e.g. `"input, dim=None, keepdim=False, *, dtype=None"`; `*shape` collects the rest."""

    names: tuple[str, ...]
    defaults: tuple[Any, ...]
    rest: str | None
    keyword: tuple[tuple[str, Any], ...]

    def bind(self, op: str, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Parameters by name.

        Raises:
            LayoutError: the arguments do not fit (the plain operator is then asked, and tells why).
        """
        bound = dict(zip(self.names, self.defaults, strict=True))
        bound.update(self.keyword)
        given = list(args)
        if self.rest is not None:
            tail = given[len(self.names) :]
            if len(tail) == 1 and isinstance(tail[0], list | tuple):
                tail = list(tail[0])
            bound[self.rest] = tuple(tail)
            given = given[: len(self.names)]
        if len(given) > len(self.names):
            raise LayoutError(explain(op, "positional arguments", f"at most {len(self.names)}", len(given)))
        bound.update(zip(self.names, given, strict=False))
        for name, value in kwargs.items():
            name = _SYNONYMS.get(name, name) if name not in bound else name
            if name not in bound:
                raise LayoutError(explain(op, "keyword arguments", f"among {sorted(bound)}", name))
            bound[name] = value
        for name, value in bound.items():
            if value is REQUIRED:
                raise LayoutError(explain(op, name, "given", "nothing"))
        return bound


REQUIRED = object()
_SYNONYMS = {"self": "input", "axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input"}


@cache
def parse_signature(text: str) -> Signature:
    """Parse a signature; defaults are Python literals."""
    import ast

    tree = ast.parse(f"def f({text}): ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    spec = tree.args
    names = tuple(a.arg for a in spec.args)
    given = tuple(ast.literal_eval(d) for d in spec.defaults)
    keyword = tuple(
        (a.arg, REQUIRED if d is None else ast.literal_eval(d))
        for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    )
    defaults = (REQUIRED,) * (len(names) - len(given)) + given
    return Signature(names, defaults, spec.vararg.arg if spec.vararg else None, keyword)


def find_tensors(
    args: Sequence[Any], kwargs: dict[str, Any], is_tensor: Callable[[Any], bool]
) -> list[tuple[Path, Any]]:
    """(path, tensor) of every tensor in the arguments, depth first; lists, tuples and dicts are searched."""
    found: list[tuple[Path, Any]] = []
    for index, value in enumerate(args):
        found.extend(_walk((index,), value, is_tensor))
    for name, value in kwargs.items():
        found.extend(_walk((name,), value, is_tensor))
    return found


def _walk(path: Path, value: Any, is_tensor: Callable[[Any], bool]) -> Iterator[tuple[Path, Any]]:
    if is_tensor(value):
        yield path, value
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _walk((*path, index), item, is_tensor)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _walk((*path, name), item, is_tensor)


def replace_tensors(value: Any, change: Callable[[Any], Any], is_tensor: Callable[[Any], bool]) -> Any:
    """A copy of nested arguments with every tensor mapped by `change`; what holds no tensor is passed on as it is."""
    if is_tensor(value):
        return change(value)
    if isinstance(value, list | tuple):
        items = [replace_tensors(item, change, is_tensor) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        if isinstance(value, list):
            return items
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {name: replace_tensors(item, change, is_tensor) for name, item in value.items()}
    if isinstance(value, slice):
        ends = [replace_tensors(end, change, is_tensor) for end in (value.start, value.stop, value.step)]
        return slice(*ends)
    return value
