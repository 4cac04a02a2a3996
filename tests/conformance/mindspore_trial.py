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
"""Runs one function of `mint` on this rank under every placement tried; torch's single-device result is the truth."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
import torch
from mindspore import Tensor

import hyper_parallel as hp
from hyper_parallel.platform.mindspore import native
from hyper_parallel.platform.mindspore.errors import missing_kernel
from tests.conformance import mindspore_entries as entries
from tests.conformance.entries import Sample, combinations, map_tensors, set_sizes
from tests.conformance.verdicts import classify, told, worst
from tests.hyper_parallel.mindspore.pool import steps

_RTOL, _ATOL = 1e-3, 1e-4
_MAX_EXAMPLES = 4


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


def _numpy(value: Any) -> Any:
    if isinstance(value, Tensor):
        full = value.full_tensor() if native.is_dtensor(value) else value
        return np.asarray(full.asnumpy())
    return np.asarray(value.detach().numpy()) if isinstance(value, torch.Tensor) else value


def differs(got: Any, want: Any) -> str:
    """Empty where all outputs agree with torch's (dtypes of whole numbers may be 32 or 64 bits wide)."""
    gots, wants = _leaves(got), _leaves(want)
    if len(gots) != len(wants):
        return f"{len(gots)} outputs instead of {len(wants)}"
    for index, (one, other) in enumerate(zip(gots, wants, strict=True)):
        if isinstance(other, torch.Tensor):
            if not isinstance(one, Tensor):
                return f"output {index} is {type(one).__name__} instead of a tensor"
            if tuple(one.shape) != tuple(other.shape):
                return f"output {index} reports shape {tuple(one.shape)} instead of {tuple(other.shape)}"
            a, b = _numpy(one), _numpy(other)
            if a.shape != b.shape or (a.dtype.kind != b.dtype.kind and {a.dtype.kind, b.dtype.kind} != {"i", "u"}):
                return f"output {index} is {a.dtype}{a.shape} instead of {b.dtype}{b.shape}"
            if not np.allclose(a, b, rtol=_RTOL, atol=_ATOL, equal_nan=True):
                return f"output {index} differs: {a.reshape(-1)[:4]} instead of {b.reshape(-1)[:4]}"
        elif one != other and not (one != one and other != other):
            return f"output {index} is {one!r} instead of {other!r}"
    return ""


def _caller(name: str, plain: Sample) -> Callable[..., Any] | None:
    """`mint`'s function if it works on plain tensors here, else the backend's way round its missing kernel."""
    function = entries.function_of(name)
    try:
        function(*plain.args, **plain.kwargs)
        return function
    except Exception as error:
        if missing_kernel(error) is None:
            return None
    spelled = {"linalg.": "linalg_"}.get(name.rpartition(".")[0] + ".", "") + name.rpartition(".")[2]
    return entries.in_sample_order(name, lambda *args, **kwargs: native.call_plain(spelled, args, kwargs))


def cotangent_total(outs: list[Any]) -> Any:
    """The sum of all floating outputs, each weighted by cos(0, 1, 2, …)."""
    result = None
    for out in outs:
        if isinstance(out, Tensor) and out.is_floating_point():
            full = out.full_tensor() if native.is_dtensor(out) else out
            weight = Tensor(np.cos(np.arange(full.size)).astype(np.float32)).astype(full.dtype)
            term = ms.mint.sum(ms.mint.mul(full, ms.mint.reshape(weight, tuple(full.shape))))
            result = term if result is None else result + term
    if result is None:
        raise LookupError("no floating output")
    return result


def _gradients(call: Callable[..., Any], sample: Sample, make: Callable[[Any], Any]) -> list[Any]:
    """Gradients of all floating outputs (cotangent cos(0, 1, 2, …)) by all floating inputs."""
    inputs = sample.tensors()
    floats = [i for i, t in enumerate(inputs) if t.is_floating_point()]
    made = [make(t) for t in inputs]

    def total(*leaves: Any) -> Any:
        held = dict(zip(floats, leaves, strict=True))
        stream = iter([held.get(i, t) for i, t in enumerate(made)])
        args, kwargs = map_tensors((sample.args, sample.kwargs), lambda _: next(stream))
        return cotangent_total(_leaves(call(*args, **kwargs)))

    got = ms.grad(total, grad_position=tuple(range(len(floats))))(*[made[i] for i in floats])
    return list(got) if isinstance(got, tuple | list) else [got]


def _torch_gradients(op: Any, sample: Sample) -> list[torch.Tensor] | None:
    leaves: list[torch.Tensor] = []

    def leaf(tensor: torch.Tensor) -> torch.Tensor:
        fresh = tensor.detach().clone()
        if fresh.is_floating_point():
            leaves.append(fresh.requires_grad_(True))
        return fresh * 1 if fresh.is_floating_point() else fresh

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            moved = sample.mapped(leaf)
            outs = [o for o in _leaves(op.op(*moved.args, **moved.kwargs)) if isinstance(o, torch.Tensor)]
            outs = [o for o in outs if o.requires_grad and o.is_floating_point()]
            if not outs or not leaves:
                return None
            cots = [torch.cos(torch.arange(o.numel(), dtype=torch.float64)).to(o.dtype).reshape(o.shape) for o in outs]
            found = torch.autograd.grad(outs, leaves, cots, allow_unused=True)
    except Exception:
        return None
    return [torch.zeros_like(x) if g is None else g for x, g in zip(leaves, found, strict=True)]


