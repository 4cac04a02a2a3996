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
"""The same operators on PyTorch's and MindSpore's DTensors, in the same processes and under the same placements."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import hyper_parallel as hp


@dataclass(frozen=True)
class Twin:
    """One operator in both spellings; `floats` and `ints` are the shapes of its inputs (ints below `below`)."""

    name: str
    torch_call: Callable[..., Any]
    mindspore_call: Callable[..., Any]
    floats: tuple[tuple[int, ...], ...]
    ints: tuple[tuple[int, ...], ...] = ()
    below: int = 1
    kept: tuple[int, ...] = ()


def twins() -> list[Twin]:
    """The operators."""
    import torch
    from mindspore import mint, ops

    from hyper_parallel.platform.mindspore.intercept import call

    theirs, ours = torch.nn.functional, mint.nn.functional

    def attention(q: Any, k: Any, v: Any) -> Any:
        return call("scaled_dot_product_attention", (q, k, v), {})

    return [
        Twin("tril", lambda x: torch.tril(x, 1), lambda x: mint.tril(x, 1), ((5, 7),)),
        Twin("ops_tril", torch.tril, ops.tril, ((5, 7),)),
        Twin("sort", lambda x: torch.sort(x, 0), lambda x: mint.sort(x, dim=0), ((5, 7),)),
        Twin("matmul", torch.matmul, mint.matmul, ((5, 7), (7, 3))),
        Twin("softmax", lambda x: theirs.softmax(x, -1), lambda x: ours.softmax(x, dim=-1), ((5, 7),)),
        Twin("embedding", lambda w, i: theirs.embedding(i, w), lambda w, i: ours.embedding(i, w), ((9, 4),), ((3, 5),),
             9),
        Twin("layer_norm", lambda x, w, b: theirs.layer_norm(x, (7,), w, b),
             lambda x, w, b: ours.layer_norm(x, (7,), w, b), ((5, 7), (7,), (7,))),
        Twin("cross_entropy", theirs.cross_entropy, ours.cross_entropy, ((5, 7),), ((5,),), 7),
        Twin("attention", theirs.scaled_dot_product_attention, attention, ((3, 5, 4),) * 3),
    ]  # fmt: skip


def _arrays(twin: Twin) -> list[np.ndarray]:
    draw = np.random.default_rng(3)
    floats = [draw.standard_normal(shape).astype(np.float32) for shape in twin.floats]
    return floats + [draw.integers(0, twin.below, shape) for shape in twin.ints]


def compare(name: str) -> dict[str, Any]:
    """Number of placements tried for one operator; values and gradients to 1e-5, placements of results equal."""
    from tests.hyper_parallel.mindspore.programs import _mesh, start_torch

    mesh = _mesh((2,))
    start_torch(mesh)
    twin = next(t for t in twins() if t.name == name)
    arrays = _arrays(twin)
    options = [[hp.Replicate(), *map(hp.Shard, range(a.ndim))] for a in arrays]
    tried, told = 0, []
    for places in itertools.islice(itertools.product(*options), 24):
        one, other = _torch(twin, arrays, mesh, places), _mindspore(twin, arrays, mesh, places)
        if one["placements"] != other["placements"]:
            told.append(f"{places}: {one['placements']} on torch, {other['placements']} on MindSpore")
        for a, b in zip(one["values"], other["values"], strict=True):
            assert np.allclose(a, b, rtol=1e-5, atol=1e-5), (name, places, a, b)
        tried += 1
    return {"tried": tried, "differ": told}


def _flat(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]


def _torch(twin: Twin, arrays: list[np.ndarray], mesh: Any, places: Any) -> dict[str, Any]:
    import torch

    hp.set_platform("torch")
    try:
        cut = [hp.distribute_tensor(torch.from_numpy(a), mesh, [p]) for a, p in zip(arrays, places, strict=True)]
        for value in cut[: len(twin.floats)]:
            value.requires_grad_(True)
        outs = _flat(twin.torch_call(*cut))
        outs[0].full_tensor().square().sum().backward()
        grads = [value.grad for value in cut[: len(twin.floats)]]
        shown = [o.placements for o in outs]
        return {"placements": shown, "values": [v.detach().full_tensor().numpy() for v in (*outs, *grads)]}
    finally:
        hp.set_platform("mindspore")


def _mindspore(twin: Twin, arrays: list[np.ndarray], mesh: Any, places: Any) -> dict[str, Any]:
    import mindspore as ms
    from mindspore import Tensor, mint

    cut = [hp.distribute_tensor(Tensor(a), mesh, [p]) for a, p in zip(arrays, places, strict=True)]
    outs = _flat(twin.mindspore_call(*cut))
    count = len(twin.floats)

    def loss(*floats: Any) -> Any:
        return mint.sum(mint.square(_flat(twin.mindspore_call(*floats, *cut[count:]))[0].full_tensor()))

    grads = _flat(ms.grad(loss, grad_position=tuple(range(count)))(*cut[:count]))
    return {"placements": [o.placements for o in outs], "values": [v.asnumpy() for v in (*outs, *grads)]}
