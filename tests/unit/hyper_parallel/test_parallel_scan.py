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
"""Scans on ranks that are threads: values, global indices, gradients and bytes against the full tensor."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyper_parallel import Replicate, Shard
from tests.unit.hyper_parallel.wire_in_threads import refusal, same

SCANS = {"cumsum": torch.cumsum, "cumprod": torch.cumprod, "logcumsumexp": torch.logcumsumexp,
         "cummax": torch.cummax, "cummin": torch.cummin}  # fmt: skip


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [0, 1, 3, 7])
def test_scan_of_parts_is_the_whole_scan(name, ranks, size):
    x = torch.randn(size, 3, generator=torch.Generator().manual_seed(size)).round(decimals=1)
    places, sent = same(name, SCANS[name], [(x, Shard(0))], ranks, 0)
    assert set(places) == {Shard(0)}
    if size:
        assert max(sent) <= 8 * ranks * ranks * 3 * 4


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["cumprod", "cummax", "cummin", "cumsum"]),
    st.lists(st.sampled_from([0.0, 1.0, -2.0, 3.0]), max_size=9),
    st.integers(2, 4),
)
def test_zeros_and_ties(name, values, ranks):
    same(name, SCANS[name], [(torch.tensor(values), Shard(0))], ranks, -1)


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_nan_stays(name):
    x = torch.tensor([1.0, torch.nan, 3.0, torch.nan, 5.0, 0.0])
    same(name, SCANS[name], [(x.double(), Shard(0))], 3, 0)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int16, torch.int64])
@pytest.mark.parametrize("wanted", [None, torch.uint8, torch.float64])
def test_dtypes_are_promoted_as_by_torch(dtype, wanted):
    x = torch.tensor([[1, 0, 2], [3, 1, 1], [0, 5, 1]]).to(dtype)
    for name in ("cumsum", "cumprod"):
        same(name, SCANS[name], [(x, Shard(0))], 2, 0, dtype=wanted)


def test_one_slice_is_sent_to_each_other_rank():
    x = torch.randn(40, 5)
    for name, slices in (("cumsum", 3), ("cumprod", 3), ("logcumsumexp", 2), ("cummax", 9)):
        _, sent = same(name, SCANS[name], [(x.round(), Shard(0))], 4, 0)
        assert max(sent) <= (slices + 4) * 5 * 4, name


def test_what_is_refused():
    assert "dim should be an int in [-1, 1), but got 1" in str(refusal("cumsum", (5,), Shard(0), 1))
    assert refusal("cumsum", (5, 3), Shard(1), 0) is None
    assert refusal("cummax", (5, 3), Replicate(), 0) is None
