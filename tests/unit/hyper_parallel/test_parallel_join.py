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
"""cat, stack and the split family: layouts, refusals, and parts that make up the full result."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyper_parallel import Layout, LayoutError, Partial, Replicate, Shard, init_device_mesh
from hyper_parallel.dispatch.call import Slot
from hyper_parallel.dispatch.registry import Registry
from tests.unit.hyper_parallel.ranks_in_threads import run_on_ranks

RULES = Registry()
S, R, P = Shard, Replicate(), Partial()


def infer(name, inputs, *args, listed=False, mesh=(2,), **kwargs):
    op = RULES.find(name)
    m = init_device_mesh("cpu", mesh, init_backend=False)
    layouts = [Layout(m, places, shape) for places, shape in inputs]
    slots = [Slot(i) for i in range(len(layouts))]
    bound = op.bind([*([tuple(slots)] if listed else slots), *args], kwargs)
    return [(out.shape, out.placements) for out in op.infer_layout([*layouts, bound])[0]]


@pytest.mark.parametrize("sizes", [(5, 3), (0, 4), (1, 1), (8, 8)])
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("dim", [0, 1])
def test_joined_parts_are_the_joined_tensors(sizes, ranks, dim):
    tensors = [torch.randn(n, 4) for n in sizes]
    got, places, moved = run_on_ranks("cat", torch.cat, tensors, dim, ranks, 0, listed=True)
    assert torch.equal(got[0], torch.cat(tensors, 0))
    assert places == [S(dim)]
    assert not moved or dim == 0


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10), st.integers(1, 4), st.sampled_from(["split", "chunk", "tensor_split"]), st.integers(1, 4))
def test_split_parts_are_the_split_tensor(size, ranks, name, how):
    full = torch.arange(size * 2).reshape(size, 2)
    func = {"split": torch.split, "chunk": torch.chunk, "tensor_split": torch.tensor_split}[name]
    want = func(full, how, 0)
    got, places, _ = run_on_ranks(name, func, [full], 0, ranks, how, 0)
    assert [part.tolist() for part in got] == [part.tolist() for part in want]
    assert places == [S(0)] * len(want)


@pytest.mark.parametrize("how", [(1, 4), (0, 2, 3), (5,), (1, 1, 3)])
def test_sizes_and_places_given_outright(how):
    full = torch.arange(10.0).reshape(5, 2)
    if sum(how) == 5:
        got, _, _ = run_on_ranks("split_with_sizes", torch.split_with_sizes, [full], 0, 2, how, 0)
        assert all(torch.equal(a, b) for a, b in zip(got, full.split(how), strict=True))
    places = tuple(sorted(how))
    got, _, _ = run_on_ranks("tensor_split", torch.tensor_split, [full], 0, 2, places, 0)
    assert all(torch.equal(a, b) for a, b in zip(got, torch.tensor_split(full, places), strict=True))


def test_parts_of_a_split_are_marked_as_copies_only_where_they_should_be_views():
    full = torch.arange(8.0)
    safe, _, _ = run_on_ranks("split", torch.split, [full], 0, 1, 4, 0)
    unsafe, _, _ = run_on_ranks("unsafe_split", torch.unsafe_split, [full], 0, 1, 4, 0)
    assert [part.tolist() for part in safe] == [part.tolist() for part in unsafe] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    op = RULES.find("split")
    layout = Layout(init_device_mesh("cpu", (1,), init_backend=False), [S(0)], (8,))

    class Still:
        split = staticmethod(lambda x, sizes, dim: tuple(x.split(sizes, dim)))
        move_windows = staticmethod(lambda x, *where: x)

    for name, marked in (("split", True), ("unsafe_split", False)):
        op = Registry(Still()).find(name)
        cached = [layout, op.bind([Slot(0), 4], {})]
        parts = op.get_expand_impl(torch.split, op.infer_layout(cached), cached)(full)
        assert [hasattr(part, "_copy_of") for part in parts] == [marked, marked]


def test_layouts_axis_by_axis():
    pair = [((S(0), R), (8, 6)), ((S(0), R), (8, 2))]
    assert infer("cat", pair, 1, listed=True, mesh=(2, 2)) == [((8, 8), (S(0), R))]
    assert infer("cat", [((P,), (8,)), ((P,), (4,))], listed=True) == [((12,), (P,))]
    assert infer("stack", [((S(1),), (8, 6))] * 2, 1, listed=True) == [((8, 2, 6), (S(2),))]
    assert infer("split", [((S(1),), (8, 6))], 3) == [((3, 6), (S(1),)), ((3, 6), (S(1),)), ((2, 6), (S(1),))]
    assert infer("chunk", [((P,), (5,))], chunks=4) == [((2,), (P,)), ((2,), (P,)), ((1,), (P,))]
    assert infer("hsplit", [((S(0),), (5, 6))], 2) == [((5, 3), (S(0),))] * 2
    assert infer("tensor_split", [((S(0),), (5,))], (-2, 1)) == [((3,), (S(0),)), ((0,), (S(0),)), ((4,), (S(0),))]


@pytest.mark.parametrize(
    ("name", "inputs", "args", "text"),
    [
        ("cat", [((S(0),), (8, 6)), ((S(1),), (8, 6))], (0,), "input placements on mesh axis"),
        ("cat", [((S(0),), (8, 6)), ((P,), (8, 6))], (0,), "input placements on mesh axis"),
        ("cat", [((S(0),), (8, 6)), ((S(0),), (8, 5))], (0,), "shapes should be equal but for dim 0"),
        ("cat", [((S(0),), (8, 6)), ((S(0),), (8,))], (0,), "shapes should be equal but for dim 0"),
        ("cat", [((S(0),), (8, 6))], (2,), "dim should be an int in"),
        ("stack", [((S(0),), (8, 6)), ((S(0),), (8, 5))], (0,), "shapes should be equal"),
        ("stack", [((R,), (8,)), ((P,), (8,))], (0,), "input placements on mesh axis"),
    ],
)
def test_joins_that_are_refused(name, inputs, args, text):
    with pytest.raises(LayoutError, match=f"For {name}, {text}"):
        infer(name, inputs, *args, listed=True)


@pytest.mark.parametrize(
    ("name", "shape", "args", "text"),
    [
        ("split", (8, 6), ((3, 4),), r"the sum of the sizes should be 8, but got \(3, 4\)"),
        ("split", (8, 6), (0,), "size or number should be positive, but got 0"),
        ("chunk", (8, 6), (2, 5), "dim should be an int in"),
        ("chunk", (), (2,), "input should be one tensor, at least 1-D"),
        ("tensor_split", (8, 6), (Slot(0),), "sizes or places should be ints"),
        ("hsplit", (8, 5), (2,), "sections should be a divisor of 5, but got 2"),
        ("vsplit", (8,), (2,), "input should be at least 2-D"),
        ("dsplit", (8, 6), (2,), "input should be at least 3-D"),
    ],
)
def test_splits_that_are_refused(name, shape, args, text):
    with pytest.raises(LayoutError, match=f"For {name}, {text}"):
        infer(name, [((R,) if not shape else (S(0),), shape)], *args)


def test_places_that_overlap_need_another_layout():
    op = RULES.find("tensor_split")
    layout = Layout(init_device_mesh("cpu", (2,), init_backend=False), [S(0)], (5,))
    cached = [layout, op.bind([Slot(0), (3, 1)], {})]
    with pytest.raises(LayoutError, match="For tensor_split, results should be parts that do not overlap"):
        op.get_expand_impl(torch.tensor_split, op.infer_layout(cached), cached)
