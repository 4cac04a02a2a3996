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
"""Norms: which cuts stay, what is summed over ranks, and what is refused."""

import pytest
import torch
from torch.nn import functional

from hyper_parallel import Layout, LayoutError, Partial, Replicate, Shard, init_device_mesh
from hyper_parallel.dispatch.call import Slot
from hyper_parallel.dispatch.registry import Registry
from tests.unit.hyper_parallel.sums_in_threads import infer, run

S, R, P = Shard, Replicate(), Partial()
X = torch.randn(3, 8, 7, generator=torch.Generator().manual_seed(1))
W, B = torch.randn(8, generator=torch.Generator().manual_seed(2)), torch.linspace(0, 1, 8)


def _affine(x, place, cut):
    return {"input": (x, place), "weight": (W, cut), "bias": (B, cut)}


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("cut", [S(0), R])
def test_layer_norm_over_a_cut_dim_sums_two_numbers_per_row(ranks, cut):
    x = X.transpose(1, 2).contiguous() + 50
    got, place, board = run("layer_norm", functional.layer_norm, _affine(x, S(2), cut), ranks, normalized_shape=(8,))
    torch.testing.assert_close(got, functional.layer_norm(x, (8,), W, B), rtol=1e-4, atol=1e-4)
    assert place == S(2)
    assert board.sent == 2 * 3 * 7


