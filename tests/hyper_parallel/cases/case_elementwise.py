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
"""Element-wise operators: broadcasting, mixed dtypes, pending sums where linear."""

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

_EVEN, _UNEVEN = InputSpec((4, 8)), InputSpec((5, 7))
_POSITIVE = InputSpec((5, 3), init="uniform", range=(0.2, 2.0))
_UNARY = {
    "exp": torch.exp,
    "relu": torch.relu,
    "neg": torch.neg,
    "sigmoid": torch.sigmoid,
    "abs": torch.abs,
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
    "clamp": lambda x: x.clamp(-0.5, 0.5),
    "pow2": lambda x: x**2,
    "rsub": lambda x: 1 - x,
    "round": torch.round,
}
_BINARY = {
    "add": torch.add,
    "sub": lambda x, y: x - y,
    "mul": torch.mul,
    "div": lambda x, y: x / (y.abs() + 1),
    "maximum": torch.maximum,
    "atan2": torch.atan2,
    "gt": torch.gt,
    "add_alpha": lambda x, y: torch.add(x, y, alpha=3),
}

CASES = [
    *op_family(
        [OpSpec(name, fn) for name, fn in _UNARY.items()],
        [
            OpCase("even", placeholder, (_EVEN,), Every(partial=True)),
            OpCase("uneven", placeholder, (_UNEVEN,), Every(partial=True)),
            OpCase("small", placeholder, (InputSpec((1, 3)),), Every(partial=True), mesh_axes=(1,)),
        ],
    ),
    *op_family(
        [OpSpec(name, fn) for name, fn in _BINARY.items()],
        [
            OpCase("same_shape", placeholder, (_UNEVEN, _UNEVEN), Every(12, partial=True)),
            OpCase("broadcast", placeholder, (InputSpec((3, 5, 7)), InputSpec((5, 1))), Every(12, partial=True)),
        ],
    ),
    *op_family(
        [OpSpec("log", torch.log), OpSpec("sqrt", torch.sqrt), OpSpec("rsqrt", torch.rsqrt)],
        [OpCase("second", placeholder, (_POSITIVE,), Every(partial=True), second_order=True)],
    ),
    OpCase("mul_ops_second", torch.mul, (_UNEVEN, _UNEVEN), Every(16, partial=True), second_order=True),
    OpCase("mul_ops_scalar", lambda x: 2 * x * 3.5, (_UNEVEN,), Every(partial=True), max_bytes=0),
    OpCase("add_ops_mixed_dtype", torch.add, (_UNEVEN, InputSpec((7,), "int64", "integers", range=(0, 9)))),
    OpCase("add_ops_both_pending", torch.add, (_UNEVEN, _UNEVEN), ((P,), (P,)), out_placements=(P,), max_bytes=0),
    OpCase("add_ops_keeps_sharding", torch.add, (_UNEVEN, _UNEVEN), ((S0,), (S0,)), out_placements=(S0,), max_bytes=0),
    OpCase("add_ops_two_axes", torch.add, (_EVEN, _EVEN), ((S0, S1), (S0, R)), out_placements=(S0, S1), max_bytes=0),
    OpCase("where_ops_broadcast", lambda x, y: torch.where(x > 0, x, y), (_UNEVEN, InputSpec((7,))), Every(12)),
    OpCase("lerp_ops_ternary", torch.lerp, (_UNEVEN, _UNEVEN, InputSpec((5, 1))), Every(12)),
    OpCase("addcmul_ops_ternary", torch.addcmul, (_UNEVEN, _UNEVEN, _UNEVEN), Every(12, partial=True)),
    OpCase("to_ops_half", lambda x: x.to(torch.bfloat16).float(), (_UNEVEN,), compare=CompareSpec.allclose(1e-2, 1e-2)),
    OpCase("conj_ops_complex", lambda x: (x * x.conj()).real, (InputSpec((5, 3), "complex64"),), grad=False),
    OpCase("add_ops_empty", lambda x: x + 1, (InputSpec((0, 3)),), Every()),
    OpCase("exp_ops_scalar", torch.exp, (InputSpec(()),), Every(partial=True)),
    OpCase("add_ops_inplace", lambda x, y: x.add_(y).mul_(2), (_UNEVEN, InputSpec((7,))), Every(20, partial=True)),
]
