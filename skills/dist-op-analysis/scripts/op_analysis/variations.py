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
"""More calls than the samples: other scalars, other lengths, one more leading dim."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch

from op_analysis.operators import MAX_TRIALS, MAX_WIDENED, Operator, Trial, names_dims

MAX_SPOILED = 8


def widened(subject: Operator, trials: Sequence[Trial]) -> list[Trial]:
    """The samples, then such with other scalars: each decides which of two rules that agree on the samples is meant.

    One variation of every sample comes before the second of any.
    """
    samples = list({_key(trial): trial for trial in trials}.values())
    bases = samples[:: -(-len(samples) // MAX_TRIALS)]
    unique = {_key(trial): trial for trial in bases}
    for trial in _turns([_variations(trial) for trial in bases]):
        if len(unique) >= MAX_WIDENED:
            break
        if _key(trial) not in unique and _runs(subject, trial):
            unique[_key(trial)] = trial
    # One of each kind of call: what holds for one flag only is a rule too, under a condition.
    kinds = {_kind(trial): trial for trial in reversed(unique.values())}
    spoiled = [made for trial in list(kinds.values())[-MAX_SPOILED:] if (made := _spoiled(trial)) is not None]
    return [*unique.values(), *(trial for trial in spoiled if _runs(subject, trial))]


def _turns(sources: Sequence[Iterable[Trial]]) -> Iterator[Trial]:
    """One of each source, then the next of each."""
    for turn in itertools.zip_longest(*sources):
        yield from (trial for trial in turn if trial is not None)


def _variations(trial: Trial) -> Iterator[Trial]:
    """One more leading dim, all dims alike, then in turns another value of each scalar, and other lengths."""
    yield from (made for made in (_grown(trial), _alike(trial)) if made is not None)
    others = [
        [Trial({**trial.params, name: other}) for other in _others(name, value, trial)]
        for name, value in trial.scalars().items()
    ]
    yield from _turns([*others, _narrowed(trial)])


def _narrowed(trial: Trial) -> Iterator[Trial]:
    """One length less, in one dim or in two of equal length: sizes that agreed by chance then differ."""
    tensors = trial.tensors()
    dims = [(slot, dim) for slot, t in enumerate(tensors) for dim, size in enumerate(t.shape) if size > 2]
    pairs = [(a, b) for a, b in itertools.combinations(dims, 2) if _size(tensors, a) == _size(tensors, b)]
    for chosen in [(*pair,) for pair in pairs] + [(one,) for one in dims]:
        fresh = list(tensors)
        for slot, dim in chosen:
            fresh[slot] = fresh[slot].narrow(dim, 0, fresh[slot].shape[dim] - 1)
        yield Trial(trial.with_tensors(fresh))


def _alike(trial: Trial) -> Trial | None:
    """A copy whose dims have one length as far as possible: what was told apart by lengths has to be so otherwise."""
    tensors = trial.tensors()
    lengths = {size for t in tensors for size in t.shape if size > 1}
    if len(lengths) < 2:
        return None
    length = min(lengths - {2})
    for dim in range(max(t.dim() for t in tensors)):
        tensors = [t.narrow(dim, 0, length) if dim < t.dim() and t.shape[dim] > length else t for t in tensors]
    return Trial(trial.with_tensors(tensors))


def _spoiled(trial: Trial) -> Trial | None:
    """A copy with a NaN in each tensor: an operator that passes over them is not linear."""
    if not any(t.is_floating_point() for t in trial.tensors()):
        return None
    places = [(torch.arange(t.numel()) == t.numel() // 3).reshape(t.shape) for t in trial.tensors()]
    pairs = zip(trial.tensors(), places, strict=True)
    return Trial(trial.with_tensors([t.masked_fill(at, torch.nan) if t.is_floating_point() else t for t, at in pairs]))


def _size(tensors: Sequence[torch.Tensor], place: tuple[int, int]) -> int:
    return tensors[place[0]].shape[place[1]]


def _grown(trial: Trial) -> Trial | None:
    """A copy with one more leading dim, for operators that may have been sampled without a batch."""
    tensors = trial.tensors()
    if len(tensors) != 1 or tensors[0].dim() > 2:
        return None
    return Trial(trial.with_tensors([torch.stack([tensors[0], tensors[0] * 2, tensors[0] + 1])]))


def _runs(subject: Operator, trial: Trial) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            subject.call(trial.params)
    except Exception:
        return False
    return True


def _others(name: str, value: Any, trial: Trial) -> list[Any]:
    """Other values worth trying for a scalar."""
    ndim = max(t.dim() for t in trial.tensors()) or 1
    if isinstance(value, bool):
        return [not value]
    if names_dims(name) and (isinstance(value, int) or value is None):
        return list(range(-ndim, ndim))
    if isinstance(value, int):
        beside = [v for v in trial.scalars().values() if type(v) is int and v != value]
        return [*beside, value - 1, value + 1, value + 2]
    if isinstance(value, tuple | list) and value and all(isinstance(v, int) for v in value) and names_dims(name):
        return [type(value)([d % ndim for d in reversed(value)]), type(value)([value[0]])]
    if isinstance(value, str) and name == "reduction":
        return ["none", "sum", "mean"]
    return []


def _kind(trial: Trial) -> str:
    return repr([v if v is None or isinstance(v, bool | str) else "" for v in trial.scalars().values()])


def _key(trial: Trial) -> str:
    shapes = [tuple(t.shape) for t in trial.tensors()]
    return repr((shapes, trial.scalars()))
