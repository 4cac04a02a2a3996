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
"""Which class that exists already says the same about an operator: each has to infer and to run every trial."""

from __future__ import annotations

import importlib
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import yaml

from hyper_parallel.dispatch.call import Slot, parse_signature
from hyper_parallel.dispatch.op import DistributedOp
from hyper_parallel.dispatch.registry import Registry
from hyper_parallel.errors import LayoutError
from hyper_parallel.layout import Layout
from hyper_parallel.mesh import init_device_mesh
from hyper_parallel.placements import Partial, Placement, R, Shard
from hyper_parallel.platform import get_platform
from op_analysis.operators import Operator, Trial, call_with
from op_analysis.shards import PENDING, Laboratory, Word, cut, describe, leaves

MAX_TRIALS = 24
MAX_WORDS = 40
_OWN_KEYS = {"dist_op_name", "distributed_op_class", "distributed_op_file"}


@dataclass(frozen=True)
class Family:
    """A class with its YAML options, and what it accepted.

    Attributes:
        free: (trial, placements) whose result was checked here, without communication.
        outs: the placements of the outputs of those.
        refused: those it does not take.
        unproved: those whose local call wants to communicate, which only ranks can judge.
    """

    module: str
    name: str
    options: dict[str, Any] = field(hash=False, default_factory=dict)
    free: frozenset[Any] = frozenset()
    outs: dict[Any, tuple[Word, ...]] = field(hash=False, default_factory=dict)
    unproved: frozenset[Any] = frozenset()
    refused: frozenset[Any] = frozenset()


class Unfit(Exception):
    """The class is wrong about some call."""


def fitting(lab: Laboratory, without: str) -> list[Family]:
    """Classes that are never wrong about the operator and accept something, those that accept most first.

    Args:
        without: a name whose own entry does not count.
    """
    found = []
    for family in _existing(without):
        try:
            judged = _judge(lab, family)
        except Unfit:
            continue
        if judged.free:
            found.append(judged)
    return sorted(found, key=lambda f: (-len(f.free) - len(f.unproved), len(f.unproved)))  # equals: as they come


def _existing(without: str) -> Iterator[Family]:
    """Every class with every set of options in use, those that serve most operators first."""
    users: Counter[tuple[str, str, str]] = Counter()
    for name, entry in Registry().entries.items():
        options = {key: value for key, value in entry.items() if key not in _OWN_KEYS}
        if name != without:
            users[entry["distributed_op_file"], entry["distributed_op_class"], yaml.safe_dump(options)] += 1
    for (module, kind, text), _ in users.most_common():
        yield Family(str(module), str(kind), yaml.safe_load(text))


def instance(family: Family, name: str) -> DistributedOp:
    """The class made for an operator.

    Raises:
        Unfit: it is no rule of the package.
    """
    try:
        kind = getattr(importlib.import_module(f"hyper_parallel.ops.{family.module}"), family.name)
    except (ImportError, AttributeError) as error:
        raise Unfit(str(error)) from error
    made: DistributedOp = kind(name, get_platform(), **family.options)
    return made


