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
"""Runs one OpInfo entry on this rank, under every placement tried, against the single-device result."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from typing import Any

import torch

from tests.conformance.entries import (
    EntryName,
    Sample,
    all_entries,
    combinations,
    find,
    map_tensors,
    samples,
    set_sizes,
)
from tests.conformance.subjects import SUBJECTS, Subject
from tests.conformance.verdicts import classify, told, worst
from tests.ranks.step import OutOfStep, StepKeeper

_RTOL, _ATOL = 1e-3, 1e-4
_MAX_EXAMPLES = 4
STEP_TIMEOUT_S = 40.0
"""Longer than a collective may wait, so that the rank that waited in one still arrives to say so."""
_scopes = 0


def _outputs(value: Any) -> list[Any]:
    """Flattens an operator's result; tensors and plain values alike."""
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in _outputs(part)]
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in _outputs(part)]
    return [value]


def _call(op: Any, sample: Sample) -> Any:
    torch.manual_seed(7)
    random.seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return op.op(*sample.args, **sample.kwargs)


def _same_tensor(got: torch.Tensor, want: torch.Tensor) -> bool:
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if want.is_sparse or want.layout != torch.strided:
        return got.layout == want.layout and _same_tensor(got.to_dense(), want.to_dense())
    if want.dtype.is_floating_point or want.dtype.is_complex:
        return torch.allclose(got, want, rtol=_RTOL, atol=_ATOL, equal_nan=True)
    return torch.equal(got, want)


def _why_wrong(subject: Subject, got: Any, want: Any) -> str:
    """Empty when every output agrees with one device."""
    gots, wants = _outputs(got), _outputs(want)
    if len(gots) != len(wants):
        return f"{len(gots)} outputs instead of {len(wants)}"
    for index, (one, other) in enumerate(zip(gots, wants, strict=True)):
        if isinstance(other, torch.Tensor):
            if not isinstance(one, torch.Tensor):
                return f"output {index} is {type(one).__name__} instead of a tensor"
            if tuple(one.shape) != tuple(other.shape):
                return f"output {index} reports shape {tuple(one.shape)} instead of {tuple(other.shape)}"
            full = subject.full(one) if subject.is_distributed(one) else one
            if not _same_tensor(full.detach(), other.detach()):
                return f"output {index} differs: {_brief(full)} instead of {_brief(other)}"
        elif one != other and not (one != one and other != other):
            return f"output {index} is {one!r} instead of {other!r}"
    return ""


def _brief(tensor: torch.Tensor) -> str:
    values = tensor.detach().to_dense().reshape(-1)[:4].tolist()
    return f"{tuple(tensor.shape)} {tensor.dtype} {values}"


