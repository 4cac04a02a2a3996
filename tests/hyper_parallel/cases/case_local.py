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
"""Normalising operators, attention and embedding: alone on every rank where the cut dims take no part."""

from __future__ import annotations

import torch

from tests.hyper_parallel.case import S0, S1, Every, InputSpec, OpCase, R

functional = torch.nn.functional
_M, _CUBE = InputSpec((5, 7)), InputSpec((3, 4, 5))
_QUERY = InputSpec((3, 4, 5, 2))
_TABLE = InputSpec((6, 3))
_ROWS = tuple(tuple((3 * i + j) % 6 for j in range(5)) for i in range(4))
_WORDS = InputSpec((4, 5), dtype="int64", data=_ROWS, grad=False)

CASES = [
    OpCase("softmax_ops_rows", lambda x: torch.softmax(x, 1), (_M,), Every(40), second_order=True),
    OpCase("softmax_ops_batch", lambda x: functional.softmax(x, -1), (_CUBE,), Every(40)),
    OpCase("softmax_ops_kept", lambda x: torch.softmax(x, 1), (_M,), ((S0,),), out_placements=(S0,), max_bytes=0),
    OpCase("softmax_ops_kept_too", lambda x: functional.softmax(x, 1), (_M,), ((S0,),), out_placements=(S0,),
           max_bytes=0),
    OpCase("softmax_ops_method", lambda x: x.softmax(1), (_M,), ((S0,),), out_placements=(S0,), max_bytes=0),
    OpCase("log_softmax_ops_columns", lambda x: x.log_softmax(0), (_M,), Every(40)),
    OpCase("softmin_ops_rows", lambda x: functional.softmin(x, 1), (_M,), Every(40)),
    OpCase("layer_norm_ops_affine", lambda x, w, b: functional.layer_norm(x, (5,), w, b),
           (_CUBE, InputSpec((5,)), InputSpec((5,))), Every(24)),
    OpCase("layer_norm_ops_two_dims", lambda x: functional.layer_norm(x, (4, 5)), (_CUBE,), Every(40)),
    OpCase("layer_norm_ops_kept", lambda x: functional.layer_norm(x, (7,)), (_M,), ((S0,),),
           out_placements=(S0,), max_bytes=0),
    OpCase("rms_norm_ops_affine", lambda x, w: functional.rms_norm(x, (5,), w), (_CUBE, InputSpec((5,))), Every(24)),
    OpCase("attention_ops_heads", functional.scaled_dot_product_attention, (_QUERY, _QUERY, _QUERY), Every(24)),
    OpCase("attention_ops_causal", lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
           (_QUERY, _QUERY, _QUERY), Every(16)),
    OpCase("attention_ops_kept", functional.scaled_dot_product_attention, (_QUERY, _QUERY, _QUERY),
           ((S1,), (S1,), (S1,)), out_placements=(S1,), max_bytes=0),
    OpCase("embedding_ops_words", functional.embedding, (_WORDS, _TABLE), Every(40)),
    OpCase("embedding_ops_padding", lambda x, w: functional.embedding(x, w, padding_idx=2), (_WORDS, _TABLE),
           Every(40)),
    OpCase("embedding_ops_columns", functional.embedding, (_WORDS, _TABLE), ((R,), (S1,)), max_bytes=0),
]  # fmt: skip