def _placed(mesh: Any, tensor: torch.Tensor, words: tuple[str, ...]) -> Any:
    kinds = {"R": hp.Replicate(), "P": hp.Partial()}
    places = [kinds[w] if w in kinds else hp.Shard(int(w[1:])) for w in words]
    return hp.distribute_tensor(entries.to_mindspore(tensor), mesh, places, src_data_rank=None)


def _forward(call: Any, mesh: Any, sample: Sample, words: Any, want: Any) -> tuple[str, str]:
    stream = iter(words)
    try:
        cut = sample.mapped(lambda t: _placed(mesh, t, next(stream)))
        why = differs(call(*cut.args, **cut.kwargs), want)
    except Exception as error:
        return classify(error), told(error)
    return ("wrong", why) if why else ("ok", "")


def _backward(call: Any, mesh: Any, sample: Sample, words: Any, want: list[torch.Tensor]) -> tuple[str, str]:
    stream = iter(words)
    try:
        got = _gradients(call, sample, lambda t: _placed(mesh, t, next(stream)))
        why = differs(got, want)
    except Exception as error:
        return classify(error), told(error)
    return ("wrong", why) if why else ("ok", "")


def _references(name: str, op: Any, raw: Sample, counts: Counter[str]) -> tuple[Sample, Any, Any, Any] | None:
    """(sample, caller, wanted outputs, wanted gradients) where MindSpore itself is right on one device.

    Samples with empty tensors are left out: MindSpore's CPU kernels crash on some of them and invent values for others.
    """
    if any(t.numel() == 0 for t in raw.tensors()):
        counts["single.empty"] += 1
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = op.op(*raw.mapped(torch.clone).args, **raw.mapped(torch.clone).kwargs)
    except Exception:
        return None
    sample = entries.translate(raw)
    if sample is None or not sample.tensors():
        return None
    plain = sample.mapped(entries.to_mindspore)
    call = _caller(name, plain)
    try:
        why = "no such call" if call is None else differs(call(*plain.args, **plain.kwargs), want)
    except Exception as error:
        why = told(error)
        call = None
    if call is None or why:
        counts["single.error" if call is None else "single.wrong"] += 1
        return None
    counts["single.right"] += 1
    user = entries.function_of(name)
    wanted = _torch_gradients(op, raw)
    if wanted is not None:
        try:
            if differs(_gradients(call, sample, entries.to_mindspore), wanted):
                wanted = None
        except Exception:
            wanted = None
        counts["single.gradient right" if wanted is not None else "single.gradient wrong"] += 1
    return sample, (call if name in DIRECT else user), want, wanted


DIRECT = frozenset({"einsum"})
"""`mint` refuses these on the CPU before it looks at the arguments; they are called by the backend's own name."""


def run_entry(name: str, sizes: str, mesh_shape: tuple[int, ...], seed: int, limit: int) -> dict[str, Any]:
    """Tries one function on this rank; the parent merges the ranks' answers."""
    set_sizes(sizes)
    mesh = hp.init_device_mesh("cpu", mesh_shape, mesh_dim_names=("dp", "tp", "pp")[: len(mesh_shape)])
    keeper = steps(mesh)
    counts: Counter[str] = Counter()
    examples: list[str] = []
    for op in entries.opinfos(name)[:1]:
        for number, raw in enumerate(entries.samples(op)):
            reference = _references(name, op, raw, counts)
            if reference is None:
                continue
            sample, call, want, wanted = reference
            for words in combinations(sample.tensors(), len(mesh_shape), seed=seed + number, limit=limit):
                spell = " ".join(",".join(axes) for axes in words)
                verdict, why = _forward(call, mesh, sample, words, want)
                agreed = worst(keeper.exchange(verdict))
                counts[f"forward.{agreed}"] += 1
                gradient = "none"
                if agreed == "ok" and wanted is not None:
                    own, why_gradient = _backward(call, mesh, sample, words, wanted)
                    gradient = worst(keeper.exchange(own))
                    counts[f"gradient.{gradient}"] += 1
                    why = why or why_gradient
                if (agreed != "ok" or gradient not in ("ok", "none")) and len(examples) < _MAX_EXAMPLES:
                    examples.append(f"sample {number} {spell}: {agreed}/{gradient} {why}"[:500])
                if "desync" in (agreed, gradient):
                    return {"counts": dict(counts), "examples": examples, "desync": True}
    return {"counts": dict(counts), "examples": examples, "desync": False}
