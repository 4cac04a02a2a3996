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
"""Look-ups in cut tables: layouts, own rows and padding, and refusals."""

import pytest
import torch
from torch.nn import functional

from hyper_parallel import LayoutError, Partial, Replicate, Shard
from tests.unit.hyper_parallel.sums_in_threads import infer, run

S, R, P = Shard, Replicate(), Partial()
TABLE = torch.arange(21.0).reshape(7, 3) + 1
WORDS = torch.tensor([[6, 0, 3, 2], [1, 6, 5, 4]])


@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
@pytest.mark.parametrize("padding", [None, 0, 3, -1])
def test_own_rows_add_up_to_the_whole_and_gradients_reach_own_rows_only(ranks, padding):
    table = TABLE.clone().requires_grad_()
    want = functional.embedding(WORDS, table, padding)
    inputs = {"input": (WORDS, R), "weight": (table, S(0))}
    got, place, board = run("embedding", functional.embedding, inputs, ranks, padding_idx=padding)
    assert torch.equal(got, want)
    assert (place, board.sent) == (P, 0)
    scale = torch.arange(24.0).reshape(2, 4, 3)
    found = torch.autograd.grad((got * scale).sum(), table)
    assert torch.equal(found[0], torch.autograd.grad((want * scale).sum(), table)[0])


@pytest.mark.parametrize("bad", [-1, 7])
def test_an_index_outside_of_the_table_is_an_error_on_every_rank(bad):
    from hyper_parallel.platform.torch.kernels_attention import AttentionKernels

    for start, own in ((0, TABLE[:4]), (4, TABLE[4:]), (7, TABLE[:0])):
        with pytest.raises(IndexError, match=r"index out of range in self: indices should be in \[0, 7\)"):
            AttentionKernels.embed_rows(torch.tensor([0, bad]), own, start, 7, None)
        with pytest.raises(RuntimeError, match="indices should be of type int64 or int32"):
            AttentionKernels.embed_rows(torch.tensor([0.0]), own, start, 7, None)


@pytest.mark.parametrize(
    ("words", "table", "out"),
    [((S(0),), (R,), (S(0),)), ((S(1),), (R,), (S(1),)), ((R,), (S(1),), (S(2),)), ((R,), (S(0),), (P,)),
     ((R,), (P,), (P,)), ((S(0), R), (R, S(0)), (S(0), P)), ((R, R), (S(0), S(1)), (P, S(2)))],
)  # fmt: skip
def test_layouts(words, table, out):
    inputs = {"input": (words, (4, 5)), "weight": (table, (7, 3))}
    assert infer("embedding", inputs, mesh=(2,) * len(words)) == [((4, 5, 3), out)]
    turned = dict(reversed(inputs.items()))
    assert infer("torch.embedding", turned, mesh=(2,) * len(words)) == [((4, 5, 3), out)]


@pytest.mark.parametrize(
    ("words", "table", "options", "text"),
    [((S(0),), (S(0),), {}, "input placements"), ((R,), (S(0),), {"max_norm": 1.0}, "max_norm, scale_grad_by_freq"),
     ((R,), (S(0),), {"sparse": True}, "max_norm, scale"),
     ((R,), (S(0),), {"padding_idx": 7}, "padding_idx should be")],
)  # fmt: skip
def test_refusals(words, table, options, text):
    with pytest.raises(LayoutError, match=f"For embedding, {text}"):
        infer("embedding", {"input": (words, (4, 5)), "weight": (table, (7, 3))}, **options)


def test_one_hot_needs_the_number_of_classes():
    assert infer("one_hot", {"input": ((S(1),), (4, 5))}, num_classes=3) == [((4, 5, 3), (S(1),))]
    with pytest.raises(LayoutError, match="For one_hot, num_classes should be given"):
        infer("one_hot", {"input": ((S(1),), (4, 5))})
