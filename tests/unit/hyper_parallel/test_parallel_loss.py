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
"""Rules of losses: layouts, refusals, and parts that add up to the loss of the whole."""

import pytest
import torch

from hyper_parallel import Layout, LayoutError, Partial, Replicate, Shard, init_device_mesh
from hyper_parallel.dispatch.call import Slot
from hyper_parallel.dispatch.registry import Registry
from hyper_parallel.platform.torch.backend import PLATFORM
from hyper_parallel.platform.torch.kernels_loss import target_mass
from tests.unit.hyper_parallel.ranks_in_threads import own_part

functional = torch.nn.functional
RULES = Registry(PLATFORM)
S, R, P = Shard, Replicate(), Partial()


def plan(name, inputs, mesh=(2,), rank=0, **kwargs):
    """(placements of the result, the closure, layouts); inputs are (placements, shape), then tensors by keyword."""
    op = RULES.find(name)
    m = init_device_mesh("cpu", mesh, init_backend=False, rank=rank)
    layouts = [Layout(m, places, shape) for places, shape in inputs]
    values = [*layouts, op.bind([Slot(0), Slot(1)], kwargs)]
    result = op.infer_layout(values)
    return result[0][0].placements, op.get_expand_impl(getattr(functional, name), result, values), layouts


def added_up(name, fulls, places, ranks=3, **kwargs):
    total = 0
    for rank in range(ranks):
        inputs = list(zip(places, (tuple(full.shape) for full in fulls), strict=True))
        out, impl, layouts = plan(name, inputs, (ranks,), rank, **kwargs)
        assert out == (P,)
        total = total + impl(*[own_part(full, layout) for full, layout in zip(fulls, layouts, strict=True)])
    return total


@pytest.mark.parametrize(
    "name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "poisson_nll_loss",
             "hinge_embedding_loss", "binary_cross_entropy_with_logits", "soft_margin_loss"]
)  # fmt: skip
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
def test_parts_add_up_to_the_loss_of_the_whole(name, reduction):
    torch.manual_seed(0)
    for shape in ((5, 7), (4, 2), (2, 1)):
        fulls = [torch.randn(shape), torch.rand(shape)]
        want = getattr(functional, name)(*fulls, reduction=reduction)
        for dim in (0, 1):
            got = added_up(name, fulls, [[S(dim)], [S(dim)]], reduction=reduction)
            torch.testing.assert_close(got, want)


def test_a_batch_mean_is_divided_by_the_whole_batch():
    fulls = [torch.randn(5, 7), torch.rand(5, 7)]
    want = functional.kl_div(*fulls, reduction="batchmean")
    for dim in (0, 1):
        torch.testing.assert_close(added_up("kl_div", fulls, [[S(dim)]] * 2, reduction="batchmean"), want)


def test_rows_add_up():
    fulls = [torch.randn(7, 4), torch.randn(7, 4)]
    third = torch.tensor([1.0, -1, 1, 1, -1, 1, -1])
    want = functional.cosine_embedding_loss(*fulls, third)
    places = [[S(0)]] * 3
    got = added_up("cosine_embedding_loss", [*fulls, third], places, target=Slot(2))
    torch.testing.assert_close(got, want)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_classes_add_up(reduction, weighted):
    torch.manual_seed(1)
    logs = torch.randn(6, 8).log_softmax(1)
    target = torch.tensor([0, 7, 3, -100, 5, 5])
    more = {"weight": torch.rand(8)} if weighted else {}
    want = functional.nll_loss(logs, target, reduction=reduction, **more)
    fulls = [logs, target, *more.values()]
    places = [[S(1)], [R], [R]][: len(fulls)]
    named = {"weight": Slot(2)} if weighted else {}
    torch.testing.assert_close(added_up("nll_loss", fulls, places, reduction=reduction, **named), want)


@pytest.mark.parametrize(
    ("inputs", "kwargs", "out"),
    [
        ([([S(0)], (6, 9)), ([S(0)], (6,))], {}, P),
        ([([S(0)], (6, 9)), ([S(0)], (6,))], {"reduction": "none"}, S(0)),
        ([([S(1)], (6, 9)), ([R], (6,))], {"reduction": "none"}, P),
        ([([S(1)], (6, 9)), ([R], (6,))], {"label_smoothing": 0.1}, P),
        ([([S(2)], (6, 9, 4)), ([S(1)], (6, 4))], {"reduction": "none"}, S(1)),
        ([([S(0)], (9,)), ([R], ())], {}, P),
        ([([S(1)], (6, 9)), ([S(1)], (6, 9))], {}, P),
        ([([S(2)], (6, 9, 4)), ([S(2)], (6, 9, 4))], {"reduction": "none"}, S(1)),
    ],
)
def test_layouts_of_cross_entropy(inputs, kwargs, out):
    places, impl, _ = plan("cross_entropy", inputs, **kwargs)
    assert places == (out,)
    assert impl is not None


