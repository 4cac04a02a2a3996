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
from tests.hyper_parallel.api.tools import Complaints, cut, numbers, refuses, right_or_refused, same
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
    complaints = Complaints()
    for name, use in uses.items():
        for place in (S0, S1, R, P):
            with complaints.about(f"{name} under {place}"):
                try:
                    want = use(full.clone())
                except Exception:
                    continue
                right_or_refused(lambda call=use, p=place: call(cut(full, mesh, p)), want, *_ERRORS, BufferError)
    complaints.settle()


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
    complaints = Complaints()
    for name, use in uses.items():
        for place in (S0, S1, R, P):
            with complaints.about(f"{name} under {place}"):
                try:
                    want = use(full.clone())
                except Exception:
                    continue
                right_or_refused(lambda call=use, p=place: call(cut(full, mesh, p)), want, Exception)
    complaints.settle()


def check_compiled_functions(mesh: Any) -> None:
    full = numbers(6, 4)
    compiled = torch.compile(lambda v: v + 1, backend="eager")
    right_or_refused(lambda: compiled(cut(full, mesh, S0)), full + 1, Exception)
