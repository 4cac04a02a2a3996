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
"""Unusual values and ways in: every dtype, special numbers, empty tensors, sub-classes, compiled functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

import hyper_parallel as hp
from tests.hyper_parallel.api.tools import (
    all_right_or_refused,
    cut,
    numbers,
    refuses,
    right_or_refused,
    same,
)
from tests.hyper_parallel.case import S0, S1, P, R

_ERRORS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)

_DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
    torch.float32, torch.float64, torch.complex64, torch.complex128,
)  # fmt: skip


def check_every_dtype(mesh: Any) -> None:
    base = torch.tensor([[0, 1, 2], [3, 0, 5], [6, 7, 0], [1, 1, 4], [2, 0, 9]])
    uses: dict[str, Callable[[Any], Any]] = {
        "full": lambda x: x,
        "plus": lambda x: x + x,
        "sum": lambda x: x.sum(),
        "sum dim": lambda x: x.sum(0),
        "any": lambda x: x.any(0),
        "reshape": lambda x: x.reshape(3, 5),
        "t": lambda x: x.t().contiguous(),
        "index": lambda x: x[1:4, 1],
        "cat": lambda x: torch.cat([x, x], 1),
        "equal": lambda x: x == x.flip(0),
        "prod": lambda x: (x + 1).prod(0),
        "cumsum": lambda x: x.cumsum(0),
        "roll": lambda x: x.roll(1, 0),
        "where": lambda x: torch.where(x != 0, x, x),
    }
    for dtype in _DTYPES:
        full = base.to(dtype)
        for place in (S0, S1, R):
            x = cut(full, mesh, place)
            for name, use in uses.items():
                try:
                    want = use(full)
                except _ERRORS as error:
                    refuses(lambda call=use, value=x: call(value), type(error))
                    continue
                try:
                    same(use(x), want, 1e-2 if dtype in (torch.float16, torch.bfloat16) else 1e-6)
                except (AssertionError, *_ERRORS) as error:
                    raise AssertionError(f"{name} of {dtype} under {place}: {error}") from error
            for target in (S0, S1, R):
                same(x.redistribute(mesh, [target]), full, 0)


def check_huge_and_special_numbers(mesh: Any) -> None:
    huge = torch.tensor([2**62, -(2**62), 2**53 + 1, 7, -1], dtype=torch.int64)
    special = torch.tensor([math.inf, -math.inf, math.nan, -0.0, 1e-310], dtype=torch.float64)
    for place in (S0, R):
        x, y = cut(huge, mesh, place), cut(special, mesh, place)
        same(x, huge)
        same(x.sum(), huge.sum())
        same(x.max(), huge.max())
        same(x + 2**40, huge + 2**40)
        assert x.tolist() == huge.tolist()
        same(y, special)
        same(y.nan_to_num(), special.nan_to_num())
        same(y.max(), special.max())
        same(torch.signbit(y), torch.signbit(special))
        same(y.isnan(), special.isnan())
        same(torch.sort(y).values, torch.sort(special).values)
        same(torch.argmax(y), torch.argmax(special))


def check_empty_and_scalar_tensors(mesh: Any) -> None:
    for shape in ((0,), (0, 3), (3, 0), (1,), (1, 1), ()):
        full = numbers(*shape)
        places = [R, P, *(hp.Shard(dim) for dim in range(len(shape)))]
        for place in places:
            x = cut(full, mesh, place, grad=True)
            same(x * 2, full * 2)
            same(x.sum(), full.sum())
            same(x.flatten(), full.flatten())
            same(x.unsqueeze(0), full.unsqueeze(0))
            same(torch.cat([x.flatten(), x.flatten()]), torch.cat([full.flatten()] * 2))
            same(x.clone(), full)
            assert x.tolist() == full.tolist()
            (x * x).sum().backward()
            same(x.grad, 2 * full)


def check_sub_classes_and_flags(mesh: Any) -> None:
    x = cut(numbers(5, 3), mesh, S0, grad=True)
    assert isinstance(x, torch.Tensor)
    assert torch.is_tensor(x)
    assert x.is_leaf
    assert not (x * 1).is_leaf
    assert (x * 1).grad_fn is not None
    assert x.detach().requires_grad is False
    assert hash(x) == hash(x)
    assert torch.overrides.is_tensor_like(x)
    assert x.to(torch.float64) is x
    assert x.cpu().placements == (S0,)
    assert x.to("cpu", torch.float32).dtype == torch.float32
    assert x.requires_grad_(False) is x
    assert x.grad is None
    x.grad = cut(numbers(5, 3), mesh, R)
    assert x.grad.placements == (S0,)
    refuses(lambda: setattr(x, "grad", numbers(2, 2)), ValueError, RuntimeError, TypeError)
    refuses(lambda: setattr(x, "shape", (3, 5)), AttributeError, RuntimeError, TypeError, NotImplementedError)


def check_unusual_entry_points(mesh: Any) -> None:
    full = numbers(6, 4)
    uses: dict[str, Callable[[Any], Any]] = {
        "torch.ops.aten.add.Tensor 3": lambda x: torch.ops.aten.add.Tensor(x, x),
        "torch.ops.aten.sum.default 4": lambda x: torch.ops.aten.sum.default(x),
        "torch._C._VariableFunctions.add 5": lambda x: torch._C._VariableFunctions.add(x, x),
        "torch.Tensor.add 6": lambda x: torch.Tensor.add(x, x),
        "torch.special.expit 7": lambda x: torch.special.expit(x),
        "torch.linalg.norm 8": lambda x: torch.linalg.norm(x),
        "torch.fft.fft 9": lambda x: torch.fft.fft(x, dim=0).real,
        "torch.nn.functional.pad 10": lambda x: torch.nn.functional.pad(x, (1, 1, 2, 0)),
        "torch.block_diag 11": lambda x: torch.block_diag(x, x),
        "torch.cartesian_prod 12": lambda x: torch.cartesian_prod(x[:, 0], x[:, 1]),
        "torch.broadcast_tensors 13": lambda x: torch.broadcast_tensors(x, x[0])[1],
        "torch.meshgrid 14": lambda x: torch.meshgrid(x[0], x[1], indexing="ij")[0],
        "x.apply_ 15": lambda x: x.apply_(lambda v: v + 1),
        "x.clone 16": lambda x: x.clone().map_(x, lambda a, b: a + b),
        "torch.quantile 17": lambda x: torch.quantile(x, 0.3),
        "x.to_sparse 18": lambda x: x.to_sparse().to_dense(),
        "torch.std_mean 19": lambda x: torch.std_mean(x, 0)[0],
        "torch.jit.trace 21": lambda x: torch.jit.trace(lambda v: v * 2, (full,))(x),
        "torch.vmap 22": lambda x: torch.vmap(lambda row: row * 2)(x),
        "torch.utils._pytree.tree_map 23": lambda x: torch.utils._pytree.tree_map(lambda v: v * 2, {"a": [x]})["a"][0],
    }
    all_right_or_refused(uses, full, mesh, Exception)


def check_compiled_functions(mesh: Any) -> None:
    full = numbers(6, 4)
    compiled = torch.compile(lambda v: v + 1, backend="eager")
    right_or_refused(lambda: compiled(cut(full, mesh, S0)), full + 1, Exception)