def _gradients(subject: Subject | None, op: Any, sample: Sample, leaves: list[torch.Tensor]) -> list[Any]:
    """Gradients of the floating outputs with the cotangent cos(0, 1, 2, …) by all floating inputs."""
    times_one = sample.mapped(lambda t: t * 1 if t.is_floating_point() else t)
    outputs = []
    for value in _outputs(_call(op, times_one)):
        if isinstance(value, torch.Tensor) and value.requires_grad and value.is_floating_point():
            full = subject.full(value) if subject is not None and subject.is_distributed(value) else value
            outputs.append(full)
    if not outputs:
        return []
    cotangents = [
        torch.cos(torch.arange(out.numel(), dtype=torch.float64)).to(out.dtype).reshape(out.shape) for out in outputs
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(torch.autograd.grad(outputs, leaves, cotangents, allow_unused=True))


def _with_leaves(sample: Sample) -> tuple[Sample, list[torch.Tensor]]:
    leaves: list[torch.Tensor] = []

    def leaf(tensor: torch.Tensor) -> torch.Tensor:
        fresh = tensor.detach().clone()
        if fresh.is_floating_point():
            fresh.requires_grad_(True)
            leaves.append(fresh)
        return fresh

    return sample.mapped(leaf), leaves


def _distributed(
    subject: Subject, mesh: Any, sample: Sample, words: tuple[tuple[str, ...], ...], grad: bool
) -> tuple[Sample, list[Any]]:
    order = iter(words)
    leaves: list[Any] = []

    def cut(tensor: torch.Tensor) -> Any:
        value = subject.distribute(tensor.detach().clone(), mesh, next(order))
        if grad and tensor.is_floating_point():
            value.requires_grad_(True)
            leaves.append(value)
        return value

    return sample.mapped(cut), leaves


def _forward(subject: Subject, mesh: Any, op: Any, sample: Sample, words: Any, want: Any) -> tuple[str, str]:
    try:
        distributed, _ = _distributed(subject, mesh, sample, words, grad=False)
        got = _call(op, distributed)
        why = _why_wrong(subject, got, want)
    except Exception as error:
        return classify(error), told(error)
    return ("wrong", why) if why else ("ok", "")


def _backward(subject: Subject, mesh: Any, op: Any, sample: Sample, words: Any, want: list[Any]) -> tuple[str, str]:
    try:
        distributed, leaves = _distributed(subject, mesh, sample, words, grad=True)
        got = _gradients(subject, op, distributed, leaves)
        if not got:
            return "wrong", "no output requires a gradient"
        for index, (one, other) in enumerate(zip(got, want, strict=True)):
            one = torch.zeros_like(leaves[index]) if one is None else one
            full = subject.full(one) if subject.is_distributed(one) else one
            reference = torch.zeros_like(full) if other is None else other
            if not _same_tensor(full.detach(), reference.detach()):
                return "wrong", f"gradient {index} differs: {_brief(full)} instead of {_brief(reference)}"
    except Exception as error:
        return classify(error), told(error)
    return "ok", ""


def _reference(op: Any, sample: Sample) -> tuple[Any, list[Any]] | None:
    """Result and gradients on one device, or None where one device itself has none."""
    try:
        want = _call(op, sample.mapped(lambda t: t.detach().clone()))
        again = _call(op, sample.mapped(_with_a_tail))
    except Exception:
        return None
    if not _repeats(want, again):
        return None
    gradients: list[Any] = []
    if op.supports_autograd:
        try:
            with_leaves, leaves = _with_leaves(sample)
            gradients = _gradients(None, op, with_leaves, leaves)
        except Exception:
            gradients = []
    return want, gradients


def _with_a_tail(tensor: torch.Tensor) -> torch.Tensor:
    """A copy behind whose last element lies something else than behind the original's."""
    if tensor.layout != torch.strided or not tensor.is_contiguous() or not tensor.is_floating_point():
        return tensor.detach().clone()
    buffer = torch.full((tensor.numel() + 64,), torch.nan, dtype=tensor.dtype)
    return buffer[: tensor.numel()].copy_(tensor.detach().reshape(-1)).reshape(tensor.shape)


def _repeats(one: Any, other: Any) -> bool:
    """Whether one device agrees with itself; some samples read past their input and find whatever lies there."""
    return all(
        not isinstance(a, torch.Tensor) or _same_tensor(a.detach(), b.detach())
        for a, b in zip(_outputs(one), _outputs(other), strict=True)
    )


def warm_up() -> int:
    """Imports the data base, which takes longer than most entries; the number of entries."""
    return len(all_entries())


def run_entry(
    name: str,
    variant: str,
    subject_name: str,
    sizes: str,
    mesh_shape: tuple[int, ...],
    seed: int,
    partial: bool = False,
) -> dict[str, Any]:
    """Tries one entry on this rank; the parent merges the ranks' answers.

    Returns:
        Counts of forward and gradient verdicts over all combinations, the examples of failures, and ``desync`` when the
        ranks went different ways (the parent then starts the ranks afresh).
    """
    global _scopes
    _scopes += 1
    set_sizes(sizes)
    entry = EntryName(name, variant)
    op = find(entry)
    subject = SUBJECTS[subject_name]
    mesh = subject.mesh(mesh_shape)
    steps = StepKeeper(f"{subject_name}/{entry.full}/{_scopes}", timeout_s=STEP_TIMEOUT_S)
    counts: Counter[str] = Counter()
    examples: list[str] = []
    for number, sample in enumerate(samples(op)):
        tensors = sample.tensors()
        if not tensors:
            continue
        reference = _reference(op, sample)
        if reference is None:
            continue
        want, want_gradients = reference
        for words in combinations(tensors, len(mesh_shape), seed=seed + number, partial=partial):
            verdict, why = _forward(subject, mesh, op, sample, words, want)
            try:
                agreed = worst(steps.exchange(verdict))
                counts[f"forward.{agreed}"] += 1
                gradient = "none"
                if agreed == "ok" and want_gradients:
                    own, why_gradient = _backward(subject, mesh, op, sample, words, want_gradients)
                    gradient = worst(steps.exchange(own))
                    counts[f"gradient.{gradient}"] += 1
                    why = why or why_gradient
            except OutOfStep as error:
                counts["forward.desync"] += 1
                examples.append(
                    f"sample {number} {_spell(words)}: ranks out of step ({error}); here: {verdict} {why}"[:500]
                )
                return {"counts": dict(counts), "examples": examples, "desync": True}
            if (agreed != "ok" or gradient not in ("ok", "none")) and len(examples) < _MAX_EXAMPLES:
                examples.append(f"sample {number} {_spell(words)}: {agreed}/{gradient} {why}"[:500])
            if "desync" in (agreed, gradient):
                return {"counts": dict(counts), "examples": examples, "desync": True}
    return {"counts": dict(counts), "examples": examples, "desync": False}


def _spell(words: tuple[tuple[str, ...], ...]) -> str:
    return " ".join(",".join(axes) for axes in words)


__all__ = ["map_tensors", "run_entry", "warm_up"]
