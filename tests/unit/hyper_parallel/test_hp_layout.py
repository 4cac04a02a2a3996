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
"""Layout algebra without processes: both spellings, uneven parts, nesting orders, identity."""

import itertools
import math
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyper_parallel import Layout, LayoutError, Partial, Replicate, Shard, StridedShard, init_device_mesh
from hyper_parallel.layout import chunk_of, chunk_sizes, shape_in_words, shapes_from_words


def mesh(*shape, names=("dp", "tp", "pp"), rank=0):
    return init_device_mesh("cpu", shape, mesh_dim_names=names[: len(shape)], init_backend=False, rank=rank)


@given(size=st.integers(1, 40), parts=st.integers(1, 9))
def test_chunks_are_those_of_torch_with_empty_ones_at_the_end(size, parts):
    expected = [len(c) for c in torch.arange(size).chunk(parts)]
    assert chunk_sizes(size, parts) == expected + [0] * (parts - len(expected))
    assert sum(chunk_sizes(size, parts)) == size
    assert chunk_of(size, parts, parts - 1)[0] <= size


def test_both_spellings_of_the_documented_example():
    layout = Layout(mesh(2, 4), [Shard(0), Shard(1)], (8, 8))
    assert layout.tensor_map == (1, 0)
    assert layout.alias_tensor_map == ("dp", "tp")
    assert Layout.from_aliases(mesh(2, 4), ("dp", "tp"), (8, 8)) is layout


@given(size=st.integers(0, 11), across=st.integers(1, 4), places=st.sampled_from([(0, 0), (1, 0), (0, 1)]))
def test_layout_of_parts_is_the_one_that_cut_them(size, across, places):
    where = mesh(2, 3)
    for placements in ([Shard(d) for d in places], [StridedShard(0, 3), Shard(0)], [Replicate(), Shard(1)]):
        layout = Layout(where, placements, (size, across))
        parts = [[n for _, n in layout.slices_at(spot)] for spot in itertools.product(range(2), range(3))]
        assert Layout.from_parts(where, placements, parts) is layout


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_parts_of_no_tensor_are_refused_by_all_ranks_alike(rank):
    for shapes, told in (
        ([(2, 4), (1, 4), (2, 4)], r"rank 1 should be \(2, 4\) of global \(5, 4\), but got \(1, 4\)"),
        ([(2, 4), (2, 3), (1, 4)], r"rank 1 should be \(2, 4\) of global \(5, 4\), but got \(2, 3\)"),
        ([(2, 4), (2,), (1, 4)], r"rank 1 should be \(2, 4\) of global \(5, 4\), but got \(2,\)"),
    ):
        with pytest.raises(LayoutError, match=told):
            Layout.from_parts(mesh(3, rank=rank), [Shard(0)], shapes)


@pytest.mark.parametrize("ndim", [0, 1, 8, 9, 30])
def test_shapes_survive_the_way_between_ranks(ndim):
    shape = list(range(1, ndim + 1))
    assert shapes_from_words([shape_in_words(shape), shape_in_words([])[: len(shape_in_words(shape))]]) == [shape, []]


def test_aliases_can_stand_for_placements():
    assert Layout(mesh(2, 4), ("dp", "None"), (8, 8)).placements == (Shard(0), Replicate())
    assert Layout(mesh(2, 4), (("tp", "dp"),), (8,)).placements == (StridedShard(0, 4), Shard(0))
    assert Layout(mesh(2, 4), (), ()).is_replicated
    with pytest.raises(LayoutError, match="aliases should be 2, one per tensor dim"):
        Layout(mesh(2, 4), ("dp",), (8, 8))


def test_layout_facts_by_name():
    layout = Layout(mesh(2, 4), [Partial(), Shard(1)], (6, 8))
    assert layout.reset_partial().placements == (Replicate(), Shard(1))
    assert layout.is_dev_axis_apply_shard("tp")
    assert not layout.is_dev_axis_apply_shard("dp")
    assert layout.get_global_shape((6, 2)) == (6, 8)
    assert layout.repeat_num() == 2


def test_several_axes_on_one_dim_are_a_tuple_outermost_first():
    layout = Layout.from_aliases(mesh(2, 4), (("dp", "tp"), "None"), (16, 3))
    assert layout.placements == (Shard(0), Shard(0))
    assert layout.tensor_map == ((1, 0), -1)
    swapped = Layout.from_aliases(mesh(2, 4), (("tp", "dp"), "None"), (16, 3))
    assert swapped.placements == (StridedShard(0, 4), Shard(0))
    assert swapped.alias_tensor_map == (("tp", "dp"), "None")


