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
"""Ranks played in one process: cuts tensors into parts, applies the operator to each, and looks what the parts make up.

A placement is a word, as in the conformance sweep: `R`, `S0` … or a pending reduction `Psum Pavg Pmax Pmin`.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from op_analysis.operators import Operator, Trial

Word = str
RANKS = (2, 3)
PENDING = ("Psum", "Pavg", "Pmax", "Pmin")
_RTOL, _ATOL = 1e-3, 1e-4


@dataclass(frozen=True)
class Adjustment:
    """What the local call has to do differently from the given one.

    kind: `offset` adds `sign` times the part's start in the cut dim to an int parameter; `size` puts the part's length
    in place of the global one in an int parameter (or entry `index` of a tuple); `share` multiplies the result by the
    part's share of the cut dim.
    """

    kind: str
    param: str = ""
    sign: int = 0
    index: int = -1


@dataclass
class Laboratory:
    """Experiments on one operator; every answer is remembered."""

    operator: Operator
    calls: int = 0
    _wants: dict[int, list[Any]] = field(default_factory=dict)
    _known: dict[Any, tuple[frozenset[Word], ...] | None] = field(default_factory=dict)

    def want(self, number: int) -> list[Any]:
        """The outputs of a trial on one device."""
        if number not in self._wants:
            self._wants[number] = leaves(self._run(self.operator.trials[number].params))
        return self._wants[number]

    def outputs(
        self, number: int, words: tuple[Word, ...], adjust: Adjustment | None = None
    ) -> tuple[frozenset[Word], ...] | None:
        """Per output the placements that describe what the parts make up, on any number of ranks; None: a call fails.

        Parts without elements are left to `fits_empty_parts`.
        """
        key = (number, words, adjust)
        if key not in self._known:
            self._known[key] = self._over(
                number, words, adjust, [n for n in RANKS if not self._empty(number, words, n)]
            )
        return self._known[key]

    def fits_empty_parts(self, number: int, words: tuple[Word, ...], outs: Sequence[Word], adjust: Any = None) -> bool:
        """Whether the rule also holds where some rank's part is empty; true where no number of ranks makes one so."""
        ranks = [n for n in RANKS if self._empty(number, words, n)]
        found = self._over(number, words, adjust, ranks) if ranks else None
        return not ranks or (found is not None and all(o in f for o, f in zip(outs, found, strict=True)))

    def random(self) -> bool:
        """Whether the operator draws numbers: then no rule of placements can be found from its values."""
        return any(self._differs(trial.params) for trial in self.operator.trials)

    def _differs(self, params: dict[str, Any]) -> bool:
        one, other = (leaves(self._run(params, seed)) for seed in (1, 2))
        return not all(_equal(a, b) for a, b in zip(one, other, strict=True) if isinstance(a, torch.Tensor))

    def _empty(self, number: int, words: Sequence[Word], ranks: int) -> bool:
        tensors = self.operator.trials[number].tensors()
        return any(
            word[0] == "S" and 0 in chunks(t.shape[int(word[1:])], ranks)
            for word, t in zip(words, tensors, strict=True)
        )

    def _over(
        self, number: int, words: tuple[Word, ...], adjust: Adjustment | None, ranks: Sequence[int]
    ) -> tuple[frozenset[Word], ...] | None:
        found: list[tuple[frozenset[Word], ...]] = []
        for count in ranks:
            parts = self._parts(self.operator.trials[number], words, count, adjust)
            if parts is None:
                return None
            wants = self.want(number)
            if any(len(part) != len(wants) for part in parts):
                return None
            found.append(tuple(describe([p[i] for p in parts], want) for i, want in enumerate(wants)))
        if not found:
            return None
        return tuple(frozenset.intersection(*per_leaf) for per_leaf in zip(*found, strict=True))

    def _parts(
        self, trial: Trial, words: Sequence[Word], count: int, adjust: Adjustment | None
    ) -> list[list[Any]] | None:
        cuts = [cut(t, word, count) for t, word in zip(trial.tensors(), words, strict=True)]
        places = [
            _place(t.shape, word, count) for t, word in zip(trial.tensors(), words, strict=True) if word[0] == "S"
        ]
        found = []
        for rank in range(count):
            params = trial.with_tensors([part[rank] for part in cuts])
            try:
                if adjust is not None:
                    if not places:
                        return None
                    params = adjusted(params, adjust, places[0], rank)
                outs = leaves(self._run(params))
            except Exception:
                return None
            if adjust is not None and adjust.kind == "share":
                _, length, whole = places[0][rank]
                outs = [o * (length / whole) if _real(o) else o for o in outs]
            found.append(outs)
        return found

    def _run(self, params: dict[str, Any], seed: int = 7) -> Any:
        self.calls += 1
        torch.default_generator.manual_seed(seed)  # `torch.manual_seed` also formats a traceback for every device
        random.seed(seed)
        fresh = {name: _copied(value) for name, value in params.items()}
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            return self.operator.call(fresh)