def _judge(lab: Laboratory, family: Family) -> Family:
    op = instance(family, lab.operator.name)
    if not _speaks_of(op, lab.operator):
        raise Unfit("other parameters")
    free: dict[Any, tuple[Word, ...]] = {}
    unproved: set[Any] = set()
    refused: set[Any] = set()
    step = max(1, len(lab.operator.trials) // MAX_TRIALS)
    for number in range(0, len(lab.operator.trials), step):
        for words in _combinations(lab.operator.trials[number]):
            verdict = _accepts(lab, op, number, words)
            if any(word != "R" for word in words):
                if isinstance(verdict, tuple):
                    free[number, words] = verdict
                else:
                    (refused if verdict else unproved).add((number, words))
    sets = (frozenset(unproved), frozenset(refused))
    return Family(family.module, family.name, family.options, frozenset(free), free, *sets)


def _speaks_of(op: DistributedOp, operator: Operator) -> bool:
    """Whether the class knows the operator's scalars by their names: by position alone, kinship is chance."""
    if not op.signature:
        return True
    parsed = parse_signature(op.signature)
    known = {*parsed.names, *dict(parsed.keyword), parsed.rest}
    return all(name in known for trial in operator.trials for name in trial.scalars() if name != operator.parsed.rest)


def _combinations(trial: Trial) -> list[tuple[Word, ...]]:
    tensors = trial.tensors()
    cuts = [["R", *(f"S{d}" for d, n in enumerate(t.shape) if n >= 3)] for t in tensors]
    found = list(itertools.islice(itertools.product(*cuts), MAX_WORDS))
    if all(t.is_floating_point() for t in tensors):
        for word in PENDING:
            found += [c for c in itertools.product(("R", word), repeat=len(tensors)) if word in c][:7]
    return found


def _accepts(lab: Laboratory, op: DistributedOp, number: int, words: tuple[Word, ...]) -> tuple[Word, ...] | str:
    """The output placements if accepted and right; nothing if that is to be proved on ranks; or why it is refused.

    Raises:
        Unfit: accepted and wrong.
    """
    runs = []
    for rank in range(2):
        try:
            runs.append(_one_rank(lab, op, lab.operator.trials[number], words, rank))
        except LayoutError as error:
            return str(error)
        except Exception as error:
            raise Unfit(str(error)) from error
    outs, wants = runs[0][0], lab.want(number)
    shapes = [tuple(want.shape) if hasattr(want, "shape") else None for want in wants]
    if [out.shape for out in outs] != shapes:
        raise Unfit(f"shapes {shapes}")
    if words[0] in ("Pmax", "Pmin") and not _additive(lab, number, words):
        raise Unfit("the gradient through a pending maximum would be that of the rank's own term")
    told = [_word(out.placements[0]) for out in outs]
    parts = [run[1] for run in runs if run[1] is not None]
    if len(parts) < len(runs):
        return ""
    for index, want in enumerate(wants):
        if told[index] not in describe([part[index] for part in parts], want):
            raise Unfit(f"{words} → {told}")
    return tuple(told)


def _additive(lab: Laboratory, number: int, words: Sequence[Word]) -> bool:
    found = lab.outputs(number, tuple("Psum" if word in PENDING else word for word in words))
    return found is not None and all(found)


def _one_rank(
    lab: Laboratory, op: DistributedOp, trial: Trial, words: Sequence[Word], rank: int
) -> tuple[Sequence[Layout], list[Any] | None]:
    """(output layouts, local outputs or None where the local call cannot be made alone)."""
    mesh = _mesh(rank)
    tensors = trial.tensors()
    layouts = [Layout(mesh, [_placement(w)], tuple(t.shape)) for w, t in zip(words, tensors, strict=True)]
    params = trial.with_tensors([Slot(i) for i in range(len(tensors))])
    args, kwargs = call_with(lambda *args, **kwargs: (args, kwargs), lab.operator.parsed, params)
    args = tuple(tuple(a) if isinstance(a, list) else a for a in args)
    values = [*layouts, op.bind(list(args), kwargs)]
    result = op.infer_layout(values)
    impl = op.get_expand_impl(lab.operator.func, result, values)
    locals_ = [cut(t, word, 2)[rank] for t, word in zip(tensors, words, strict=True)]
    try:
        if impl is None:
            out = lab.operator.call(trial.with_tensors(locals_))
        elif getattr(impl, "takes_tensors", False):
            out = impl(*locals_)
        else:
            return result[0], None
    except Exception:  # there is no group to communicate in
        if impl is None:
            raise
        return result[0], None
    return result[0], leaves(out)


@cache
def _mesh(rank: int) -> Any:
    return init_device_mesh("cpu", (2,), init_backend=False, rank=rank)


def _placement(word: Word) -> Placement:
    return R if word == "R" else Shard(int(word[1:])) if word[0] == "S" else Partial(word[1:])


def _word(placement: Placement) -> Word:
    if isinstance(placement, Shard):
        return f"S{placement.dim}"
    return f"P{placement.reduce_op}" if isinstance(placement, Partial) else "R"
