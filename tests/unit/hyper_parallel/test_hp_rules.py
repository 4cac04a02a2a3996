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
"""Operator rules without processes: layouts in, layouts out, and the sentence of every refusal."""

import pytest

from hyper_parallel import Layout, LayoutError, Partial, Replicate, Shard, init_device_mesh
from hyper_parallel.dispatch.call import Slot, parse_signature
from hyper_parallel.dispatch.registry import Registry

R, S, P = Replicate(), Shard, Partial()
RULES = Registry()


def mesh(*shape):
    return init_device_mesh(
        "cpu", shape or (2, 2), mesh_dim_names=("dp", "tp")[: len(shape or (2, 2))], init_backend=False
    )


def infer(name, layouts, params=None, *positional):
    op = RULES.find(name)
    marked = [Slot(i) for i in range(len(layouts))]
    bound = op.bind([*marked, *positional], params or {})
    return [out.placements for out in op.infer_layout([*layouts, bound])[0]], op


def out_of(name, inputs, params=None, *positional, shape=(8, 8), shapes=None):
    m = mesh()
    layouts = [Layout(m, p, (shapes or [shape] * len(inputs))[i]) for i, p in enumerate(inputs)]
    return infer(name, layouts, params, *positional)[0]


@pytest.mark.parametrize(
    ("name", "inputs", "output"),
    [
        ("relu", [(S(0), S(1))], (S(0), S(1))),
        ("add", [(S(0), R), (S(0), R)], (S(0), R)),
        ("add", [(P, R), (P, R)], (P, R)),
        ("add", [(Partial("avg"), R), (R, R)], (Partial("avg"), R)),
        ("mul", [(P, S(0)), (R, S(0))], (P, S(0))),
        ("div", [(P, R), (R, R)], (P, R)),
        ("neg", [(P, Partial("avg"))], (P, Partial("avg"))),
        ("maximum", [(Partial("max"), R), (Partial("max"), R)], (Partial("max"), R)),
        ("zeros_like", [(P, S(0))], (R, S(0))),
        ("mm", [(S(0), R), (R, S(1))], (S(0), S(1))),
        ("mm", [(S(1), S(0)), (S(0), R)], (P, S(0))),
        ("mm", [(P, R), (R, S(1))], (P, S(1))),
        ("matmul", [(R, S(1)), (R, S(0))], (R, P)),
        ("linear", [(S(0), R), (R, S(0))], (S(0), S(1))),
        ("sum", [(S(0), S(1))], (P, P)),
        ("t", [(S(0), P)], (S(1), P)),
        ("unbind", [(S(1), R)], (S(0), R)),
    ],
)
def test_outputs_follow_from_inputs_axis_by_axis(name, inputs, output):
    assert out_of(name, inputs)[0] == output


def test_several_axes_on_one_dim_keep_their_nesting_order():
    m = mesh()
    crossed = Layout.from_dim_axes(m, [(1, 0), ()], (8, 8))
    assert infer("add", [crossed, crossed])[0] == [crossed.placements]
    with pytest.raises(LayoutError, match=r"nesting order of mesh axes \[0, 1\] should be the same in all inputs"):
        infer("add", [crossed, Layout(m, [S(0), S(0)], (8, 8))])


def test_a_broadcast_dim_may_not_be_cut():
    with pytest.raises(LayoutError, match=r"For add, input placements on mesh axis 'dp' should be .*, but got"):
        out_of("add", [(S(0), R), (S(0), R)], shapes=[(8, 8), (1, 8)])
    assert out_of("add", [(S(0), R), (R, R)], shapes=[(8, 8), (1, 8)]) == [(S(0), R)]


@pytest.mark.parametrize(
    ("name", "inputs", "params", "positional"),
    [
        ("exp", [(P, R)], {}, ()),
        ("add", [(P, R)], {}, (1.0,)),
        ("mul", [(P, R), (P, R)], {}, ()),
        ("div", [(P, R), (R, R)], {"rounding_mode": "floor"}, ()),
        ("to", [(P, R)], {"dtype": "torch.int64"}, ()),
        ("unbind", [(S(0), R)], {}, ()),
    ],
)
def test_what_would_give_a_wrong_number_is_refused(name, inputs, params, positional):
    with pytest.raises(LayoutError, match=f"For {name}, "):
        out_of(name, inputs, params, *positional)