def adjusted(
    params: dict[str, Any], adjust: Adjustment, place: Sequence[tuple[int, int, int]], rank: int
) -> dict[str, Any]:
    """The parameters that a rank's local call gets; `place` holds start, length and whole of the cut dim by rank.

    Raises:
        ValueError: the parameter is not of the kind that can be adjusted so.
    """
    start, length, whole = place[rank]
    if adjust.kind == "share":
        return params
    value = params[adjust.param]
    if adjust.kind == "offset":
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(adjust.param)
        return {**params, adjust.param: value + adjust.sign * start}
    if adjust.index < 0 and type(value) is int and value == whole:
        return {**params, adjust.param: length}
    if isinstance(value, list | tuple) and 0 <= adjust.index < len(value) and value[adjust.index] == whole:
        entries = [*value]
        entries[adjust.index] = length
        return {**params, adjust.param: type(value)(entries)}
    raise ValueError(adjust.param)


def chunks(size: int, ranks: int) -> list[int]:
    """Lengths of the parts of a dim: ceil division, trailing parts may be empty."""
    width = math.ceil(size / ranks)
    return [max(0, min(width, size - rank * width)) for rank in range(ranks)]


def _place(shape: Sequence[int], word: Word, ranks: int) -> list[tuple[int, int, int]]:
    whole = shape[int(word[1:])]
    lengths = chunks(whole, ranks)
    return [(sum(lengths[:rank]), length, whole) for rank, length in enumerate(lengths)]


def cut(tensor: torch.Tensor, word: Word, ranks: int) -> list[torch.Tensor]:
    """Every rank's part of a tensor, or its term of a pending reduction."""
    if word[0] == "S":
        return list(torch.split(tensor, chunks(tensor.shape[int(word[1:])], ranks), int(word[1:])))
    if word == "R":
        return [tensor] * ranks
    draw = torch.Generator().manual_seed(5)
    noise = torch.randn((ranks, *tensor.shape), generator=draw).to(tensor.dtype)
    if word in ("Psum", "Pavg"):
        terms = noise - noise.mean(0, keepdim=True) + (tensor / ranks if word == "Psum" else tensor)
        terms[1:] = torch.where(tensor.isnan(), noise[1:], terms[1:])  # one rank is enough to spoil a sum
        return list(terms)
    owner = torch.randint(ranks, tensor.shape, generator=draw)
    away = noise.abs() * (-1 if word == "Pmax" else 1)
    return [torch.where(owner == rank, tensor, tensor + away[rank]) for rank in range(ranks)]


def describe(parts: Sequence[Any], want: Any) -> frozenset[Word]:
    """The placements under which these parts are `want`; a plain value can only be replicated."""
    if not isinstance(want, torch.Tensor):
        return frozenset({"R"} if all(part == want for part in parts) else ())
    if any(not isinstance(part, torch.Tensor) or part.dtype != want.dtype for part in parts):
        return frozenset()
    found = set()
    if all(part.shape == want.shape for part in parts):
        if all(_equal(part, want) for part in parts):
            found.add("R")
        if want.dtype != torch.bool:
            stacked = torch.stack(list(parts))
            real = _real(want)
            forms = {"Psum": stacked.sum(0).to(want.dtype)}
            if not want.is_complex():
                forms |= {"Pmax": stacked.amax(0), "Pmin": stacked.amin(0)}
            if real:
                forms["Pavg"] = stacked.mean(0)
            found |= {word for word, value in forms.items() if _equal(value, want)}
    for dim in range(want.dim()):
        lengths = chunks(want.shape[dim], len(parts))
        if all(part.dim() == want.dim() and part.shape[dim] == n for part, n in zip(parts, lengths, strict=True)):
            pieces = torch.split(want, lengths, dim)
            if all(part.shape == p.shape and _equal(part, p) for part, p in zip(parts, pieces, strict=True)):
                found.add(f"S{dim}")
    return frozenset(found)


def leaves(value: Any) -> list[Any]:
    """All parts of a nested result, in order."""
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, list | tuple) else [value]


def _real(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.dtype == torch.bool or not _real(one):
        return torch.equal(one, other)
    return torch.allclose(one, other, rtol=_RTOL, atol=_ATOL, equal_nan=True)


def _copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, list | tuple) and value and all(isinstance(v, torch.Tensor) for v in value):
        return type(value)(v.detach().clone() for v in value)
    return value