def test_two_axes_cut_batch_and_classes():
    inputs = [([S(0), S(1)], (6, 9)), ([S(0), R], (6,))]
    assert plan("cross_entropy", inputs, (2, 2))[0] == (P, P)
    assert plan("cross_entropy", inputs, (2, 2), reduction="none")[0] == (S(0), P)


def test_whole_inputs_run_as_they_are():
    assert plan("cross_entropy", [([R], (6, 9)), ([R], (6,))])[1:2] == (None,)
    assert plan("mse_loss", [([S(0)], (6, 9)), ([S(0)], (6, 9))], reduction="none")[:2] == ((S(0),), None)


CUT = [([S(0)], (6, 9)), ([S(0)], (6, 9))]
INDEX = [([S(1)], (6, 9)), ([R], (6,))]


@pytest.mark.parametrize(
    ("name", "inputs", "kwargs", "text"),
    [
        ("mse_loss", CUT, {"size_average": True}, "For mse_loss, size_average should be unset, but got True."),
        ("mse_loss", CUT, {"reduction": "batchmean"}, "For mse_loss, reduction should be among"),
        ("mse_loss", [*CUT, ([S(0)], (6, 9))], {"weight": Slot(2)}, "For mse_loss, weight should be absent"),
        ("mse_loss", [([S(0)], (0, 9)), ([S(0)], (0, 9))], {}, "For mse_loss, the losses should be not empty"),
        ("mse_loss", [([P], (6, 9)), ([R], (6, 9))], {}, "For mse_loss, input placements on mesh axis"),
        ("binary_cross_entropy", [CUT[0], ([R], (9,))], {}, "the shapes of inputs and target should be equal"),
        ("gaussian_nll_loss", [*CUT, ([R], (9,))], {"var": Slot(2)}, "the shapes of inputs and target should be equal"),
        ("triplet_margin_loss", [*CUT, ([S(0)], (6,))], {"negative": Slot(2)}, "inputs should be matrices"),
        ("multi_margin_loss", [CUT[0], ([S(0)], (6,)), ([R], (6, 9))], {"weight": Slot(2)}, "should be matrices"),
        ("multi_margin_loss", [([S(0)], (6,)), ([R], ())], {}, "For multi_margin_loss, inputs should be matrices"),
        ("cross_entropy", [INDEX[0], ([R], (5,))], {}, "the target's shape should be (6,), but got (5,)."),
        ("nll_loss", [([S(1)], (6, 9)), ([S(1)], (6, 9))], {}, "the target's shape should be (6,), but got (6, 9)."),
        ("cross_entropy", [*INDEX, ([R], (8,))], {"weight": Slot(2)}, "the weight's shape should be (9,)"),
        ("cross_entropy", INDEX, {"label_smoothing": 1.5}, "label_smoothing and ignore_index should be valid"),
        ("cross_entropy", CUT, {"ignore_index": 3}, "label_smoothing and ignore_index should be valid"),
        ("cross_entropy", [([S(1)], (6, 3)), ([R], (6,))], {}, "the length of the cut dim 1 should be worth reducing"),
        ("cross_entropy", [([S(1)], (6, 9)), ([S(0)], (6,))], {}, "For cross_entropy, input placements on mesh axis"),
    ],
)  # fmt: skip
def test_refusals(name, inputs, kwargs, text):
    with pytest.raises(LayoutError) as raised:
        plan(name, inputs, **kwargs)
    assert text in str(raised.value)


def test_targets_that_are_no_class_are_counted():
    target = torch.tensor([0, 4, -1, 9, -100])
    text = r"For nll_loss, targets should be in \[0, 4\) or ignore_index -100, but got 3 out of bounds\."
    with pytest.raises(IndexError, match=text):
        target_mass("nll_loss", target, None, 4, -100, None, ())
    mass, total = target_mass("nll_loss", torch.tensor([0, 3, -100]), torch.tensor([1.0, 2, 3, 4]), 4, -100, None, ())
    assert (mass.tolist(), float(total)) == ([1.0, 4.0, 0.0], 5.0)


def test_an_error_of_the_own_part_keeps_its_words():
    def fails():
        raise ValueError("own words")

    mesh = init_device_mesh("cpu", (2,), init_backend=False)
    with pytest.raises(ValueError, match="own words"):
        PLATFORM.run_together(fails, "bce", mesh, ())
    assert PLATFORM.run_together(lambda: 5, "bce", mesh, ()) == 5
