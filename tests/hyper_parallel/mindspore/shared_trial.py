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
"""Runs one of PyTorch's declarative cases through ``mint`` on this rank; torch on one device says what is right."""

from __future__ import annotations

import functools
import importlib
import logging
from typing import Any

import mindspore as ms
import numpy as np
import torch

import hyper_parallel as hp
from hyper_parallel.platform.mindspore import native
from hyper_parallel.platform.mindspore.errors import missing_kernel
from tests.conformance.mindspore_entries import to_mindspore
from tests.conformance.mindspore_trial import cotangent_total
from tests.hyper_parallel.case import OpCase
from tests.hyper_parallel.mindspore.pool import steps
from tests.hyper_parallel.mindspore.spelling import NoSuchFunction, cases_in_mint
from tests.hyper_parallel.trial import _run as run_torch
from tests.hyper_parallel.trial import leaves_of

_MAX_FAILURES = 3
_REFUSED_DTYPE = "_wrong_dtype"
"""Ending of the names of cases whose dtypes PyTorch refuses."""
_cases = functools.cache(cases_in_mint)


def _full(value: Any) -> Any:
    return value.full_tensor() if native.is_dtensor(value) else value


def _array(value: Any) -> np.ndarray:
    if isinstance(value, torch.Tensor):
        return np.asarray((value.float() if value.dtype == torch.bfloat16 else value).detach().numpy())
    full = _full(value)
    return np.asarray((full.float() if full.dtype == ms.bfloat16 else full).asnumpy())


def _differs(got: Any, want: Any, tolerance: float = 1e-4) -> str:
    """Empty where values and reported shapes agree; ``mint`` may count in 32 bits where torch takes 64."""
    gots, wants = leaves_of(got), leaves_of(want)
    if len(gots) != len(wants):
        return f"{len(gots)} outputs instead of {len(wants)}"
    for index, (one, other) in enumerate(zip(gots, wants, strict=True)):
        if not isinstance(other, torch.Tensor):
            if one != other:
                return f"output {index} is {one!r} instead of {other!r}"
            continue
        if not isinstance(one, ms.Tensor) or tuple(one.shape) != tuple(other.shape):
            return f"output {index} is {type(one).__name__}{getattr(one, 'shape', '')} instead of {tuple(other.shape)}"
        a, b = _array(one), _array(other)
        if a.shape != b.shape or not np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True):
            return f"output {index} differs: {a.reshape(-1)[:4]} instead of {b.reshape(-1)[:4]}"
    return ""


def _raw(case: OpCase, mesh: Any, tensors: list[Any]) -> Any:
    first = (mesh,) if case.needs_mesh else ()
    return case.fn(*first, *tensors, *case.extra_inputs, **case.kwargs)


def _seen(case: OpCase, result: Any) -> Any:
    return case.compare_outputs(_all_full(result)) if case.compare_outputs else result


def _call(case: OpCase, mesh: Any, tensors: list[Any]) -> Any:
    return _seen(case, _raw(case, mesh, tensors))


def _all_full(value: Any) -> Any:
    return type(value)(map(_all_full, value)) if isinstance(value, tuple | list) else _full(value)


def _gradients(case: OpCase, mesh: Any, tensors: list[Any], floats: list[int]) -> list[Any]:
    """Gradients of all floating outputs (cotangent cos(0, 1, 2, …)) by the inputs at these positions."""

    def total(*leaves: Any) -> Any:
        # Times one makes inner nodes of them: what a case writes in place must not be a leaf.
        held = {position: leaf * 1 for position, leaf in zip(floats, leaves, strict=True)}
        first = (mesh,) if case.needs_mesh else ()
        inputs = [held.get(position, tensor) for position, tensor in enumerate(tensors)]
        return cotangent_total(leaves_of(case.fn(*first, *inputs, *case.extra_inputs, **case.kwargs)))

    got = ms.grad(total, grad_position=tuple(range(len(floats))))(*[tensors[position] for position in floats])
    return list(got) if isinstance(got, tuple | list) else [got]


def _why_not_here(case: OpCase, plain: list[Any], mesh: Any, want: Any) -> str:
    """Why MindSpore itself, on one device, cannot do what the case asks; empty where it or the backend's route can."""
    try:
        why = _differs(_call(case, None, plain), want, _tolerance(case))
    except NoSuchFunction as error:
        return str(error)
    except Exception as error:
        return _first_line(error) if missing_kernel(error) is None else _why_no_route(case, plain, mesh, want)
    if case.name.endswith(_REFUSED_DTYPE):
        why = why or _why_no_route(case, plain, mesh, want)  # a missing kernel would count as the refusal
    return f"differs on one device: {why}" if why else ""


