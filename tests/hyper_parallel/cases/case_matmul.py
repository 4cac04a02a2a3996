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
"""Contractions: matmul with every rank of operands, batched forms, linear, einsum."""

from __future__ import annotations

import torch

from hyper_parallel.placements import StridedShard
from tests.hyper_parallel.case import S0, S1, Every, InputSpec, OpCase, P, R


def _spec(*shape: int) -> InputSpec:
    return InputSpec(shape)


_A, _B = _spec(5, 7), _spec(7, 3)
_SOME = Every(20, partial=True)

CASES = [
    OpCase("matmul_ops_2d_2d", torch.matmul, (_A, _B), _SOME),
    OpCase("matmul_ops_1d_1d", torch.matmul, (_spec(7), _spec(7)), _SOME),
    OpCase("matmul_ops_1d_2d", torch.matmul, (_spec(7), _B), _SOME),
    OpCase("matmul_ops_2d_1d", torch.matmul, (_A, _spec(7)), _SOME),
    OpCase("matmul_ops_batch", torch.matmul, (_spec(2, 5, 7), _spec(2, 7, 3)), _SOME),
    OpCase("matmul_ops_broadcast_batch", torch.matmul, (_spec(3, 1, 5, 7), _spec(2, 7, 3)), _SOME),
    OpCase("matmul_ops_second", torch.matmul, (_A, _B), Every(12), second_order=True),
    OpCase("mm_ops_uneven", torch.mm, (_A, _B), _SOME),
    OpCase("bmm_ops_uneven", torch.bmm, (_spec(3, 5, 7), _spec(3, 7, 2)), _SOME),
    OpCase("mv_ops_uneven", torch.mv, (_A, _spec(7)), _SOME),
    OpCase("dot_ops_uneven", torch.dot, (_spec(7), _spec(7)), _SOME),
    OpCase("outer_ops_uneven", torch.outer, (_spec(5), _spec(3)), _SOME),
    OpCase("addmm_ops_scaled", torch.addmm, (_spec(3), _A, _B), _SOME, kwargs={"beta": 0.5, "alpha": 2}),
    OpCase("addmv_ops_one_bias", torch.addmv, (_spec(1), _spec(3, 2), _spec(2)), Every(20, partial=True),
           kwargs={"beta": 0.5, "alpha": 2}, mesh_shape=(4,)),
    OpCase("addmm_ops_one_bias", torch.addmm, (_spec(1), _spec(3, 2), _spec(2, 3)), Every(20, partial=True),
           kwargs={"beta": 0.5, "alpha": 2}, mesh_shape=(4,)),
    OpCase("baddbmm_ops_uneven", torch.baddbmm, (_spec(3, 5, 2), _spec(3, 5, 7), _spec(3, 7, 2)), _SOME),
    OpCase("linear_ops_bias", torch.nn.functional.linear, (_spec(2, 5, 7), _spec(3, 7), _spec(3)), _SOME),
    OpCase("linear_ops_column", torch.nn.functional.linear, (_A, _spec(3, 7)), ((R,), (S0,)), max_bytes=0),
    OpCase("matmul_ops_row", torch.matmul, (_A, _B), ((S1,), (S0,)), out_placements=(P,), max_bytes=0),
    OpCase("matmul_ops_data", torch.matmul, (_A, _B), ((S0,), (R,)), out_placements=(S0,), max_bytes=0),
    OpCase("matmul_ops_2d_mesh", torch.matmul, (_A, _B), ((S0, R), (R, S1)), out_placements=(S0, S1), max_bytes=0),
    OpCase("einsum_ops_attention", lambda q, k: torch.einsum("bqhd,bkhd->bhqk", q, k),
           (_spec(2, 3, 2, 4), _spec(2, 5, 2, 4)), Every(12)),
    OpCase("einsum_ops_trace_like", lambda x: torch.einsum("ii->i", x), (_spec(5, 5),), Every(12)),
    OpCase("tensordot_ops_uneven", lambda x, y: torch.tensordot(x, y, dims=([1, 2], [0, 1])),
           (_spec(2, 3, 5), _spec(3, 5, 4)), Every(12)),
    OpCase("einsum_ops_ellipsis", lambda x, y: torch.einsum("...ij,jk->...ik", x, y), (_spec(3, 1, 5, 4), _spec(4, 6)),
           Every(16, partial=True)),
    OpCase("einsum_ops_ellipses", lambda x, y: torch.einsum("a...b,...bc", x, y),
           (_spec(5, 3, 2, 4), _spec(1, 2, 4, 3)), Every(16)),
    OpCase("einsum_ops_batch_local", lambda x, y: torch.einsum("...ij,...jk->...ik", x, y),
           (_spec(5, 3, 4), _spec(5, 4, 2)), ((S0,), (S0,)), out_placements=(S0,), max_bytes=0),
    OpCase("mm_ops_other_nesting", torch.mm, (_spec(4, 8), _spec(8, 4)), ((S1, S1), (StridedShard(0, 2), S0)),
           mesh_shape=(2, 2)),
    OpCase("matmul_ops_empty", torch.matmul, (_spec(0, 7), _B), Every(12)),
]  # fmt: skip
