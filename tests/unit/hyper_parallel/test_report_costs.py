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
"""python -m hyper_parallel.report: what is free, what is sent, what is refused, without any other process."""

from __future__ import annotations

import argparse
import re

import pytest

from hyper_parallel import Partial, Replicate, Shard, costs


def _lines(told: str, title: str) -> dict[str, str]:
    """Placements of the inputs → the rest of the line, in one section."""
    if f"{title}:\n" not in told:
        return {}
    body = told.split(f"{title}:\n")[1].split("\n\n")[0]
    return {
        re.sub(r"\s+", " ", before.strip()): after.strip()
        for before, _, after in (line.partition(" -> ") for line in body.splitlines())
    }


@pytest.mark.parametrize(("text", "sizes"), [("64x48", (64, 48)), ("7", (7,)), ("2x2x2", (2, 2, 2))])
def test_sizes_are_read(text: str, sizes: tuple[int, ...]) -> None:
    assert costs._sizes(text) == sizes


@pytest.mark.parametrize("text", ["", "axb", "0x4", "4x-1", "4,5", "x"])
def test_odd_sizes_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="whole numbers"):
        costs._sizes(text)


def test_placements_are_spelt_short() -> None:
    assert costs.spell([Shard(1), Replicate(), Partial()]) == "S(1),R,P"


def test_choices_are_bounded_and_pending_sums_come_last() -> None:
    options = {"x": [(Replicate(),), (Partial(),)], "y": [(Partial(),), (Replicate(),), (Shard(0),)]}
    choices, total = costs.choices_of(options, limit=4)
    assert (len(choices), total) == (4, 6)
    assert choices[0] == {"x": (Replicate(),), "y": (Replicate(),)}
    assert all("P" not in costs.spell(places) for places in choices[1].values())


def test_a_product_names_every_free_way() -> None:
    told = costs.explain("x @ y", [(8, 4), (4, 6)], (2,))
    free = _lines(told, "communication-free")
    assert free == {
        "x R y R": "R",
        "x R y S(1)": "S(1)",
        "x S(0) y R": "S(0)",
        "x S(1) y S(0)": "P",
        **{key: value for key, value in free.items() if "P" in key or key in {"x R y S(0)", "x S(1) y R"}},
    }
    paid = _lines(told, "bytes sent by the rank that sends most")
    assert "x S(0) y S(1)" in paid
    assert int(re.sub(r"\D", "", paid["x S(0) y S(1)"].split()[1])) > 0


def test_what_a_gather_and_a_reduction_send_on_four_ranks() -> None:
    told = costs.explain("torch.linalg.inv(x)", [(8, 8)], (4,))
    paid = _lines(told, "bytes sent by the rank that sends most")
    own_part, whole = 8 * 8 * 4 // 4, 8 * 8 * 4
    assert paid["x S(0)"].split()[1:] == [f"{own_part * 3:,}", "all_gather", "x1"]
    assert paid["x P"].split()[1:] == [f"{2 * whole * 3 // 4:,}", "all_reduce", "x1"]


def test_two_meshes_of_one_process_do_not_disturb_each_other() -> None:
    first = costs.explain("x + y", [(5, 3)], (2,))
    costs.explain("x + y", [(5, 3)], (2, 2))
    assert costs.explain("x + y", [(5, 3)], (2,)) == first


def test_unknown_operators_and_calls_without_tensors_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert costs.main(["no_such_operator"]) == 2
    assert "no_such_operator" in capsys.readouterr().out
    assert costs.main(["torch.ones(3)"]) == 2
    assert "should use one of" in capsys.readouterr().out
    assert costs.main(["x +"]) == 2


def test_a_call_that_fails_is_listed_as_refused() -> None:
    told = costs.explain("x.view(3, 3)", [(4, 4)], (2,))
    assert _lines(told, "communication-free") == {}
    assert "refused:" in told
    assert "shape" in told


def test_names_find_their_call() -> None:
    told = costs.explain("tril", [(6, 6)], (2,))
    assert told.startswith("torch.tril(x) ")
    assert set(_lines(told, "communication-free")) == {"x R", "x S(0)", "x S(1)", "x P"}