@pytest.mark.parametrize(
    ("shape", "size", "before", "after"),
    [
        ((8, 6), (48,), S(0), S(0)),
        ((8, 6), (4, 2, 6), S(0), S(0)),
        ((4, 2, 6), (8, 6), S(0), S(0)),
        ((8, 6), (8, 2, 3), S(1), S(1)),
        ((1, 8), (8,), S(1), S(0)),
        ((8, 6), (2, -1), S(0), S(0)),
        ((8, 6), (48,), P, P),
    ],
)
def test_a_cut_survives_reshape_where_it_falls_on_the_same_elements(shape, size, before, after):
    layout = Layout(mesh(2), [before], shape)
    assert infer("reshape", [layout], {}, *size)[0] == [(after,)]


@pytest.mark.parametrize(
    ("shape", "size", "before"), [((8, 6), (48,), S(1)), ((5, 6), (30,), S(0)), ((6, 8), (3, 2, 8), S(0))]
)
def test_a_cut_that_would_fall_elsewhere_is_refused(shape, size, before):
    with pytest.raises(LayoutError, match="For reshape, input placements"):
        infer("reshape", [Layout(mesh(2), [before], shape)], {}, *size)


def test_uneven_nested_cuts_are_checked_part_by_part():
    m = mesh()
    even = Layout(m, [S(0), S(0)], (8, 3))
    assert infer("reshape", [even], {}, 24)[0] == [(S(0), S(0))]
    with pytest.raises(LayoutError, match="For reshape, "):
        infer("reshape", [Layout(m, [S(0), S(0)], (6, 3))], {}, 18)


def test_reductions_keep_cuts_of_other_dims():
    assert out_of("sum", [(S(1), R)], {}, 0) == [(S(0), R)]
    assert out_of("sum", [(S(1), R)], {"keepdim": True}, 0) == [(S(1), R)]
    assert out_of("amax", [(S(1), R)], {}, 1) == [(R, R)]
    assert out_of("max", [(S(1), R)], {}, 0) == [(S(0), R), (S(0), R)]


@pytest.mark.parametrize(("name", "dim"), [("sum", 2), ("sum", (0, 0)), ("amax", -3), ("logsumexp", "x")])
def test_dims_that_do_not_exist_are_refused(name, dim):
    with pytest.raises(LayoutError, match=f"For {name}, dim should be"):
        out_of(name, [(S(0), R)], {}, dim)


def test_candidates_name_the_cheapest_inputs_first_for_the_engine():
    m = mesh(2)
    op = RULES.find("mm")
    a, b = Layout(m, [S(1)], (8, 8)), Layout(m, [S(1)], (8, 8))
    choices = list(op.candidates([a, b, op.bind([Slot(0), Slot(1)], {})]))
    assert (a.with_placements([R]), b) in choices
    assert all(op.infer_layout([*choice, op.bind([Slot(0), Slot(1)], {})]) for choice in choices)


def test_gradient_crosses_where_a_replica_meets_other_placements():
    m = mesh()
    op = RULES.find("mul")
    x, w = Layout(m, [S(0), R], (8, 8)), Layout(m, [R, R], (8, 8))
    assert op.crossing_inputs([x, w], [x]) == [(), (0,)]


def test_signature_binding_collects_defaults_keywords_and_the_rest():
    sig = parse_signature("input, dim=None, keepdim=False, *, dtype=None")
    assert sig.bind("sum", ["x"], {"axis": 1}) == {"input": "x", "dim": 1, "keepdim": False, "dtype": None}
    assert parse_signature("input, *size").bind("view", ["x", 2, 3], {})["size"] == (2, 3)
    assert parse_signature("input, *size").bind("view", ["x", (2, 3)], {})["size"] == (2, 3)
    with pytest.raises(LayoutError, match="keyword arguments should be among"):
        sig.bind("sum", ["x"], {"colour": 1})
    with pytest.raises(LayoutError, match="input should be given"):
        sig.bind("sum", [], {})
    with pytest.raises(LayoutError, match="positional arguments should be at most 3"):
        sig.bind("sum", ["x", 1, 2, 3], {})