@pytest.mark.parametrize(("dtype", "close"), [(torch.float32, 1e-5), (torch.float64, 1e-12), (torch.float16, 2e-3)])
def test_rms_norm_takes_no_mean_and_the_epsilon_of_the_dtype(dtype, close):
    x = X.to(dtype) * 1e-3
    got, place, board = run("rms_norm", functional.rms_norm, {"input": (x, S(2))}, 2, normalized_shape=(7,))
    torch.testing.assert_close(got, functional.rms_norm(x, (7,)), rtol=close, atol=close)
    assert (place, board.sent, got.dtype) == (S(2), 3 * 8, dtype)


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("groups", [1, 2, 4, 8])
def test_group_norm_sums_per_group_unless_ranks_hold_whole_groups(ranks, dim, groups):
    cut = S(0) if dim == 1 else R
    got, place, board = run("group_norm", functional.group_norm, _affine(X, S(dim), cut), ranks, num_groups=groups)
    torch.testing.assert_close(got, functional.group_norm(X, groups, W, B), rtol=1e-5, atol=1e-5)
    whole = dim == 0 or (dim == 1 and -(-8 // ranks) % (8 // groups) == 0)
    assert place == S(dim)
    assert board.sent == (0 if whole else 2 * 3 * groups)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_batch_norm_writes_equal_running_statistics(dim):
    mean, var = torch.zeros(8), torch.ones(8)
    cut = S(0) if dim == 1 else R
    wants = [mean.clone(), var.clone()]
    want = functional.batch_norm(X, *wants, training=True)
    inputs = {"input": (X, S(dim)), "running_mean": (mean, cut), "running_var": (var, cut)}
    got, place, board = run("batch_norm", functional.batch_norm, inputs, 2, training=True, momentum=0.1)
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
    assert (place, board.sent) == (S(dim), 0 if dim == 1 else 2 * 8)
    for i, want in enumerate(wants, 1):
        parts = [parts[i] for parts in board.inputs]
        for written in [torch.cat(parts)] if dim == 1 else parts:
            torch.testing.assert_close(written, want)


def test_instance_norm_and_evaluation():
    got, place, board = run("instance_norm", functional.instance_norm, {"input": (X, S(2))}, 2)
    torch.testing.assert_close(got, functional.instance_norm(X), rtol=1e-5, atol=1e-5)
    assert (place, board.sent) == (S(2), 2 * 3 * 8)
    for dim, cut in ((0, R), (1, S(0)), (2, R)):
        got, place, board = run(
            "batch_norm",
            functional.batch_norm,
            {"input": (X, S(dim)), "running_mean": (B, cut), "running_var": (B, cut)},
            2,
        )
        torch.testing.assert_close(got, functional.batch_norm(X, B, B))
        assert (place, board.sent) == (S(dim), 0)


def test_layouts_axis_by_axis():
    both = {"weight": ((R, R), (8,)), "bias": ((R, R), (8,))}
    cut = infer("layer_norm", {"input": ((S(0), S(1)), (3, 8))}, normalized_shape=(8,), mesh=(2, 2))
    assert cut == [((3, 8), (S(0), S(1)))]
    nested = {"input": ((S(1), S(1)), (3, 8)), "weight": ((S(0), R), (8,))}
    assert infer("rms_norm", nested, normalized_shape=(8,), mesh=(2, 2)) == [((3, 8), (S(1), S(1)))]
    image = {"input": ((S(1), S(2)), (3, 8, 7)), **both}
    assert infer("group_norm", image, mesh=(2, 2), num_groups=2) == [((3, 8, 7), (S(1), S(2)))]
    assert infer("local_response_norm", {"input": ((S(2),), (3, 8, 7))}, size=2) == [((3, 8, 7), (S(2),))]
    order = {"weight": None, "bias": None, "running_mean": None, "running_var": None, "training": True}
    rest = {"momentum": 0.1, "eps": 1e-5, "cudnn_enabled": False}
    assert infer("torch.batch_norm", {"input": ((S(0),), (9, 8))}, **order, **rest) == [((9, 8), (S(0),))]


def test_tensors_may_come_in_any_order():
    channels = {"running_mean": ((S(0),), (8,)), "running_var": ((S(0),), (8,)), "weight": ((R,), (8,))}
    for names in (list(channels), list(channels)[::-1]):
        inputs = {"input": ((S(1),), (9, 8)), **{name: channels[name] for name in names}}
        assert infer("batch_norm", inputs, training=True) == [((9, 8), (S(1),))]


@pytest.mark.parametrize(
    ("name", "places", "options", "text"),
    [
        ("layer_norm", [((S(1),), (9, 4))], {"normalized_shape": (4,)}, "input placements on mesh axis"),
        ("layer_norm", [((P,), (9, 8))], {"normalized_shape": (8,)}, "input placements on mesh axis"),
        ("layer_norm", [((S(0),), (9, 8))], {"normalized_shape": (9,)}, "normalized_shape should be the last dims"),
        ("rms_norm", [((S(0),), (9, 8)), ((R,), (9,))], {"normalized_shape": (8,)}, "weight should be of shape"),
        ("group_norm", [((S(0),), (9, 8))], {"num_groups": 3}, "groups should be a divisor"),
        ("group_norm", [((S(0),), (1, 8))], {"num_groups": 8}, "values per group should be at least 2"),
        ("batch_norm", [((S(0),), (1, 8))], {"running_mean": None, "running_var": None, "training": True},
         "values per channel should be at least 2"),
        ("batch_norm", [((S(0),), (9, 8))], {"running_mean": None, "running_var": None},
         "running statistics should be both"),
        ("instance_norm", [((S(0),), (3, 8, 7))], {"use_input_stats": False}, "running statistics should be unused"),
        ("instance_norm", [((S(0),), (3, 8, 1))], {}, "values per channel should be at least 2"),
        ("local_response_norm", [((S(1),), (3, 8, 7))], {"size": 2}, "input placements on mesh axis"),
    ],
)  # fmt: skip
def test_norms_that_are_refused(name, places, options, text):
    with pytest.raises(LayoutError, match=f"For {name}, {text}"):
        infer(name, dict(zip(("input", "weight"), places, strict=False)), **options)


def test_weights_cut_in_another_order_are_refused():
    inputs = {"input": ((S(1), S(1)), (3, 8)), "weight": ((R, S(0)), (8,))}
    with pytest.raises(LayoutError, match="axes that cut dim 0 of weights"):
        infer("rms_norm", inputs, normalized_shape=(8,), mesh=(2, 2))


def test_running_statistics_are_never_redistributed():
    op, mesh = Registry().find("batch_norm"), init_device_mesh("cpu", (2,), init_backend=False)
    given = [Layout(mesh, [S(1)], (9, 8)), Layout(mesh, [R], (8,)), Layout(mesh, [R], (8,))]
    values = [*given, op.bind([Slot(0), Slot(1), Slot(2)], {"training": True})]
    choices = list(op.candidates(values))
    assert choices
    assert all(choice[1:] == tuple(given[1:]) for choice in choices)
