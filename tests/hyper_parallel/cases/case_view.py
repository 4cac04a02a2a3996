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
"""Views: reshapes of uneven shards, transposes, expansions; the result is right whatever has to move."""

from __future__ import annotations

import torch

from tests.hyper_parallel.case import S0, S1, S2, Every, InputSpec, OpCase, OpSpec, P, R, op_family, placeholder

_OPS = {
    "flatten": lambda x: x.flatten(),
    "reshape": lambda x: x.reshape(6, 5),
    "view": lambda x: x.view(3, 2, 5),
    "view_minus_one": lambda x: x.view(2, -1),
    "t": lambda x: x.t(),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "transpose": lambda x: x.transpose(0, -1),
    "permute": lambda x: x.permute(1, 0),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "expand": lambda x: x.unsqueeze(0).expand(3, -1, -1),
    "broadcast_to": lambda x: x.broadcast_to(2, 6, 5),
    "unflatten": lambda x: x.unflatten(0, (2, 3)),
    "movedim": lambda x: torch.movedim(x, 0, 1),
    "unbind": lambda x: x.unbind(0),
    "ravel": torch.ravel,
    "contiguous": lambda x: x.t().contiguous(),
    "atleast_3d": torch.atleast_3d,
    "swapaxes": lambda x: torch.swapaxes(x, 0, 1),
}

CASES = [
    *op_family(
        [OpSpec(name, fn) for name, fn in _OPS.items()],
        [
            OpCase("every", placeholder, (InputSpec((6, 5)),), Every(16, partial=True)),
            OpCase("integers", placeholder, (InputSpec((6, 5), "int64", "arange"),), Every(9), mesh_axes=(1,)),
        ],
    ),
    *op_family(
        [
            OpSpec("merge", lambda x: x.reshape(12, 5)),
            OpSpec("merge_tail", lambda x: x.flatten(1)),
            OpSpec("split_and_swap", lambda x: x.reshape(3, 2, 2, 5).transpose(1, 2)),
        ],
        [OpCase("3d", placeholder, (InputSpec((3, 4, 5)),), Every(20, partial=True))],
    ),
    OpCase("reshape_ops_empty", lambda x: x.reshape(3, 0, 2), (InputSpec((0, 6)),), Every(9)),
    OpCase("reshape_ops_scalar", lambda x: x.reshape(1, 1).reshape(()), (InputSpec(()),), Every()),
    OpCase("view_as_ops_other", lambda x, y: x.view_as(y), (InputSpec((6, 5)), InputSpec((5, 6))), Every(16)),
    OpCase("transpose_ops_free", lambda x: x.transpose(0, 1), (InputSpec((5, 7)),), ((S0,),), out_placements=(S1,),
           max_bytes=0),
    OpCase("view_ops_free", lambda x: x.view(4, 2, 3), (InputSpec((8, 3)),), ((S0,),), mesh_shape=(2,),
           out_placements=(S0,), max_bytes=0),
    OpCase("flatten_ops_pending", lambda x: x.flatten(), (InputSpec((6, 5)),), ((P,),), out_placements=(P,),
           max_bytes=0),
    OpCase("permute_ops_two_axes", lambda x: x.permute(2, 0, 1), (InputSpec((4, 6, 5)),), ((S0, S1),),
           out_placements=(S1, S2), max_bytes=0),
    OpCase("expand_ops_free", lambda x: x.expand(4, 3, 5), (InputSpec((3, 5)),), ((R,),), out_placements=(R,),
           max_bytes=0),
]  # fmt: skip
