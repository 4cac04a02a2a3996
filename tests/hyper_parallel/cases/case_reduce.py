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
"""Reductions over whole and sharded dims: uneven, empty parts, pending sums, ties."""

from __future__ import annotations

import torch

from tests.hyper_parallel.case import (
    S0,
    S1,
    CompareSpec,
    Every,
    InputSpec,
    OpCase,
    OpSpec,
    P,
    R,
    op_family,
    placeholder,
)

_UNEVEN, _SMALL = InputSpec((5, 7)), InputSpec((3, 2))
_TIES = InputSpec((5, 4), init="integers", range=(0, 3))
_OPS = {
    "sum": torch.sum,
    "mean": torch.mean,
    "prod": torch.prod,
    "amax": torch.amax,
    "amin": torch.amin,
    "var": torch.var,
    "std": lambda x, dim=None: torch.std(x, dim, correction=0),
    "norm": lambda x, dim=None: torch.linalg.vector_norm(x, dim=dim),
    "norm1": lambda x, dim=None: torch.linalg.vector_norm(x, 1, dim=dim),
    "norm_inf": lambda x, dim=None: torch.linalg.vector_norm(x, float("inf"), dim=dim),
    "logsumexp": lambda x, dim=(0, 1): torch.logsumexp(x, dim),
    "nansum": torch.nansum,
}
_EXACT = {
    "any": lambda x, dim=None: torch.any(x > 1, dim) if dim is not None else torch.any(x > 1),
    "all": lambda x, dim=None: torch.all(x > -1, dim) if dim is not None else torch.all(x > -1),
    "argmax": torch.argmax,
    "argmin": torch.argmin,
}

CASES = [
    *op_family(
        [
            *(OpSpec(name, fn) for name, fn in _OPS.items() if name != "prod"),
            *(OpSpec(name, fn, {"compare": CompareSpec.equal(), "grad": False}) for name, fn in _EXACT.items()),
            OpSpec("prod", lambda x, dim=None: x.prod() if dim is None else x.prod(dim)),
        ],
        [
            OpCase("dim0", placeholder, (_UNEVEN,), Every(12, partial=True), kwargs={"dim": 0}),
            OpCase("last_dim", placeholder, (_UNEVEN,), Every(12, partial=True), kwargs={"dim": -1}),
            OpCase("everything", placeholder, (_SMALL,), Every(12, partial=True)),
            OpCase("empty_parts", placeholder, (InputSpec((1, 3)),), Every(partial=True), kwargs={"dim": 1}),
        ],
    ),
    *op_family(
        [OpSpec("max_dim", lambda x: torch.max(x, 0)), OpSpec("min_dim", lambda x: torch.min(x, 0, keepdim=True))],
        [
            OpCase("values_and_indices", placeholder, (_UNEVEN,), Every(partial=True)),
            OpCase("ties", placeholder, (_TIES,), Every()),
        ],
    ),
    OpCase("amax_ops_ties_share_the_gradient", torch.amax, (InputSpec((4,), data=[1.0, 3.0, 3.0, 0.0]),)),
    OpCase("max_ops_everything", torch.max, (_UNEVEN,), Every(partial=True)),
    OpCase("mean_ops_uneven_double", torch.mean, (_UNEVEN,), Every(partial=True), second_order=True),
    OpCase("var_ops_double", torch.var, (_UNEVEN,), Every(12), kwargs={"dim": 0}, second_order=True),
    *(
        OpCase(
            f"norm_ops_double_empty_parts_{order}",
            lambda x, order=order: torch.linalg.vector_norm(x, order) ** 2,
            (InputSpec((3, 1)),),
            Every(12),
            second_order=True,
        )
        for order in (2, 2.5, 3)
    ),
    OpCase("var_mean_ops_pair", torch.var_mean, (_UNEVEN,), Every(12, partial=True), kwargs={"dim": 0}),
    OpCase("sum_ops_is_pending", torch.sum, (_UNEVEN,), ((S0,),), kwargs={"dim": 0}, out_placements=(P,), max_bytes=0),
    OpCase("sum_ops_other_dim", torch.sum, (_UNEVEN,), ((S1,),), kwargs={"dim": 0}, out_placements=(S0,), max_bytes=0),
    OpCase("sum_ops_dtype", torch.sum, (_UNEVEN,), kwargs={"dtype": torch.float64}),
    OpCase("sum_ops_integers", torch.sum, (InputSpec((5, 7), "int32", "integers", range=(-9, 9)),)),
    OpCase("count_nonzero_ops_dim", torch.count_nonzero, (_TIES,), kwargs={"dim": 0}, grad=False),
    OpCase("sum_ops_then_broadcast", lambda x: x / x.sum(0), (InputSpec((5, 7), init="uniform", range=(1, 2)),)),
    OpCase("mean_ops_bfloat16", torch.mean, (InputSpec((6, 4), "bfloat16"),), compare=CompareSpec.allclose(2e-2, 2e-2)),
    OpCase("sum_ops_replicated", torch.sum, (_UNEVEN,), ((R,),), out_placements=(R,), max_bytes=0),
]
