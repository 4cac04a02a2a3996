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
"""The torch backend's own kernels without processes: ranks are threads, and raw collectives go over a shared board."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, BrokenBarrierError

import pytest
import torch

from hyper_parallel import Layout, init_device_mesh
from hyper_parallel.dispatch.call import Slot
from hyper_parallel.dispatch.registry import Registry
from hyper_parallel.placements import Partial, Shard
from hyper_parallel.platform.torch import wire
from hyper_parallel.platform.torch.backend import PLATFORM
from tests.unit.hyper_parallel.ranks_in_threads import own_part

RULES = Registry(PLATFORM)


class Board:
    """What the ranks of one mesh axis lay open to each other; `sent` counts bytes by rank."""

    def __init__(self, ranks):
        self.barrier, self.parts, self.sent = Barrier(ranks, timeout=30), [None] * ranks, [0] * ranks

    def shown(self, mine, mesh, axis, copies):
        me = mesh.own_coordinate()[axis]
        self.parts[me] = mine
        self.sent[me] += copies
        self.barrier.wait()
        found = list(self.parts)
        self.barrier.wait()
        return found

    def all_gather(self, x, mesh, axis, dim, sizes):
        padded = max(sizes) * (x.numel() // x.shape[dim] if x.shape[dim] else 0)
        parts = self.shown(x.detach(), mesh, axis, padded * x.element_size() * (len(sizes) - 1))
        assert [part.shape[dim] for part in parts] == list(sizes)
        return torch.cat(parts, dim)

    def all_reduce(self, x, mesh, axis, op):
        assert op == "sum"
        return torch.stack(self.shown(x.detach(), mesh, axis, x.numel() * x.element_size())).sum(0).to(x.dtype)

    def reduce_scatter(self, x, mesh, axis, dim, sizes, op):
        whole = self.all_reduce(x, mesh, axis, op)
        return whole.split_with_sizes(list(sizes), dim)[mesh.own_coordinate()[axis]]

    def exchange(self, parts, shapes, mesh, axis):
        me = mesh.own_coordinate()[axis]
        count = sum(part.numel() * part.element_size() for rank, part in enumerate(parts) if rank != me)
        came = [sent[me] for sent in self.shown([part.detach() for part in parts], mesh, axis, count)]
        assert [list(part.shape) for part in came] == [list(shape) for shape in shapes]
        return came

    def broadcast(self, x, mesh, axis, source):
        me = mesh.own_coordinate()[axis]
        return self.shown(x.detach(), mesh, axis, x.numel() * x.element_size() if me == source else 0)[source]


@contextmanager
def board_of(ranks) -> Iterator[Board]:
    board = Board(ranks)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("all_gather", "all_reduce", "reduce_scatter", "exchange", "broadcast"):
            patch.setattr(wire, name, getattr(board, name))
        yield board


def on_ranks(ranks, one):
    """What `one(mesh, rank)` returns on every rank, and the bytes that each sent."""
    with board_of(ranks) as board, ThreadPoolExecutor(ranks) as pool:

        def safely(rank):
            try:
                return one(init_device_mesh("cpu", (ranks,), init_backend=False, rank=rank), rank)
            except BaseException:
                board.barrier.abort()
                raise

        runs = [pool.submit(safely, rank) for rank in range(ranks)]
        errors = [run.exception() for run in runs if run.exception() is not None]
        for error in errors:
            if not isinstance(error, BrokenBarrierError):
                raise error
    return [run.result() for run in runs], board.sent


def joined(parts, place):
    """The global tensor of all ranks' parts."""
    if isinstance(place, Shard):
        return torch.cat(parts, place.dim)
    if isinstance(place, Partial):
        stacked = torch.stack(parts)
        return stacked.sum(0) if place.reduce_op == "sum" else stacked.amax(0)
    assert all(torch.equal(part.nan_to_num(7.5), parts[0].nan_to_num(7.5)) for part in parts)
    return parts[0]


def run(name, func, inputs, ranks, *args, **kwargs):
    """(joined results, placements of the results, bytes by rank, gradient) of a rule; `inputs` are (full, placement).

    The gradient is that of the first input for a cotangent of 1, 2, 3, … on the first result; None if there is none.
    """
    op = RULES.find(name)

    def one(mesh, rank):
        layouts = [Layout(mesh, [place], full.shape) for full, place in inputs]
        parts = [own_part(full, layout).clone() for (full, _), layout in zip(inputs, layouts, strict=True)]
        parts[0].requires_grad_(parts[0].is_floating_point())
        values = [*layouts, op.bind([*(Slot(i) for i in range(len(parts))), *args], dict(kwargs))]
        result = op.infer_layout(values)
        impl = op.get_expand_impl(func, result, values)
        out = impl(*parts) if impl is not None else func(*parts, *args, **kwargs)
        layouts_out = result[0]
        if hasattr(out, "layouts"):
            out, layouts_out = out.results, out.layouts
        outs = list(out) if isinstance(out, tuple) else [out]
        for part, layout in zip(outs, layouts_out, strict=True):
            assert tuple(part.shape) == layout.local_shape
        grad = None
        if outs[0].requires_grad:
            weight = torch.arange(1.0, 1 + layouts_out[0].numel).reshape(layouts_out[0].shape)
            (grad,) = torch.autograd.grad(outs[0], parts[0], own_part(weight, layouts_out[0]).to(outs[0].dtype))
        return [part.detach() for part in outs], [layout.placements[0] for layout in layouts_out], grad

    answers, sent = on_ranks(ranks, one)
    places = answers[0][1]
    whole = [joined([outs[i] for outs, _, _ in answers], place) for i, place in enumerate(places)]
    grads = [grad for _, _, grad in answers]
    return whole, places, sent, joined(grads, inputs[0][1]) if grads[0] is not None else None


def same(name, func, inputs, ranks, *args, **kwargs):
    """Check a rule against one device (values, dtypes, gradient); gives placements and bytes."""
    whole, places, sent, grad = run(name, func, inputs, ranks, *args, **kwargs)
    fulls = [full.clone() for full, _ in inputs]
    fulls[0].requires_grad_(fulls[0].is_floating_point())
    want = func(*fulls, *args, **kwargs)
    want = list(want) if isinstance(want, tuple) else [want]
    for got, wanted in zip(whole, want, strict=True):
        torch.testing.assert_close(got, wanted.detach(), equal_nan=True)
    if grad is not None:
        weight = torch.arange(1.0, 1 + want[0].numel()).reshape(want[0].shape).to(want[0].dtype)
        (wanted,) = torch.autograd.grad(want[0], fulls[0], weight)
        torch.testing.assert_close(grad, wanted)
    return places, sent


def refusal(name, shape, place, *args, ranks=2, **kwargs):
    """The error text of a rule for one input, or None."""
    op = RULES.find(name)
    layout = Layout(init_device_mesh("cpu", (ranks,), init_backend=False), [place], shape)
    values = [layout, op.bind([Slot(0), *args], kwargs)]
    try:
        op.get_expand_impl(lambda *_, **__: None, op.infer_layout(values), values)
    except ValueError as error:
        return str(error)
    return None
