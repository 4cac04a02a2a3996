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
"""Batched matrices and Fourier transforms: batch dims stay cut, nothing but a word about errors is sent."""

from __future__ import annotations

from typing import Any

import torch

from tests.hyper_parallel.case import S0, S1, S2, CompareSpec, Every, InputSpec, OpCase, P, R

_CLOSE = CompareSpec.allclose(1e-4, 1e-4)
_SQUARES, _TALL = InputSpec((5, 3, 3), "float64"), InputSpec((2, 3, 4, 3), "float64")
_RIGHT = InputSpec((5, 3, 7), "float64")
_SIGNAL = InputSpec((5, 7, 6))
_WORD = 16  # bytes that tell whether a rank failed, at most


def _positive(x: torch.Tensor) -> torch.Tensor:
    return x @ x.mT + 3 * torch.eye(x.shape[-1], dtype=x.dtype)


def _apart(x: torch.Tensor) -> torch.Tensor:
    return x + torch.diag_embed(torch.arange(1.0, x.shape[-1] + 1, dtype=x.dtype) * 4)


def _case(name: str, op: Any, spec: InputSpec = _SQUARES, **kwargs: Any) -> OpCase:
    return OpCase(name, op, (spec,), Every(10), compare=_CLOSE, kwargs=kwargs)


def _errors(x: torch.Tensor) -> torch.Tensor:
    """One matrix of the batch is singular: every rank gets an error, and all go on together."""
    singular = x.clone()
    singular[0] = 0
    try:
        torch.linalg.inv(singular)
    except torch.linalg.LinAlgError:
        return x * 2
    return x * 3


def _local(name: str, op: Any, spec: InputSpec = _SQUARES, outs: Any = (S0,)) -> OpCase:
    return OpCase(name, op, (spec,), ((S0,),), compare=_CLOSE, out_placements=outs, max_bytes=_WORD)


CASES = [
    _case("det_ops_every", torch.linalg.det),
    _case("slogdet_ops_every", torch.linalg.slogdet),
    _case("inv_ops_every", lambda x: torch.linalg.inv(_apart(x))),
    _case("cholesky_ops_every", lambda x: torch.linalg.cholesky(_positive(x))),
    _case("qr_ops_every", torch.linalg.qr, _TALL),
    _case("svdvals_ops_every", torch.linalg.svdvals, _TALL),
    _case("eigvalsh_ops_every", lambda x: torch.linalg.eigvalsh(_positive(x))),
    _case("eigh_ops_every", lambda x: torch.linalg.eigh(_positive(x))[1].abs()),
    _case("matrix_exp_ops_every", torch.matrix_exp),
    _case("lu_ops_every", torch.linalg.lu, _TALL),
    _case("pinverse_ops_every", torch.pinverse, _TALL),
    _local("det_ops_local", torch.linalg.det),
    _local("inv_ops_local", torch.linalg.inv),
    _local("svd_ops_local", lambda x: torch.linalg.svd(x, full_matrices=False)[1]),
    _local("matrix_power_ops_local", lambda x: torch.linalg.matrix_power(x, 3)),
    OpCase("inv_ops_error_everywhere", _errors, (_SQUARES,), Every(6)),
    OpCase("solve_ops_every", lambda a, b: torch.linalg.solve(_apart(a), b), (_SQUARES, _RIGHT), Every(16),
           compare=_CLOSE),
    OpCase("solve_ops_columns", torch.linalg.solve, (_SQUARES, _RIGHT), ((R,), (S2,)), compare=_CLOSE,
           out_placements=(S2,), max_bytes=_WORD),
    OpCase("solve_triangular_ops_every", lambda a, b: torch.linalg.solve_triangular(_apart(a), b, upper=True),
           (_SQUARES, _RIGHT), Every(16), compare=_CLOSE),
    OpCase("cdist_ops_every", torch.cdist, (InputSpec((5, 4)), InputSpec((7, 4))), Every(16), compare=_CLOSE),
    OpCase("cdist_ops_both", torch.cdist, (InputSpec((5, 4)), InputSpec((7, 4))), ((S0, R), (R, S0)),
           out_placements=(S0, S1), max_bytes=0, compare=_CLOSE),
    *(
        OpCase(f"{name}_ops_every", lambda x, name=name: torch.view_as_real(getattr(torch.fft, name)(x).resolve_conj()),
               (_SIGNAL,), Every(10, partial=True), compare=_CLOSE)
        for name in ("fft", "ifft", "rfft", "ihfft", "fft2", "rfft2", "fftn")
    ),
    *(
        OpCase(f"{name}_ops_every", lambda x, name=name: getattr(torch.fft, name)(torch.complex(x, x * x)), (_SIGNAL,),
               Every(8), compare=_CLOSE)
        for name in ("irfft", "hfft", "irfft2", "irfftn")
    ),
    OpCase("fft_ops_sizes", lambda x: torch.view_as_real(torch.fft.fft(x, 4, 1, "ortho")), (_SIGNAL,), Every(8)),
    OpCase("rfftn_ops_sizes", lambda x: torch.view_as_real(torch.fft.rfftn(x, (4, 9))), (_SIGNAL,), Every(8)),
    OpCase("fft_ops_local", torch.fft.fft, (_SIGNAL,), ((S1,),), out_placements=(S1,), max_bytes=0, compare=_CLOSE),
    OpCase("fft_ops_pending", torch.fft.fft, (_SIGNAL,), ((P,),), out_placements=(P,), max_bytes=0, compare=_CLOSE),
    OpCase("fftshift_ops_every", torch.fft.fftshift, (_SIGNAL,), Every(10, partial=True)),
    OpCase("ifftshift_ops_every", torch.fft.ifftshift, (_SIGNAL,), Every(10), kwargs={"dim": (0, 2)}),
]  # fmt: skip
