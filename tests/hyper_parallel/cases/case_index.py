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
"""Indexing, lookups and writes: right under every placement; along a cut dim only what is asked for travels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tests.hyper_parallel.case import S0, S1, Every, InputSpec, OpCase, R

_UNEVEN, _EVEN, _DEEP = InputSpec((5, 7)), InputSpec((8, 4)), InputSpec((2, 5, 3))
_ALL = Every(20, partial=True)
_SOME = Every(10, partial=True)


def at(*positions: int) -> torch.Tensor:
    """Positions as a tensor."""
    return torch.tensor(positions)


def written(index: Any, number: float | None = None) -> Callable[..., torch.Tensor]:
    """An assignment to a copy, of a number or of the second input."""

    def run(x: torch.Tensor, *value: torch.Tensor) -> torch.Tensor:
        copy = x * 2
        copy[index] = value[0] if number is None else number
        return copy

    return run


_READS: dict[str, Callable[[torch.Tensor], Any]] = {
    "row": lambda x: x[-1],
    "element": lambda x: x[3, 1],
    "range": lambda x: x[1:4],
    "steps": lambda x: x[1::3, ::2],
    "nothing": lambda x: x[5:],
    "more_than_there_is": lambda x: x[0:100],
    "new_dims": lambda x: x[None, 1:, None, 2],
    "ellipsis": lambda x: x[..., -3:],
    "table": lambda x: x[at(0, -1, 4)],
    "table_and_range": lambda x: x[1:, at(1, 0)],
    "table_and_int": lambda x: x[0, at(1, 0, 1)],
    "table_and_new": lambda x: x[None, at(4, 0)],
    "two_tables": lambda x: x[at(0, 4), at(1, 6)],
    "list": lambda x: x[[4, 0]],
    "mask": lambda x: x[x > 0],
    "mask_of_rows": lambda x: x[torch.arange(5) % 2 == 0],
}
_POSITIONS = (torch.arange(35).reshape(5, 7) * 3) % 5
_WRITES: dict[str, tuple[Any, tuple[int, ...]]] = {
    "row": (1, (7,)),
    "range": (slice(1, 4), (3, 7)),
    "range_of_one_row": (slice(1, 4), (7,)),
    "steps": (slice(None, None, 2), (3, 1)),
    "column": ((slice(None), 2), (5,)),
    "int_and_range": ((4, slice(2, None)), (5,)),
    "table": (at(4, 0), (2, 7)),
    "all": (Ellipsis, (5, 7)),
}

CASES = [
    *(OpCase(f"getitem_ops_{name}", fn, (_UNEVEN,), _SOME) for name, fn in _READS.items()),
    *(
        OpCase(f"setitem_ops_{name}", written(index), (_UNEVEN, InputSpec(shape)), Every(12))
        for name, (index, shape) in _WRITES.items()
    ),
    *(OpCase(f"setitem_ops_number_{name}", written(index, 1.5), (_UNEVEN,), Every(8)) for name, (index, _) in
      _WRITES.items()),
    OpCase("setitem_ops_mask", lambda x: written(x > 0.3, 2.0)(x), (_UNEVEN,), _SOME),
    OpCase("setitem_ops_mask_of_a_number", lambda x: written(x > 0.3, 2.0)(x), (InputSpec(()),), _SOME),
    OpCase("getitem_ops_3d", lambda x: x[1:, at(1, 0, 4), None], (_DEEP,), _SOME),
    OpCase("getitem_ops_tables_apart", lambda x: x[at(1, 0), :, at(0, 1)], (_DEEP,), _SOME),
    OpCase("getitem_ops_table_2d", lambda x: x[:, at(1, 0, 4, 2).reshape(2, 2)], (_DEEP,), _SOME),
    OpCase("getitem_ops_second", lambda x: (x * x)[1:4], (_UNEVEN,), Every(8), second_order=True),
    OpCase("getitem_ops_table_second", lambda x: (x * x)[at(0, 0, 4)], (_UNEVEN,), Every(8), second_order=True),
    OpCase("getitem_ops_borders", lambda x: x[1:-1], (_EVEN,), ((S0,),), mesh_shape=(2,), out_placements=(S0,),
           max_bytes=0),
    OpCase("getitem_ops_shifted", lambda x: x[2:], (_EVEN,), ((S0,),), mesh_shape=(2,), out_placements=(S0,),
           max_bytes=4 * 4),
    OpCase("getitem_ops_other_dim", lambda x: x[:, 1:3], (_EVEN,), ((S0,),), out_placements=(S0,), max_bytes=0),
    OpCase("select_ops_uneven", lambda x: x.select(0, 3), (_UNEVEN,), _ALL),
    OpCase("select_ops_one_row_sent", lambda x: x.select(0, 3), (_EVEN,), ((S0,),), mesh_shape=(2,),
           out_placements=(R,), max_bytes=4 * 4),
    OpCase("narrow_ops_uneven", lambda x: torch.narrow(x, 0, 2, 3), (_UNEVEN,), _ALL),
    OpCase("narrow_copy_ops_uneven", lambda x: torch.narrow_copy(x, 1, 2, 3), (_UNEVEN,), _SOME),
    OpCase("index_select_ops_uneven", lambda x: torch.index_select(x, 0, at(4, 0, 4)), (_UNEVEN,), _ALL),
    OpCase("index_select_ops_many", lambda x: x.index_select(0, torch.arange(12) % 5), (_UNEVEN,), _SOME),
    OpCase("index_select_ops_sent", lambda x: x.index_select(0, at(7, 0)), (_EVEN,), ((S0,),), mesh_shape=(2,),
           out_placements=(S0,), max_bytes=4 * 4),
    OpCase("take_ops_flat", lambda x: torch.take(x, at(0, 34, -2)), (_UNEVEN,), _SOME),
    OpCase("take_ops_1d", lambda x: torch.take(x, at(4, 0, -2, 2).reshape(2, 2)), (InputSpec((5,)),), _ALL),
    OpCase("gather_ops_all", lambda x: x.gather(0, _POSITIONS), (_UNEVEN,), _ALL),
    OpCase("gather_ops_few", lambda x: torch.gather(x, 1, at(6, 0).reshape(1, 2)), (_UNEVEN,), _ALL),
    OpCase("gather_ops_second", lambda x: (x * x).gather(0, _POSITIONS), (_UNEVEN,), Every(8), second_order=True),
    OpCase("take_along_dim_ops_all", lambda x: torch.take_along_dim(x, _POSITIONS, 0), (_UNEVEN,), _ALL),
    OpCase("scatter_ops_all", lambda x, y: x.scatter(0, at(4, 1, 0, 2, 3).reshape(5, 1).expand(5, 7), y),
           (_UNEVEN, _UNEVEN), _SOME),
    OpCase("scatter_ops_number", lambda x: x.scatter(0, at(4, 1, 0).reshape(1, 3), 2.0), (_UNEVEN,), _SOME),
    OpCase("scatter_ops_nothing_sent", lambda x: x.scatter(0, at(7, 0).reshape(2, 1), 2.0), (_EVEN,), ((S0,),),
           out_placements=(S0,), max_bytes=0),
    OpCase("scatter_add_ops_all", lambda x, y: x.scatter_add(0, _POSITIONS, y), (_UNEVEN, _UNEVEN), _ALL),
    *(
        OpCase(f"scatter_reduce_ops_{how}", lambda x, y, how=how: x.scatter_reduce(0, _POSITIONS, y, how),
               (_UNEVEN, _UNEVEN), _SOME)
        for how in ("sum", "mean", "amax", "amin", "prod")
    ),
    OpCase("index_add_ops_alpha", lambda x, y: x.index_add(0, at(4, 0, 4), y, alpha=2), (_UNEVEN, InputSpec((3, 7))),
           _ALL),
    OpCase("index_copy_ops_rows", lambda x, y: x.index_copy(0, at(4, 0), y), (_UNEVEN, InputSpec((2, 7))), _SOME),
    OpCase("index_fill_ops_rows", lambda x: x.index_fill(0, at(4, 0), -1.0), (_UNEVEN,), _SOME),
    OpCase("where_ops_branches", lambda x, y: torch.where(x > 0, x, y), (_UNEVEN, InputSpec((7,))), _ALL),
    OpCase("where_ops_masks", lambda x, y: (x > 0).where(y > 0, x > y), (_UNEVEN, _UNEVEN), _SOME),
    OpCase("where_ops_method", lambda x, y: x.where(x > y, 2.0), (_UNEVEN, _UNEVEN), _SOME),
    OpCase("index_select_ops_columns", lambda x: x.index_select(0, at(1, 5)), (_EVEN,), ((S1,),),
           out_placements=(S1,), max_bytes=0),
]  # fmt: skip