def test_unnamed_mesh_has_dim_names_counted_from_the_right():
    plain = init_device_mesh("cpu", (2, 4), init_backend=False)
    assert Layout(plain, [Shard(0), Replicate()], (4,)).alias_tensor_map == ("dim_1",)


def test_zero_dim_tensor_has_an_empty_map():
    assert Layout(mesh(2), [Replicate()], ()).tensor_map == ()


def test_equal_layouts_are_one_object_and_hash_alike():
    a = Layout(mesh(2, 2), [Shard(-1), Partial("avg")], (4, 4))
    b = Layout(mesh(2, 2), (Shard(1), Partial("avg")), torch.Size([4, 4]))
    assert a is b
    assert a.partial == [None, "avg"]
    assert a.is_partial()
    assert pickle.loads(pickle.dumps(a)).placements == a.placements


@pytest.mark.parametrize(
    ("placements", "message"),
    [
        ([Shard(2), Replicate()], r"the sharded dim should be in \[-2, 2\), but got 2"),
        ([Replicate()], "2, one per mesh axis"),
        (
            [Shard(0), "dp"],
            "a placement should be hyper_parallel's Shard, Replicate or Partial, but got 'dp' of builtins",
        ),
        ([Shard(0), StridedShard(0, 3)], "split_factor of mesh axis 1"),
        ([StridedShard(0, 5), Shard(0)], "split_factor of mesh axis 0"),
    ],
)
def test_placements_that_fit_no_tensor_are_refused(placements, message):
    with pytest.raises(LayoutError, match=message):
        Layout(mesh(2, 4), placements, (8, 8))


def test_an_axis_cannot_cut_two_dims():
    with pytest.raises(LayoutError, match="each axis name at most once"):
        Layout.from_aliases(mesh(2, 4), ("dp", "dp"), (8, 8))


def test_unknown_reduction_is_refused():
    with pytest.raises(ValueError, match="For Partial, reduce_op should be one of"):
        Partial("median")


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_parts_tile_the_tensor_whatever_the_nesting(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=3)))
    sizes = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    m = mesh(*sizes)
    cuts = [[] for _ in shape]
    for axis in data.draw(st.permutations(range(len(sizes)))):
        dim = data.draw(st.integers(-1, len(shape) - 1))
        if dim >= 0:
            cuts[dim].append(axis)
    layout = Layout.from_dim_axes(m, cuts, shape)
    effective = [[a for a in axes if sizes[a] > 1] for axes in cuts]
    assert [[a for a in axes if sizes[a] > 1] for axes in layout.dim_axes] == effective
    counts = torch.zeros(shape, dtype=torch.int64)
    for place in itertools.product(*(range(n) for n in sizes)):
        index = tuple(slice(start, start + size) for start, size in layout.slices_at(place))
        counts[index] += 1
        sizes_here = [size for _, size in layout.slices_at(place)]
        assert all(a <= b for a, b in zip(sizes_here, layout.max_local_shape, strict=True))
    assert torch.equal(counts, torch.full(shape, layout.repeat_num()))
    assert layout.is_even == all(
        size % math.prod(sizes[a] for a in axes) == 0 for size, axes in zip(shape, cuts, strict=True)
    )


def test_gradient_of_a_pending_sum_is_replicated_and_of_other_reductions_a_sum_of_terms():
    layout = Layout(mesh(2, 2, 2), [Partial(), Partial("max"), Shard(0)], (4,))
    assert layout.grad.placements == (Replicate(), Partial(), Shard(0))


def test_replacing_an_axis_puts_it_innermost():
    layout = Layout(mesh(2, 2), [Replicate(), Shard(0)], (8,))
    assert layout.replace_axis(0, Shard(0)).dim_axes == ((1, 0),)


def test_compact_string_tells_rank_orders_apart():
    a = init_device_mesh("cpu", (2, 2), rank_list=[0, 1, 2, 3], init_backend=False)
    b = init_device_mesh("cpu", (2, 2), rank_list=[0, 2, 1, 3], init_backend=False)
    assert Layout(a, [Shard(0), Replicate()], (4,)).compact_str != Layout(b, [Shard(0), Replicate()], (4,)).compact_str
