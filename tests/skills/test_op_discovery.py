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
"""Rules found by experiment: what the laboratory sees, what is inferred from it, and what must not be."""

from __future__ import annotations

import pytest
import torch
from op_analysis.document import FENCE, read, render
from op_analysis.families import fitting
from op_analysis.fitting import investigate
from op_analysis.operators import Operator, Trial, UnknownOperator, operator, resolve, signatures_of
from op_analysis.primitives import function_of, heard, known_lines
from op_analysis.proposal import propose
from op_analysis.schemas import Domain, OutMap, Schema, place_of, predict
from op_analysis.shapes import ShapeRule, output_shapes
from op_analysis.shards import Adjustment, Laboratory, chunks, cut, describe
from op_dev.tests_text import _source, system_cases, unit_tests

X = torch.arange(15.0).reshape(5, 3)


def made(func, signature, trials, name="op"):
    """An operator of our own, with calls of our own."""
    return Operator(name, f"torch.{name}", func, signature, "", tuple(Trial(params) for params in trials), True)


def matrices(*shapes, **scalars):
    draw = torch.Generator().manual_seed(1)
    return [{"input": torch.randn(shape, generator=draw), **scalars} for shape in shapes]


def said(schemas):
    """Schemas in short: (domain, parameter, count) → output kinds."""
    return {(s.domain.kind, s.domain.param, s.domain.count): tuple(o.kind for o in s.outs) for s in schemas if s.ref}


def test_chunks_are_cut_by_ceil_division():
    assert (chunks(5, 2), chunks(4, 3), chunks(1, 2)) == ([3, 2], [2, 2, 0], [1, 0])


