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
"""Finds the schemas that hold in every experiment, and the fewest of them that explain what was seen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from op_analysis.operators import Trial, names_dims, same
from op_analysis.schemas import (
    OUT_KINDS,
    Domain,
    Guard,
    OutMap,
    Prediction,
    Schema,
    Words,
    applies,
    named_dims,
    predict,
)
from op_analysis.shards import PENDING, Adjustment, Laboratory

MAX_WORDS = 130
MIN_FRESH = 0.25
"""A rule that says little beyond the others fits a special case by chance."""
_ROLES = ("right", "same", "R", "last1", "last2")
Fact = tuple[int, Words]


@dataclass(frozen=True)
class Findings:
    """What experiments say.

    Attributes:
        schemas: rules that held in every trial they speak of, most telling first.
        seen: placements that hold without communication, by trial; `explained` of them follow from the schemas.
        refused: placements of cut inputs that need communication.
    """

    schemas: tuple[Schema, ...]
    seen: tuple[Fact, ...]
    explained: tuple[Fact, ...]
    refused: tuple[Fact, ...]

    @property
    def unexplained(self) -> list[Fact]:
        """Seen in single trials, but by no rule."""
        return [fact for fact in self.seen if fact not in set(self.explained)]


def investigate(lab: Laboratory) -> Findings:
    """All experiments on one operator."""
    seen, refused = survey(lab)
    chosen = cover(lab, list(_plain(lab)))
    open_dims = [fact for fact in refused if not any("P" in word for word in fact[1])]
    if open_dims:
        chosen = cover(lab, [*chosen, *_adjusted(lab)])
    chosen = [schema for schema in chosen if schema.guard is None or _explains(lab, schema, seen)]
    chosen += cover(lab, list(_pending(lab)))
    told = {fact for schema in chosen for fact in facts_of(lab, schema)}
    explained = [fact for fact in seen if fact in told]
    left = tuple(fact for fact in refused if fact not in told)
    return Findings(tuple(chosen), tuple(seen), tuple(explained), left)


def _explains(lab: Laboratory, schema: Schema, seen: Sequence[Fact]) -> bool:
    """Whether a guarded rule says a good part of what was seen under its guard; otherwise its condition is chance."""
    under = {fact for fact in seen if applies(schema.guard, lab.operator.trials[fact[0]])}
    return len(facts_of(lab, schema) & under) >= MIN_FRESH * len(under)


def survey(lab: Laboratory) -> tuple[list[Fact], list[Fact]]:
    """(placements that hold for some output placement, placements of cut inputs that do not), trial by trial."""
    seen: list[Fact] = []
    refused: list[Fact] = []
    for number, trial in enumerate(lab.operator.trials):
        if not any(getattr(want, "numel", int)() for want in lab.want(number)):
            continue  # what holds nothing shows nothing
        options = [["R", *(f"S{d}" for d, n in enumerate(t.shape) if n >= 2)] for t in trial.tensors()]
        for words in itertools.islice(itertools.product(*options), 1, MAX_WORDS):
            found = lab.outputs(number, words)
            if found is None or not all(found):
                refused.append((number, words))
            elif all(len(leaf) == 1 for leaf in found):  # one that fits several placements is a constant
                seen.append((number, words))
    return seen, refused


def facts_of(lab: Laboratory, schema: Schema) -> set[Fact]:
    """The (trial, placements) that a schema speaks of."""
    return {
        (number, guess.words)
        for number, trial in enumerate(lab.operator.trials)
        if applies(schema.guard, trial)
        for guess in predict(trial, schema.ref, schema.domain, schema.roles)
    }


def cover(lab: Laboratory, sound: Sequence[Schema]) -> list[Schema]:
    """The fewest schemas, greedily, that speak of everything any of them speaks of."""
    told = {schema: facts_of(lab, schema) for schema in {repr(schema): schema for schema in sound}.values()}
    chosen: list[Schema] = []
    covered: set[Fact] = set()
    while told:
        best = min(told, key=lambda schema: (-len(told[schema] - covered), schema.complexity))
        fresh = told[best] - covered
        if not fresh:
            break
        if len(fresh) >= MIN_FRESH * len(told[best]):
            covered |= told[best]
            chosen.append(best)
        del told[best]
    return chosen


def _plain(lab: Laboratory) -> Iterator[Schema]:
    """Sound schemas with the call as it is."""
    for ref, domain, roles in _inputs(lab):
        yield from _sound(lab, ref, domain, roles, None)


def _adjusted(lab: Laboratory) -> Iterator[Schema]:
    """Sound schemas whose local call differs from the given one."""
    for ref, domain, roles in _inputs(lab):
        if any(role not in ("R", "right") for _, role in roles):
            continue
        for adjust in _adjustments(lab, domain):
            yield from _sound(lab, ref, domain, roles, adjust)


def _pending(lab: Laboratory) -> Iterator[Schema]:
    """Sound schemas for pending reductions.

    A maximum or minimum passes only where a sum does too: through another monotone function its value would be right,
    but its gradient that of the rank's own term.
    """
    names = _tensor_params(lab)
    additive = set()
    for word in PENDING:
        for chosen in itertools.product((False, True), repeat=len(names)):
            roles = tuple((name, word if pending else "R") for name, pending in zip(names, chosen, strict=True))
            if not any(chosen) or (word in ("Pmax", "Pmin") and chosen not in additive):
                continue
            for schema in _sound(lab, "", Domain("pending"), roles, None):
                additive.add(chosen)
                yield schema


def _inputs(lab: Laboratory) -> Iterator[tuple[str, Domain, tuple[tuple[str, str], ...]]]:
    names = _tensor_params(lab)
    for ref in names:
        others = [name for name in names if name != ref]
        for domain in _domains(lab):
            # A dim counted from the other end pairs with one dim only: sizes that agree by chance prove nothing.
            roles = _ROLES if domain.kind == "at" else _ROLES[:3]
            for choice in itertools.product(roles, repeat=len(others)):
                yield ref, domain, tuple(zip(others, choice, strict=True))


def _tensor_params(lab: Laboratory) -> list[str]:
    return list(dict.fromkeys(name for trial in lab.operator.trials for name in trial.slots()))


def _dim_params(lab: Laboratory) -> list[str]:
    """Scalars that name dims, by their own names and in every trial."""
    found = []
    for name in dict.fromkeys(n for trial in lab.operator.trials for n in trial.scalars() if names_dims(n)):
        values = [trial.scalars().get(name) for trial in lab.operator.trials]
        if any(v is not None and v != () for v in values) and all(named_dims(v, 12) is not None for v in values):
            found.append(name)
    return found


def _domains(lab: Laboratory) -> list[Domain]:
    named = [Domain(kind, param) for param in _dim_params(lab) for kind in ("other", "in")]
    listed = {n: v for trial in lab.operator.trials for n, v in trial.scalars().items() if isinstance(v, list | tuple)}
    named += [Domain("before", param) for param in listed]
    counted = [Domain(kind, "", count) for kind in ("leading", "front", "at") for count in (1, 2, 3)]
    return [Domain("all"), *named, *counted]


def _adjustments(lab: Laboratory, domain: Domain) -> Iterator[Adjustment]:
    scalars: dict[str, list[Any]] = {}
    for trial in lab.operator.trials:
        for name, value in trial.scalars().items():
            scalars.setdefault(name, []).append(value)
    for name, values in scalars.items():
        if all(type(v) is int for v in values):
            yield Adjustment("offset", name, 1)
            yield Adjustment("offset", name, -1)
            yield Adjustment("size", name)
        elif domain.kind == "at" and any(isinstance(v, list | tuple) for v in values):
            for index in range(3):
                yield Adjustment("size", name, 0, index)
    yield Adjustment("share")


def _sound(
    lab: Laboratory, ref: str, domain: Domain, roles: tuple[tuple[str, str], ...], adjust: Adjustment | None
) -> Iterator[Schema]:
    """The schema with these inputs, if it holds wherever it speaks; else the same under a guard that makes it hold."""
    holds: list[tuple[int, Prediction]] = []
    fails: list[int] = []
    for number, trial in enumerate(lab.operator.trials):
        for guess in predict(trial, ref, domain, roles):
            found = lab.outputs(number, guess.words, adjust)
            if found is None or not all(found):
                fails.append(number)
                if len(fails) > 3 and not holds:
                    return
            else:
                holds.append((number, guess))
    if not _telling(lab, holds, adjust):
        return
    schema = Schema(ref, domain, roles, (), adjust)
    if not fails:
        outs = _outs(lab, holds, schema)
        if outs:
            yield _with_empties(lab, replace(schema, outs=outs))
            return
    for guard in _guards(lab, fails, {number for number, _ in holds}):
        kept = [(n, guess) for n, guess in holds if applies(guard, lab.operator.trials[n])]
        outs = _outs(lab, kept, schema) if _telling(lab, kept, adjust) else ()
        if outs:
            yield _with_empties(lab, replace(schema, outs=outs, guard=guard))


def _telling(lab: Laboratory, holds: Sequence[tuple[int, Prediction]], adjust: Adjustment | None) -> bool:
    """Whether two observations at least leave no choice: a constant result fits any placement and shows nothing."""
    found = (lab.outputs(number, guess.words, adjust) or () for number, guess in holds)
    return sum(any(len(leaf) == 1 for leaf in leaves) for leaves in found) > 1


def _guards(lab: Laboratory, fails: Sequence[int], holds: set[int]) -> list[Guard]:
    """What the calls that hold have and no call that fails has: first a value, then the lack of one."""
    trials = lab.operator.trials
    found: dict[str, Guard] = {}
    for wanted, numbers in ((True, sorted(holds)), (False, sorted(set(fails)))):
        for name, number in itertools.product(trials[0].params, numbers):
            value = trials[number].params[name]
            if not (value is None or isinstance(value, bool | str) or _is_default(lab, name, value)):
                continue
            guard = (name, value, wanted)
            if not any(applies(guard, trials[f]) for f in fails) and not all(applies(guard, t) for t in trials):
                found.setdefault(repr(guard), guard)
    return list(found.values())


def _is_default(lab: Laboratory, name: str, value: Any) -> bool:
    return type(value) is int and same(value, _default(lab, name))


def _default(lab: Laboratory, name: str) -> Any:
    parsed = lab.operator.parsed
    return {**dict(zip(parsed.names, parsed.defaults, strict=True)), **dict(parsed.keyword)}.get(name)


def _outs(lab: Laboratory, holds: Sequence[tuple[int, Prediction]], schema: Schema) -> tuple[OutMap, ...]:
    """One map per output that fits every observation; empty where some output has none."""
    counts = {len(lab.want(number)) for number, _ in holds}
    together = len(counts) > 1
    maps = [
        OutMap(kind, p)
        for kind in OUT_KINDS
        for p in (_dim_params(lab) if kind in ("drop", "insert", "named") else [""])
    ]
    if schema.adjust and schema.adjust.kind == "share":
        maps = [OutMap("Psum")]
    if schema.domain.kind == "pending":
        own = next(role for _, role in schema.roles if role != "R")
        maps = [OutMap(own), *(OutMap(kind) for kind in OUT_KINDS if kind[0] in "PR" and kind != own)]
    chosen = []
    for leaf in range(1 if together else counts.pop()):
        fitting = (
            out
            for out in maps
            if all(
                _fits(lab, number, guess, out, at, schema)
                for number, guess in holds
                for at in (range(len(lab.want(number))) if together else (leaf,))
            )
        )
        out = next(fitting, None)
        if out is None:
            return ()
        chosen.append(out)
    return tuple(chosen)


def _fits(lab: Laboratory, number: int, guess: Prediction, out: OutMap, leaf: int, schema: Schema) -> bool:
    found = lab.outputs(number, guess.words, schema.adjust)
    word = word_of(lab, number, guess, out, leaf)
    return found is not None and word is not None and word in found[leaf]


def word_of(lab: Laboratory, number: int, guess: Prediction, out: OutMap, leaf: int) -> str | None:
    """The placement that a map gives to an output of a trial."""
    want = lab.want(number)[leaf]
    out_ndim = want.dim() if hasattr(want, "dim") else 0
    return out.word(guess.dim, guess.ndim, out_ndim, lab.operator.trials[number].scalars())


def _with_empties(lab: Laboratory, schema: Schema) -> Schema:
    """The schema, marked if it does not hold where a part is empty."""
    for number, trial in enumerate(lab.operator.trials):
        if not applies(schema.guard, trial):
            continue
        for guess in predict(trial, schema.ref, schema.domain, schema.roles):
            count = len(lab.want(number))
            outs = schema.outs if len(schema.outs) == count else schema.outs * count
            words = [word_of(lab, number, guess, out, leaf) or "?" for leaf, out in enumerate(outs)]
            if not lab.fits_empty_parts(number, guess.words, words, schema.adjust):
                return replace(schema, empty_ok=False)
    return schema


def describe_trial(trial: Trial) -> str:
    """One call in short."""
    parts = [f"{name}={value!r}" for name, value in trial.scalars().items() if value is not None]
    shapes = ", ".join("×".join(map(str, t.shape)) or "0-d" for t in trial.tensors())
    return f"({shapes})" + (" " + ", ".join(parts) if parts else "")
