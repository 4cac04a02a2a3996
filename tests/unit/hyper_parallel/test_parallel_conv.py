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
"""Convolutions on ranks that are threads, against the full tensor; layouts, constants and refusals without ranks."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyper_parallel import Layout, LayoutError, Partial, Replicate, Shard, init_device_mesh
from hyper_parallel.dispatch.call import Slot
from hyper_parallel.placements import StridedShard
from tests.unit.hyper_parallel.inferred import RULES, outs
from tests.unit.hyper_parallel.ranks_in_threads import run_on_ranks

functional = torch.nn.functional
S, R, P = Shard, Replicate(), Partial()


def placed(*args, **kwargs):
    return outs(*args, **kwargs)[0].placements


CONV = ((2, 4, 8, 8), (6, 4, 3, 3), (6,))


def test_layouts_of_every_kind_of_cut():
    assert placed("conv2d", CONV, ([S(0)], [R], [R])) == (S(0),)
    assert placed("conv2d", CONV, ([R], [S(0)], [S(0)])) == (S(1),)
    assert placed("conv2d", CONV, ([S(1)], [S(1)], [P])) == (P,)
    assert placed("conv2d", CONV, ([S(3)], [R], [R]), 2, 1) == (S(3),)
    assert placed("conv2d", CONV, ([P], [R], [P])) == (P,)
    assert placed("conv2d", CONV[:2], ([S(2), S(0)], [R, R]), mesh=(2, 2)) == (S(2), S(0))
    assert placed("conv1d", ((4, 8), (6, 4, 3)), ([S(1)], [R])) == (S(1),)
    assert placed("conv_transpose2d", ((2, 4, 8, 8), (4, 6, 3, 3)), ([R], [S(1)])) == (S(1),)
    assert placed("conv_transpose2d", ((2, 4, 8, 8), (4, 6, 3, 3)), ([S(1)], [S(0)])) == (P,)


def test_groups_are_cut_where_parts_are_whole_groups():
    grouped = ((2, 4, 8, 8), (8, 1, 3, 3))
    assert placed("conv2d", grouped, ([S(1)], [S(0)]), groups=4) == (S(1),)
    assert placed("conv2d", grouped, ([R], [S(0)]), groups=4) == (S(1),)
    with pytest.raises(LayoutError, match=r"For conv2d, input placements on mesh axis"):
        outs("conv2d", ((2, 6, 8, 8), (6, 2, 3, 3)), ([R], [S(0)]), groups=3)


def test_output_sizes_are_those_of_the_operator():
    assert outs("conv2d", CONV[:2], ([R], [R]), None, 2, 1, 2)[0].shape == (2, 6, 3, 3)
    assert outs("conv2d", CONV[:2], ([R], [R]), padding="same")[0].shape == (2, 6, 8, 8)
    spread = outs("conv_transpose2d", ((2, 4, 8, 8), (4, 6, 3, 3)), ([R], [R]), None, 3, 1, 2)
    assert spread[0].shape == (2, 6, 24, 24)


@pytest.mark.parametrize(
    ("shapes", "kwargs", "text"),
    [
        (((2, 4, 8), (6, 4, 3)), {}, r"input and weight should be of 2 spatial dims"),
        (((2, 4, 8, 8), (6, 3, 3, 3)), {}, r"channels and groups should be fitting"),
        (((2, 4, 8, 8), (6, 4, 9, 9)), {}, r"spatial sizes should be positive"),
        (CONV[:2], {"stride": 0}, r"stride and dilation should be positive"),
        (CONV[:2], {"stride": 2, "padding": "same"}, r"padding should be ints, 'valid', or 'same' at stride 1"),
        (CONV[:2], {"padding": -1}, r"padding should be non-negative"),
        (CONV[:2], {"dilation": (1, 1, 1)}, r"dilation should be an int or 2 ints, but got \(1, 1, 1\)"),
        (((2, 4, 8, 8), (6, 4, 3, 3), (4,)), {}, r"the bias should be of 6 channels"),
    ],
)
def test_refusals_say_what_is_expected(shapes, kwargs, text):
    with pytest.raises(LayoutError, match=f"For conv2d, {text}"):
        outs("conv2d", shapes, [[R]] * len(shapes), **kwargs)


def test_transposed_refusals():
    with pytest.raises(LayoutError, match="output_padding should be smaller than stride or dilation"):
        outs("conv_transpose1d", ((2, 4, 8), (4, 6, 3)), ([R], [R]), output_padding=1)


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize(
    "places",
    [[S(0), R, R], [R, S(0), S(0)], [S(2), R, R]],
)
def test_parts_make_up_the_full_result(ranks, places):
    torch.manual_seed(0)
    fulls = [torch.randn(2, 3, 9, 5), torch.randn(2, 3, 3, 2), torch.randn(2)]
    got, _, _ = run_on_ranks("conv2d", functional.conv2d, fulls, places, ranks, 2, 1)
    torch.testing.assert_close(got[0], functional.conv2d(*fulls, 2, 1))


def test_pending_sums_of_in_channels():
    fulls = [torch.randn(2, 3, 6), torch.randn(4, 3, 3)]
    for ranks in (2, 4):
        got, where, moved = run_on_ranks("conv1d", functional.conv1d, fulls, [S(1), S(1)], ranks)
        assert (where, moved) == ([P], 0)
        torch.testing.assert_close(got[0], functional.conv1d(*fulls))


@pytest.mark.parametrize("places", [[S(1), S(0), S(0)], [R, S(0), S(0)]])
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_whole_groups_on_every_rank(places, ranks):
    fulls = [torch.randn(2, 8, 6), torch.randn(16, 1, 3), torch.randn(16)]
    got, where, moved = run_on_ranks("conv1d", functional.conv1d, fulls, places, ranks, groups=8)
    assert (where, moved) == ([S(1)], 0)
    torch.testing.assert_close(got[0], functional.conv1d(*fulls, groups=8))
    back = [torch.randn(2, 8, 6), torch.randn(8, 2, 3), torch.randn(16)]
    got, _, _ = run_on_ranks("conv_transpose1d", functional.conv_transpose1d, back, places, ranks, groups=8)
    torch.testing.assert_close(got[0], functional.conv_transpose1d(*back, groups=8))


WINDOW = {"size": st.integers(1, 20), "kernel": st.integers(1, 5), "stride": st.integers(1, 4),
          "padding": st.integers(0, 6), "dilation": st.integers(1, 3), "ranks": st.integers(1, 4)}  # fmt: skip


@settings(deadline=None, max_examples=80)
@given(**WINDOW)
def test_any_window_on_any_number_of_ranks(size, kernel, stride, padding, dilation, ranks):
    full, weight = torch.randn(1, 1, size, dtype=torch.float64), torch.randn(1, 1, kernel, dtype=torch.float64)
    args = (None, stride, padding, dilation)
    if size + 2 * padding <= dilation * (kernel - 1):
        return
    got, places, moved = run_on_ranks("conv1d", functional.conv1d, [full, weight], [S(2), R], ranks, *args)
    assert places == [S(2)]
    assert moved <= size * (ranks - 1)
    torch.testing.assert_close(got[0], functional.conv1d(full, weight, *args))


@settings(deadline=None, max_examples=80)
@given(**WINDOW, extra=st.integers(0, 3))
def test_any_spread_on_any_number_of_ranks(size, kernel, stride, padding, dilation, ranks, extra):
    full, weight = torch.randn(1, 1, size, dtype=torch.float64), torch.randn(1, 1, kernel, dtype=torch.float64)
    args = (None, stride, padding, extra, 1, dilation)
    out = (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1
    if out < 1 or extra >= max(stride, dilation):
        return
    want = functional.conv_transpose1d(full, weight, *args)
    func = functional.conv_transpose1d
    got, places, _ = run_on_ranks("conv_transpose1d", func, [full, weight], [S(2), R], ranks, *args)
    assert places == [S(2)]
    torch.testing.assert_close(got[0], want)


def test_only_border_rows_move():
    full, weight = torch.randn(1, 1, 16), torch.randn(1, 1, 3)
    assert run_on_ranks("conv1d", functional.conv1d, [full, weight], [S(2), R], 4, None, 1, 1)[2] == 6
    assert run_on_ranks("conv1d", functional.conv1d, [full, torch.randn(1, 1, 2)], [S(2), R], 4, None, 2)[2] == 0


def test_a_dim_cut_by_two_axes_is_refused_by_the_local_call():
    op = RULES.find("conv1d")
    mesh = init_device_mesh("cpu", (2, 2), init_backend=False)
    layouts = [Layout(mesh, [S(2), S(2)], (1, 1, 16)), Layout(mesh, [R, R], (1, 1, 3))]
    values = [*layouts, op.bind([Slot(0), Slot(1)], {})]
    with pytest.raises(LayoutError, match="For conv1d, mesh axes that cut dim 2 should be at most one"):
        op.get_expand_impl(functional.conv1d, op.infer_layout(values), values)


def test_channels_nested_in_another_order_are_refused():
    with pytest.raises(LayoutError, match=r"nesting order of mesh axes \[0, 1\] should be the same in all inputs"):
        outs("conv1d", ((2, 8, 5), (4, 8, 3)), ([S(1), S(1)], [StridedShard(1, 2), S(1)]), mesh=(2, 2))