@pytest.mark.parametrize("word", ["S0", "S1", "R", "Psum", "Pavg", "Pmax", "Pmin"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_what_was_cut_is_described_as_it_was_cut(word, ranks):
    parts = cut(X, word, ranks)
    assert len(parts) == ranks
    assert word in describe(parts, X)
    if word != "R":
        assert "R" not in describe(parts, X)


def test_parts_that_make_up_nothing_are_described_by_nothing():
    assert describe([X, X + 1], X * 7) == frozenset()
    assert describe([X.double(), X.double()], X) == frozenset()
    assert describe([1, 1], 1) == frozenset({"R"})
    assert describe([1, 2], 1) == frozenset()


def test_an_element_wise_function_may_be_cut_anywhere_and_takes_no_pending_input():
    found = investigate(Laboratory(made(torch.exp, "input", matrices((5, 4), (3,), (2, 3, 4)))))
    assert said(found.schemas) == {("all", "", 0): ("same",)}
    assert not [schema for schema in found.schemas if not schema.ref]
    assert found.unexplained == []


def test_a_linear_function_takes_pending_sums():
    found = investigate(Laboratory(made(torch.neg, "input", matrices((5, 4), (3,)))))
    pending = {dict(schema.roles)["input"]: schema.outs[0].kind for schema in found.schemas if not schema.ref}
    assert pending == {"Psum": "Psum", "Pavg": "Pavg", "Pmax": "Pmin", "Pmin": "Pmax"}


def test_the_dim_of_a_parameter_is_left_alone():
    trials = [*matrices((5, 4), (2, 3, 4), dim=0), *matrices((5, 4), (2, 3, 4), dim=-1), *matrices((2, 3, 4), dim=1)]
    lab = Laboratory(made(torch.cumsum, "input, dim", trials))
    found = investigate(lab)
    assert said(found.schemas) == {("other", "dim", 0): ("same",)}
    assert {("S0",), ("S1",)} <= {words for _, words in found.refused}


def test_a_reduction_drops_dims_and_leaves_sums_pending():
    trials = [*matrices((5, 4), (2, 3, 4), dim=0, keepdim=False), *matrices((5, 4), (2, 3, 4), dim=-1, keepdim=True)]
    trials += matrices((5, 4), (2, 3, 4), dim=-1, keepdim=False) + matrices((5, 4), dim=None, keepdim=False)
    found = investigate(Laboratory(made(torch.sum, "input, dim=None, keepdim=False", trials)))
    assert said(found.schemas) == {("other", "dim", 0): ("drop",), ("in", "dim", 0): ("Psum",)}


def test_the_shift_of_a_diagonal_is_found():
    trials = [params for d in (0, 1, -2) for params in matrices((5, 4), (4, 7), (3, 4, 5), diagonal=d)]
    found = investigate(Laboratory(made(torch.tril, "input, diagonal=0", trials)))
    shifts = {s.domain.count: s.adjust for s in found.schemas if s.adjust is not None}
    assert shifts == {1: Adjustment("offset", "diagonal", -1), 2: Adjustment("offset", "diagonal", 1)}
    assert not any(schema.guard for schema in found.schemas)


def test_a_mean_is_a_pending_sum_of_shares():
    trials = [*matrices((5, 4), (6,), dim=0), *matrices((5, 4), (2, 3, 4), dim=-1)]
    found = investigate(Laboratory(made(torch.mean, "input, dim", trials)))
    (share,) = [schema for schema in found.schemas if schema.adjust is not None]
    assert (share.adjust.kind, share.domain.kind, share.outs[0].kind) == ("share", "in", "Psum")


def test_a_word_decides_by_a_guard():
    def loss(input, how="sum"):
        return input.sum() if how == "sum" else input * 2

    trials = [*matrices((5, 4), (6,), how="sum"), *matrices((5, 4), (2, 3, 4), how="none")]
    found = investigate(Laboratory(made(loss, "input, how='sum'", trials)))
    guards = {schema.guard: schema.outs[0].kind for schema in found.schemas if schema.ref}
    assert guards == {("how", "sum", True): "Psum", ("how", "none", True): "same"}


def test_a_contraction_pairs_the_right_dims():
    draw = torch.Generator().manual_seed(1)
    trials = [
        {"input": torch.randn(a, b, generator=draw), "mat2": torch.randn(b, c, generator=draw)}
        for a, b, c in ((5, 4, 3), (4, 4, 4), (2, 5, 5))
    ]
    found = investigate(Laboratory(made(torch.mm, "input, mat2", trials)))
    pairs = {(s.ref, s.domain.kind, s.domain.count, s.roles[0][1]): s.outs[0].kind for s in found.schemas if s.ref}
    assert pairs[("input", "at", 1, "last2")] == "Psum"
    assert "Psum" not in {kind for (_, _, _, role), kind in pairs.items() if role == "R"}


def test_what_needs_its_neighbours_has_no_rule():
    found = investigate(Laboratory(made(lambda input: input.roll(1, 0).roll(1, -1), "input", matrices((5, 4), (4, 6)))))
    assert said(found.schemas) == {}
    assert found.refused


def test_a_random_operator_is_told_from_others():
    assert Laboratory(made(torch.bernoulli, "input", [{"input": torch.full((50,), 0.5)}])).random()
    assert not Laboratory(made(torch.exp, "input", matrices((5, 4)))).random()


def test_a_constant_shows_nothing():
    found = investigate(Laboratory(made(torch.zeros_like, "input", matrices((5, 4), (3,)))))
    assert not [schema for schema in found.schemas if schema.adjust or schema.guard]
    assert {out for outs in said(found.schemas).values() for out in outs} <= {"same"}


@pytest.mark.parametrize(
    ("role", "dim", "ref", "shape", "expected"),
    [
        ("same", 1, (2, 3), (2, 3), "S1"),
        ("same", 1, (2, 3), (2, 4), None),
        ("right", 1, (2, 3), (3,), "S0"),
        ("right", 0, (2, 3), (3,), "R"),
        ("right", 1, (2, 3), (1,), "R"),
        ("last2", 1, (2, 3), (3, 4), "S0"),
        ("R", 1, (2, 3), (9,), "R"),
    ],
)
def test_roles_of_other_inputs(role, dim, ref, shape, expected):
    assert place_of(role, dim, ref, shape) == expected


def test_a_schema_survives_the_plan():
    schema = Schema(
        "x",
        Domain("other", "dim"),
        (("y", "right"),),
        (OutMap("drop", "dim"),),
        Adjustment("share"),
        ("how", "a", False),
        False,
    )
    assert Schema.from_dict(schema.to_dict()) == schema
    rule = ShapeRule("replaced", "x", "dim", 0, ("k",), ("n", None, True))
    assert ShapeRule.from_dict(rule.to_dict()) == rule


def test_predictions_skip_dims_that_two_ranks_cannot_share():
    trial = Trial({"input": torch.zeros(1, 4)})
    assert [guess.words for guess in predict(trial, "input", Domain("all"), ())] == [("S1",)]


def test_output_shapes_follow_from_the_call():
    def pick(input, k, dim=-1):
        return input.topk(k, dim)

    trials = [*matrices((5, 4), (4, 6), k=2, dim=0), *matrices((5, 4), (2, 3, 4), k=1, dim=-1)]
    found = output_shapes(Laboratory(made(pick, "input, k, dim=-1", trials)))
    assert [[rule.kind for rule in rules] for rules in found] == [["replaced"], ["replaced"]]
    assert output_shapes(Laboratory(made(torch.nonzero, "input", matrices((5, 4), (3,))))) is None


def test_a_class_that_exists_is_recognised_and_a_wrong_one_is_not():
    trials = [params for d in (0, 1, -2) for params in matrices((5, 4), (4, 7), diagonal=d)]
    found = fitting(Laboratory(made(torch.triu, "input, diagonal=0", trials)), without="triu")
    assert "TriangleDistributedOp" in {family.name for family in found}
    assert "ElementWiseDistributedOp" not in {family.name for family in found}


def test_names_and_signatures_are_torchs_own():
    assert resolve("linalg.inv")[0] == "torch.linalg.inv"
    assert resolve("nn.functional.softplus") == ("torch.nn.functional.softplus", torch.nn.functional.softplus)
    assert signatures_of("torch.tril")[0] == "input, diagonal=0"
    with pytest.raises(UnknownOperator, match="should be a function of torch, but got 'no_such_op'"):
        resolve("no_such_op")


def test_own_samples_take_the_place_of_opinfo(tmp_path):
    plan = propose(operator("vander", calls=["randn(7), 3", "randn(6)", "randn(5), 2, increasing=True", "randn(4)"]))
    assert plan.kind == "axis_rules"
    assert "不写规则" not in render(plan)
    path = tmp_path / "plan.md"
    path.write_text(render(plan), encoding="utf-8")
    data = read(path)
    assert data["name"] == "vander"
    assert [Schema.from_dict(schema) for schema in data["schemas"]] == list(plan.findings.schemas)
    path.write_text(render(plan).replace(FENCE, "```yaml"), encoding="utf-8")
    with pytest.raises(ValueError, match="should hold a block"):
        read(path)
    with pytest.raises(UnknownOperator, match=r"samples of torch\.vander should fit"):
        operator("vander", calls=["'text'"])


def test_a_random_operator_has_no_plan():
    with pytest.raises(ValueError, match="it draws random numbers"):
        propose(operator("bernoulli", calls=["full((50,), 0.5)", "full((7, 9), 0.5)"]))
    with pytest.raises(ValueError, match="it draws random numbers"):
        propose(operator("bernoulli", calls=["ones(5)", "full((7, 9), 0.5)"]))


def test_what_passes_over_nan_takes_no_pending_sums():
    found = investigate(Laboratory(operator("nanmean", calls=["randn(5, 3), 1", "randn(3, 5), 0", "randn(7, 5), 0"])))
    assert said(found.schemas) == {("other", "dim", 0): ("drop",)}
    assert all(schema.ref for schema in found.schemas)


def test_lengths_that_differ_by_chance_are_made_alike():
    trials = operator("nn.functional.prelu", calls=["randn(5, 10, 4), randn(10)"]).trials
    assert [tuple(t.shape) for t in trials[1].tensors()] == [(4, 4, 4), (4,)]


def test_a_class_that_exists_gives_the_cases_where_the_language_of_rules_has_no_words():
    plan = propose(operator("permute_copy", calls=["randn(3, 5, 4), (2, 0, 1)", "randn(5, 3), (1, 0)"]))
    assert (plan.kind, plan.family.name, plan.open) == ("family", "PermuteDistributedOp", ())
    rows = [row for case in plan.cases for row in case["allowed"]]
    assert {"in": ["S0"], "out": [["S1"]]} in rows
    assert "test_permute_copy_layouts_and_shapes" in unit_tests(plan.data(), "")


def test_a_class_with_open_shapes_has_tests_that_it_does_not_pass_yet():
    plan = propose(operator("nn.functional.glu", calls=["randn(6, 5), 0", "randn(3, 6)", "randn(4, 3, 6), 2"]))
    assert plan.shapes is None
    assert "test_glu_layouts_and_shapes" in unit_tests(plan.data(), "")
    assert "max_bytes=0" in system_cases(plan.data(), "")


def test_cuts_that_fell_into_equal_parts_only_are_not_asked_about():
    plan = propose(operator("nanmean", calls=["randn(4, 3), 0", "randn(4), 0", "randn(3, 4), -1"]))
    assert plan.open == ()
    assert "通信" in plan.notes[0]


@pytest.mark.parametrize(
    ("value", "source"),
    [
        (float("inf"), 'float("inf")'),
        ([1, -float("inf")], '(1, -float("inf"))'),
        ("inf", "'inf'"),
        (["nan"], "('nan',)"),
    ],
)
def test_scalars_are_written_as_python_reads_them(value, source):
    assert _source(value) == source


def test_the_primitive_of_an_operator_is_heard():
    subject = operator("tril", calls=["randn(5, 3), 1", "randn(3, 5)", "randn(4, 4), -1"])
    path, func = function_of("tril")
    assert path == "mint.tril"
    assert heard(subject, func) == {"TrilExt": "tril(input, diagonal)"}
    assert known_lines()["TrilExt"] == "tril(input, diagonal)"
    assert function_of("no_such_function") is None


def test_a_class_that_is_alike_in_pending_inputs_only_does_not_fit():
    plan = propose(operator("cartesian_prod", calls=["randn(5), randn(3)", "randn(4), randn(5), randn(3)"]))
    assert (plan.kind, plan.family) == ("none", None)
