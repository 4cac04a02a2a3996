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
"""Sorts and selections on ranks that are threads: order of equals, NaN, gradients and bytes against the full tensor."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyper_parallel import Replicate, Shard
from hyper_parallel.layout import chunk_sizes
from hyper_parallel.ops.parallel_order import selecting_pays, sorting_pays
from hyper_parallel.platform.torch import kernels_order as kernels
from tests.unit.hyper_parallel.wire_in_threads import on_ranks, refusal, same

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.5, torch.inf, -torch.inf, torch.nan])
LINES = st.integers(0, 11).flatmap(
    lambda n: st.lists(st.lists(NUMBERS, min_size=n, max_size=n), min_size=1, max_size=3)
)


def parts_of(x, dim, ranks, kernel):
    sizes = tuple(chunk_sizes(x.shape[dim], ranks))
    return on_ranks(ranks, lambda mesh, rank: kernel(x.split_with_sizes(sizes, dim)[rank], mesh, 0, sizes))


@settings(max_examples=80, deadline=None)
@given(LINES, st.integers(2, 4), st.booleans(), st.sampled_from([torch.float32, torch.float64, torch.float16]))
def test_sort_is_torchs_stable_sort(lines, ranks, descending, dtype):
    x = torch.tensor(lines, dtype=dtype)
    parts, _ = parts_of(x, 1, ranks, lambda part, *where: kernels.sort_cut(part, 1, descending, *where))
    want = torch.sort(x, stable=True, dim=1, descending=descending)
    torch.testing.assert_close(torch.cat([v for v, _ in parts], 1), want.values, equal_nan=True, rtol=0, atol=0)
    assert torch.equal(torch.cat([i for _, i in parts], 1), want.indices)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("descending", [False, True])
def test_sort_of_whole_numbers_reaches_their_bounds(dtype, descending):
    span = (0, 1) if dtype is torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
    x = torch.tensor([[span[1], 1, span[0], 0], [span[0], span[1], 1, span[1]], [0, 1, 1, 0]]).to(dtype).T
    parts, _ = parts_of(x, 0, 3, lambda part, *where: kernels.sort_cut(part, 0, descending, *where))
    want = torch.sort(x, stable=True, dim=0, descending=descending)
    assert torch.equal(torch.cat([v for v, _ in parts]), want.values)
    assert torch.equal(torch.cat([i for _, i in parts]), want.indices)


@settings(max_examples=60, deadline=None)
@given(LINES, st.integers(2, 4), st.data())
def test_selected_elements(lines, ranks, data):
    x = torch.tensor(lines)
    if not x.shape[1]:
        return
    k = data.draw(st.integers(1, x.shape[1]))
    for which, want in (
        (k, x.kthvalue(k, 1, True)),
        ("median", x.median(1, True)),
        ("nanmedian", x.nanmedian(1, True)),
    ):
        parts, _ = parts_of(x, 1, ranks, lambda part, *where, which=which: kernels.kth_cut(part, 1, which, *where))
        for value, index in parts:
            torch.testing.assert_close(value, want.values, equal_nan=True, rtol=0, atol=0)
            torch.testing.assert_close(x.gather(1, index), want.values, equal_nan=True, rtol=0, atol=0)
    largest = data.draw(st.booleans())
    parts, _ = parts_of(x, 1, ranks, lambda part, *where: kernels.topk_cut(part, k, 1, largest, *where))
    for value, index in parts:
        torch.testing.assert_close(value, x.topk(k, 1, largest).values, equal_nan=True, rtol=0, atol=0)
        torch.testing.assert_close(x.gather(1, index), value, equal_nan=True, rtol=0, atol=0)


@pytest.mark.parametrize("ranks", [2, 3])
def test_rules_give_values_indices_and_gradients(ranks):
    x = torch.randn(130, 2, generator=torch.Generator().manual_seed(1))
    cut = [(x, Shard(0))]
    assert same("sort", torch.sort, cut, ranks, 0, True)[0] == [Shard(0)] * 2
    assert same("argsort", torch.argsort, cut, ranks, 0)[0] == [Shard(0)]
    assert same("msort", torch.msort, cut, ranks)[0] == [Shard(0)]
    assert same("topk", torch.topk, cut, ranks, 5, 0)[0] == [Replicate()] * 2
    assert same("kthvalue", torch.kthvalue, cut, ranks, 40, 0)[0] == [Replicate()] * 2
    assert same("median", torch.median, cut, ranks, 0)[0] == [Replicate()] * 2
    assert same("sort", torch.sort, [(x, Shard(1))], ranks, 0)[1] == [0] * ranks


@pytest.mark.parametrize(("ranks", "size"), [(2, 32), (2, 500), (3, 64), (4, 128)])
def test_what_pays_sends_less_than_a_gather(ranks, size):
    assert sorting_pays(size, ranks)
    assert selecting_pays(size, ranks)
    x = torch.randn(8, size * ranks, generator=torch.Generator().manual_seed(2))
    gather = 8 * size * 4 * (ranks - 1)
    _, sent = parts_of(x, 1, ranks, lambda part, *where: kernels.sort_cut(part, 1, False, *where))
    assert max(sent) < gather
    _, sent = parts_of(x, 1, ranks, lambda part, *where: kernels.kth_cut(part, 1, "median", *where))
    assert max(sent) < gather
    mirrored = x.sort(1, descending=True).values
    _, sent = parts_of(mirrored, 1, ranks, lambda part, *where: kernels.sort_cut(part, 1, False, *where))
    assert max(sent) <= gather * (1.5 if size == 32 else 1.05 if ranks == 2 else 1)
    _, sent = parts_of(x.sort(1).values, 1, ranks, lambda part, *where: kernels.sort_cut(part, 1, False, *where))
    assert max(sent) < gather / 2


def test_what_is_refused():
    assert "parts of dim 0 should be long enough to be worth it, but got (3, 2)" in str(refusal("sort", (5,), Shard(0)))
    assert "k should be an int from 0 to 5, but got 6" in str(refusal("topk", (5,), Shard(0), 6))
    assert "k should be an int from 1 to 50, but got 0" in str(refusal("kthvalue", (50,), Shard(0), 0))
    assert "dim should be an int in [-1, 1), but got 3" in str(refusal("median", (50,), Shard(0), 3))
    assert "worth it" in str(refusal("topk", (50,), Shard(0), 20))
    assert refusal("topk", (50,), Shard(0), 12) is None
