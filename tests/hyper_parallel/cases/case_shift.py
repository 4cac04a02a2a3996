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
"""Dims shifted, mirrored, padded, repeated: right under every placement, and only borders travel."""

from __future__ import annotations

import torch

from tests.hyper_parallel.case import S0, S1, S2, Every, InputSpec, OpCase

functional = torch.nn.functional
_UNEVEN, _EVEN, _SHORT = InputSpec((5, 7)), InputSpec((8, 4)), InputSpec((1, 6))
_ALL = Every(24, partial=True)
_ROW = 4 * 4  # bytes of one row of _EVEN

CASES = [
    OpCase("roll_ops_uneven", lambda x: torch.roll(x, 2, 0), (_UNEVEN,), _ALL),
    OpCase("roll_ops_both_dims", lambda x: torch.roll(x, (-1, 9), (0, 1)), (_UNEVEN,), _ALL),
    OpCase("roll_ops_flat", lambda x: torch.roll(x, 3), (_UNEVEN,), Every(8)),
    OpCase("roll_ops_empty_parts", lambda x: torch.roll(x, 1, 0), (_SHORT,), _ALL),
    OpCase("roll_ops_second", lambda x: torch.roll(x * x, 3, 1), (_UNEVEN,), Every(8), second_order=True),
    OpCase("roll_ops_one_row_sent", lambda x: torch.roll(x, 1, 0), (_EVEN,), ((S0,),), mesh_shape=(4,),
           out_placements=(S0,), max_bytes=_ROW),
    OpCase("flip_ops_uneven", lambda x: torch.flip(x, (0, 1)), (_UNEVEN,), _ALL),
    OpCase("flip_ops_mirror", lambda x: x.flip(0), (_EVEN,), ((S0,),), mesh_shape=(4,), out_placements=(S0,),
           max_bytes=2 * _ROW),
    OpCase("fliplr_ops_uneven", torch.fliplr, (_UNEVEN,), _ALL),
    OpCase("flipud_ops_uneven", torch.flipud, (_UNEVEN,), _ALL),
    *(OpCase(f"rot90_ops_{k}", lambda x, k=k: torch.rot90(x, k, (0, 1)), (_UNEVEN,), _ALL) for k in range(4)),
    OpCase("pad_ops_constant", lambda x: functional.pad(x, (1, 2, 3, 0), value=0.5), (_UNEVEN,), _ALL),
    OpCase("pad_ops_crop", lambda x: functional.pad(x, (-1, 0, 2, -3)), (_UNEVEN,), _ALL),
    *(
        OpCase(f"pad_ops_{mode}", lambda x, mode=mode: functional.pad(x, (2, 1, 1, 2), mode=mode),
               (InputSpec((1, 2, 4, 3)),), Every(16, partial=True))
        for mode in ("reflect", "replicate", "circular")
    ),
    OpCase("pad_ops_reflect_border", lambda x: functional.pad(x, (1, 1), mode="reflect"), (InputSpec((2, 3, 8)),),
           ((S2,),), mesh_shape=(4,), out_placements=(S2,), max_bytes=2 * 6 * 4),
    OpCase("repeat_ops_uneven", lambda x: x.repeat(3, 2, 1), (_UNEVEN,), _ALL),
    OpCase("tile_ops_uneven", lambda x: torch.tile(x, (3,)), (_UNEVEN,), _ALL),
    OpCase("repeat_interleave_ops_uneven", lambda x: x.repeat_interleave(3, 0), (_UNEVEN,), _ALL),
    OpCase("repeat_interleave_ops_none", lambda x: x.repeat_interleave(0, 1), (_UNEVEN,), Every(8)),
    OpCase("diff_ops_uneven", lambda x: torch.diff(x, 2, 0), (_UNEVEN,), _ALL),
    OpCase("diff_ops_to_nothing", lambda x: torch.diff(x, 6, 0), (_UNEVEN,), Every(8)),
    OpCase("diff_ops_border", lambda x: torch.diff(x, dim=1), (InputSpec((4, 9)),), ((S1,),), mesh_shape=(4,),
           out_placements=(S1,), max_bytes=3 * 4 * 4),
]  # fmt: skip
