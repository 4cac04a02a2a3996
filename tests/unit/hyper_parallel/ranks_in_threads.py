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
"""Rules carried out without processes: every rank is a thread, and window moves go over a shared board."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BrokenBarrierError

import torch

from hyper_parallel import Layout, Partial, Shard, init_device_mesh
from hyper_parallel.dispatch.call import Slot
from hyper_parallel.dispatch.registry import Registry
from hyper_parallel.platform.torch import kernels_empty, kernels_lines


class Board:
    """A platform for one mesh axis; positions are looked up one by one, by what the windows say and nothing else."""

    assemble = staticmethod(kernels_lines.assemble)
    cat = staticmethod(kernels_empty.cat)
    stride = staticmethod(kernels_lines.stride)
    split = staticmethod(kernels_lines.split)

    def __init__(self, ranks):
        self.barrier = Barrier(ranks, timeout=30)
        self.parts = [None] * ranks
        self.moved = 0

    def move_windows(self, x, mesh, axis, dim, holds, wants):
        me = mesh.own_coordinate()[axis]
        assert x.shape[dim] == sum(stop - start for start, stop in holds[me])
        self.parts[me] = x
        self.barrier.wait()
        where = {}
        for rank, own in enumerate(holds):
            flat = [at for start, stop in own for at in range(start, stop)]
            where.update({at: (rank, i) for i, at in enumerate(flat)})
        picks = [where[at] for start, stop in wants[me] for at in range(start, stop)]
        rows = [self.parts[rank].narrow(dim, i, 1) for rank, i in picks]
        self.moved += sum(rank != me for rank, _ in picks)
        self.barrier.wait()
        return torch.cat(rows, dim) if rows else x.narrow(dim, 0, 0)

    def fetch_window(self, x, mesh, axis, dim, holds, window):
        return self.move_windows(x, mesh, axis, dim, holds, (tuple(window),) * len(holds))


def own_part(full, layout):
    for dim, (start, length) in enumerate(zip(layout.local_offset, layout.local_shape, strict=True)):
        full = full.narrow(dim, start, length)
    return full


def run_on_ranks(name, func, fulls, dim, ranks, *args, listed=False, **kwargs):
    """(result joined from all ranks, placements of the outputs, positions moved); all inputs are cut at `dim`.

    `dim` may also be one placement per input. Pending sums are added up.
    `listed` passes the tensors as one list; a tuple of results comes back as a list.
    """
    board = Board(ranks)
    given = [Shard(dim)] * len(fulls) if isinstance(dim, int) else dim
    op = Registry(board).find(name)

    def one(rank):
        mesh = init_device_mesh("cpu", (ranks,), init_backend=False, rank=rank)
        layouts = [Layout(mesh, [place], full.shape) for full, place in zip(fulls, given, strict=True)]
        parts = [own_part(full, layout) for full, layout in zip(fulls, layouts, strict=True)]
        slots = [Slot(i) for i in range(len(fulls))]
        values = [*layouts, op.bind([*([tuple(slots)] if listed else slots), *args], dict(kwargs))]
        result = op.infer_layout(values)
        impl = op.get_expand_impl(func, result, values)
        if impl is not None:
            out = impl(*parts)
        else:
            out = func(parts, *args, **kwargs) if listed else func(*parts, *args, **kwargs)
        return (out if isinstance(out, tuple) else (out,)), result[0]

    def safely(rank):
        try:
            return one(rank)
        except BaseException:
            board.barrier.abort()
            raise

    with ThreadPoolExecutor(ranks) as pool:
        runs = [pool.submit(safely, rank) for rank in range(ranks)]
    errors = [run.exception() for run in runs if run.exception() is not None]
    for error in errors:
        if not isinstance(error, BrokenBarrierError):
            raise error
    answers = [run.result() for run in runs]
    whole = []
    for i, layout in enumerate(answers[0][1]):
        parts = [outs[i] for outs, _ in answers]
        for part, (_, layouts) in zip(parts, answers, strict=True):
            assert tuple(part.shape) == layouts[i].local_shape
        place = layout.placements[0]
        joined = torch.cat(parts, place.dim) if isinstance(place, Shard) else parts[0]
        whole.append(sum(parts) if isinstance(place, Partial) else joined)
    placements = [layout.placements[0] for layout in answers[0][1]]
    return whole, placements, board.moved
