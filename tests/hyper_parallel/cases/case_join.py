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
"""Joined and split tensors: right under every placement, a cut dim stays cut."""

from __future__ import annotations

import torch

from tests.hyper_parallel.case import S0, S1, Every, InputSpec, OpCase, P

_UNEVEN, _OTHER, _EVEN = InputSpec((5, 7)), InputSpec((3, 7)), InputSpec((8, 4))
_ALL = Every(24, partial=True)

CASES = [
    OpCase("cat_ops_uneven", lambda x, y: torch.cat([x, y], 0), (_UNEVEN, _OTHER), _ALL),
    OpCase("cat_ops_twice", lambda x, y: torch.cat([x, y, x], -2), (_UNEVEN, _OTHER), _ALL),
    OpCase("cat_ops_empty", lambda x, y: torch.cat((x, y)), (InputSpec((0, 7)), _OTHER), Every(12)),
    OpCase("cat_ops_mixed_dtype", lambda x, y: torch.cat([x, y], 1),
           (_UNEVEN, InputSpec((5, 2), dtype="float64")), Every(12)),
    OpCase("cat_ops_second", lambda x, y: torch.cat([x * x, y * y]), (_UNEVEN, _OTHER), Every(8), second_order=True),
    OpCase("cat_ops_other_dim", lambda x, y: torch.cat([x, y], 1), (_EVEN, _EVEN), ((S0,), (S0,)),
           out_placements=(S0,), max_bytes=0),
    OpCase("cat_ops_joined_dim", lambda x, y: torch.cat([x, y], 1), (_EVEN, _EVEN), ((S1,), (S1,)),
           mesh_shape=(2,), out_placements=(S1,), max_bytes=8 * 2 * 4),
    OpCase("cat_ops_pending", lambda x, y: torch.cat([x, y]), (_EVEN, _EVEN), ((P,), (P,)), out_placements=(P,),
           max_bytes=0),
    OpCase("stack_ops_uneven", lambda x, y: torch.stack([x, y], 1), (_UNEVEN, _UNEVEN), _ALL),
    OpCase("hstack_ops_uneven", lambda x, y: torch.hstack([x, y]), (_UNEVEN, InputSpec((5, 2))), _ALL),
    OpCase("hstack_ops_1d", lambda x, y: torch.hstack([x, y]), (InputSpec((5,)), InputSpec((3,))), _ALL),
    OpCase("vstack_ops_mixed", lambda x, y: torch.vstack([x, y]), (_UNEVEN, InputSpec((7,))), _ALL),
    OpCase("dstack_ops_uneven", lambda x, y: torch.dstack([x, y]), (_UNEVEN, _UNEVEN), _ALL),
    OpCase("column_stack_ops_mixed", lambda x, y: torch.column_stack([x, y]), (_UNEVEN, InputSpec((5,))), _ALL),
    OpCase("split_ops_uneven", lambda x: torch.split(x, 2), (_UNEVEN,), _ALL),
    OpCase("split_ops_sizes", lambda x: x.split([1, 0, 4]), (_UNEVEN,), _ALL),
    OpCase("split_ops_one_used", lambda x: x.split(3, 1)[2], (_UNEVEN,), _ALL),
    OpCase("split_ops_second", lambda x: (x * x).split([4, 1]), (_UNEVEN,), Every(8), second_order=True),
    OpCase("split_ops_in_place", lambda x: torch.split(x, 4), (_EVEN,), ((S0,),), mesh_shape=(2,),
           out_placements=(S0,), max_bytes=2 * 2 * 4 * 4),
    OpCase("chunk_ops_uneven", lambda x: torch.chunk(x, 3, dim=1), (_UNEVEN,), _ALL),
    OpCase("chunk_ops_more_than_there_are", lambda x: x.chunk(9), (_UNEVEN,), Every(8)),
    OpCase("tensor_split_ops_number", lambda x: torch.tensor_split(x, 3), (_UNEVEN,), _ALL),
    OpCase("tensor_split_ops_places", lambda x: torch.tensor_split(x, (1, -2), dim=1), (_UNEVEN,), _ALL),
    OpCase("tensor_split_ops_overlap", lambda x: torch.tensor_split(x, (3, 1)), (_UNEVEN,), Every(8)),
    OpCase("hsplit_ops_uneven", lambda x: torch.hsplit(x, (2, 5)), (_UNEVEN,), _ALL),
    OpCase("vsplit_ops_even", lambda x: torch.vsplit(x, 2), (_EVEN,), _ALL),
    OpCase("unsafe_split_ops_uneven", lambda x: torch.unsafe_split(x, 2), (_UNEVEN,), _ALL),
]  # fmt: skip
