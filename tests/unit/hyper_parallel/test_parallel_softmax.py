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
"""Rules of softmax: layouts, refusals, and what the closures are made with."""

import pytest
import torch

from hyper_parallel import Layout, LayoutError, Partial, Replicate, Shard, init_device_mesh
from hyper_parallel.dispatch.call import Slot
from hyper_parallel.dispatch.registry import Registry
from hyper_parallel.ops.parallel_softmax import require_long_enough

S, R, P = Shard, Replicate(), Partial()


class Noting:
    """A platform that notes what it is asked for."""

    def __init__(self):
        self.asked = []

    def softmax_across(self, x, dim, log, dtype, mesh, axes):
        self.asked.append((x.tolist(), dim, log, dtype, tuple(axes)))
        return x


def plan(name, placements, shape, *args, mesh=(2,), platform=None, **kwargs):
    """(placements of the result, the closure)."""
    op = Registry(platform or Noting()).find(name)
    layout = Layout(init_device_mesh("cpu", mesh, init_backend=False), placements, shape)
    values = [layout, op.bind([Slot(0), *args], kwargs)]
    result = op.infer_layout(values)
    return result[0][0].placements, op.get_expand_impl(torch.softmax, result, values)


@pytest.mark.parametrize(
    "name", ["softmax", "log_softmax", "softmin", "torch.softmax", "torch.log_softmax", "special_softmax"]
)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_the_result_is_cut_like_the_input(name, dim):
    along = dim % 2
    for cut in (0, 1):
        places, impl = plan(name, [S(cut)], (12, 12), dim)
        assert places == (S(cut),)
        assert (impl is not None) == (cut == along)


def test_several_axes_may_cut_the_dim():
    places, impl = plan("softmax", [S(0), S(0)], (12, 3), 0, mesh=(2, 2))
    assert places == (S(0), S(0))
    assert impl is not None
    assert plan("softmax", [S(1), S(0)], (12, 3), 0, mesh=(2, 2))[0] == (S(1), S(0))


@pytest.mark.parametrize(
    ("name", "args", "asked"),
    [
        ("softmax", (0, 3, torch.float64), ([1.0], 0, False, torch.float64, (0,))),
        ("softmax", (0, torch.float64), ([1.0], 0, False, torch.float64, (0,))),  # the method
        ("torch.softmax", (-1, torch.float64), ([1.0], 0, False, torch.float64, (0,))),
        ("special_log_softmax", (0,), ([1.0], 0, True, None, (0,))),
        ("softmin", (0,), ([-1.0], 0, False, None, (0,))),
    ],
)
def test_the_closure_knows_dim_kind_and_dtype(name, args, asked):
    platform = Noting()
    plan(name, [S(0)], (12,), *args, platform=platform)[1](torch.ones(1))
    assert platform.asked == [asked]


def test_a_default_dim_and_pending_sums_are_refused():
    with pytest.raises(LayoutError, match=r"For softmax, dim should be an int in \[-2, 2\), but got None\."):
        plan("softmax", [S(0)], (4, 4))
    with pytest.raises(LayoutError, match="For softmax, input placements on mesh axis"):
        plan("softmax", [P], (4, 4), 0)


@pytest.mark.parametrize(
    ("size", "ranks", "long"), [(4, 2, False), (5, 2, True), (3, 3, False), (4, 3, True), (9, 8, True)]
)
def test_a_short_dim_is_gathered(size, ranks, long):
    layout = Layout(init_device_mesh("cpu", (ranks,), init_backend=False), [S(1)], (7, size))
    if long:
        require_long_enough("softmax", layout, 1)
    else:
        text = rf"For softmax, the length of the cut dim 1 should be worth reducing along, but got {size}\."
        with pytest.raises(LayoutError, match=text):
            require_long_enough("softmax", layout, 1)


def test_a_backend_without_the_function_is_refused_as_a_layout():
    class Bare:
        def __getattr__(self, name):
            raise LayoutError(f"no {name}")

    with pytest.raises(LayoutError, match="no softmax_across"):
        plan("softmax", [S(0)], (12, 3), 0, platform=Bare())
    assert plan("softmax", [S(1)], (12, 3), 0, platform=Bare()) == ((S(1),), None)
