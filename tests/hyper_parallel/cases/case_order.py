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
"""Sorting and selecting: right under every placement, stable, with global indices, and for less than a gather."""

from __future__ import annotations

import torch

from tests.hyper_parallel.case import S0, S1, CompareSpec, Every, InputSpec, OpCase, R

_LONG, _FLAT = InputSpec((101, 3)), InputSpec((203,))
_SMALL = InputSpec((5, 7))
_TIES = InputSpec((150, 2), init="integers", range=(0, 4), grad=False)
_WHOLE = InputSpec((160,), "int64", "integers", range=(-3, 3))
_BYTE = InputSpec((150, 2), "uint8", "integers", range=(0, 256))
_HALF = InputSpec((170,), "float16")
_FEW = Every(16)
_EXACT = CompareSpec.equal()
_GATHER = 3 * 64 * 4 * 4  # a part of (256, 4) sent to three others


def _holes(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 1, torch.nan, torch.where(x < -1, -0.0, x.round()))


CASES = [
    OpCase("sort_ops_small", lambda x: torch.sort(x, 0), (_SMALL,), Every(16, partial=True)),
    OpCase("sort_ops_long", lambda x: torch.sort(x, 0), (_LONG,), Every(16, partial=True)),
    OpCase("sort_ops_flat", lambda x: torch.sort(x, descending=True), (_FLAT,), _FEW),
    OpCase("sort_ops_second", lambda x: torch.sort(x * x, 0)[0], (_LONG,), Every(6), second_order=True),
    OpCase("sort_ops_stable", lambda x: torch.sort(x, dim=0, stable=True), (_TIES,), _FEW, compare=_EXACT),
    OpCase("sort_ops_stable_down", lambda x: torch.sort(x, dim=0, stable=True, descending=True), (_TIES,), _FEW,
           compare=_EXACT),
    OpCase("sort_ops_nan", lambda x: torch.sort(_holes(x), dim=0, stable=True), (InputSpec((99, 2), grad=False),), _FEW,
           compare=_EXACT),
    OpCase("sort_ops_int", lambda x: x.sort(dim=0, stable=True), (_WHOLE,), _FEW, compare=_EXACT),
    OpCase("sort_ops_uint8", lambda x: x.sort(dim=0, stable=True, descending=True), (_BYTE,), _FEW, compare=_EXACT),
    OpCase("sort_ops_bool", lambda x: (x > 0).sort(dim=0, stable=True), (_LONG,), _FEW, compare=_EXACT),
    OpCase("sort_ops_half", lambda x: torch.sort(x, stable=True), (_HALF,), _FEW, compare=_EXACT),
    OpCase("sort_ops_bytes", lambda x: torch.sort(x, 0), (InputSpec((256, 4)),), ((S0,),), mesh_shape=(4,),
           out_placements=(S0,), max_bytes=_GATHER * 3 // 4),
    OpCase("sort_ops_in_order", lambda x: torch.sort(x, 0), (InputSpec((256, 4), init="arange"),), ((S0,),),
           mesh_shape=(4,), out_placements=(S0,), max_bytes=_GATHER * 3 // 4),
    OpCase("argsort_ops_long", lambda x: torch.argsort(x, 0, True), (_LONG,), _FEW, compare=_EXACT),
    OpCase("msort_ops_long", torch.msort, (_LONG,), _FEW),
    OpCase("topk_ops_long", lambda x: torch.topk(x, 4, 0), (_LONG,), Every(16, partial=True)),
    OpCase("topk_ops_smallest", lambda x: torch.topk(x, 30, 0, largest=False), (_LONG,), _FEW),
    OpCase("topk_ops_second", lambda x: torch.topk(x * x, 3, 0)[0], (_LONG,), Every(6), second_order=True),
    OpCase("topk_ops_bytes", lambda x: torch.topk(x, 4, 0), (InputSpec((256, 4)),), ((S0,),), mesh_shape=(4,),
           out_placements=(R,), max_bytes=_GATHER // 10),
    OpCase("kthvalue_ops_long", lambda x: torch.kthvalue(x, 60, 0), (_LONG,), _FEW),
    OpCase("kthvalue_ops_keep", lambda x: torch.kthvalue(x, 1, 0, True), (_LONG,), _FEW),
    OpCase("median_ops_long", lambda x: torch.median(x, 0), (_LONG,), Every(16, partial=True)),
    OpCase("median_ops_second", lambda x: torch.median(x * x, 0)[0], (_LONG,), Every(6), second_order=True),
    OpCase("median_ops_keep", lambda x: torch.median(x, -1, True), (InputSpec((3, 90)),), _FEW),
    OpCase("median_ops_nan", lambda x: torch.median(torch.where(x > 2, torch.nan, x), 0), (_LONG,), _FEW),
    OpCase("nanmedian_ops_nan", lambda x: torch.nanmedian(torch.where(x > 0, torch.nan, x), 0)[0], (_LONG,), _FEW),
    OpCase("median_ops_bytes", lambda x: torch.median(x, 1), (InputSpec((4, 256)),), ((S1,),), mesh_shape=(4,),
           out_placements=(R,), max_bytes=_GATHER // 3),
]  # fmt: skip
