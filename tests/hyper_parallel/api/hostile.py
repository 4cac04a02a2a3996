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
"""Uses that bypass or strain the interception: the right number or a clear error, never a silent local value."""

from __future__ import annotations

import array
import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import hyper_parallel as hp
from tests.hyper_parallel.api.tools import (
    Complaints,
    all_right_or_refused,
    cut,
    numbers,
    refuses,
    same,
)
from tests.hyper_parallel.case import S0, S1, P, R

_PLACES = (S0, S1, R, P)
_ERRORS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)


def _agree(names: dict[str, Callable[[Any], Any]], make: Callable[[], torch.Tensor], mesh: Any) -> None:
    """Each use gives on every placement what it gives on one device."""
    complaints = Complaints()
    for name, use in names.items():
        for place in _PLACES:
            full = make()
            with complaints.about(f"{name} under {place}"):
                _same_value(use(cut(full, mesh, place)), use(full))
    complaints.settle()


def _same_value(got: Any, want: Any) -> None:
    if isinstance(want, torch.Tensor):
        same(got, want)
    elif isinstance(want, np.ndarray):
        assert type(got) is np.ndarray
        np.testing.assert_allclose(got, want)
    else:
        assert type(got) is type(want), f"a {type(got).__name__} instead of a {type(want).__name__}"
        assert got == want, f"{got!r} instead of {want!r}"


