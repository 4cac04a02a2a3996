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
"""Redistribution plans without processes: they arrive, never cost more than one axis at a time, and the bound holds."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyper_parallel import Layout, LayoutError, Partial, Replicate, Shard, init_device_mesh
from hyper_parallel.planner import cost, lower_bound, plan

CHOICES = [Replicate(), Shard(0), Shard(1), Partial()]


def mesh(*shape):
    return init_device_mesh("cpu", shape, mesh_dim_names=("dp", "tp", "pp")[: len(shape)], init_backend=False)


def kinds(src, dst):
    return [step.kind for step in plan(src, dst).steps]


@pytest.mark.parametrize(
    ("src", "dst", "steps", "price"),
    [
        (Shard(0), Replicate(), ["all_gather"], 3 * 16),
        (Replicate(), Shard(1), ["slice"], 0),
        (Shard(0), Shard(1), ["all_to_all"], 12),
        (Partial(), Replicate(), ["all_reduce"], 2 * 64 * 3 / 4),
        (Partial(), Shard(0), ["reduce_scatter"], 48),
        (Replicate(), Partial(), ["to_partial"], 0),
        (Shard(0), Partial(), ["all_gather", "to_partial"], 48),
    ],
)
def test_one_axis_takes_the_collective_that_fits(src, dst, steps, price):
    m = mesh(4)
    a, b = Layout(m, [src], (8, 8)), Layout(m, [dst], (8, 8))
    assert kinds(a, b) == steps
    assert cost(a, b) == price


def test_an_outer_cut_leaves_only_after_the_inner_one():
    m = mesh(2, 2)
    src, dst = Layout(m, [Shard(0), Shard(0)], (8, 8)), Layout(m, [Replicate(), Shard(0)], (8, 8))
    steps = plan(src, dst).steps
    for step in steps:
        cut = step.src.placements[step.axis]
        if isinstance(cut, Shard):
            assert step.src.dim_axes[cut.dim][-1] == step.axis
    assert steps[-1].dst is dst


def test_cheap_local_slices_come_before_collectives():
    m = mesh(2, 2)
    src, dst = Layout(m, [Shard(0), Replicate()], (8, 8)), Layout(m, [Replicate(), Shard(1)], (8, 8))
    assert kinds(src, dst) == ["slice", "all_gather"]


def one_axis_at_a_time(src, dst):
    """PyTorch's greedy order: axes from the last to the first, each straight to its goal, where that is possible."""
    total, here = 0.0, src
    for axis in reversed(range(src.mesh.ndim)):
        after = here.replace_axis(axis, dst.placements[axis])
        total += cost(here, after)
        here = after
    return total if here is dst else None


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_plans_reach_the_goal_and_are_never_dearer_than_axis_by_axis(data):
    sizes = data.draw(st.sampled_from([(2,), (3,), (2, 2), (2, 3), (2, 2, 2)]))
    shape = (data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9)))
    m = mesh(*sizes)
    pick = st.lists(st.sampled_from(CHOICES), min_size=len(sizes), max_size=len(sizes))
    src, dst = Layout(m, data.draw(pick), shape), Layout(m, data.draw(pick), shape)
    found = plan(src, dst)
    here = src
    for step in found.steps:
        assert step.src is here
        here = step.dst
    assert here is dst
    greedy = one_axis_at_a_time(src, dst)
    if greedy is not None:
        assert found.cost <= greedy


def test_the_lower_bound_is_a_lower_bound():
    m = mesh(2, 2)
    layouts = [Layout(m, p, (6, 5)) for p in itertools.product(CHOICES, repeat=2)]
    for src, dst in itertools.product(layouts, repeat=2):
        assert lower_bound(src, dst) <= 2 * cost(src, dst) or lower_bound(src, dst) == 0
    whole = Layout(m, [Shard(0), Shard(1)], (8, 8))
    assert lower_bound(whole, Layout.replicated(m, (8, 8))) == 64 - 16


def test_other_shapes_and_meshes_are_refused():
    m = mesh(2)
    with pytest.raises(LayoutError, match="the global shape should be"):
        plan(Layout.replicated(m, (2,)), Layout.replicated(m, (3,)))
    with pytest.raises(LayoutError, match="the mesh should be"):
        plan(Layout.replicated(m, (2,)), Layout.replicated(mesh(3), (2,)))
