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
"""Running sums, products and extremes: right under every placement; along the scanned dim one slice is sent."""

from __future__ import annotations

import torch

from tests.hyper_parallel.case import S0, CompareSpec, Every, InputSpec, OpCase

_UNEVEN, _EVEN, _SHORT = InputSpec((5, 7)), InputSpec((32, 6)), InputSpec((1, 6))
_ZEROS = InputSpec((6, 2), data=[1.0, 0.0, 0.0, 2.0, 3.0, 0.0, -1.0, 4.0, 0.0, 2.0, 5.0, 0.5])
_TIES = InputSpec((7, 2), data=[1, 5, 3, 5, 3, 2, 2, 5, 3, 5, 3, 1, 0, 5])
_NAN = InputSpec((6,), data=[1.0, 2.0, float("nan"), 5.0, float("nan"), 0.0], grad=False)
_WHOLE = InputSpec((5, 3), "int32", "integers", range=(-4, 5))
_ALL = Every(24, partial=True)
_SLICE = 6 * 4

CASES = [
    OpCase("cumsum_ops_uneven", lambda x: torch.cumsum(x, 0), (_UNEVEN,), _ALL),
    OpCase("cumsum_ops_empty_parts", lambda x: x.cumsum(0), (_SHORT,), _ALL),
    OpCase("cumsum_ops_int", lambda x: torch.cumsum(x, 0), (_WHOLE,), Every(9)),
    OpCase("cumsum_ops_bool", lambda x: torch.cumsum(x > 0, -1), (_UNEVEN,), Every(9)),
    OpCase("cumsum_ops_dtype", lambda x: torch.cumsum(x, 0, dtype=torch.float64), (_WHOLE,), Every(9)),
    OpCase("cumsum_ops_rounds", lambda x: torch.cumsum(x * 2, 0, dtype=torch.int32),
           (InputSpec((5, 7), grad=False),), _ALL),
    OpCase("cumsum_ops_second", lambda x: torch.cumsum(x * x, 0), (_UNEVEN,), Every(6), second_order=True),
    OpCase("cumsum_ops_bytes", lambda x: torch.cumsum(x, 0), (_EVEN,), ((S0,),), mesh_shape=(4,),
           out_placements=(S0,), max_bytes=3 * _SLICE),
    OpCase("cumprod_ops_zeros", lambda x: torch.cumprod(x, 0), (_ZEROS,), Every(9)),
    OpCase("cumprod_ops_second", lambda x: torch.cumprod(x, 0), (_ZEROS,), Every(6), second_order=True),
    OpCase("cumprod_ops_int", lambda x: torch.cumprod(x, 0), (_WHOLE,), Every(9)),
    OpCase("cumprod_ops_partial", lambda x: torch.cumprod(x, 1), (_UNEVEN,), _ALL),
    OpCase("logcumsumexp_ops_uneven", lambda x: torch.logcumsumexp(x, 0), (_UNEVEN,), _ALL),
    OpCase("logcumsumexp_ops_bitwise", lambda x: torch.logcumsumexp(x + 10000, 0),
           (_UNEVEN,), Every(9), compare=CompareSpec.equal()),
    OpCase("logcumsumexp_ops_second", lambda x: torch.logcumsumexp(x, 0), (_UNEVEN,), Every(6), second_order=True),
    OpCase("logcumsumexp_ops_empty_parts", lambda x: torch.logcumsumexp(x, 0), (_SHORT,), Every(9)),
    OpCase("cummax_ops_ties", lambda x: torch.cummax(x, 0), (_TIES,), Every(9)),
    OpCase("cummin_ops_ties", lambda x: torch.cummin(x, 0), (_TIES,), Every(9)),
    OpCase("cummax_ops_nan", lambda x: torch.cummax(x, 0), (_NAN,), Every(9)),
    OpCase("cummin_ops_nan", lambda x: torch.cummin(x, 0), (_NAN,), Every(9)),
    OpCase("cummax_ops_int", lambda x: torch.cummax(x, 0), (_WHOLE,), Every(9)),
    OpCase("cummax_ops_empty_parts", lambda x: torch.cummax(x, 0), (_SHORT,), Every(9)),
    OpCase("cumprod_ops_second_small_parts", lambda x: torch.cumprod(x, 0), (InputSpec((3, 3)),), ((S0,),),
           mesh_shape=(4,), second_order=True),
    *(OpCase(f"{scan.__name__}_ops_second_empty_parts", lambda x, scan=scan: scan(x, 0).values ** 2 * x,
             (InputSpec((3, 2)),), Every(4), second_order=True) for scan in (torch.cummax, torch.cummin)),
    OpCase("cummin_ops_bytes", lambda x: torch.cummin(x, 0), (_EVEN,), ((S0,),), mesh_shape=(4,),
           out_placements=(S0,), max_bytes=3 * 3 * _SLICE),
]  # fmt: skip
