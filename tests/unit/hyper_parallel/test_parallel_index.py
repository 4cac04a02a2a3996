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
"""Index expressions, lookups and writes: how they are read, layouts, refusals, and parts that make up the result."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hyper_parallel import Layout, LayoutError, Partial, Replicate, Shard, init_device_mesh
from hyper_parallel.dispatch.call import Slot
from hyper_parallel.dispatch.registry import Registry
from hyper_parallel.ops.index_terms import parse_index
from tests.unit.hyper_parallel.ranks_in_threads import run_on_ranks

RULES = Registry()
S, R, P = Shard, Replicate(), Partial()
WHOLE = slice(None)


def infer(name, inputs, *args, mesh=(2,), **kwargs):
    op = RULES.find(name)
    m = init_device_mesh("cpu", mesh, init_backend=False)
    layouts = [Layout(m, places, shape) for places, shape in inputs]
    bound = op.bind([Slot(0), *args], kwargs)
    return [(out.shape, out.placements) for out in op.infer_layout([*layouts, bound])[0]], op, [*layouts, bound]


def only(name, inputs, *args, **kwargs):
    outs, _, _ = infer(name, inputs, *args, **kwargs)
    return outs[0]


_ITEM = st.one_of(
    st.integers(-2, 1),
    st.none(),
    st.builds(slice, st.none() | st.integers(-4, 4), st.none() | st.integers(-4, 4), st.none() | st.integers(1, 3)),
    st.just("table"),
)


@given(st.lists(_ITEM, max_size=4), st.integers(0, 4))
def test_a_parsed_index_has_the_shape_that_torch_gives(items, at):
    full = torch.zeros(2, 3, 4)
    if sum(item is not None for item in items) > 3:
        items = [item for item in items if item is None][:1]
    tables = [torch.tensor([[0, 1], [1, 0]]) if i % 2 else torch.tensor([1, 0]) for i in range(4)]
    real, marked, shapes = [], [], [(2, 3, 4)]
    for item in items:
        if isinstance(item, str):
            real.append(tables[len(shapes) - 1])
            marked.append(Slot(len(shapes)))
            shapes.append(tuple(tables[len(shapes) - 1].shape))
        else:
            real.append(item)
            marked.append(item)
    if at < len(items) + 1:
        real.insert(at, Ellipsis)
        marked.insert(at, Ellipsis)
    plan = parse_index("__getitem__", tuple(marked), shapes)
    assert plan.shape == tuple(full[tuple(real)].shape)
    for dim, target in plan.targets.items():
        assert plan.shape[target] == plan.picks[dim].count


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ((0, 0, 0), "index should be for 2 dims"),
        ((Ellipsis, Ellipsis), "index should be for 2 dims"),
        (9, r"index of dim 0 should be in \[-8, 8\), but got 9"),
        ((WHOLE, slice(0, 3, -1)), "slice of dim 1 should be of ints, with a positive step"),
        (slice(Slot(1), 3), "slice of dim 0 should be of ints"),
        (True, "index of dim 0 should be an int, slice or tensor of positions, but got True"),
        ((0, 1.5), "index of dim 1 should be an int, slice or tensor of positions"),
    ],
)
def test_indices_that_are_refused(index, text):
    with pytest.raises(LayoutError, match=f"For __getitem__, {text}"):
        infer("__getitem__", [((S(0),), (8, 6))], index)


def test_layouts_of_reads():
    x = ((S(0), S(1)), (8, 6))
    assert only("__getitem__", [x], 3, mesh=(2, 2)) == ((6,), (R, S(0)))
    assert only("__getitem__", [x], (None, slice(2, 5)), mesh=(2, 2)) == ((1, 3, 6), (S(1), S(2)))
    assert only("__getitem__", [((P,), (8, 6))], (Ellipsis, 0)) == ((8,), (P,))
    assert only("select", [x], 1, -1, mesh=(2, 2)) == ((8,), (S(0), R))
    assert only("narrow", [x], 0, 2, 3, mesh=(2, 2)) == ((3, 6), (S(0), S(1)))
    table = [((S(0),), (8, 6)), ((R,), (4,))]
    assert only("__getitem__", table, Slot(1)) == ((4, 6), (S(0),))
    assert only("__getitem__", table, (WHOLE, Slot(1))) == ((8, 4), (S(0),))
    assert only("__getitem__", [((R,), (8, 6)), ((S(0),), (4,))], (WHOLE, Slot(1))) == ((8, 4), (S(1),))
    assert only("index_select", [((S(1),), (8, 6)), ((R,), (3,))], 0, Slot(1)) == ((3, 6), (S(1),))
    assert only("index_select", [((R,), (8, 6)), ((S(0),), (3,))], 1, Slot(1)) == ((8, 3), (S(1),))
    assert only("gather", [((S(0),), (8, 6)), ((R,), (2, 6))], 0, Slot(1)) == ((2, 6), (S(0),))
    assert only("take_along_dim", [((S(1),), (8, 6)), ((S(1),), (2, 6))], Slot(1), 0) == ((2, 6), (S(1),))
    assert only("take", [((P,), (8, 6)), ((R,), (2,))], Slot(1)) == ((2,), (P,))


def test_layouts_of_writes():
    x, row = ((S(0),), (8, 6)), ((R,), (2, 6))
    assert infer("__setitem__", [x], slice(1, 3), 2.0)[0] == []
    assert infer("__setitem__", [x, ((S(0),), (2, 6))], slice(1, 3), Slot(1))[0] == []
    assert infer("__setitem__", [x, ((R,), (6,))], slice(1, 3), Slot(1))[0] == []
    assert only("scatter_add", [x, row, row], 0, Slot(1), Slot(2)) == ((8, 6), (S(0),))
    assert only("scatter_add", [((P,), (8, 6)), row, ((P,), (2, 6))], 0, Slot(1), Slot(2)) == ((8, 6), (P,))
    cut = [((S(1),), (8, 6)), ((S(1),), (2, 6)), ((S(1),), (2, 6))]
    assert only("scatter", cut, 0, Slot(1), Slot(2)) == ((8, 6), (S(1),))
    line = [((S(1),), (8, 6)), ((R,), (2,)), ((S(1),), (2, 6))]
    assert only("index_add", line, 0, Slot(1), Slot(2), alpha=2) == ((8, 6), (S(1),))
    assert only("index_fill", line[:2], 0, Slot(1), 1.0) == ((8, 6), (S(1),))
    assert only("where", [((S(0),), (8, 6)), ((S(0),), (8, 1)), ((R,), (6,))], Slot(1), Slot(2)) == ((8, 6), (S(0),))


@pytest.mark.parametrize(
    ("name", "inputs", "args", "text"),
    [
        ("select", [((S(0),), (8, 6))], (0, 8), r"index of dim 0 should be in \[-8, 8\), but got 8"),
        ("narrow", [((S(0),), (8, 6))], (0, 5, 4), r"start should be in \[0, 4\], but got 5"),
        ("narrow", [((S(0),), (8, 6))], (0, 5, -1), "start and length should be ints"),
        ("narrow", [((S(0),), (8, 6))], (0, 5), "arguments should be"),
        ("index_select", [((S(0),), (8, 6)), ((R,), (9,))], (0, Slot(1)), "input placements on mesh axis"),
        ("index_select", [((S(0),), (8, 6)), ((R,), (2, 2))], (0, Slot(1)), "input and index should be at least 1-D"),
        ("gather", [((S(0),), (8, 6)), ((R,), (9,))], (0, Slot(1)), "input and index should be of as many dims"),
        ("gather", [((S(0),), (8, 6)), ((R,), (2, 7))], (0, Slot(1)), "index should be no larger than"),
        ("take_along_dim", [((S(0),), (8, 6)), ((R,), (2, 6))], (Slot(1),), "arguments should be"),
        ("take", [((S(0),), (8, 6)), ((R,), (2,))], (Slot(1),), "input placements on mesh axis"),
        ("scatter", [((P,), (8, 6)), ((R,), (2, 6))], (0, Slot(1), 1.0), "input placements on mesh axis"),
        ("scatter", [((S(0),), (8, 6)), ((S(0),), (2, 6))], (0, Slot(1), 1.0), "input placements on mesh axis"),
        ("index_copy", [((R,), (8, 6)), ((R,), (2,)), ((R,), (3, 6))], (0, Slot(1), Slot(2)), "source's shape should"),
        ("index_fill", [((R,), (8, 6)), ((R,), (2, 1))], (0, Slot(1), 1.0), "index's dims should be 1"),
        ("where", [((S(0),), (8, 6))], (), "arguments should be a condition and two branches, but got 1"),
        ("where", [((P,), (8, 6)), ((R,), (8, 6))], (Slot(1), 1.0), "input placements on mesh axis"),
        ("__setitem__", [((P,), (8, 6))], (0, 1.0), "input placements on mesh axis"),
        ("__setitem__", [((S(0),), (8, 6)), ((R,), (3, 6))], (slice(1, 3), Slot(1)), "value's shape should be expand"),
        ("__setitem__", [((S(0),), (8, 6))], (0, "1"), "value should be a number or tensor"),
        ("__setitem__", [((S(0),), (8, 6)), ((R,), (2,))], (Slot(1), 1.0), "input placements on mesh axis"),
    ],
)
def test_what_is_refused_says_why(name, inputs, args, text):
    with pytest.raises(LayoutError, match=f"For {name}, {text}"):
        infer(name, inputs, *args)


def test_a_product_is_not_scattered_into_parts():
    inputs = [((S(0),), (8, 6)), ((R,), (2, 6)), ((R,), (2, 6))]
    assert only("scatter_reduce", inputs, 0, Slot(1), Slot(2), "amax") == ((8, 6), (S(0),))
    with pytest.raises(LayoutError, match="For scatter_reduce, input placements on mesh axis"):
        infer("scatter_reduce", inputs, 0, Slot(1), Slot(2), "prod")


def test_an_assignment_never_moves_its_target():
    _, op, cached = infer("__setitem__", [((S(0),), (8, 6)), ((R,), (2, 6))], slice(1, 3), Slot(1))
    other = cached[1].with_placements([S(1)])
    choices = list(op.candidates([cached[0], other, cached[2]]))
    assert choices
    assert all(target is cached[0] for target, _ in choices)


READS = [0, -1, (2, 1), slice(1, 4), slice(None, None, 2), slice(1, None, 3), (WHOLE, slice(1, 2)), (None, slice(3, 9)),
         (Ellipsis, 0), slice(3, 3), slice(0, 100)]  # fmt: skip


@pytest.mark.parametrize("index", READS)
@pytest.mark.parametrize("shape", [(5, 2), (8, 4), (3, 2)])
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("dim", [0, 1])
def test_parts_of_a_read_make_up_the_full_one(index, shape, ranks, dim):
    full = torch.arange(shape[0] * shape[1]).reshape(shape)
    got, _, moved = run_on_ranks("__getitem__", lambda x, i: x[i], [full], dim, ranks, index)
    assert got[0].tolist() == full[index].tolist()
    assert moved <= full.numel() * ranks


def test_reads_that_keep_their_borders_move_nothing():
    full = torch.arange(8)
    assert run_on_ranks("__getitem__", lambda x, i: x[i], [full], 0, 2, slice(1, -1))[2] == 0
    assert run_on_ranks("__getitem__", lambda x, i: x[i], [full], 0, 2, slice(2, None))[2] == 1
    assert run_on_ranks("select", torch.select, [full], 0, 2, 0, 5)[2] == 1


def test_a_range_of_a_cut_dim_is_marked_as_a_copy():
    class Still:
        stride = staticmethod(lambda x, dim, start, count, step: x)
        move_windows = staticmethod(lambda x, *where: x.clone())

    op = Registry(Still()).find("__getitem__")
    layout = Layout(init_device_mesh("cpu", (2,), init_backend=False), [S(0)], (8,))
    for index, marked in ((slice(0, 4), True), (slice(0, 100), False)):
        cached = [layout, op.bind([Slot(0), index], {})]
        part = op.get_expand_impl(None, op.infer_layout(cached), cached)(torch.arange(4.0))
        assert hasattr(part, "_copy_of") is marked
    cached = [layout, op.bind([Slot(0), WHOLE], {})]
    assert op.get_expand_impl(None, op.infer_layout(cached), cached) is None
