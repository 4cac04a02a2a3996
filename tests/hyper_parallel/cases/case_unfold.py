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
"""Windows as data, pixel shuffles, interpolation: right under every placement; cut dims send borders only."""

from __future__ import annotations

from typing import Any

import torch

from tests.hyper_parallel.case import S0, S1, S2, Every, InputSpec, OpCase

functional = torch.nn.functional
_MATRIX, _IMAGE = InputSpec((5, 7)), InputSpec((2, 3, 7, 6))
_SOME = Every(16, partial=True)


def _case(name: str, op: Any, spec: InputSpec = _IMAGE, *args: Any, **kwargs: Any) -> OpCase:
    return OpCase(name, op, (spec,), _SOME, kwargs=kwargs, extra_inputs=args)


CASES = [
    _case("unfold_ops_every", lambda x: x.unfold(0, 3, 1), _MATRIX),
    _case("unfold_ops_steps", lambda x: x.unfold(1, 2, 3), _MATRIX),
    _case("unfold_ops_whole", lambda x: x.unfold(0, 5, 2), _MATRIX),
    OpCase("unfold_ops_second", lambda x: (x.unfold(0, 3, 1) ** 2).sum(-1), (_MATRIX,), ((S0,),), second_order=True),
    OpCase("unfold_ops_border", lambda x: x.unfold(0, 3, 1), (InputSpec((16, 5)),), ((S0,),), mesh_shape=(4,),
           out_placements=(S0,), max_bytes=2 * 5 * 4),
    _case("im2col_ops_every", functional.unfold, _IMAGE, (3, 2), padding=1),
    _case("im2col_ops_strided", functional.unfold, _IMAGE, (2, 3), dilation=2, padding=(2, 1), stride=(2, 1)),
    _case("im2col_ops_unbatched", functional.unfold, InputSpec((3, 7, 6)), 2),
    OpCase("im2col_ops_rows", functional.unfold, (InputSpec((1, 2, 8, 5)),), ((S2,),), extra_inputs=(3,),
           kwargs={"padding": 1}, out_placements=(S2,)),
    _case("col2im_ops_every", functional.fold, InputSpec((3, 12, 20)), (5, 6), 2),
    _case("col2im_ops_padded", functional.fold, InputSpec((2, 12, 9)), (5, 6), (2, 2), padding=1, stride=2, dilation=2),
    OpCase("col2im_ops_channels", functional.fold, (InputSpec((2, 16, 20)),), ((S1,),), extra_inputs=((5, 6), 2),
           out_placements=(S1,), max_bytes=0),
    _case("pixel_shuffle_ops_every", torch.pixel_shuffle, InputSpec((2, 8, 3, 5)), 2),
    _case("pixel_unshuffle_ops_every", torch.pixel_unshuffle, InputSpec((2, 3, 6, 4)), 2),
    OpCase("pixel_shuffle_ops_rows", torch.pixel_shuffle, (InputSpec((2, 8, 4, 5)),), ((S2,),), extra_inputs=(2,),
           out_placements=(S2,), max_bytes=0),
    _case("channel_shuffle_ops_every", torch.channel_shuffle, InputSpec((2, 6, 3, 4)), 3),
    *(
        _case(f"interpolate_ops_{mode.replace('-', '_')}", functional.interpolate, _IMAGE, scale_factor=2, mode=mode)
        for mode in ("nearest", "nearest-exact", "bilinear", "bicubic")
    ),
    _case("interpolate_ops_size", functional.interpolate, _IMAGE, (28, 9), mode="bilinear"),
    _case("interpolate_ops_corners", functional.interpolate, _IMAGE, (14, 3), mode="bilinear", align_corners=True),
    _case("interpolate_ops_down", functional.interpolate, InputSpec((2, 3, 9, 12)), (3, 6), mode="bilinear"),
    _case("interpolate_ops_odd", functional.interpolate, _IMAGE, scale_factor=(1.7, 0.5)),
    _case("interpolate_ops_line", functional.interpolate, InputSpec((2, 3, 5)), scale_factor=4, mode="linear"),
    _case("interpolate_ops_volume", functional.interpolate, InputSpec((1, 2, 5, 3, 4)), scale_factor=2,
          mode="trilinear"),
    OpCase("interpolate_ops_rows", functional.interpolate, (InputSpec((2, 3, 8, 5)),), ((S2,),),
           kwargs={"scale_factor": 2, "mode": "bilinear"}, mesh_shape=(4,), out_placements=(S2,),
           max_bytes=2 * 2 * 3 * 5 * 4),
]  # fmt: skip
