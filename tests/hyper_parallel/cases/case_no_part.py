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
"""Ranks without a part: their gradients hang on what the others' hang on, and they refuse what the others refuse.

Every case is linear in its cotangent, so that a second gradient exists only where an operator's own formula has one.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from tests.hyper_parallel.case import S0, S1, InputSpec, OpCase, OpSpec, Places, R, op_family, placeholder

_ROWS, _BATCH = InputSpec((3, 5)), InputSpec((3, 4, 6))
_FEW, _MANY = InputSpec((2,)), InputSpec((4,))
_WEIGHT, _BIAS = InputSpec((3, 4, 3)), InputSpec((3,))
_INDEX = InputSpec((3, 4, 6), "int64", "integers", range=(0, 24))
_CLASSES = InputSpec((3,), "int64", "integers", range=(0, 5))


def _second(name: str, fn: Any, inputs: tuple[InputSpec, ...], *places: Places) -> OpCase:
    return OpCase(f"{name}_ops_second_without_a_part", fn, inputs, places, mesh_shape=(4,), second_order=True)


def _refused(fn: Any) -> Any:
    """1 where the call raises a RuntimeError; the ranks are compared with one device."""

    def call(*tensors: Any) -> torch.Tensor:
        try:
            fn(*tensors)
        except RuntimeError:
            return torch.ones(1)
        return torch.zeros(1)

    return call


CASES = [
    *op_family(
        [
            OpSpec("logcumsumexp", lambda x: torch.logcumsumexp(x, 1)),
            OpSpec("cumprod", lambda x: torch.cumprod(x, 1)),
            OpSpec("cummax", lambda x: torch.cummax(x, 1).values),
            OpSpec("var", lambda x: torch.var(x, 1)),
            OpSpec("var_mean", lambda x: torch.var_mean(x, 1)),
            OpSpec("exp", torch.exp),
            OpSpec("double", lambda x: x * 2),
            OpSpec("softmax", lambda x: torch.softmax(x, 1)),
            OpSpec("in_place", lambda x: x.clone().mul_(x)),
            OpSpec("view", lambda x: x.view(3, 5, 1).transpose(0, 1).exp()),
        ],
        [OpCase("second_without_a_part", placeholder, (_ROWS,), ((S0,),), mesh_shape=(4,), second_order=True)],
    ),
    _second("attention", F.scaled_dot_product_attention, (_BATCH, _BATCH, _BATCH), (S0,), (S0,), (S0,)),
    _second("attention_rows", F.scaled_dot_product_attention, (InputSpec((2, 3, 4)), *[InputSpec((2, 5, 4))] * 2),
            (S1,), (R,), (R,)),
    _second("attention_mask", lambda q, k, m: F.scaled_dot_product_attention(q, k, k, m),
            (InputSpec((2, 3, 4)), InputSpec((2, 5, 4)), InputSpec((3, 5))), (S1,), (R,), (S0,)),
    _second("cross_entropy", lambda x, y: F.cross_entropy(x, y, reduction="none"), (_ROWS, _CLASSES), (S0,), (S0,)),
    _second("copysign", torch.copysign, (_ROWS, InputSpec((5,))), (S0,), (R,)),
    _second("local_response_norm", lambda x: F.local_response_norm(x, 3), (_BATCH,), (S0,)),
    _second("max_unpool", lambda x, i: F.max_unpool1d(x, i, 4, output_size=(24,)), (_BATCH, _INDEX), (S0,), (S0,)),
    _second("conv_batch", F.conv1d, (_BATCH, _WEIGHT, _BIAS), (S0,), (R,), (R,)),
    _second("conv_channels", F.conv1d, (_BATCH, _WEIGHT, _BIAS), (R,), (S0,), (S0,)),
    _second("cat_vectors", lambda a, b: torch.cat([a, b]) ** 2, (_FEW, _MANY), (S0,), (S0,)),
    _second("index_copy_vector", lambda x, y: x.index_copy(0, torch.tensor([1, 0]), y) ** 2, (_MANY, _FEW),
            (S0,), (R,)),
    *(
        OpCase(f"{name}_ops_refused_without_a_part", _refused(fn), (spec,), ((S0,),), mesh_shape=(4,), grad=False)
        for name, fn, spec in (
            ("attention_of_integers", lambda x: F.scaled_dot_product_attention(x, x, x),
             InputSpec((3, 5, 4), "int64", "integers", range=(0, 9))),
            ("attention_of_causal_integers", lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
             InputSpec((3, 5, 4), "int64", "integers", range=(0, 9))),
            ("matmul_of_two_dtypes", lambda x: x @ torch.ones(5, 2, dtype=torch.float64), _ROWS),
            ("layer_norm_of_integers", lambda x: F.layer_norm(x, (5,)),
             InputSpec((3, 5), "int64", "integers", range=(0, 9))),
            ("conv_of_two_dtypes", lambda x: F.conv1d(x, torch.ones(2, 4, 3, dtype=torch.float64)), _BATCH),
        )
    ),
]  # fmt: skip
