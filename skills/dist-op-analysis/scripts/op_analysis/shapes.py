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
"""Guesses how the global shapes of the outputs follow from a call, and keeps what fits every trial."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hyper_parallel.errors import LayoutError
from hyper_parallel.ops.shapes import broadcast, reduced
from op_analysis.operators import Trial
from op_analysis.schemas import Guard, applies, named_dims
from op_analysis.shards import Laboratory

Shape = tuple[int, ...]
_TAIL = 2
_DEPTH = 3


@dataclass(frozen=True)
class ShapeRule:
    """Shape of one output.

    kind: `like` the tensor parameter `ref` · `broadcast` of all · `scalar` · `reduced`: `ref` without the dims that
    `param` names (kept as 1 with `keepdim`) · `replaced`: `ref` with the dim that `param` names as long as `tail[0]`
    says · `inserted`: `ref` with a new dim there · `edges`: `ref` but its last `cut` dims, then `tail` · `fixed`: the
    `tail` alone.
    A tail entry is `name` of an int parameter, `#3` for a number, or `name.-2` for a dim of a tensor parameter.
    """

    kind: str
    ref: str = ""
    param: str = ""
    cut: int = 0
    tail: tuple[str, ...] = ()
    guard: Guard | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for the plan document."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ShapeRule:
        """The inverse of `to_dict`."""
        guard = tuple(data["guard"]) if data["guard"] else None
        return cls(**{**data, "tail": tuple(data["tail"]), "guard": guard})

    def of(self, trial: Trial) -> Shape | None:
        """The shape for one call; None where the rule means nothing for it."""
        try:
            return self._of(trial)
        except (LayoutError, IndexError, TypeError):
            return None

    def _of(self, trial: Trial) -> Shape | None:
        tensors, slots, scalars = trial.tensors(), trial.slots(), trial.scalars()
        if self.kind == "scalar":
            return ()
        if self.kind == "broadcast":
            return broadcast("analyse", [tuple(t.shape) for t in tensors])
        if self.kind != "fixed" and self.ref not in slots:
            return None
        shape = () if self.kind == "fixed" else tuple(tensors[slots[self.ref][0]].shape)
        if self.kind == "like":
            return shape
        if self.kind == "reduced":
            dims = named_dims(scalars.get(self.param), len(shape))
            return None if dims is None else reduced(shape, dims, bool(scalars.get("keepdim")))
        tail = [_length(entry, trial) for entry in self.tail]
        if any(length is None for length in tail):
            return None
        lengths = tuple(length for length in tail if length is not None)
        if self.kind == "fixed":
            return lengths
        if self.kind == "edges":
            return (*shape[: len(shape) - self.cut], *lengths) if len(shape) >= self.cut else None
        dims = named_dims(scalars.get(self.param), len(shape) + (self.kind == "inserted"))
        if self.kind == "replaced" and dims == () == shape:
            return ()  # a 0-d tensor has no dim to replace
        if dims is None or len(dims) != 1:
            return None
        rest = shape[dims[0] + 1 :] if self.kind == "replaced" else shape[dims[0] :]
        return (*shape[: dims[0]], lengths[0], *rest)


def _length(entry: str, trial: Trial) -> int | None:
    if entry.startswith("#"):
        return int(entry[1:])
    name, _, place = entry.partition(".")
    if place:
        slots = trial.slots()
        if name not in slots:
            return None
        return len(slots[name]) if place == "count" else int(trial.tensors()[slots[name][0]].shape[int(place)])
    value = trial.params.get(name)
    return value if type(value) is int else None


def output_shapes(lab: Laboratory) -> list[list[ShapeRule]] | None:
    """For each output the rules that cover every trial (the first whose guard applies counts); None: not found."""
    trials = lab.operator.trials
    counts = {len(lab.want(number)) for number in range(len(trials))}
    if len(counts) != 1:
        return None
    found = []
    for leaf in range(counts.pop()):
        wants = [lab.want(number)[leaf] for number in range(len(trials))]
        if any(not hasattr(want, "shape") for want in wants):
            return None
        cases = list(zip(trials, [tuple(want.shape) for want in wants], strict=True))
        rules = _explain(cases)
        if rules is None:
            return None
        found.append(rules)
    return found


def _explain(cases: Sequence[tuple[Trial, Shape]]) -> list[ShapeRule] | None:
    rule = _one(cases)
    if rule is not None:
        return [rule]
    for guards in _partitions([trial for trial, _ in cases]):
        rules = []
        for guard in guards:
            part = [case for case in cases if applies(guard, case[0])]
            rule = _one(part)
            if rule is None:
                break
            rules.append(ShapeRule(**{**rule.__dict__, "guard": guard}))
        else:
            return rules
    return None


def _partitions(trials: Sequence[Trial]) -> Iterator[list[Guard]]:
    """Ways to sort the calls by one scalar: given or not, by flag, by word."""
    for name in trials[0].params:
        values = [trial.params[name] for trial in trials]
        plain = list(dict.fromkeys(v for v in values if isinstance(v, bool | str)))
        if any(v is None for v in values) and not all(v is None for v in values):
            yield [(name, None, True), (name, None, False)]
        if len(plain) > 1 and len([v for v in values if isinstance(v, bool | str)]) == len(values):
            yield [(name, value, True) for value in plain]


def _one(cases: Sequence[tuple[Trial, Shape]]) -> ShapeRule | None:
    return next((r for r in _rules([t for t, _ in cases]) if all(r.of(t) == want for t, want in cases)), None)


def _rules(trials: Sequence[Trial]) -> Iterator[ShapeRule]:
    """Every rule worth trying, simple ones first."""
    refs = list(dict.fromkeys(name for trial in trials for name in trial.slots()))
    scalars = list(dict.fromkeys(name for trial in trials for name in trial.scalars()))
    lengths = [name for name in scalars if all(type(t.params.get(name)) is int for t in trials)]
    lengths += ["#1", "#2"] + [f"{ref}.{-place}" for ref in refs for place in range(1, _DEPTH + 1)]
    lengths += [f"{ref}.count" for ref in refs]
    yield from (ShapeRule("like", ref) for ref in refs)
    yield from (ShapeRule("scalar"), ShapeRule("broadcast"))
    for ref, param in itertools.product(refs, scalars):
        yield ShapeRule("reduced", ref, param)
        yield from (ShapeRule("replaced", ref, param, 0, (length,)) for length in lengths)
        yield from (ShapeRule("inserted", ref, param, 0, (length,)) for length in lengths)
    yield from (ShapeRule("fixed", tail=tail) for tail in itertools.product(lengths, repeat=1))
    for ref, cut, size in itertools.product(refs, range(_DEPTH + 1), range(_TAIL + 1)):
        for tail in itertools.product(lengths, repeat=size):
            yield ShapeRule("edges", ref, "", cut, tail)
