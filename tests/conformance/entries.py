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
"""The OpInfo data base of ``torch.testing``, made even or left as it is, and its samples as trees of tensors."""

from __future__ import annotations

import itertools
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

_DEFAULT_SIZES = {"L": 20, "M": 10, "S": 5, "XS": 3}
_EVEN_SIZES = {"L": 24, "M": 12, "S": 4, "XS": 2}
MAX_SAMPLES = 6
MAX_COMBINATIONS = 40

_UNINITIALISED = frozenset({"empty_like", "new_empty", "new_empty_strided", "empty", "empty_strided", "empty_permuted"})
"""Their values are whatever lay in memory: nothing to compare with."""


@dataclass(frozen=True)
class EntryName:
    """An OpInfo entry: its name and variant, which together are unique."""

    name: str
    variant: str = ""

    @property
    def full(self) -> str:
        """``name`` or ``name.variant``."""
        return f"{self.name}.{self.variant}" if self.variant else self.name


def set_sizes(kind: str) -> None:
    """Sets the size constants from which OpInfo builds its inputs: ``even`` or ``uneven`` (its own defaults)."""
    _op_db()
    sizes = {"even": _EVEN_SIZES, "uneven": _DEFAULT_SIZES}[kind]
    known = {name: {_DEFAULT_SIZES[name], _EVEN_SIZES[name]} for name in sizes}
    for module_name, module in list(sys.modules.items()):
        if not module_name.startswith("torch.testing._internal"):
            continue
        for name, value in sizes.items():
            if getattr(module, name, None) in known[name]:
                setattr(module, name, value)


def _op_db() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    entries: list[Any] = list(op_db)
    return entries


def all_entries() -> list[EntryName]:
    """Every entry that has CPU float32 and a value to compare with, in the data base's order."""
    return [
        EntryName(op.name, op.variant_test_name)
        for op in _op_db()
        if torch.float32 in op.supported_dtypes("cpu") and op.name not in _UNINITIALISED
    ]


def find(entry: EntryName) -> Any:
    """The OpInfo object of an entry."""
    for op in _op_db():
        if op.name == entry.name and op.variant_test_name == entry.variant:
            return op
    raise KeyError(f"For OpInfo, the entry should be one of the data base, but got {entry.full}.")


@dataclass(frozen=True)
class Sample:
    """One call: positional and keyword arguments with tensors somewhere inside."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def tensors(self) -> list[torch.Tensor]:
        """All tensors, in order of appearance."""
        found: list[torch.Tensor] = []
        map_tensors((self.args, self.kwargs), lambda tensor: found.append(tensor) or tensor)  # type: ignore[func-returns-value]
        return found

    def mapped(self, change: Callable[[torch.Tensor], Any]) -> Sample:
        """The same call with every tensor replaced, in order."""
        args, kwargs = map_tensors((self.args, self.kwargs), change)
        return Sample(args, kwargs)


def map_tensors(tree: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """Replaces every tensor inside tuples, lists, named tuples and dictionaries."""
    if isinstance(tree, torch.Tensor):
        return change(tree)
    if isinstance(tree, tuple):
        parts = [map_tensors(part, change) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    if isinstance(tree, list):
        return [map_tensors(part, change) for part in tree]
    if isinstance(tree, dict):
        return {key: map_tensors(part, change) for key, part in tree.items()}
    return tree


def samples(op: Any) -> Iterator[Sample]:
    """The first few samples of an entry for CPU float32."""
    torch.manual_seed(0)
    random.seed(0)
    found = iter(op.sample_inputs("cpu", torch.float32, requires_grad=False))
    for _ in range(MAX_SAMPLES):
        try:
            sample = next(found)
        except (
            StopIteration,
            IndexError,
        ):  # some generators mix the size constants with literals and trip over even ones
            return
        yield Sample((sample.input, *sample.args), dict(sample.kwargs))


def combinations(
    tensors: Sequence[torch.Tensor],
    mesh_ndim: int,
    *,
    seed: int,
    partial: bool = False,
    limit: int = MAX_COMBINATIONS,
) -> list[tuple[tuple[str, ...], ...]]:
    """Placements to try: one tuple of words (a word per mesh axis) for every tensor.

    All of them where there are at most ``limit``; otherwise all-replicated and a seeded draw of the rest. With
    ``partial``, floating tensors also come as pending sums, and combinations without any are left out.
    """
    options = []
    for tensor in tensors:
        words = ["R"] + [f"S{dim}" for dim, size in enumerate(tensor.shape) if size >= 2]
        if partial and tensor.is_floating_point():
            words.append("P")
        options.append(list(itertools.product(words, repeat=mesh_ndim)))
    total = 1
    for option in options:
        total *= len(option)
    if total <= limit:
        return [words for words in itertools.product(*options) if not partial or _pending(words)]
    draw = random.Random(seed)
    chosen = {tuple(("R",) * mesh_ndim for _ in tensors): None}
    while len(chosen) < limit:
        chosen[tuple(draw.choice(option) for option in options)] = None
    return [words for words in chosen if not partial or _pending(words)]


def _pending(words: Sequence[Sequence[str]]) -> bool:
    return any("P" in axes for axes in words)
