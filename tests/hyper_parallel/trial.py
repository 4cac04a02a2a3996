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
"""Runs one declarative case on this rank, under every placement it asks for, against the single-device result."""

from __future__ import annotations

import importlib
import random
import traceback
from collections.abc import Sequence
from typing import Any

import torch

import hyper_parallel as hp
from benchmarks.wire import counted
from hyper_parallel.placements import Partial, Placement, Replicate
from tests.hyper_parallel.case import CompareSpec, OpCase, Places
from tests.ranks.step import StepKeeper

MAX_FAILURES = 4
_meshes: dict[Any, Any] = {}
_scopes = 0


def mesh_of(shape: tuple[int, ...], names: tuple[str, ...] | None = None) -> Any:
    """The mesh over the first ranks, made once per process."""
    key = (shape, names)
    if key not in _meshes:
        _meshes[key] = hp.init_device_mesh("cpu", shape, mesh_dim_names=names or ("dp", "tp", "pp")[: len(shape)])
    return _meshes[key]


def distribute(full: torch.Tensor, mesh: Any, places: Sequence[Placement]) -> Any:
    """Cuts a full tensor; a pending sum gets terms that differ between the ranks."""
    without = [Replicate() if isinstance(place, Partial) else place for place in places]
    cut = hp.distribute_tensor(full.detach().clone(), mesh, without, src_data_rank=None)
    if without == list(places):
        return cut
    local = cut.to_local().clone()
    for axis, place in enumerate(places):
        if isinstance(place, Partial):
            local = _term(local, mesh, axis, place.reduce_op)
    return hp.DTensor.from_local(local, mesh, list(places), shape=tuple(full.shape))


def _term(local: torch.Tensor, mesh: Any, axis: int, op: str) -> torch.Tensor:
    """This rank's term of a pending reduction along a mesh axis."""
    count, here = mesh.mesh_shape[axis], mesh.get_coordinate()[axis]
    draw = torch.Generator().manual_seed(7 + axis)
    noise = torch.randint(-3, 4, (count, *local.shape), generator=draw).to(local.dtype)
    match op:
        case "sum":
            return noise[here] if here else local - noise[1:].sum(0)
        case "avg":
            return local * count - noise[1:].sum(0) if here == 0 else noise[here]
        case "max":
            return local if here == 0 else local - noise[here].abs()
        case "min":
            return local if here == 0 else local + noise[here].abs()
        case "prod":
            return local if here == 0 else torch.ones_like(local)
    raise ValueError(f"For distribute, the pending reduction should be a known one, but got {op}.")


def leaves_of(value: Any) -> list[Any]:
    """All parts of a nested result, in order."""
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves_of(part)]
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves_of(part)]
    return [value]


def whole(value: Any) -> Any:
    """A DTensor's full tensor; anything else as it is."""
    return value.full_tensor() if isinstance(value, hp.DTensor) else value


def difference(got: Any, want: Any, compare: CompareSpec) -> str:
    """Empty when one output agrees with one device; otherwise what differs."""
    if not isinstance(want, torch.Tensor):
        return "" if got == want or (got != got and want != want) else f"is {got!r} instead of {want!r}"
    if not isinstance(got, torch.Tensor):
        return f"is {type(got).__name__} instead of a tensor"
    if tuple(got.shape) != tuple(want.shape):
        return f"reports shape {tuple(got.shape)} instead of {tuple(want.shape)}"
    full = whole(got).detach()
    if full.shape != want.shape or full.dtype != want.dtype:
        return f"is {tuple(full.shape)} {full.dtype} instead of {tuple(want.shape)} {want.dtype}"
    if compare.kind == "shape":
        return ""
    inexact = compare.kind == "allclose" and (want.is_floating_point() or want.is_complex())
    rtol, atol = (compare.rtol, compare.atol) if inexact else (0.0, 0.0)
    try:
        torch.testing.assert_close(full, want.detach(), rtol=rtol, atol=atol, equal_nan=True)
    except AssertionError as error:
        return f"differs: {full.reshape(-1)[:6].tolist()} instead of {want.reshape(-1)[:6].tolist()}; {error}"
    return ""


def _call(case: OpCase, mesh: Any, tensors: Sequence[Any]) -> Any:
    torch.manual_seed(7)
    random.seed(7)
    first = (mesh,) if case.needs_mesh else ()
    return case.fn(*first, *tensors, *case.extra_inputs, **case.kwargs)


def _cotangent(out: torch.Tensor) -> torch.Tensor:
    return torch.cos(torch.arange(out.numel(), dtype=torch.float64)).to(out.dtype).reshape(out.shape)


def _gradients(outputs: list[Any], leaves: list[Any], second_order: bool) -> list[list[Any]]:
    """Gradients of the full outputs by the leaves and, if asked for, of those gradients again."""
    found = []
    for order in range(2 if second_order else 1):
        roots = [
            whole(out)
            for out in outputs
            if isinstance(out, torch.Tensor) and out.requires_grad and out.is_floating_point()
        ]
        if not roots or not leaves:
            break
        again = second_order and order == 0
        outputs = list(
            torch.autograd.grad(roots, leaves, [_cotangent(r) for r in roots], allow_unused=True, create_graph=again)
        )
        found.append(outputs)
    return found