def check_conversions_see_the_global_tensor(mesh: Any) -> None:
    whole_numbers = torch.arange(15, dtype=torch.float64).reshape(5, 3)
    _agree(
        {
            "tolist": lambda x: x.tolist(),
            "numpy": lambda x: x.numpy(),
            "numpy(force)": lambda x: x.numpy(force=True),
            "np.asarray": np.asarray,
            "np.array": np.array,
            "sum(axis)": lambda x: x.sum(axis=0),
            "sum(axis, keepdims)": lambda x: torch.sum(x, axis=1, keepdims=True),
            "max(axis)": lambda x: x.max(axis=0).values,
            "__array__": lambda x: x.__array__(),
            "torch.tensor": lambda x: torch.tensor(x.clone()),
            "torch.as_tensor": torch.as_tensor,
            "torch.asarray": torch.asarray,
            "torch.tensor of a list": lambda x: torch.tensor([x[0, 0], x[4, 2]]),
            "len": len,
            "list": lambda x: [float(row.sum()) for row in x],
            "unpacking": lambda x: [row.tolist() for row in [*x]],
            "sum()": lambda x: sum(x),
            "max of rows": lambda x: max(row.sum().item() for row in x),
            "zip": lambda x: [(a + b).tolist() for a, b in zip(x, x, strict=True)],
            "reversed": lambda x: [row.tolist() for row in reversed(x)],
            "in": lambda x: 7.0 in x,
            "not in": lambda x: 70.0 in x,
            "shape": lambda x: tuple(x.shape),
            "size": lambda x: (x.size(), x.size(0), x.size(-1)),
            "numel": lambda x: (x.numel(), x.nelement(), torch.numel(x)),
            "nbytes": lambda x: x.nbytes,
            "dim": lambda x: (x.dim(), x.ndim, x.ndimension()),
            "T": lambda x: x.T,
            "mT": lambda x: x.mT,
            "H": lambda x: x.H,
            "adjoint": lambda x: x.adjoint(),
            "real": lambda x: x.real,
            "str of an item": lambda x: str(x[4, 2].item()),
            "dtype": lambda x: (x.dtype, x.device.type, x.layout == torch.strided, x.layout != torch.strided),
            "is_floating_point": lambda x: (x.is_floating_point(), torch.is_floating_point(x), x.is_complex()),
            "equal": lambda x: (torch.equal(x, x), torch.equal(x, x + 1), x.equal(x.clone())),
            "allclose": lambda x: (torch.allclose(x, x), torch.allclose(x, x + 1)),
            "slices": lambda x: x[1:, ::2].tolist(),
            "negative index": lambda x: x[-1, -1].item(),
            "bool mask": lambda x: x[x > 6],
            "float()": lambda x: float(x.sum()),
            "round": lambda x: round(float(x.mean()), 3),
            "math.sqrt": lambda x: math.sqrt(x.sum()),
            "element_size": lambda x: x.element_size(),
            "new_zeros": lambda x: x.new_zeros(2, 2) + 0,
            "new_tensor": lambda x: x.new_tensor([1.0, 2.0]) + 0,
            "zeros_like": torch.zeros_like,
            "type": lambda x: x.type(torch.float32),
            "is_same_size": lambda x: x.is_same_size(x.clone()),
            "isnan any": lambda x: bool(x.isnan().any()),
            "nonzero": lambda x: x.nonzero(),
            "where": lambda x: torch.where(x > 5)[0],
            "unique": lambda x: torch.unique(x // 4),
        },
        lambda: whole_numbers.clone(),
        mesh,
    )


def check_strides_of_parts_longer_than_one(mesh: Any) -> None:
    _agree(
        {
            "stride": lambda x: (x.stride(), x.T.stride(), x.stride(0)),
            "is_contiguous": lambda x: (x.is_contiguous(), x.T.is_contiguous()),
        },
        lambda: numbers(8, 12),
        mesh,
    )


def check_truth_and_scalars(mesh: Any) -> None:
    for place in (R, P):
        x = cut(torch.tensor(3.0), mesh, place)
        assert bool(x)
        assert not bool(x - 3)
        assert float(x) == 3.0
        assert int(x) == 3
        assert complex(x) == 3 + 0j
        assert x.item() == 3.0
        assert 10 // int(x) == 3
        assert list(range(5))[cut(torch.tensor(3), mesh, place)] == 3
        assert f"{x:.2f}" == "3.00"
        refuses(lambda value=x: len(value), TypeError)
        refuses(lambda value=x: iter(value), TypeError)
    one = cut(torch.ones(1, 1), mesh, S0)
    assert bool(one)
    assert one.item() == 1.0
    many = cut(numbers(5, 3), mesh, S0)
    refuses(lambda: bool(many), RuntimeError, saying="ambiguous")
    refuses(lambda: many.item(), RuntimeError)
    refuses(lambda: float(many), RuntimeError, TypeError, ValueError)


def check_local_memory_is_not_taken_for_the_whole(mesh: Any) -> None:
    full = numbers(8, 3)
    bare = torch.nn.Linear(3, 8, bias=False).double()
    uses: dict[str, Callable[[Any], Any]] = {
        "from_numpy": lambda x: torch.from_numpy(np.asarray(x)),
        "from_dlpack": torch.from_dlpack,
        "to_dlpack": lambda x: torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)),
        "np.from_dlpack": lambda x: torch.from_numpy(np.from_dlpack(x)),
        "frombuffer": lambda x: torch.frombuffer(array.array("d", x.flatten().tolist()), dtype=x.dtype),
        "torch.Tensor": lambda x: torch.Tensor(x.float()),
        "legacy new": lambda x: x.new(x),
        "stack of rows": lambda x: torch.stack(list(x)),
        "collate": lambda x: torch.utils.data.default_collate([x, x]),
        "data set": lambda x: torch.utils.data.TensorDataset(x)[3][0],
        "parameters_to_vector": lambda x: torch.nn.utils.parameters_to_vector([x]),
        "vmap": lambda x: torch.vmap(lambda row: row.sum())(x),
        "func.grad": lambda x: torch.func.grad(lambda v: (v * v).sum())(x),
        "func.jvp": lambda x: torch.func.jvp(lambda v: (v * v).sum(0), (x,), (x,))[1],
        "jacobian": lambda x: torch.autograd.functional.jacobian(lambda v: v.sum(0), x),
        "functional_call": lambda x: torch.func.functional_call(bare, {"weight": x}, (full[:2],)),
        "as_strided": lambda x: x.as_strided((3, 3), (3, 1)),
        "memoryview": lambda x: torch.frombuffer(bytearray(memoryview(x.numpy())), dtype=x.dtype).reshape(8, 3),
        "set_": lambda x: torch.empty(0, dtype=x.dtype).set_(x),
        "view of dtype": lambda x: x.view(torch.int64),
        "pin_memory": lambda x: x.pin_memory(),
        "share_memory_": lambda x: x.share_memory_(),
        "swap_tensors": lambda x: _swapped(x),
        "Parameter data": lambda x: torch.nn.Parameter(x).data,
        "record of a dataclass": lambda x: copy.copy(x),
    }
    all_right_or_refused(uses, full, mesh, *_ERRORS, BufferError)


def _swapped(x: Any) -> Any:
    other = torch.zeros_like(x)
    torch.utils.swap_tensors(x, other)
    return other


def check_memory_addresses_are_local_or_refused(mesh: Any) -> None:
    x = cut(numbers(8, 3), mesh, S0)
    for ask in (lambda: x.untyped_storage(), lambda: x.storage(), lambda: x.data_ptr()):
        try:
            found = ask()
        except _ERRORS:
            continue
        # Memory is the own part's by definition; it must at least be its real address, so that nothing reads past it.
        address = found if isinstance(found, int) else found.data_ptr()
        assert address == x.to_local().data_ptr()
        if not isinstance(found, int):
            assert found.nbytes() == x.to_local().untyped_storage().nbytes()


