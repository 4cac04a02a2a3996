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
"""Norms: along normalised dims only moments are sent; the result stays cut."""

from __future__ import annotations

import torch

from tests.hyper_parallel.case import S0, S1, S2, CompareSpec, Every, InputSpec, OpCase, R

functional = torch.nn.functional
_M, _CUBE, _WIDE = InputSpec((5, 7)), InputSpec((3, 4, 5)), InputSpec((6, 16))
_IMAGE, _SMALL = InputSpec((3, 4, 5, 2)), InputSpec((2, 6, 3))
_FOUR, _FIVE, _SIX = InputSpec((4,)), InputSpec((5,), seed=2), InputSpec((6,))
_ALL = Every(40, partial=True)
_HALF = CompareSpec.allclose(1e-2, 1e-2)


def _running(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Training with running statistics of the kind that x is, told along with the result."""
    mean, var = torch.zeros_like(w.detach()), torch.ones_like(w.detach())
    out = functional.batch_norm(x, mean, var, w, b, training=True, momentum=0.3)
    return out, mean.clone(), var.clone()


def _evaluated(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return functional.batch_norm(x, w.detach() * 0.1, w.detach() ** 2 + 1, w, None)


CASES = [
    OpCase("layer_norm_ops_affine", lambda x, w, b: functional.layer_norm(x, (5,), w, b), (_CUBE, _FIVE, _FIVE),
           Every(40)),
    OpCase("layer_norm_ops_two_dims", lambda x: functional.layer_norm(x, (4, 5)), (_CUBE,), _ALL, second_order=True),
    OpCase("layer_norm_ops_two_dims_affine", lambda x, w: functional.layer_norm(x, (4, 5), w),
           (_CUBE, InputSpec((4, 5))), Every(40)),
    OpCase("layer_norm_ops_kept", lambda x: functional.layer_norm(x, (7,)), (_M,), ((S0,),), out_placements=(S0,),
           max_bytes=0),
    OpCase("layer_norm_ops_moments", lambda x, w, b: functional.layer_norm(x, (16,), w, b),
           (_WIDE, InputSpec((16,)), InputSpec((16,))), ((S1,), (R,), (R,)), mesh_shape=(2,), out_placements=(S1,),
           max_bytes=2 * 6 * 4),
    OpCase("layer_norm_ops_cut_weights", lambda x, w, b: functional.layer_norm(x, (16,), w, b),
           (_WIDE, InputSpec((16,)), InputSpec((16,))), ((S1,), (S0,), (S0,)), mesh_shape=(3,), out_placements=(S1,),
           max_bytes=2 * 6 * 4 * 4 // 3),
    OpCase("layer_norm_ops_nested", lambda x, w: functional.layer_norm(x, (16,), w), (_WIDE, InputSpec((16,))),
           ((S1, S1), (S0, R)), out_placements=(S1, S1)),
    OpCase("layer_norm_ops_far_from_zero", lambda x: functional.layer_norm(x + 1000, (7,)), (_M,), Every(10),
           compare=CompareSpec.allclose(1e-3, 1e-3)),
    OpCase("layer_norm_ops_half", lambda x: functional.layer_norm(x, (7,)), (InputSpec((5, 7), dtype="float16"),),
           Every(10), compare=_HALF),
    OpCase("layer_norm_ops_builtin", lambda x: torch.layer_norm(x, (7,)), (_M,), ((S1,),), out_placements=(S1,)),
    OpCase("layer_norm_ops_short", lambda x: functional.layer_norm(x, (2,)), (InputSpec((5, 2)),), Every(10)),
    OpCase("rms_norm_ops_affine", lambda x, w: functional.rms_norm(x, (5,), w), (_CUBE, _FIVE), Every(40),
           second_order=True),
    OpCase("rms_norm_ops_moments", lambda x, w: functional.rms_norm(x, (16,), w, 1e-5), (_WIDE, InputSpec((16,))),
           ((S1,), (R,)), mesh_shape=(2,), out_placements=(S1,), max_bytes=6 * 4),
    OpCase("rms_norm_ops_half", lambda x: functional.rms_norm(x, (7,)), (InputSpec((5, 7), dtype="bfloat16"),),
           Every(10), compare=CompareSpec.allclose(4e-2, 4e-2)),
    OpCase("batch_norm_ops_training", _running, (_IMAGE, _FOUR, _FOUR), Every(40)),
    OpCase("batch_norm_ops_rows", lambda x: functional.batch_norm(x, None, None, training=True), (InputSpec((7, 3)),),
           _ALL, second_order=True),
    OpCase("batch_norm_ops_evaluated", _evaluated, (_IMAGE, _FOUR), Every(40)),
    OpCase("batch_norm_ops_moments", lambda x: functional.batch_norm(x, None, None, training=True), (_IMAGE,),
           ((S0,),), mesh_shape=(2,), out_placements=(S0,), max_bytes=2 * 4 * 4),
    OpCase("batch_norm_ops_channels", lambda x, w: functional.batch_norm(x, None, None, w, training=True),
           (_IMAGE, _FOUR), ((S1,), (R,)), out_placements=(S1,), max_bytes=0),
    OpCase("group_norm_ops_affine", lambda x, w, b: functional.group_norm(x, 2, w, b), (_IMAGE, _FOUR, _FOUR),
           Every(40)),
    OpCase("group_norm_ops_straddling", lambda x, w: functional.group_norm(x, 3, w), (_SMALL, _SIX), Every(40),
           second_order=True),
    OpCase("group_norm_ops_one_group", lambda x: functional.group_norm(x, 1), (_SMALL,), _ALL),
    OpCase("group_norm_ops_single", lambda x: functional.group_norm(x, 4), (InputSpec((2, 4)),), Every(40),
           compare=CompareSpec.allclose(1e-3, 1e-4)),
    OpCase("group_norm_ops_channels", lambda x, w: functional.group_norm(x, 2, w), (_IMAGE, _FOUR), ((S1,), (R,)),
           mesh_shape=(2,), out_placements=(S1,), max_bytes=0),
    OpCase("group_norm_ops_moments", lambda x: functional.group_norm(x, 2), (_IMAGE,), ((S2,),), mesh_shape=(2,),
           out_placements=(S2,), max_bytes=2 * 6 * 4),
    OpCase("instance_norm_ops_affine", lambda x, w: functional.instance_norm(x, weight=w), (_IMAGE, _FOUR), Every(40)),
    OpCase("instance_norm_ops_lines", functional.instance_norm, (InputSpec((2, 3, 7)),), _ALL, second_order=True),
    OpCase("instance_norm_ops_moments", functional.instance_norm, (InputSpec((2, 3, 16)),), ((S2,),), mesh_shape=(2,),
           out_placements=(S2,), max_bytes=2 * 6 * 4),
    OpCase("normalize_ops_rows", functional.normalize, (_M,), _ALL, second_order=True),
    OpCase("normalize_ops_columns", lambda x: functional.normalize(x, 1.0, 0), (_M,), Every(40)),
    OpCase("normalize_ops_kept", functional.normalize, (_M,), ((S1,),), out_placements=(S1,), mesh_shape=(2,),
           max_bytes=5 * 4),
    OpCase("local_response_norm_ops_image", lambda x: functional.local_response_norm(x, 2), (_IMAGE,), Every(40)),
    OpCase("local_response_norm_ops_kept", lambda x: functional.local_response_norm(x, 2), (_IMAGE,), ((S2,),),
           out_placements=(S2,), max_bytes=0),
]  # fmt: skip
