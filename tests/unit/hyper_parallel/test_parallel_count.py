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
"""Finding and counting on ranks that are threads: results, sizes, placements, bytes and errors of the whole tensor."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyper_parallel import Partial, Replicate, Shard
from hyper_parallel.platform.torch.kernels_order import pack, unpack
from tests.unit.hyper_parallel.wire_in_threads import refusal, run, same

R, P = Replicate(), Partial()
S = Shard(0)
VALUES = st.lists(st.integers(0, 5), min_size=1, max_size=12)
ALL = {"return_inverse": True, "return_counts": True}


@given(st.lists(st.booleans(), max_size=40))
def test_flags_are_packed_eight_a_byte(flags):
    mask = torch.tensor(flags, dtype=torch.bool)
    packed = pack(mask)
    assert packed.dtype is torch.uint8
    assert len(packed) == -(-len(flags) // 8)
    assert torch.equal(unpack(packed, len(flags)), mask)


@settings(max_examples=40, deadline=None)
@given(VALUES, st.integers(2, 4))
def test_everything_about_whole_numbers(values, ranks):
    cut = [(torch.tensor(values), S)]
    assert same("unique", torch.unique, cut, ranks, **ALL)[0] == [R, S, R]
    assert same("unique_consecutive", torch.unique_consecutive, cut, ranks, **ALL)[0] == [R, S, R]
    assert same("nonzero", torch.nonzero, cut, ranks)[0] == [R]
    assert same("argwhere", torch.argwhere, cut, ranks)[0] == [R]
    assert same("bincount", torch.bincount, cut, ranks, minlength=3)[0] == [P]
    assert same("histc", torch.histc, [(cut[0][0].float(), S)], ranks, 4)[0] == [P]
    test = (torch.tensor([0, 3, 9]), R)
    assert same("isin", torch.isin, [*cut, test], ranks)[0] == [S]
    assert same("isin", torch.isin, [test, *cut], ranks)[0] == [Partial("max")]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_rows_and_several_results(ranks):
    x = torch.tensor([[1, 2], [0, 1], [1, 2], [1, 2], [0, 0]])
    assert same("unique", torch.unique, [(x, S)], ranks, dim=0, **ALL)[0] == [R, S, R]
    assert same("unique", torch.unique, [(x, Shard(1))], ranks, return_inverse=True)[0] == [R, Shard(1)]
    assert same("unique_consecutive", torch.unique_consecutive, [(x, S)], ranks, dim=0, **ALL)[0] == [R, S, R]
    assert same("nonzero", torch.nonzero, [(x, Shard(1))], ranks, as_tuple=True)[0] == [R, R]
    weights = (torch.tensor([0.5, 1.0, 2.0, -1.0, 0.25]), S)
    assert same("bincount", torch.bincount, [(x[:, 0].contiguous(), S), weights], ranks)[0] == [P]


@pytest.mark.parametrize("ranks", [2, 3])
def test_places_in_a_cut_sequence_add_up(ranks):
    edges, x = torch.tensor([-2.0, -1.0, 0.0, 0.0, 1.0]), torch.tensor([-3.0, 0.0, 0.5, 4.0])
    for right in (False, True):
        assert same("searchsorted", torch.searchsorted, [(edges, S), (x, R)], ranks, right=right) == ([P], [0] * ranks)
        assert same("searchsorted", torch.searchsorted, [(edges, R), (x, S)], ranks, right=right) == ([S], [0] * ranks)
        assert same("bucketize", torch.bucketize, [(x, R), (edges, S)], ranks, right=right) == ([P], [0] * ranks)
    lines = torch.stack([edges, edges + 1])
    assert same("searchsorted", torch.searchsorted, [(lines, S), (x.expand(2, 4), S)], 2)[0] == [S]


def test_bits_and_uniques_are_sent():
    x = torch.arange(64) % 4
    assert same("nonzero", torch.nonzero, [(x, S)], 2)[1] == [4, 4]
    assert same("unique", torch.unique, [(x, S)], 2)[1] == [4 + 4 * 8] * 2
    assert same("histc", torch.histc, [(x.float(), S)], 2, 4, -1, 5)[1] == [0, 0]


def test_an_error_is_the_same_on_all_ranks():
    for place in (0, 5):
        x = torch.ones(6, dtype=torch.int64)
        x[place] = -1
        with pytest.raises(RuntimeError, match="non-negative"):
            run("bincount", torch.bincount, [(x, S)], 3)
        y = torch.ones(6)
        y[place] = torch.nan
        with pytest.raises(RuntimeError, match="finite"):
            run("histc", torch.histc, [(y, S)], 3, 4)


def test_what_is_refused():
    assert "input placements on mesh axis" in str(refusal("unique", (5, 3), Shard(1), dim=0))
    assert "input placements on mesh axis" in str(refusal("unique_consecutive", (5, 3), Shard(1)))
    assert "input should be not empty, cut by one axis, and sorted" in str(refusal("unique", (5,), S, sorted=False))
    assert "1-D of one size, not empty" in str(refusal("bincount", (0,), S))
    assert "one tensor, not empty, and an int" in str(refusal("histc", (0,), S))
