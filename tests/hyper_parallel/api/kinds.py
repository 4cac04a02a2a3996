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
"""Kinds of tensors other than dense ones in plain memory: right, or one clear error that all ranks raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import hyper_parallel as hp
from hyper_parallel.errors import LayoutError
from tests.hyper_parallel.api.tools import Complaints, cut, numbers, refuses, same
from tests.hyper_parallel.case import S0, P, R


def _of_kind(matrix: torch.Tensor) -> dict[str, torch.Tensor]:
    """Tensors of which only full copies can be held."""
    return {
        "sparse": matrix.to_sparse(),
        "sparse parameter": torch.nn.Parameter(matrix.to_sparse(), requires_grad=False),
        "sparse CSR": matrix.to_sparse_csr(),
        "sparse CSC": matrix.to_sparse_csc(),
        "sparse BSR": matrix.to_sparse_bsr((2, 3)),
        "quantized": torch.quantize_per_tensor(matrix, 0.1, 0, torch.quint8),
    }


def _makers(mesh: Any) -> list[Callable[..., Any]]:
    return [
        lambda x, place: hp.distribute_tensor(x, mesh, [place], src_data_rank=None),
        lambda x, place: hp.DTensor.from_local(x, mesh, [place]),
    ]


def check_kinds_that_cannot_be_cut(mesh: Any) -> None:
    complaints = Complaints()
    for name, tensor in _of_kind(numbers(4, 3).float().relu()).items():
        for make in _makers(mesh):
            with complaints.about(name):
                whole = make(tensor, R).full_tensor()
                assert whole.layout == tensor.layout
                same(_dense(whole), _dense(tensor))
                for place in (S0, P):
                    refuses(lambda make=make, x=tensor, to=place: make(x, to), LayoutError, saying="dense")
                    refuses(lambda make=make, x=tensor, to=place: make(x, to), NotImplementedError, saying="replicate")
        with complaints.about(f"{name} sent by the first rank"):
            refuses(lambda x=tensor: hp.distribute_tensor(x, mesh, [R]), NotImplementedError, saying="src_data_rank")
    complaints.settle()


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.dequantize() if tensor.is_quantized else tensor.to_dense()


def check_nested_tensors_are_refused(mesh: Any) -> None:
    parts = [numbers(2, 3), numbers(4, 3)]
    for layout in (torch.strided, torch.jagged):
        nested = torch.nested.nested_tensor(parts, layout=layout)
        for make in _makers(mesh):
            refuses(lambda make=make, x=nested: make(x, R), NotImplementedError, saying="nested")
            refuses(lambda make=make, x=nested: make(x, S0), LayoutError, saying="nested")


def check_dtypes_that_the_wire_does_not_know(mesh: Any) -> None:
    complaints = Complaints()
    for dtype in (torch.uint16, torch.uint32, torch.uint64, torch.int16, torch.float8_e4m3fn, torch.float8_e5m2):
        full = torch.arange(15).reshape(5, 3).to(torch.float32).to(dtype)
        with complaints.about(str(dtype)):
            spread = hp.distribute_tensor(full, mesh, [S0])
            assert spread.dtype == dtype
            assert torch.equal(spread.full_tensor().float(), full.float())
            assert torch.equal(hp.distribute_tensor(full, mesh, [R]).full_tensor().float(), full.float())
    complaints.settle()


def check_lazy_conjugates_and_signs(mesh: Any) -> None:
    complaints = Complaints()
    pairs = torch.complex(numbers(5, 3), numbers(5, 3, seed=1))
    for name, lazy in {"conj": pairs.conj(), "negative": pairs.conj().imag, "both": pairs.conj().T.conj()}.items():
        for place in (S0, R, P):
            with complaints.about(f"{name} under {place}"):
                same(cut(lazy, mesh, place) * 2, lazy.clone() * 2)
                same(hp.distribute_tensor(lazy, mesh, [place]), lazy.clone())
    complaints.settle()