def _with_leaves(case: OpCase, tensors: list[Any]) -> list[Any]:
    """Asks gradients of the floating inputs; derived inputs take part too."""
    asked = [spec.grad for spec in case.inputs] + [True] * len(case.derived_inputs)
    leaves = []
    for tensor, wanted in zip(tensors, asked, strict=True):
        if case.grad and wanted and tensor.is_floating_point():
            leaves.append(tensor.requires_grad_(True))
    return leaves


def _run(case: OpCase, mesh: Any, tensors: list[Any]) -> tuple[Any, list[list[Any]]]:
    leaves = _with_leaves(case, tensors)
    # A user's in-place call on a leaf is an error on one device too; times one makes it an inner node.
    inner = [tensor * 1 if tensor.requires_grad else tensor for tensor in tensors]
    result = _call(case, mesh, inner)
    return result, _gradients(leaves_of(result), leaves, case.second_order)


def _why_wrong(case: OpCase, mesh: Any, fulls: list[torch.Tensor], places: Sequence[Places], want: Any) -> str:
    """Empty when outputs and gradients under these placements agree with one device."""
    want_result, want_gradients = want
    tensors = [distribute(full, mesh, place) for full, place in zip(fulls, places, strict=True)]
    got, gradients = _run(case, mesh, tensors)
    if case.out_placements is not None:
        first = next((leaf for leaf in leaves_of(got) if isinstance(leaf, hp.DTensor)), None)
        if first is None or tuple(first.placements) != case.out_placements:
            found = None if first is None else first.placements
            return f"placements are {found} instead of {case.out_placements}"
    if case.compare_outputs:
        got, want_result = case.compare_outputs(_all_whole(got)), case.compare_outputs(want_result)
    gots, wants = leaves_of(got), leaves_of(want_result)
    if len(gots) != len(wants):
        return f"{len(gots)} outputs instead of {len(wants)}"
    for index, (one, other) in enumerate(zip(gots, wants, strict=True)):
        if why := difference(one, other, case.compare):
            return f"output {index} {why}"
    if [len(order) for order in gradients] != [len(order) for order in want_gradients]:
        return f"gradients of {len(gradients)} orders instead of {len(want_gradients)}"
    close = case.compare if case.compare.kind == "allclose" else CompareSpec()
    for order, (ones, others) in enumerate(zip(gradients, want_gradients, strict=True), 1):
        for index, (one, other) in enumerate(zip(ones, others, strict=True)):
            if one is None or other is None:
                if not _both_nothing(one, other):
                    return f"gradient {index} of order {order} is {one} instead of {other}"
            elif why := difference(one, other, close):
                return f"gradient {index} of order {order} {why}"
    return _too_much(case, mesh, fulls, places)


def _both_nothing(one: Any, other: Any) -> bool:
    """No gradient and a gradient of zeros say the same."""
    return all(x is None or not whole(x).any() for x in (one, other))


def _all_whole(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        parts = [_all_whole(part) for part in value]
        return type(value)(parts) if isinstance(value, list) else tuple(parts)
    return whole(value)


def _too_much(case: OpCase, mesh: Any, fulls: list[torch.Tensor], places: Sequence[Places]) -> str:
    if case.max_bytes is None:
        return ""
    tensors = [distribute(full, mesh, place) for full, place in zip(fulls, places, strict=True)]
    with counted() as wire:
        _call(case, mesh, tensors)
    return f"sent {wire.sent:.0f} bytes, allowed {case.max_bytes}" if wire.sent > case.max_bytes else ""


def run_case(module: str, name: str, mesh_shape: tuple[int, ...]) -> dict[str, Any]:
    """Tries one case on this rank.

    Returns:
        ``combinations`` tried, ``failures`` (texts) and ``broken``: the ranks differed, so the group cannot be trusted.
    """
    global _scopes
    _scopes += 1
    case: OpCase = next(c for c in importlib.import_module(module).CASES if c.name == name)
    mesh = mesh_of(mesh_shape, case.mesh_dim_names)
    inputs = [spec.build(position) for position, spec in enumerate(case.inputs)]
    fulls = inputs + [derived.fn(*inputs) for derived in case.derived_inputs]
    want = _run(case, None, [full.clone() for full in fulls])
    steps = StepKeeper(f"case/{name}/{_scopes}", timeout_s=60.0)
    failures: list[str] = []
    combinations = case.combinations(len(mesh_shape))
    for number, places in enumerate(combinations, 1):
        all_places = [*places, *(derived.placement for derived in case.derived_inputs)]
        try:
            why = _why_wrong(case, mesh, fulls, all_places, want)
        except Exception:
            why = "raised\n" + traceback.format_exc(limit=-12)
        words = steps.exchange("wrong" if why else "right")
        if "wrong" in words:
            told = " ".join("[" + ",".join(map(str, place)) + "]" for place in all_places)
            failures.append(f"{name} on {mesh_shape} under {told}: {why or 'wrong on another rank only'}")
            if "right" in words or "raised" in why:
                return {"combinations": number, "failures": failures, "broken": True}
            if len(failures) >= MAX_FAILURES:
                break
    return {"combinations": len(combinations), "failures": failures, "broken": False}
