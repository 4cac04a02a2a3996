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
"""Pooling, unfolding and resizing on ranks that are threads, against the full tensor; layouts and refusals."""

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyper_parallel import LayoutError, Partial, Replicate, Shard, costs
from hyper_parallel.ops.parallel_adaptive import Adaptive
from hyper_parallel.ops.parallel_pool import pooled
from tests.unit.hyper_parallel import inferred
from tests.unit.hyper_parallel.ranks_in_threads import run_on_ranks

functional = torch.nn.functional
S, R, P = Shard, Replicate(), Partial()


def outs(name, shape, places, *args, **kwargs):
    return inferred.outs(name, [shape], [places], *args, **kwargs)


def placed(*args, **kwargs):
    return [out.placements for out in outs(*args, **kwargs)]


IMAGE = (2, 3, 8, 6)


def test_layouts():
    assert placed("max_pool2d", IMAGE, [S(2)], 2) == [(S(2),)]
    assert placed("max_pool2d_with_indices", IMAGE, [S(1)], 2, return_indices=True) == [(S(1),)] * 2
    assert placed("avg_pool2d", IMAGE, [P, S(3)], 2, mesh=(2, 2)) == [(P, S(3))]
    assert placed("adaptive_avg_pool2d", IMAGE, [S(2), S(0)], 1, mesh=(2, 2)) == [(P, S(0))]
    assert placed("adaptive_max_pool2d", IMAGE, [S(3)], (3, None)) == [(S(3),)]
    assert placed("unfold", IMAGE, [S(2)], 2, 3, 1) == [(S(2),)]
    assert placed("functional.unfold", IMAGE, [S(2)], 3) == [(S(2),)]
    assert placed("functional.fold", (2, 12, 20), [S(1)], (5, 6), 2) == [(S(1),)]
    assert placed("pixel_shuffle", (2, 8, 3, 3), [S(1)], upscale_factor=2) == [(S(1),)]
    assert placed("channel_shuffle", IMAGE, [S(3)], 3) == [(S(3),)]
    assert placed("interpolate", IMAGE, [S(2)], scale_factor=2, mode="bilinear") == [(S(2),)]


def test_sizes_are_those_of_the_operator():
    assert outs("max_pool2d", IMAGE, [R], 3, 2, 1, ceil_mode=True)[0].shape == (2, 3, 5, 4)
    assert outs("unfold", IMAGE, [R], 3, 2, 2)[0].shape == (2, 3, 8, 3, 2)
    assert outs("functional.unfold", IMAGE, [R], 2)[0].shape == (2, 12, 35)
    assert outs("pixel_unshuffle", IMAGE, [R], 2)[0].shape == (2, 12, 4, 3)
    assert outs("interpolate", IMAGE, [R], scale_factor=(1.7, 0.5))[0].shape == (2, 3, 13, 3)


@given(st.integers(1, 30), st.integers(1, 5), st.integers(1, 4), st.integers(0, 2), st.integers(1, 3), st.booleans())
def test_the_number_of_windows(size, kernel, stride, pad, dilation, ceil_mode):
    if 2 * pad > kernel or size + 2 * pad <= dilation * (kernel - 1):
        return
    want = functional.max_pool1d(torch.zeros(1, 1, size), kernel, stride, pad, dilation, ceil_mode)
    assert pooled(size, kernel, stride, pad, dilation, ceil_mode) == want.shape[-1]


