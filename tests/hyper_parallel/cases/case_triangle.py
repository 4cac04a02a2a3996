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
"""Triangles and diagonals: on every sharding without a byte."""

from __future__ import annotations

import torch

from tests.hyper_parallel.case import S0, S1, Every, InputSpec, OpCase, R

_ALL = Every(40, partial=True)
_M, _TALL = InputSpec((5, 7)), InputSpec((7, 4))
_FLAGS = InputSpec((4, 4), dtype="bool", init="ones", grad=False)

CASES = [
    OpCase("tril_ops_uneven", torch.tril, (_M,), _ALL, max_bytes=0, second_order=True),
    OpCase("tril_ops_above", lambda x: torch.tril(x, 2), (_M,), _ALL, max_bytes=0),
    OpCase("tril_ops_keyword", lambda x: torch.tril(x, diagonal=-2), (_TALL,), _ALL, max_bytes=0),
    OpCase("tril_ops_batch", lambda x: x.tril(1), (InputSpec((3, 4, 5)),), _ALL, max_bytes=0),
    OpCase("tril_ops_kept", torch.tril, (_M,), ((S1,),), out_placements=(S1,), max_bytes=0),
    OpCase("triu_ops_uneven", torch.triu, (_M,), _ALL, max_bytes=0),
    OpCase("triu_ops_below", lambda x: torch.triu(x, -1), (_TALL,), _ALL, max_bytes=0),
    OpCase("triu_ops_small", torch.triu, (InputSpec((1, 2)),), _ALL, max_bytes=0),
    OpCase("triu_ops_2d_mesh", torch.triu, (_M,), ((S0, S1),), out_placements=(S0, S1), max_bytes=0),
    OpCase("triu_ops_empty", torch.triu, (InputSpec((0, 3)),), _ALL, max_bytes=0),
    OpCase("tril_ops_bool", torch.tril, (_FLAGS,), Every(40), max_bytes=0),
    OpCase("trace_ops_square", torch.trace, (InputSpec((5, 5)),), Every(40), max_bytes=0, second_order=True),
    OpCase("trace_ops_wide", torch.trace, (_M,), Every(40), max_bytes=0),
    OpCase("trace_ops_tall", torch.trace, (_TALL,), Every(40), max_bytes=0),
    OpCase("trace_ops_int", torch.trace, (InputSpec((5, 5), dtype="int32", init="arange", grad=False),), Every(40)),
    OpCase("diagonal_ops_square", torch.diagonal, (InputSpec((5, 5)),), _ALL, max_bytes=0),
    OpCase("diagonal_ops_kept", torch.diagonal, (InputSpec((5, 5)),), ((S0,),), out_placements=(S0,), max_bytes=0),
    OpCase("diagonal_ops_above", lambda x: torch.diagonal(x, 2), (_M,), _ALL, max_bytes=0),
    OpCase("diagonal_ops_below", lambda x: torch.diagonal(x, -3), (_M,), _ALL, max_bytes=0),
    OpCase("diagonal_ops_outside", lambda x: torch.diagonal(x, 9), (_M,), _ALL, max_bytes=0),
    OpCase("diagonal_ops_batch", lambda x: torch.diagonal(x, 1, 1, 2), (InputSpec((3, 4, 5)),), _ALL, max_bytes=0),
    OpCase("diagonal_ops_swapped", lambda x: torch.diagonal(x, 0, -1, 0), (InputSpec((3, 4, 5)),), _ALL, max_bytes=0),
    OpCase("linalg_diagonal_ops_batch", lambda x: torch.linalg.diagonal(x, offset=-1), (InputSpec((3, 4, 5)),), _ALL),
    OpCase("diagonal_ops_replicated", torch.diagonal, (_M,), ((R,),), out_placements=(R,), max_bytes=0),
]  # fmt: skip
