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
"""Few calls that stand for all: literal inputs for the tests that a plan proposes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import torch

from op_analysis.families import Family
from op_analysis.fitting import facts_of
from op_analysis.operators import Trial
from op_analysis.schemas import Schema
from op_analysis.shards import Laboratory, leaves

MAX_CASES = 5
MAX_ROWS = 12
MAX_DATA = 64
MAX_NUMEL = 4096
Case = dict[str, Any]


def representative(lab: Laboratory, schemas: Sequence[Schema]) -> list[Case]:
    """Calls with literal arguments, so chosen that every schema is met by one if possible.

    Each holds `inputs` (arguments of `InputSpec`), `scalars` that differ from their defaults, and `allowed`: input
    placements that a schema allows on one mesh axis (`in`), with those the outputs may have then (`out`).
    """
    told = {index: facts_of(lab, schema) for index, schema in enumerate(schemas)}
    met: set[int] = set()
    cases: list[Case] = []
    numbers = sorted(range(len(lab.operator.trials)), key=lambda n: _plainness(lab.operator.trials[n]))
    for last_round in (False, True):
        for number in numbers:
            speaks = {index for index, facts in told.items() if any(n == number for n, _ in facts)}
            if len(cases) >= MAX_CASES or (not last_round and not speaks - met):
                continue
            if last_round and (len(cases) >= 2 or not speaks):
                continue
            facts = [(*fact, schemas[index].adjust) for index in sorted(speaks) for fact in told[index]]
            case = _case(lab, number, facts)
            if case is not None and case not in cases:
                cases.append(case)
                met |= speaks
    return cases


def accepted(lab: Laboratory, family: Family) -> list[Case]:
    """Calls that a class that exists accepts, each with some of the cuts; new ones before those met already."""
    cases: list[Case] = []
    met: set[Any] = set()
    by_number: dict[int, list[Any]] = {}
    for number, words in sorted(family.free):
        if "P" not in "".join(words):
            by_number.setdefault(number, []).append(words)
    for number in sorted(by_number, key=lambda n: _plainness(lab.operator.trials[n])):
        rows = [(words, family.outs[number, words]) for words in by_number[number][:MAX_ROWS]]
        case = None if set(rows) <= met or len(cases) >= MAX_CASES else _case(lab, number, ())
        if case is not None:
            allowed = [{"in": list(words), "out": [[word] for word in outs]} for words, outs in rows]
            cases.append({**case, "allowed": allowed})
            met |= set(rows)
    return cases


def _plainness(trial: Trial) -> tuple[int, int]:
    numel = sum(t.numel() for t in trial.tensors())
    return (sum(v is not None for v in trial.scalars().values()), numel if numel > 8 else 10**6)


def _case(lab: Laboratory, number: int, facts: Sequence[Any]) -> Case | None:
    trial = lab.operator.trials[number]
    scalars = {n: v for n, v in trial.scalars().items() if not _is_default(lab, n, v)}
    if not all(_literal(value) for value in scalars.values()):
        return None
    if sum(t.numel() for t in trial.tensors()) > MAX_NUMEL:
        return None
    inputs = _inputs(lab, trial)
    if inputs is None:
        return None
    groups = {name: len(own) for name, own in trial.slots().items()}
    lists = [name for name in groups if isinstance(trial.params[name], list | tuple)]
    found = {"inputs": inputs, "groups": groups, "lists": lists, "scalars": scalars}
    return {**found, "allowed": _rows(lab, number, facts)}


def _rows(lab: Laboratory, number: int, facts: Sequence[Any]) -> list[dict[str, Any]]:
    """Input placements with what the parts may be taken for, output by output."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for n, words, adjust in sorted(facts, key=lambda fact: fact[1]):
        found = lab.outputs(number, words, adjust) if n == number else None
        if found is not None and words not in rows:
            rows[words] = {"in": list(words), "out": [sorted(leaf) for leaf in found]}
    return list(rows.values())


def _is_default(lab: Laboratory, name: str, value: Any) -> bool:
    parsed = lab.operator.parsed
    defaults = {**dict(zip(parsed.names, parsed.defaults, strict=True)), **dict(parsed.keyword)}
    return name in defaults and type(defaults[name]) is type(value) and defaults[name] == value


def _literal(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_literal, value))
    return value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and value == value)


def _inputs(lab: Laboratory, trial: Trial) -> list[dict[str, Any]] | None:
    """Input specs under which the operator works, made up if possible, the sample's own values if need be."""
    from tests.hyper_parallel.case import InputSpec

    made_up = [_spec(tensor) for tensor in trial.tensors()]
    given = [{**spec, "data": t.tolist()} for spec, t in zip(made_up, trial.tensors(), strict=True)]
    small = all(t.numel() <= MAX_DATA and not t.is_complex() for t in trial.tensors())
    for specs in (made_up, *([given] if small else [])):
        tensors = [InputSpec(**_arguments(spec)).build(place) for place, spec in enumerate(specs)]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outs = leaves(lab.operator.call(trial.with_tensors(tensors)))
        except Exception:  # the operator refuses numbers of this kind
            continue
        if all(not isinstance(o, torch.Tensor) or bool(torch.isfinite(o).all()) for o in outs):
            return specs
    return None


def _arguments(spec: dict[str, Any]) -> dict[str, Any]:
    return {**spec, "shape": tuple(spec["shape"]), **({"range": tuple(spec["range"])} if "range" in spec else {})}


def _spec(tensor: torch.Tensor) -> dict[str, Any]:
    spec: dict[str, Any] = {"shape": list(tensor.shape)}
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype != "float32":
        spec["dtype"] = dtype
    if tensor.dtype == torch.bool:
        return {**spec, "init": "integers", "range": [0.0, 2.0]}
    if not tensor.is_floating_point() and not tensor.is_complex():
        low, high = (int(tensor.min()), int(tensor.max()) + 1) if tensor.numel() else (0, 1)
        return {**spec, "init": "integers", "range": [float(low), float(high)]}
    if tensor.numel() and not tensor.is_complex() and bool((tensor >= 0).all()):
        return {**spec, "init": "uniform", "range": [0.1, max(1.0, round(float(tensor.max()), 1))]}
    return spec
