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
"""Attention: cut heads send nothing, cut sequences keys and values only, few rows only sums."""

from __future__ import annotations

from typing import Any

import torch

from tests.hyper_parallel.case import S0, S1, S2, CompareSpec, Every, InputSpec, OpCase, R

attention = torch.nn.functional.scaled_dot_product_attention
_QUERY, _ROW = InputSpec((3, 4, 5, 2)), InputSpec((3, 4, 1, 2))
_LONG, _WIDE = InputSpec((3, 4, 7, 2)), InputSpec((3, 4, 7, 6))
_MASK, _KEYS = InputSpec((5, 5)), InputSpec((3, 1, 5, 7))
_FLAGS = InputSpec((5, 7), dtype="bool", data=[[(i + j) % 3 > 0 for j in range(7)] for i in range(5)], grad=False)
_ALONE, _FLAT = InputSpec((1, 1, 6, 4)), InputSpec((5, 4))
_FEW, _MANY = InputSpec((2, 2, 5, 4)), InputSpec((2, 4, 5, 4))
_PAST = InputSpec((2, 2, 31, 4))
_CLOSE = CompareSpec.allclose(2e-5, 2e-5)


def _causal(q: Any, k: Any, v: Any) -> Any:
    return attention(q, k, v, is_causal=True)


def _grouped(q: Any, k: Any, v: Any) -> Any:
    return attention(q, k, v, enable_gqa=True, scale=0.3)


CASES = [
    OpCase("attention_ops_heads", attention, (_QUERY, _QUERY, _QUERY), Every(60)),
    OpCase("attention_ops_causal", _causal, (_QUERY, _QUERY, _QUERY), Every(60)),
    OpCase("attention_ops_lengths", attention, (_QUERY, _LONG, _WIDE), Every(40), compare=_CLOSE),
    OpCase("attention_ops_causal_lengths", _causal, (_QUERY, _LONG, _WIDE), Every(40), compare=_CLOSE),
    OpCase("attention_ops_causal_few_keys", _causal, (_LONG, _QUERY, _QUERY), Every(40), compare=_CLOSE),
    OpCase("attention_ops_alone", _causal, (_ALONE, _ALONE, _ALONE), Every(40, partial=True)),
    OpCase("attention_ops_flat", attention, (_FLAT, _FLAT, _FLAT), Every(40)),
    OpCase("attention_ops_mask", lambda q, k, v, m: attention(q, k, v, m), (_QUERY, _QUERY, _QUERY, _MASK), Every(60)),
    OpCase("attention_ops_batch_mask", lambda q, k, v, m: attention(q, k, v, m, scale=0.5),
           (_QUERY, _LONG, _LONG, _KEYS), Every(60)),
    OpCase("attention_ops_flags", lambda q, k, v, m: attention(q, k, v, m), (_QUERY, _LONG, _LONG, _FLAGS), Every(60)),
    OpCase("attention_ops_groups", _grouped, (_MANY, _FEW, _FEW), Every(60)),
    OpCase("attention_ops_kept", attention, (_QUERY, _QUERY, _QUERY), ((S1,), (S1,), (S1,)), out_placements=(S1,),
           max_bytes=0),
    OpCase("attention_ops_groups_kept", _grouped, (_MANY, _FEW, _FEW), ((S1,), (S1,), (S1,)), mesh_shape=(2,),
           out_placements=(S1,), max_bytes=0),
    OpCase("attention_ops_rows_kept", _causal, (_QUERY, _QUERY, _QUERY), ((S2,), (R,), (R,)), out_placements=(S2,),
           max_bytes=0),
    OpCase("attention_ops_sequence", attention, (_MANY, _MANY, _MANY), ((S2,), (S2,), (S2,)), mesh_shape=(2,),
           out_placements=(S2,), max_bytes=2 * 2 * 4 * 3 * 4 * 4),
    OpCase("attention_ops_causal_sequence", _causal, (_MANY, _MANY, _MANY), ((S2,), (S2,), (S2,)), mesh_shape=(2,),
           out_placements=(S2,), max_bytes=2 * 2 * 4 * 3 * 4 * 4),
    OpCase("attention_ops_three_ranks", _causal, (_ALONE, _ALONE, _ALONE), ((S2,), (S2,), (S2,)), mesh_shape=(3,),
           out_placements=(S2,)),
    OpCase("attention_ops_traded", _causal, (_MANY, _MANY, _MANY), ((S2,), (S2,), (S2,)), mesh_shape=(4,),
           out_placements=(S2,), max_bytes=4 * 2 * 4 * 2 * 4 * 4 * 3 // 4),
    OpCase("attention_ops_traded_mask", lambda q, k, v, m: attention(q, k, v, m), (_QUERY, _QUERY, _QUERY, _MASK),
           ((S2,), (S2,), (S2,), (R,)), mesh_shape=(4,), out_placements=(S2,)),
    OpCase("attention_ops_batch_and_sequence", _causal, (_QUERY, _QUERY, _QUERY), ((S0, S2), (S0, S2), (S0, S2)),
           out_placements=(S0, S2)),
    OpCase("attention_ops_past", _causal, (_FEW, _PAST, _PAST), Every(40)),
    OpCase("attention_ops_one_row", attention, (InputSpec((2, 2, 1, 4)), _PAST, _PAST), Every(60), compare=_CLOSE),
    OpCase("attention_ops_merged", attention, (InputSpec((2, 2, 1, 4)), _PAST, _PAST), ((R,), (S2,), (S2,)),
           mesh_shape=(2,), out_placements=(R,), max_bytes=4 * (4 + 5) * 4, compare=_CLOSE),
]  # fmt: skip
