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
"""System cases: softmax and its relatives along whole and along cut dims."""

from __future__ import annotations

import math

import torch

from tests.hyper_parallel.case import S0, S1, CompareSpec, Every, InputSpec, OpCase, R

functional = torch.nn.functional
_M, _CUBE, _LONG = InputSpec((5, 7)), InputSpec((3, 4, 5)), InputSpec((11, 13))
_INF = -math.inf
_ODD = tuple((_INF if i == 2 or (i + j) % 3 == 0 else 0.1 * (i - j)) for i in range(4) for j in range(9))
_NANS = tuple(
    (math.nan if i == 1 and j == 7 else math.inf if i == 2 and j == 0 else 0.5 * j) for i in range(4) for j in range(9)
)
_HALF = CompareSpec.allclose(2e-3, 2e-3)

CASES = [
    OpCase("softmax_ops_rows", lambda x: torch.softmax(x, 1), (_M,), Every(40), second_order=True),
    OpCase("softmax_ops_pending", lambda x: torch.softmax(x, 1), (_M,), Every(40, partial=True)),
    OpCase("softmax_ops_batch", lambda x: functional.softmax(x, -1), (_CUBE,), Every(40)),
    OpCase("softmax_ops_long", lambda x: x.softmax(0), (_LONG,), Every(40), second_order=True),
    OpCase("softmax_ops_empty_parts", lambda x: x.softmax(0), (InputSpec((9, 2)),), ((S0,),), mesh_shape=(4,)),
    OpCase("softmax_ops_kept", lambda x: torch.softmax(x, 1), (_M,), ((S0,),), out_placements=(S0,), max_bytes=0),
    OpCase("softmax_ops_kept_too", lambda x: functional.softmax(x, 1), (_M,), ((S0,),), out_placements=(S0,),
           max_bytes=0),
    OpCase("softmax_ops_method", lambda x: x.softmax(1), (_M,), ((S0,),), out_placements=(S0,), max_bytes=0),
    OpCase("softmax_ops_reduced", lambda x: torch.softmax(x, 1), (_LONG,), ((S1,),), mesh_shape=(2,),
           out_placements=(S1,), max_bytes=2 * 4 * 11),
    OpCase("softmax_ops_two_axes", lambda x: torch.softmax(x, 1), (_LONG,), ((S1, S1),), out_placements=(S1, S1)),
    OpCase("softmax_ops_both_dims", lambda x: torch.softmax(x, 1), (_LONG,), ((S0, S1),), out_placements=(S0, S1)),
    OpCase("softmax_ops_dtype", lambda x: x.softmax(1, torch.float64), (_LONG,), Every(40)),
    OpCase("softmax_ops_whole_numbers", lambda x: torch.softmax(x, 0, dtype=torch.float32),
           (InputSpec((11, 3), dtype="int64", init="integers", range=(-4, 9)),), Every(40)),
    OpCase("softmax_ops_half", lambda x: torch.softmax(x, 0), (InputSpec((13, 3), dtype="float16"),), Every(40),
           compare=_HALF),
    OpCase("softmax_ops_bfloat", lambda x: torch.log_softmax(x, 0), (InputSpec((13, 3), dtype="bfloat16"),), Every(40),
           compare=CompareSpec.allclose(2e-2, 2e-2)),
    OpCase("softmax_ops_masked", lambda x: torch.softmax(x, 1), (InputSpec((4, 9), data=_ODD),), Every(40)),
    OpCase("softmax_ops_nan", lambda x: torch.softmax(x, 1), (InputSpec((4, 9), data=_NANS),), Every(40)),
    OpCase("log_softmax_ops_masked", lambda x: torch.log_softmax(x, 1), (InputSpec((4, 9), data=_ODD),), Every(40)),
    OpCase("log_softmax_ops_nan", lambda x: torch.log_softmax(x, 1), (InputSpec((4, 9), data=_NANS),), Every(40)),
    OpCase("log_softmax_ops_columns", lambda x: x.log_softmax(0), (_M,), Every(40), second_order=True),
    OpCase("log_softmax_ops_large", lambda x: torch.log_softmax(1000 * x, 0), (_LONG,), Every(40),
           compare=CompareSpec.allclose(1e-4, 1e-3)),
    OpCase("log_softmax_ops_special", lambda x: torch.special.log_softmax(x, 0, dtype=torch.float64), (_LONG,)),
    OpCase("softmax_ops_special", lambda x: torch.special.softmax(x, 0), (_LONG,), ((S0,),), out_placements=(S0,)),
    OpCase("softmin_ops_rows", lambda x: functional.softmin(x, 1), (_LONG,), Every(40)),
    OpCase("softmin_ops_kept", lambda x: functional.softmin(x, 0), (_LONG,), ((S0,),), out_placements=(S0,)),
    OpCase("softmax_ops_scalar", lambda x: torch.softmax(x, 0), (InputSpec(()),), ((R,),)),
    OpCase("softmax_ops_short", lambda x: torch.softmax(x, 1), (InputSpec((9, 3)),), ((S1,),), mesh_shape=(2,),
           max_bytes=4 * 9 * 2),
    OpCase("softmax_ops_nothing", lambda x: torch.softmax(x, 1), (InputSpec((0, 9)),), Every(40)),
    OpCase("gumbel_softmax_ops_shape", lambda x: functional.gumbel_softmax(x, dim=1), (_LONG,), Every(20),
           compare=CompareSpec.shape(), grad=False),
    OpCase("logsumexp_ops_reduced", lambda x: torch.logsumexp(x, 1), (_LONG,), ((S1,),), mesh_shape=(2,),
           max_bytes=4 * 11, second_order=True),
    OpCase("logsumexp_ops_masked", lambda x: torch.logsumexp(x, 1), (InputSpec((4, 9), data=_ODD),), Every(40)),
]  # fmt: skip
