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
"""Look-ups in a table: nothing is sent, whatever is cut."""

from __future__ import annotations

import torch

from tests.hyper_parallel.case import S0, S1, CompareSpec, Every, InputSpec, OpCase, P, R

functional = torch.nn.functional
_TABLE, _HALF_TABLE = InputSpec((6, 3)), InputSpec((6, 3), dtype="float16")
_ROWS = tuple(tuple((3 * i + j) % 6 for j in range(5)) for i in range(4))
_WORDS = InputSpec((4, 5), dtype="int64", data=_ROWS, grad=False)
_SHORT = InputSpec((4, 5), dtype="int32", data=_ROWS, grad=False)
_SMALL = InputSpec((3,), dtype="int64", data=(1, 0, 1), grad=False)

CASES = [
    OpCase("embedding_ops_words", functional.embedding, (_WORDS, _TABLE), Every(40, partial=True), second_order=True),
    OpCase("embedding_ops_padding", lambda x, w: functional.embedding(x, w, padding_idx=2), (_WORDS, _TABLE),
           Every(40)),
    OpCase("embedding_ops_last_padding", lambda x, w: functional.embedding(x, w, padding_idx=-1), (_SHORT, _TABLE),
           Every(40)),
    OpCase("embedding_ops_columns", functional.embedding, (_WORDS, _TABLE), ((R,), (S1,)), max_bytes=0),
    OpCase("embedding_ops_rows", functional.embedding, (_WORDS, _TABLE), ((R,), (S0,)), out_placements=(P,),
           max_bytes=0),
    OpCase("embedding_ops_nested", functional.embedding, (_WORDS, _TABLE), ((R, R), (S0, S0)), out_placements=(P, P),
           max_bytes=0),
    OpCase("embedding_ops_data_and_rows", functional.embedding, (_WORDS, _TABLE), ((S0, R), (R, S0)),
           out_placements=(S0, P), max_bytes=0),
    OpCase("embedding_ops_few_rows", functional.embedding, (_SMALL, InputSpec((2, 3))), Every(40)),
    OpCase("embedding_ops_half", functional.embedding, (_WORDS, _HALF_TABLE), Every(16),
           compare=CompareSpec.allclose(1e-2, 1e-2)),
    OpCase("embedding_ops_builtin", lambda w, x: torch.embedding(w, x, 2), (_TABLE, _WORDS), Every(40)),
    OpCase("embedding_ops_scalar", functional.embedding, (InputSpec((), dtype="int64", data=3, grad=False), _TABLE),
           Every(16)),
    OpCase("one_hot_ops_classes", lambda x: functional.one_hot(x, 7), (_WORDS,), Every(16), max_bytes=0),
    OpCase("one_hot_ops_kept", lambda x: functional.one_hot(x, 7), (_WORDS,), ((S1,),), out_placements=(S1,),
           max_bytes=0),
    OpCase("one_hot_ops_open", lambda x: functional.one_hot(x), (_WORDS,), Every(16)),
]  # fmt: skip
