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
"""Attention: which cuts stay, what is fetched or summed, and refusals."""

import pytest
import torch
from torch.nn import functional

from hyper_parallel import LayoutError, Partial, Replicate, Shard
from tests.unit.hyper_parallel.sums_in_threads import infer, run

S, R, P = Shard, Replicate(), Partial()
NAME = "scaled_dot_product_attention"
attention = functional.scaled_dot_product_attention


def draw(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("rows", "keys"), [(6, 6), (5, 7), (7, 5)])
def test_cut_sequences_fetch_each_key_once_and_only_those_that_rows_see(ranks, causal, rows, keys):
    query, key, value = draw(1, 1, rows, 4), draw(1, 1, keys, 4), draw(1, 1, keys, 2)
    inputs = {"query": (query, S(2)), "key": (key, S(2)), "value": (value, S(2))}
    got, place, board = run(NAME, attention, inputs, ranks, is_causal=causal)
    torch.testing.assert_close(got, attention(query, key, value, is_causal=causal))
    assert place == S(2)
    step, part = -(-rows // ranks), -(-keys // ranks)
    ends = [min(keys, (r + 1) * step, rows) if causal else keys for r in range(ranks)]
    own = [range(min(keys, r * part), min(keys, (r + 1) * part)) for r in range(ranks)]
    moved = sum(len(set(range(end)) - set(mine)) for end, mine in zip(ends, own, strict=True))
    assert board.board.moved == 2 * moved


def test_one_tensor_as_key_and_value_is_fetched_once():
    query, key = draw(1, 1, 6, 4), draw(1, 1, 6, 4)
    inputs = {"query": (query, S(2)), "key": (key, S(2)), "value": (key, S(2))}
    assert run(NAME, attention, inputs, 2)[2].board.moved == 2 * 6
    with_mask = {**inputs, "attn_mask": (draw(6, 6), R)}
    got, _, _ = run(NAME, attention, with_mask, 2)
    torch.testing.assert_close(got, attention(query, key, key, with_mask["attn_mask"][0]))


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("causal", [False, True])
def test_few_rows_add_up_parts_instead_of_fetching(ranks, causal):
    query, past = draw(2, 2, 2, 4), draw(2, 2, 61, 4)
    inputs = {"query": (query, R), "key": (past, S(2)), "value": (past + 1, S(2))}
    got, place, board = run(NAME, attention, inputs, ranks, is_causal=causal, scale=0.7)
    torch.testing.assert_close(got, attention(query, past, past + 1, is_causal=causal, scale=0.7))
    assert (place, board.board.moved, board.sent) == (R, 0, 2 * 2 * 2 * (1 + 1 + 4))


@pytest.mark.parametrize("mask", [(5, 7), (1, 7), (3, 1, 5, 7), (3, 4, 5, 1)])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_a_whole_mask_is_cut_down_to_the_own_part(mask, dim):
    query, key, value, bias = draw(3, 4, 5, 2), draw(3, 4, 7, 2), draw(3, 4, 7, 3), draw(*mask)
    others = R if dim == 2 else S(dim)
    inputs = {"query": (query, S(dim)), "key": (key, others), "value": (value, others), "attn_mask": (bias, R)}
    got, place, board = run(NAME, attention, inputs, 2)
    torch.testing.assert_close(got, attention(query, key, value, bias))
    assert (place, board.board.moved, board.sent) == (S(dim), 0, 0)


def triple(query, key, *places, length=6, heads=4, groups=4):
    shapes = [(2, heads, length, 4), (2, groups, 6, 4), (2, groups, 6, 4)]
    return dict(zip(("query", "key", "value"), zip((query, key, key), shapes, strict=True), strict=True))


def test_layouts_axis_by_axis():
    out = (2, 4, 6, 4)
    assert infer(NAME, triple((S(0), S(1)), (S(0), S(1))), mesh=(2, 2)) == [(out, (S(0), S(1)))]
    assert infer(NAME, triple((S(1), S(2)), (S(1), S(2))), mesh=(2, 2)) == [(out, (S(1), S(2)))]
    assert infer(NAME, triple((S(2), S(2)), (R, R)), is_causal=True, mesh=(2, 2)) == [(out, (S(2), S(2)))]
    assert infer(NAME, triple((S(1),), (S(1),), groups=2), enable_gqa=True) == [(out, (S(1),))]


@pytest.mark.parametrize(
    ("inputs", "options", "text"),
    [
        (triple((S(1),), (S(1),), groups=1), {"enable_gqa": True}, "the cut of heads should be between groups"),
        (triple((S(1),), (S(1),), groups=3), {"enable_gqa": True}, "query heads should be a multiple of 3"),
        (triple((S(1),), (S(1),), groups=2), {}, "query, key and value should be of fitting shapes"),
        (triple((S(1),), (S(1),)), {"dropout_p": 0.1}, "dropout_p, and a mask beside is_causal should be absent"),
        (triple((S(3),), (S(3),)), {}, "input placements on mesh axis"),
        (triple((R,), (S(2),)), {}, "input placements on mesh axis"),
        (triple((P,), (R,)), {}, "input placements on mesh axis"),
        ({**triple((S(1),), (S(1),)), "attn_mask": ((R,), (6, 6))}, {"is_causal": True}, "dropout_p, and a mask"),
        ({**triple((S(1),), (S(1),)), "attn_mask": ((R,), (5, 6))}, {}, "the mask should be of a shape that fits"),
        ({**triple((S(1),), (S(1),)), "attn_mask": ((S(1),), (6, 6))}, {}, "input placements on mesh axis"),
    ],
)
def test_attention_that_is_refused(inputs, options, text):
    with pytest.raises(LayoutError, match=f"For {NAME}, {text}"):
        infer(NAME, inputs, **options)


def test_sequences_cut_twice_are_refused():
    with pytest.raises(LayoutError, match="mesh axes that cut dim -2 should be at most one"):
        infer(NAME, triple((S(2), S(2)), (S(2), S(2))), mesh=(2, 2))
