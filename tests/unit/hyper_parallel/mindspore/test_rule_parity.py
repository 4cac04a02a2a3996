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
"""One rule book, two backends: for the same call, both plan the same layouts. No process and no kernel is needed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import mindspore as ms
import pytest
import torch
from mindspore import Tensor

import hyper_parallel as hp
from hyper_parallel.dispatch.engine import Engine
from hyper_parallel.dispatch.registry import Registry
from hyper_parallel.layout import Layout
from hyper_parallel.platform import get_platform
from hyper_parallel.platform.mindspore import native
from hyper_parallel.platform.mindspore.standin import Standin
from tests.conformance.entries import Sample, _op_db, combinations
from tests.conformance.mindspore_entries import translate

TORCH, MINDSPORE = get_platform("torch"), get_platform("mindspore")
RULES = {"torch": Registry(TORCH), "mindspore": Registry(MINDSPORE)}
SPELLINGS = ("{}", "nn.functional.{}", "linalg.{}", "special.{}")
FRESH = "to contiguous detach __getitem__"


def both() -> list[str]:
    """Names with a rule, a MindSpore function and samples."""
    known = {op.name for op in _op_db()}
    names = [n for n in RULES["torch"].names() if not n.startswith("__") and native.function(n) is not None]
    return [n for n in names if any(s.format(n) in known for s in SPELLINGS) and n not in FRESH.split()]


def samples_of(name: str) -> Iterator[Sample]:
    """Up to two of OpInfo's samples."""
    for op in _op_db():
        if op.name in {s.format(name) for s in SPELLINGS}:
            dtype = torch.float32 if torch.float32 in op.supported_dtypes("cpu") else torch.int64
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for number, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=False)):
                    if number == 2:
                        break
                    yield Sample((sample.input, *sample.args), dict(sample.kwargs))
            return


def placed(words: tuple[str, ...]) -> list[Any]:
    return [hp.Replicate() if w == "R" else hp.Shard(int(w[1:])) for w in words]


def planned(backend: str, name: str, sample: Sample, layouts: list[Layout]) -> Any:
    """What the engine of a backend decides: moves of the inputs and layouts of the outputs, or the refusal."""
    stream = iter(layouts)

    def standin(tensor: torch.Tensor) -> Any:
        layout = next(stream)
        if backend == "torch":
            local = torch.zeros(layout.local_shape, dtype=tensor.dtype)
            return hp.get_platform("torch").dtensor.from_local(
                local, layout.mesh, layout.placements, shape=layout.shape
            )
        return Standin(Tensor(0.0, ms.float32), layout)

    call = sample if backend == "torch" else translate(sample)
    if call is None:
        return "not translatable"
    made = call.mapped(standin)
    platform = {"torch": TORCH, "mindspore": MINDSPORE}[backend]
    rule = RULES[backend].find(name)
    with torch._C.DisableTorchFunctionSubclass():
        plan = Engine(platform).plan(rule, lambda *a, **k: None, made.args, made.kwargs, False)
    if plan is None:
        return "replicated"
    return [move[2] for move in plan.moves], list(plan.outs)


@pytest.mark.parametrize("name", both())
@pytest.mark.parametrize(("shape", "rank"), [((3,), 1), ((2, 2), 2)])
def test_both_backends_plan_the_same(name: str, shape: tuple[int, ...], rank: int) -> None:
    mesh = hp.init_device_mesh("cpu", shape, init_backend=False, rank=rank)
    compared = 0
    for sample in samples_of(name):
        tensors = sample.tensors()
        for words in combinations(tensors, len(shape), seed=1, limit=12):
            layouts = [Layout(mesh, placed(w), tuple(t.shape)) for t, w in zip(tensors, words, strict=True)]
            one = planned("torch", name, sample, layouts)
            other = planned("mindspore", name, sample, layouts)
            if other == "not translatable":
                continue
            assert one == other, (words, sample)
            compared += 1
    assert compared or name in UNUSED, name


UNUSED = frozenset({"full_like", "zeros_like", "ones_like"})
"""OpInfo passes only arguments to these that MindSpore lacks (device, layout)."""


def test_the_rule_books_are_one() -> None:
    assert RULES["torch"].names() == RULES["mindspore"].names()
    assert len(both()) > 100