def _why_no_route(case: OpCase, plain: list[Any], mesh: Any, want: Any) -> str:
    """Why the backend finds no way round a missing kernel that does what PyTorch does; empty where it does."""
    try:
        whole = [hp.Replicate()] * mesh.ndim
        cut = [hp.distribute_tensor(full, mesh, whole, src_data_rank=None) for full in plain]
        why = _differs(_call(case, mesh, cut), want, _tolerance(case))
        if why and case.name.endswith(_REFUSED_DTYPE):
            return "takes dtypes that PyTorch refuses"
    except Exception as error:
        no_names = isinstance(error, AttributeError) and str(error).startswith("'tuple' object")  # as mint's results
        if no_names or missing_kernel(error) is not None or isinstance(error, NotImplementedError):
            return _first_line(error)
    return ""


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"[:160]


def _tolerance(case: OpCase) -> float:
    coarse = any(spec.dtype in ("bfloat16", "float16") for spec in case.inputs)
    return max(2e-2 if coarse else 1e-4, case.compare.rtol)


def _placed(case: OpCase, result: Any) -> str:
    """Placements that are not those which the case expects; empty where they are or it expects none."""
    first = next((leaf for leaf in leaves_of(result) if native.is_dtensor(leaf)), None)
    if case.out_placements is None or first is None or tuple(first.placements) == case.out_placements:
        return ""
    return f"{list(first.placements)} instead of {list(case.out_placements)}"


def _judge(
    case: OpCase, mesh: Any, tensors: list[Any], want: Any, floats: list[int], wanted: Any, moved: dict[str, None]
) -> str:
    """Empty where values and gradients are right; placements other than expected are put into `moved`."""
    result = _raw(case, mesh, tensors)
    if where := _placed(case, result):
        moved[where] = None
    why = _differs(_seen(case, result), want, _tolerance(case))
    if why or wanted is None:
        return why
    why = _differs(_gradients(case, mesh, tensors, floats), wanted, _tolerance(case))
    return f"gradient: {why}" if why else ""


def _settle() -> None:
    """Let an error come up that MindSpore still holds from an earlier case: it does so at the next index, once."""
    try:
        ms.Tensor(np.zeros(2, np.float32))[-1].asnumpy()
    except TypeError as error:
        logging.getLogger(__name__).warning("held from an earlier case: %s", error)


def run_shared_case(module: str, name: str, mesh_shape: tuple[int, ...]) -> dict[str, Any]:
    """Tries one case on this rank.

    Returns:
        ``absent`` (why MindSpore cannot do it on one device, else empty), ``moved`` (placements of the result that
        the case does not expect, else empty), ``combinations`` tried, ``gradients`` (if they were judged) and
        ``failures``.
    """
    _settle()
    theirs: OpCase = next(c for c in importlib.import_module(module).CASES if c.name == name)
    case = _cases(module)[name]
    mesh = hp.init_device_mesh("cpu", mesh_shape, mesh_dim_names=("dp", "tp", "pp")[: len(mesh_shape)])
    inputs = [spec.build(position) for position, spec in enumerate(theirs.inputs)]
    fulls = inputs + [derived.fn(*inputs) for derived in theirs.derived_inputs]
    want, orders = run_torch(theirs, None, [full.clone() for full in fulls])
    if theirs.compare_outputs:
        want = theirs.compare_outputs(want)
    plain = [to_mindspore(full) for full in fulls]
    if absent := _why_not_here(case, plain, mesh, want):
        return {"absent": absent, "moved": "", "combinations": 0, "gradients": False, "failures": []}
    asked = [spec.grad for spec in case.inputs] + [True] * len(case.derived_inputs)
    floats = [i for i, full in enumerate(fulls) if theirs.grad and asked[i] and full.is_floating_point()]
    wanted = None
    if orders and floats:
        wanted = [torch.zeros_like(fulls[i]) if g is None else g for i, g in zip(floats, orders[0], strict=True)]
        try:
            if _differs(_gradients(case, None, plain, floats), wanted, _tolerance(case)):
                wanted = None
        except Exception as error:
            if missing_kernel(error) is None:
                wanted = None  # MindSpore has no derivative of this on one device
    keeper, failures, moved = steps(mesh), [], dict[str, None]()
    combinations = case.combinations(len(mesh_shape))
    for places in combinations:
        all_places = [*places, *(derived.placement for derived in case.derived_inputs)]
        try:
            cut = [hp.distribute_tensor(to_mindspore(full), mesh, list(place), src_data_rank=None)
                   for full, place in zip(fulls, all_places, strict=True)]  # fmt: skip
            why = _judge(case, mesh, cut, want, floats, wanted, moved)
        except Exception as error:
            why = f"raised {_first_line(error)}"
        if "wrong" in keeper.exchange("wrong" if why else "right"):
            failures.append(f"{name} on {mesh_shape} under {all_places}: {why or 'wrong on another rank only'}")
            if len(failures) >= _MAX_FAILURES:
                break
    return {
        "absent": "",
        "moved": ", ".join(moved),
        "combinations": len(combinations),
        "gradients": wanted is not None,
        "failures": failures,
    }