@pytest.mark.parametrize(
    ("name", "shape", "args", "kwargs", "text"),
    [
        ("max_pool2d", (8, 6), (2,), {}, "input should be of more than 2 dims, indices as named"),
        ("max_pool2d", IMAGE, (2,), {"padding": 2}, "windows should be valid"),
        ("avg_pool2d", IMAGE, ((2, 2, 2),), {}, r"kernel_size should be an int or 2 ints, but got \(2, 2, 2\)"),
        ("max_pool2d", IMAGE, (9,), {}, "sizes of windowed dims should be positive"),
        ("unfold", IMAGE, (2, 9, 1), {}, "size should be at most 8, but got 9"),
        ("unfold", IMAGE, (2, 0, 1), {}, "size and step should be positive"),
        ("functional.unfold", (8, 6), (2,), {}, "input dims should be 3 or 4"),
        ("functional.unfold", IMAGE, (9,), {}, "the number of patches should be positive"),
        ("functional.fold", (2, 11, 20), ((5, 6), 2), {}, "input should be of 2 or 3 dims, 4 rows a channel"),
        ("pixel_shuffle", IMAGE, (2,), {}, "the sizes should be multiples of 4"),
        ("pixel_shuffle", IMAGE, (0,), {}, "input and factor should be of 3 dims, positive"),
        ("channel_shuffle", (8, 6), (2,), {}, "input dims should be at least 3"),
        ("interpolate", IMAGE, (), {"size": 4, "mode": "area"}, "mode should be among"),
        ("interpolate", IMAGE, (), {"scale_factor": (2, 2, 2)}, "scale_factor should be a number or 2 numbers"),
    ],
)
def test_refusals_say_what_is_expected(name, shape, args, kwargs, text):
    with pytest.raises(LayoutError, match=f"For {name}, {text}"):
        outs(name, shape, [R], *args, **kwargs)


@pytest.mark.parametrize(
    ("name", "dim", "args", "kwargs"),
    [
        ("functional.unfold", 3, (2,), {}),
        ("channel_shuffle", 1, (3,), {}),
        ("interpolate", 2, (), {"size": (12, 6)}),
        ("interpolate", 2, (), {"size": (16, 6), "mode": "bilinear", "align_corners": True}),
        ("interpolate", 2, (), {"scale_factor": 1 / 3, "mode": "nearest"}),
        ("adaptive_avg_pool2d", 2, (7,), {}),
        ("max_pool2d", "P", (2,), {}),
    ],
)
def test_cuts_that_are_refused(name, dim, args, kwargs):
    shape = (2, 3, 61, 6) if name.startswith("adaptive") else IMAGE
    with pytest.raises(LayoutError, match=f"For {name}, input placements on mesh axis"):
        outs(name, shape, [P if dim == "P" else S(dim)], *args, **kwargs)


def test_windows_that_touch_nothing_are_refused():
    with pytest.raises(LayoutError, match="dilation should be at most the size 1, but got 2"):
        outs("max_pool1d_with_indices", (2, 3, 1), [R], 2, 1, 1, 2, False, True)


POOL = {"size": st.integers(1, 24), "kernel": st.integers(1, 5), "stride": st.integers(1, 4),
        "pad": st.integers(0, 2), "ranks": st.integers(1, 4), "ceil_mode": st.booleans()}  # fmt: skip


@settings(deadline=None, max_examples=80)
@given(**POOL, dilation=st.integers(1, 3))
def test_maxima_and_their_positions(size, kernel, stride, pad, ranks, ceil_mode, dilation):
    if 2 * pad > kernel or size + 2 * pad <= dilation * (kernel - 1) or (pad and dilation > size):
        return
    full = torch.randn(2, 3, size)
    args = (kernel, stride, pad, dilation, ceil_mode, True)
    func = functional.max_pool1d_with_indices
    got, places, _ = run_on_ranks("max_pool1d_with_indices", func, [full], 2, ranks, *args)
    want = func(full, *args)
    assert places == [S(2)] * 2
    assert torch.equal(got[0], want[0])
    assert torch.equal(got[1], want[1])


