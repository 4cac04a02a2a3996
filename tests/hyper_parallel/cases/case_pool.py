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
"""Pooling on cut and uncut dims: values, positions, gradients, and the border rows that travel."""

from __future__ import annotations

from typing import Any

import torch

from tests.hyper_parallel.case import S2, S3, Every, InputSpec, OpCase, P

functional = torch.nn.functional
_IMAGE, _LINE, _SHORT = InputSpec((2, 3, 9, 7)), InputSpec((2, 3, 13)), InputSpec((2, 1, 3, 5))
_VOLUME = InputSpec((2, 2, 5, 4, 7))
_SOME = Every(16, partial=True)
_MAX, _AVG = functional.max_pool2d, functional.avg_pool2d


def _case(name: str, op: Any, spec: InputSpec = _IMAGE, *args: Any, **kwargs: Any) -> OpCase:
    return OpCase(name, op, (spec,), _SOME, kwargs=kwargs, extra_inputs=args)


def _rows(name: str, op: Any, size: int, *args: Any, max_bytes: int | None = None, **kwargs: Any) -> OpCase:
    """Rows cut; the result is cut alike."""
    return OpCase(name, op, (InputSpec((2, 3, size, 6)),), ((S2,),), extra_inputs=args, kwargs=kwargs,
                  out_placements=(S2,), max_bytes=max_bytes)  # fmt: skip


CASES = [
    _case("max_pool1d_ops_every", functional.max_pool1d, _LINE, 3, 2, 1),
    _case("max_pool1d_ops_builtin", torch.max_pool1d, _LINE, 3, 2, 1),
    _case("max_pool2d_ops_every", _MAX, _IMAGE, 3, 2, 1),
    _case("max_pool2d_ops_unbatched", _MAX, InputSpec((3, 8, 7)), 2),
    _case("max_pool2d_ops_short", _MAX, _SHORT, 3, 1, 1),
    _case("max_pool2d_ops_positions", _MAX, _IMAGE, (3, 2), (2, 1), (1, 1), return_indices=True),
    _case("max_pool2d_ops_dilated", _MAX, _IMAGE, 2, 2, 1, 2, ceil_mode=True, return_indices=True),
    _case("max_pool3d_ops_every", functional.max_pool3d, _VOLUME, 2, return_indices=True),
    OpCase("max_pool2d_ops_all_low", lambda x: _MAX(x * 0 - torch.inf, 3, 1, 1, return_indices=True), (_IMAGE,),
           ((S2,),), grad=False),
    OpCase("max_pool2d_ops_grid", _MAX, (InputSpec((1, 2, 8, 10)),), ((S2, S3),), extra_inputs=(3, 1, 1),
           out_placements=(S2, S3), second_order=True),
    _rows("max_pool2d_ops_aligned", _MAX, 16, 2, max_bytes=0),
    _rows("max_pool2d_ops_border", _MAX, 16, 3, 2, 1, max_bytes=2 * 3 * 6 * 4),
    _case("avg_pool1d_ops_every", functional.avg_pool1d, _LINE, 4, 3, 2, ceil_mode=True),
    _case("avg_pool2d_ops_every", _AVG, _IMAGE, 3, 2, 1),
    _case("avg_pool2d_ops_without_pad", _AVG, _IMAGE, 3, 1, 1, count_include_pad=False),
    _case("avg_pool2d_ops_ceil", _AVG, _IMAGE, (4, 3), (3, 2), (2, 1), ceil_mode=True),
    _case("avg_pool2d_ops_divisor", _AVG, _IMAGE, 2, divisor_override=3),
    _case("avg_pool3d_ops_every", functional.avg_pool3d, _VOLUME, 2, 1, 1),
    _rows("avg_pool2d_ops_border", _AVG, 16, 3, 1, 1, max_bytes=2 * 2 * 3 * 6 * 4),
    OpCase("avg_pool2d_ops_pending", _AVG, (_IMAGE,), ((P,),), extra_inputs=(2,), out_placements=(P,), max_bytes=0),
    _case("lp_pool1d_ops_every", lambda x, *a: functional.lp_pool1d(x.abs() + 1, *a), _LINE, 2, 3, 2),
    _case("lp_pool2d_ops_every", lambda x: functional.lp_pool2d(x.abs() + 1, 3, 2, 2, True)),
    _case("adaptive_avg_pool1d_ops_every", functional.adaptive_avg_pool1d, _LINE, 4),
    _case("adaptive_avg_pool2d_ops_every", functional.adaptive_avg_pool2d, _IMAGE, (4, None)),
    _case("adaptive_avg_pool2d_ops_one", functional.adaptive_avg_pool2d, _IMAGE, 1),
    _case("adaptive_avg_pool2d_ops_more", functional.adaptive_avg_pool2d, _IMAGE, (12, 7)),
    _case("adaptive_avg_pool3d_ops_every", functional.adaptive_avg_pool3d, _VOLUME, (2, 3, 1)),
    _case("adaptive_max_pool1d_ops_every", functional.adaptive_max_pool1d, _LINE, 4),
    _case("adaptive_max_pool2d_ops_every", functional.adaptive_max_pool2d, _IMAGE, (4, 3)),
    _case("adaptive_max_pool2d_ops_positions", functional.adaptive_max_pool2d, _IMAGE, (5, 3), return_indices=True),
    _case("adaptive_max_pool2d_ops_one", functional.adaptive_max_pool2d, _IMAGE, 1, return_indices=True),
    _case("adaptive_max_pool3d_ops_every", functional.adaptive_max_pool3d, _VOLUME, 2),
    OpCase("adaptive_avg_pool2d_ops_pending", functional.adaptive_avg_pool2d, (_IMAGE,), ((S2, S3),),
           extra_inputs=(1,), out_placements=(P, P), max_bytes=0),
    OpCase("adaptive_max_pool2d_ops_rows", functional.adaptive_max_pool2d, (InputSpec((2, 3, 16, 7)),), ((S2,),),
           extra_inputs=((6, 7),), out_placements=(S2,)),
]  # fmt: skip
