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
"""The words in which rules are guessed: which dims may be cut, what the other inputs do then, and what comes out.

A `Schema` says the same thing about every call of an operator; `predict` tells what it means for one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hyper_parallel.errors import LayoutError
from hyper_parallel.ops.shapes import dims_of
from op_analysis.operators import Trial, same
from op_analysis.shards import Adjustment, Word

Words = tuple[Word, ...]
Guard = tuple[str, Any, bool]
OUT_KINDS = ("same", "right", "drop", "insert", "named", "last", "last2", "swap", "Psum", "Pavg", "Pmax", "Pmin", "R")


@dataclass(frozen=True)
class Domain:
    """Dims of the reference input that one mesh axis may cut.

    kind: `all` · `other` than those named by `param` · `in` those named by `param` · `before`: all but as many last
    ones as `param` has entries · `leading`: all but the last `count` · `front`: the first `count` · `at`: exactly the
    `count`-th from the end · `pending`: none, a reduction is pending.
    """

    kind: str
    param: str = ""
    count: int = 0

    def dims(self, scalars: dict[str, Any], ndim: int) -> list[int] | None:
        """The dims for one call; None where the parameter names none."""
        every = list(range(ndim))
        match self.kind:
            case "all":
                return every
            case "leading":
                return every[: max(0, ndim - self.count)]
            case "front":
                return every[: self.count]
            case "at":
                return [ndim - self.count] if ndim >= self.count else []
            case "before":
                value = scalars.get(self.param)
                return every[: max(0, ndim - len(value))] if isinstance(value, list | tuple) else None
        named = named_dims(scalars.get(self.param), ndim)
        if named is None:
            return None
        return [d for d in every if (d in named) == (self.kind == "in")]


@dataclass(frozen=True)
class OutMap:
    """Placement of an output when dim d of the reference input is cut, or the word itself."""

    kind: str
    param: str = ""

    def word(self, dim: int, ndim: int, out_ndim: int, scalars: dict[str, Any]) -> Word | None:
        """The placement; None where the map means nothing for this call."""
        match self.kind:
            case "same":
                target: int | None = dim
            case "right":
                target = out_ndim - (ndim - dim)
            case "named":
                named = named_dims(scalars.get(self.param), out_ndim)
                target = named[0] if named is not None and len(named) == 1 else None
            case "last" | "last2":
                target = out_ndim - (1 if self.kind == "last" else 2)
            case "swap":
                target = {ndim - 1: ndim - 2, ndim - 2: ndim - 1}.get(dim, dim)
            case "drop":
                named = named_dims(scalars.get(self.param), ndim)
                gone = 0 if named is None or scalars.get("keepdim") else sum(d < dim for d in named)
                target = None if named is None else dim - gone
            case "insert":
                named = named_dims(scalars.get(self.param), ndim + 1)
                target = None if named is None else dim + sum(d <= dim for d in named)
            case _:
                return self.kind
        return f"S{target}" if target is not None and 0 <= target < out_ndim else None


@dataclass(frozen=True)
class Schema:
    """One rule for one mesh axis.

    Attributes:
        ref: the tensor parameter whose dims `domain` ranges over; empty for pending inputs.
        roles: what the other tensor parameters do: `same` dim, `right`-aligned dim, `R`, `last1`, `last2`, or `P…`.
        outs: one map per output; a single one stands for any number.
        guard: (parameter, value, True) that the call must have, or (parameter, value, False) that it must not have.
        empty_ok: whether it also held where a part was empty.
    """

    ref: str
    domain: Domain
    roles: tuple[tuple[str, str], ...]
    outs: tuple[OutMap, ...]
    adjust: Adjustment | None = None
    guard: Guard | None = None
    empty_ok: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for the plan document."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Schema:
        """The inverse of `to_dict`, also after a journey through YAML."""
        return cls(
            ref=data["ref"],
            domain=Domain(**data["domain"]),
            roles=tuple((name, role) for name, role in data["roles"]),
            outs=tuple(OutMap(**out) for out in data["outs"]),
            adjust=Adjustment(**data["adjust"]) if data["adjust"] else None,
            guard=tuple(data["guard"]) if data["guard"] else None,
            empty_ok=data["empty_ok"],
        )

    @property
    def complexity(self) -> tuple[int, ...]:
        """Smaller is preferred where two schemas explain equally much."""
        kinds = ("all", "other", "in", "before", "leading", "front", "at", "pending")
        others = sum(("right", "same", "R").index(r) if r in ("right", "same", "R") else 3 for _, r in self.roles)
        outs = sum(OUT_KINDS.index(out.kind) for out in self.outs)
        return (self.guard is not None, self.adjust is not None, kinds.index(self.domain.kind), others, outs)


@dataclass(frozen=True)
class Prediction:
    """What a schema says about one call: this input placement is allowed; `dim` of the reference input is cut."""

    words: Words
    dim: int
    ndim: int


def named_dims(value: Any, ndim: int) -> tuple[int, ...] | None:
    """Dims that a parameter names, wrapped; None (the value) names all of them; None (the answer): it names none."""
    if isinstance(value, bool | float | str):
        return None
    try:
        return dims_of("analyse", value, ndim)
    except (LayoutError, TypeError):
        return None


def applies(guard: Guard | None, trial: Trial) -> bool:
    """Whether a call is one that the guard lets through."""
    return guard is None or same(trial.params.get(guard[0]), guard[1]) == guard[2]


def predict(trial: Trial, ref: str, domain: Domain, roles: Sequence[tuple[str, str]]) -> Iterator[Prediction]:
    """Input placements that a schema allows for one call, those of dims that two ranks can share."""
    slots = trial.slots()
    tensors = trial.tensors()
    words = ["R"] * len(tensors)
    if domain.kind == "pending":
        for name, role in roles:
            for slot in slots.get(name, ()):
                words[slot] = role
        if any(word != "R" for word in words) and _all_real(tensors, words):
            yield Prediction(tuple(words), -1, 0)
        return
    if ref not in slots:
        return
    shape = tensors[slots[ref][0]].shape
    for dim in domain.dims(trial.scalars(), len(shape)) or []:
        found = _words(tensors, slots, ref, dim, dict(roles))
        if shape[dim] >= 2 and found is not None:
            yield Prediction(found, dim, len(shape))


def _words(tensors: Any, slots: dict[str, list[int]], ref: str, dim: int, roles: dict[str, str]) -> Words | None:
    shape = tensors[slots[ref][0]].shape
    words = ["R"] * len(tensors)
    for name, own in slots.items():
        for slot in own:
            word = place_of(roles.get(name, "same" if name == ref else "R"), dim, shape, tensors[slot].shape)
            if word is None:
                return None
            words[slot] = word
    return tuple(words)


def place_of(role: str, dim: int, ref: Sequence[int], shape: Sequence[int]) -> Word | None:
    """The placement of an input in a role when dim `dim` of the reference shape is cut; None: it cannot take part."""
    if role == "R":
        return "R"
    own = {"same": dim, "right": len(shape) - len(ref) + dim, "last1": len(shape) - 1, "last2": len(shape) - 2}[role]
    if role == "right" and (own < 0 or (shape[own] == 1 and ref[dim] != 1)):
        return "R"
    return f"S{own}" if 0 <= own < len(shape) and shape[own] == ref[dim] else None


def _all_real(tensors: Any, words: Sequence[Word]) -> bool:
    return all(word == "R" or t.is_floating_point() for t, word in zip(tensors, words, strict=True))
