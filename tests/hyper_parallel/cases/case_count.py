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
"""Finding and counting: right under every placement, sizes agreed by all ranks, counts as pending sums."""

from __future__ import annotations

import torch

from hyper_parallel.placements import Partial
from tests.hyper_parallel.case import S0, S1, CompareSpec, Every, InputSpec, OpCase, P, R

_EXACT = CompareSpec.equal()
_WHOLE = InputSpec((7, 5), "int64", "integers", range=(-3, 3))
_FLAT = InputSpec((23,), "int64", "integers", range=(0, 9))
_SHORT = InputSpec((1,), "int64", "integers", range=(2, 9))
_RUNS = InputSpec((12,), data=[1, 1, 1, 2, 2, 2, 2, 2, 3, 1, 1, 1], grad=False)
_ROWS = InputSpec((6, 2), data=[1, 2, 0, 1, 1, 2, 3, 3, 0, 1, 1, 2], grad=False)
_REAL = InputSpec((7, 5), grad=False)
_EDGES = InputSpec((6,), data=[-2.0, -1.0, 0.0, 0.0, 1.0, 2.0], grad=False)
_LINES = InputSpec((3, 6), data=[[0, 1, 2, 3, 4, 5], [1, 1, 1, 1, 1, 1], [-3, -2, 0, 0, 0, 7]], grad=False)
_FEW = Every(12)
_ALL = {"return_inverse": True, "return_counts": True}

CASES = [
    OpCase("nonzero_ops_whole", torch.nonzero, (_WHOLE,), _FEW, compare=_EXACT),
    OpCase("nonzero_ops_tuple", lambda x: torch.nonzero(x, as_tuple=True), (_WHOLE,), _FEW, compare=_EXACT),
    OpCase("nonzero_ops_none", lambda x: torch.nonzero(x * 0), (_WHOLE,), _FEW, compare=_EXACT),
    OpCase("nonzero_ops_bits", torch.nonzero, (InputSpec((64, 8), grad=False),), ((S0,),), mesh_shape=(4,),
           out_placements=(R,), max_bytes=64 * 8 // 4 // 8 * 3),
    OpCase("argwhere_ops_whole", lambda x: torch.argwhere(x > 0), (_REAL,), _FEW, compare=_EXACT),
    OpCase("unique_ops_flat", lambda x: torch.unique(x, **_ALL), (_WHOLE,), _FEW, compare=_EXACT),
    OpCase("unique_ops_short", lambda x: torch.unique(x, **_ALL), (_SHORT,), _FEW, compare=_EXACT),
    OpCase("unique_ops_values", torch.unique, (_FLAT,), ((S0,),), mesh_shape=(2,), out_placements=(R,)),
    OpCase("unique_ops_rows", lambda x: torch.unique(x, dim=0, **_ALL), (_ROWS,), _FEW, compare=_EXACT),
    OpCase("unique_ops_columns", lambda x: torch.unique(x, dim=1, return_counts=True), (_WHOLE,), _FEW,
           compare=_EXACT),
    OpCase("unique_ops_inverse_cut", lambda x: torch.unique(x, return_inverse=True)[1], (_FLAT,), ((S0,),),
           mesh_shape=(2,), out_placements=(S0,)),
    OpCase("unique_consecutive_ops_runs", lambda x: torch.unique_consecutive(x, **_ALL), (_RUNS,), _FEW,
           compare=_EXACT),
    OpCase("unique_consecutive_ops_rows", lambda x: x.unique_consecutive(dim=0, **_ALL), (_ROWS,), _FEW,
           compare=_EXACT),
    OpCase("unique_consecutive_ops_flat", lambda x: x.unique_consecutive(**_ALL), (_ROWS,), _FEW, compare=_EXACT),
    OpCase("bincount_ops_flat", torch.bincount, (_FLAT,), _FEW, compare=_EXACT),
    OpCase("bincount_ops_short", lambda x: torch.bincount(x, minlength=4), (_SHORT,), _FEW, compare=_EXACT),
    OpCase("bincount_ops_weights", torch.bincount, (_FLAT, InputSpec((23,), grad=False)), _FEW),
    OpCase("bincount_ops_bytes", torch.bincount, (_FLAT,), ((S0,),), mesh_shape=(4,), out_placements=(P,),
           max_bytes=3 * (2 * 8 + 1)),
    OpCase("histc_ops_bounds", lambda x: torch.histc(x, 6, -1, 1), (_REAL,), _FEW),
    OpCase("histc_ops_own_bounds", lambda x: torch.histc(x, 6), (_REAL,), _FEW),
    OpCase("histc_ops_one_value", lambda x: torch.histc(x * 0 + 3, 5), (_REAL,), _FEW),
    OpCase("histc_ops_free", lambda x: torch.histc(x, 6, -1, 1), (_REAL,), ((S1,),), mesh_shape=(4,),
           out_placements=(P,), max_bytes=0),
    OpCase("searchsorted_ops_flat", torch.searchsorted, (_EDGES, _REAL), Every(24), compare=_EXACT),
    OpCase("searchsorted_ops_right", lambda s, x: torch.searchsorted(s, x, right=True), (_EDGES, _REAL), _FEW,
           compare=_EXACT),
    OpCase("searchsorted_ops_lines", torch.searchsorted, (_LINES, InputSpec((3, 4), grad=False)), Every(24),
           compare=_EXACT),
    OpCase("searchsorted_ops_number", lambda s: torch.searchsorted(s, 0.5), (_EDGES,), _FEW, compare=_EXACT),
    OpCase("searchsorted_ops_free", torch.searchsorted, (_EDGES, _REAL), ((S0,), (R,)), mesh_shape=(2,),
           out_placements=(P,), max_bytes=0),
    OpCase("bucketize_ops_real", torch.bucketize, (_REAL, _EDGES), Every(24), compare=_EXACT),
    OpCase("isin_ops_whole", torch.isin, (_WHOLE, InputSpec((4,), data=[0, 1, -3, 1], dtype="int64")), Every(16),
           compare=_EXACT),
    OpCase("isin_ops_invert", lambda x, y: torch.isin(x, y, invert=True),
           (_WHOLE, InputSpec((4,), data=[0, 1, -3, 1], dtype="int64")), Every(16), compare=_EXACT),
    OpCase("isin_ops_free", torch.isin, (_WHOLE, _FLAT), ((R,), (S0,)), mesh_shape=(2,),
           out_placements=(Partial("max"),), max_bytes=0),
    OpCase("isin_ops_number", lambda x: torch.isin(x, 2), (_WHOLE,), ((S1,),), mesh_shape=(2,), out_placements=(S1,),
           max_bytes=0),
]  # fmt: skip