def check_mixing_plain_and_distributed(mesh: Any) -> None:
    full, other = numbers(5, 3), numbers(5, 3, seed=1)
    complaints = Complaints()
    for place in _PLACES:
        x = cut(full, mesh, place)
        for number, (got, want) in enumerate(
            (
                (x + other, full + other),
                (other + x, full + other),
                (other @ x.T, other @ full.T),
                (torch.cat([x, other]), torch.cat([full, other])),
                (torch.where(other > 0, x, other), torch.where(other > 0, full, other)),
                (other[x[:, 0] > 0], other[full[:, 0] > 0]),
                (x * np.float64(2), full * 2),
                (np.float64(2) * x, full * 2),
                (torch.nn.functional.linear(other, x), torch.nn.functional.linear(other, full)),
                (x > full + 1, full > full + 1),
                (torch.maximum(other, x), torch.maximum(other, full)),
            )
        ):
            complaints.told += [] if isinstance(got, hp.DTensor) else [f"plain result {want} under {place}"]
            with complaints.about(f"{number} under {place}"):
                same(got, want)
        weight = other.clone().requires_grad_(True)
        (x * weight).sum().backward()
        same(weight.grad, full)
    complaints.settle()


def check_two_meshes_do_not_mix(mesh: Any) -> None:
    second = hp.init_device_mesh("cpu", (mesh.size(),), mesh_dim_names=("other",))
    x, y = cut(numbers(5, 3), mesh, S0), cut(numbers(5, 3), second, S0)
    for call in (
        lambda: x + y,
        lambda: torch.cat([x, y]),
        lambda: x.add_(y),
        lambda: x @ y.T,
        lambda: x.redistribute(second, [R]),
        lambda: torch.linalg.solve(x.T @ x, y.T @ y),
        lambda: x.copy_(y),
    ):
        refuses(call, hp.LayoutError, saying="mesh")
    same(x, numbers(5, 3))


def check_wrong_placements_are_named(mesh: Any) -> None:
    x = numbers(5, 3)
    for call, word in (
        (lambda: hp.distribute_tensor(x, mesh, [hp.Shard(2)]), "dim"),
        (lambda: hp.distribute_tensor(x, mesh, [hp.Shard(-3)]), "dim"),
        (lambda: hp.distribute_tensor(x, mesh, [R, R]), "placements"),
        (lambda: hp.distribute_tensor(x, mesh, []), "placements"),
        (lambda: hp.distribute_tensor(torch.tensor(1.0), mesh, [S0]), "dim"),
        (lambda: hp.DTensor.from_local(x, mesh, [S0], shape=(3, 3)), "shape"),
        (lambda: cut(x, mesh, S0).redistribute(mesh, [hp.Shard(7)]), "dim"),
        (lambda: hp.distribute_tensor(x, mesh, ["S0"]), "aliases"),
    ):
        refuses(call, hp.LayoutError, TypeError, ValueError, saying=word)
    refuses(lambda: hp.Partial("middle"), ValueError, saying="middle")
    same(hp.distribute_tensor(x, mesh, [hp.Shard(-1)]), x)
    assert hp.distribute_tensor(x, mesh, [hp.Shard(-1)]).placements == (S1,)


def check_errors_of_one_device_stay_errors(mesh: Any) -> None:
    x = cut(numbers(4, 4), mesh, S0)
    for call in (
        lambda: x @ cut(numbers(3, 3), mesh, R),
        lambda: x.sum(7),
        lambda: x.view(3, 3),
        lambda: x + cut(numbers(3), mesh, R),
        lambda: x.transpose(0, 5),
        lambda: x.size(4),
        lambda: x[9],
        lambda: x[0, 0, 0],
        lambda: x.add_(cut(numbers(2, 4, 4), mesh, R)),
        lambda: cut(numbers(0, 3), mesh, R).max(),
        lambda: x.long().mean(),
        lambda: x.backward(),
        lambda: torch.einsum("ij,jk", x),
        lambda: torch.cat([x, cut(numbers(4, 5), mesh, S0)]),
        lambda: x.no_such_method(),
        lambda: cut(torch.arange(4), mesh, S0).requires_grad_(True),
        lambda: x.softmax(3),
        lambda: torch.tril(cut(numbers(3), mesh, S0)),
        lambda: x.reshape(-1, -1),
        lambda: x.expand(3, 4),
        lambda: x.unflatten(0, (3, 2)),
        lambda: x.squeeze(5),
        lambda: x.repeat(2),
        lambda: torch.stack([x, x], 4),
    ):
        refuses(call, RuntimeError, IndexError, ValueError, AttributeError)
    same(x * 1, numbers(4, 4))
