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
"""Any rule on any layouts without processes: ranks are threads, sums and maxima go over a shared board."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import torch

from hyper_parallel import Layout, init_device_mesh
from hyper_parallel.dispatch.call import Slot
from hyper_parallel.dispatch.registry import Registry
from hyper_parallel.placements import Partial, Shard
from hyper_parallel.platform.torch.kernels import Kernels
from tests.unit.hyper_parallel.ranks_in_threads import Board, own_part


class SumBoard(Kernels):
    """The platform's local functions, and collectives of one mesh axis; `sent` counts elements that are reduced.

    `inputs` are the parts that each rank began with, and wrote to.
    """

    narrow = staticmethod(torch.narrow)

    def __init__(self, ranks):
        self.board, self.sent, self.inputs = Board(ranks), 0, [[]] * ranks

    def all_reduce(self, x, mesh, axis, op="sum"):
        me = mesh.own_coordinate()[axis]
        self.board.parts[me] = x
        self.board.barrier.wait()
        stacked = torch.stack(list(self.board.parts))
        self.board.barrier.wait()
        self.sent += x.numel() if me == 0 else 0
        return stacked.sum(0) if op == "sum" else stacked.amax(0)

    all_reduce_used_locally = all_reduce

    def move_windows(self, *where):
        return self.board.move_windows(*where)


def infer(name, inputs, mesh=(2,), **kwargs):
    """(shape, placements) of the outputs; `inputs` are (placements, shape) by parameter, in the order of slots."""
    op = Registry(SumBoard(1)).find(name)
    whole = init_device_mesh("cpu", mesh, init_backend=False)
    layouts = [Layout(whole, places, shape) for places, shape in inputs.values()]
    bound = op.bind([], {**{name: Slot(i) for i, name in enumerate(inputs)}, **kwargs})
    values = [*layouts, bound]
    result = op.infer_layout(values)
    op.get_expand_impl(lambda *_, **__: None, result, values)
    return [(out.shape, out.placements) for out in result[0]]


def run(name, func, inputs, ranks, **kwargs):
    """(joined results, placement of the result, board) of one rule on one mesh axis.

    `inputs` are (full tensor, placement) pairs by parameter, in the order of slots.
    """
    board = SumBoard(ranks)
    op = Registry(board).find(name)

    def one(rank):
        mesh = init_device_mesh("cpu", (ranks,), init_backend=False, rank=rank)
        layouts = [Layout(mesh, [place], full.shape) for full, place in inputs.values()]
        parts = [own_part(full, layout).clone() for (full, _), layout in zip(inputs.values(), layouts, strict=True)]
        values = [*layouts, op.bind([], {**{name: Slot(i) for i, name in enumerate(inputs)}, **kwargs})]
        board.inputs[rank] = parts
        try:
            result = op.infer_layout(values)
            impl = op.get_expand_impl(func, result, values)
            out = impl(*parts) if impl is not None else func(**dict(zip(inputs, parts, strict=True)), **kwargs)
        except BaseException:
            board.board.barrier.abort()
            raise
        assert tuple(out.shape) == result[0][0].local_shape
        return out, result[0][0].placements[0]

    with ThreadPoolExecutor(ranks) as pool:
        answers = list(pool.map(one, range(ranks)))
    outs, place = [out for out, _ in answers], answers[0][1]
    whole = torch.cat(outs, place.dim) if isinstance(place, Shard) else outs[0]
    return (sum(outs) if isinstance(place, Partial) else whole), place, board