@settings(deadline=None, max_examples=80)
@given(**POOL, counted=st.booleans())
def test_averages_divide_as_the_operator_does(size, kernel, stride, pad, ranks, ceil_mode, counted):
    if 2 * pad > kernel or size + 2 * pad < kernel:
        return
    full = torch.randn(1, 2, size, dtype=torch.float64)
    args = (kernel, stride, pad, ceil_mode, counted)
    got, _, _ = run_on_ranks("avg_pool1d", functional.avg_pool1d, [full], 2, ranks, *args)
    torch.testing.assert_close(got[0], functional.avg_pool1d(full, *args))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 20), st.integers(1, 12), st.integers(1, 4))
def test_adaptive_windows(size, out, ranks):
    full = torch.randn(1, 2, size, dtype=torch.float64)
    name = "adaptive_max_pool1d_with_indices"
    func = functional.adaptive_max_pool1d_with_indices
    got, _, _ = run_on_ranks(name, func, [full], 2, ranks, out, True)
    want = func(full, out)
    assert torch.equal(got[0], want[0])
    assert torch.equal(got[1], want[1])
    covered = {at for i in range(out) for at in range(*Adaptive(0, size, out).window(i))}
    assert covered == set(range(size))


def test_adaptive_averages_of_windows_of_unlike_lengths():
    full = torch.randn(1, 2, 9, dtype=torch.float64)
    for out in (2, 4, 5, 12):
        got, places, _ = run_on_ranks("adaptive_avg_pool1d", functional.adaptive_avg_pool1d, [full], 2, 3, out)
        assert places == [S(2)]
        torch.testing.assert_close(got[0], functional.adaptive_avg_pool1d(full, out))


def test_a_last_nan_is_found_at_its_place():
    full = torch.tensor([[[1.0, torch.nan, 2.0, 3.0, torch.nan, 0.0, 1.0]]])
    func = functional.adaptive_max_pool1d_with_indices
    got, _, _ = run_on_ranks("adaptive_max_pool1d_with_indices", func, [full], 2, 2, 3, True)
    assert torch.equal(got[1], func(full, 3)[1])


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("kernel", [1, 2, (3, 2)])
def test_patches(ranks, dim, kernel):
    full = torch.randn(2, 3, 7, 5)
    got, _, _ = run_on_ranks("functional.unfold", functional.unfold, [full], dim, ranks, kernel, padding=1)
    torch.testing.assert_close(got[0], functional.unfold(full, kernel, padding=1))


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("dim", [0, 1, 2, 3])
def test_pixels_change_places(ranks, dim):
    full = torch.randn(2, 12, 4, 6)
    for name in ("pixel_shuffle", "pixel_unshuffle"):
        func = getattr(torch, name)
        got, places, _ = run_on_ranks(name, func, [full], dim, ranks, 2)
        assert torch.equal(got[0], func(full, 2))
        assert places == [S(dim)]


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear"])
@pytest.mark.parametrize("size", [5, 10, 20])
def test_resized_lines(ranks, mode, size):
    full = torch.randn(2, 3, 10 if size != 5 else 20)
    got, places, _ = run_on_ranks("interpolate", functional.interpolate, [full], 2, ranks, size=size, mode=mode)
    assert places == [S(2)]
    torch.testing.assert_close(got[0], functional.interpolate(full, size, mode=mode), rtol=0, atol=0)


def test_only_borders_move():
    full = torch.randn(1, 1, 16)
    assert run_on_ranks("max_pool1d", functional.max_pool1d, [full], 2, 4, 2)[2] == 0
    assert run_on_ranks("max_pool1d", functional.max_pool1d, [full], 2, 4, 3, 2, 1)[2] == 3
    assert run_on_ranks("unfold", torch.Tensor.unfold, [full], 2, 4, 2, 3, 1)[2] == 6


def test_the_report_tells_what_a_border_costs():
    text = costs.explain("torch.nn.functional.max_pool2d(x, 3, 2, 1)", [(2, 3, 16, 16)], (2,))
    assert re.search(r"x S\(2\) +-> S\(2\) +384  all_to_all x1", text)
    assert "refused" not in text
