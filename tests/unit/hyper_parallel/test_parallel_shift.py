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
"""Windows and runs as arithmetic; roll, flip, pad, repeat, diff on ranks that are threads, against the full tensor."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hyper_parallel import Layout, LayoutError, Partial, Replicate, Shard, init_device_mesh
from hyper_parallel.dispatch.call import Slot
from hyper_parallel.dispatch.registry import Registry
from hyper_parallel.ops import runs, windows
from tests.unit.hyper_parallel.ranks_in_threads import run_on_ranks

functional = torch.nn.functional
RULES = Registry()
S, R = Shard, Replicate()


def outs(name, placements, shape, *args, mesh=(2,), **kwargs):
    op = RULES.find(name)
    layout = Layout(init_device_mesh("cpu", mesh, init_backend=False), placements, shape)
    return [out.placements for out in op.infer_layout([layout, op.bind([Slot(0), *args], kwargs)])[0]]


def flat(intervals):
    return [at for start, stop in intervals for at in range(start, stop)]


@given(st.integers(0, 40), st.integers(1, 5), st.data())
def test_pieces_bring_every_wanted_position_from_its_holder(size, ranks, data):
    holds = windows.chunks(size, ranks)
    assert sorted(flat([span for own in holds for span in own])) == list(range(size))
    ends = st.tuples(st.integers(0, size), st.integers(0, size)).map(lambda pair: tuple(sorted(pair)))
    wants = tuple(tuple(data.draw(st.lists(ends, max_size=3))) for _ in range(ranks))
    got = [[None] * windows.width(own) for own in wants]
    for piece in windows.pieces(holds, wants):
        held = flat(holds[piece.source])[piece.source_at : piece.source_at + piece.length]
        assert len(held) == piece.length
        got[piece.target][piece.target_at : piece.target_at + piece.length] = held
    assert got == [flat(own) for own in wants]


def test_what_crosses_is_counted():
    holds = windows.chunks(8, 2)
    assert windows.crossing(holds, holds) == 0
    moved = (((1, 5),), ((5, 8), (0, 1)))
    assert (windows.crossing(holds, moved), windows.busiest(holds, moved)) == (2, 1)
    assert windows.shifted(holds, 3) == (((3, 7),), ((7, 11),))
    assert windows.joined([holds, holds])[1] == ((4, 8), (4, 8))


def test_a_position_that_nobody_holds_is_an_error():
    with pytest.raises(LayoutError, match="For move_windows, wanted positions should be held by some rank, but got 8"):
        windows.pieces(windows.chunks(8, 2), (((6, 9),), ()))


def values(run, source, fill="fill"):
    start, count, step = run
    return [fill if start == runs.FILL else source[start + i * step] for i in range(count)]


@given(st.lists(st.tuples(st.integers(-1, 9), st.integers(1, 5), st.sampled_from([-1, 0, 1])), max_size=5), st.data())
def test_clipped_runs_name_the_same_positions(given_runs, data):
    kept = tuple((a, n, s if a != runs.FILL else 0) for a, n, s in given_runs if a == runs.FILL or a + (n - 1) * s >= 0)
    source = list(range(20))
    whole = [v for run in kept for v in values(run, source)]
    assert runs.total(kept) == len(whole)
    low = data.draw(st.integers(0, len(whole)))
    high = data.draw(st.integers(low, len(whole)))
    part = runs.clipped(kept, low, high)
    assert [v for run in part for v in values(run, source)] == whole[low:high]
    held = runs.needed(part)
    assert flat(held) == sorted(set(flat(held)))
    assert set(flat(held)) == {v for v in whole[low:high] if v != "fill"}
    local = runs.placed(part, held)
    assert [v for run in local for v in values(run, flat(held))] == whole[low:high]


@given(st.integers(0, 30), st.integers(1, 4), st.integers(0, 30), st.integers(1, 5))
def test_own_picks_cover_a_stepped_range_once(size, ranks, start, step):
    wanted = list(range(start, size, step))
    found = []
    for rank, (first, last, at) in enumerate(runs.own_picks(size, ranks, start, len(wanted), step)):
        own = flat(windows.chunks(size, ranks)[rank])
        found += [own[at + i * step] for i in range(last - first)]
    assert found == wanted


CALLS = [
    ("roll", torch.roll, (2, 0)),
    ("roll", torch.roll, ((1, -3), (0, 0))),
    ("flip", torch.flip, ((0, 1),)),
    ("fliplr", torch.fliplr, ()),
    ("flipud", torch.flipud, ()),
    ("rot90", torch.rot90, (1, (0, 1))),
    ("rot90", torch.rot90, (2, (0, 1))),
    ("rot90", torch.rot90, (3, (1, 0))),
    ("pad", functional.pad, ((1, 2, 3, 4),)),
    ("pad", functional.pad, ((0, -1, -1, 2),)),
    ("repeat", torch.Tensor.repeat, (3, 2, 2)),
    ("tile", torch.tile, ((2,),)),
    ("repeat_interleave", torch.repeat_interleave, (3, 0)),
    ("diff", torch.diff, (2, 0)),
]


@pytest.mark.parametrize(("name", "func", "args"), CALLS)
@pytest.mark.parametrize("shape", [(5, 7), (8, 4), (1, 3)])
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("dim", [0, 1])
def test_parts_make_up_the_full_result(name, func, args, shape, ranks, dim):
    full = torch.arange(shape[0] * shape[1], dtype=torch.float32).reshape(shape)
    got, places, _ = run_on_ranks(name, func, [full], dim, ranks, *args)
    torch.testing.assert_close(got[0], func(full, *args), rtol=0, atol=0)
    assert isinstance(places[0], Shard)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("pad", [(1, 2), (2, 0)])
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_border_modes_on_a_cut_dim(mode, pad, ranks):
    full = torch.arange(14.0).reshape(2, 1, 7)
    got, places, _ = run_on_ranks("pad", functional.pad, [full], 2, ranks, pad, mode)
    assert torch.equal(got[0], functional.pad(full, pad, mode))
    assert places == [S(2)]


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 9), st.integers(-12, 12), st.integers(1, 4))
def test_any_shift_on_any_number_of_ranks(size, shift, ranks):
    full = torch.arange(size)
    got, _, moved = run_on_ranks("roll", torch.roll, [full], 0, ranks, shift, 0)
    assert got[0].tolist() == full.roll(shift).tolist()
    assert moved <= size


def test_only_what_crosses_a_border_moves():
    full = torch.arange(12.0)
    assert run_on_ranks("roll", torch.roll, [full], 0, 4, 1, 0)[2] == 4
    assert run_on_ranks("roll", torch.roll, [full], 0, 4, 12, 0)[2] == 0
    assert run_on_ranks("diff", torch.diff, [full], 0, 4)[2] == 3
    assert run_on_ranks("repeat", torch.Tensor.repeat, [full], 0, 2, 2)[2] == 12


def test_layouts_axis_by_axis():
    assert outs("roll", [S(0), Partial()], (8, 6), 1, 0, mesh=(2, 2)) == [(S(0), Partial())]
    assert outs("rot90", [S(0), S(1)], (8, 6), 1, mesh=(2, 2)) == [(S(1), S(0))]
    assert outs("repeat", [S(1), R], (8, 6), 2, 1, 3, mesh=(2, 2)) == [(S(2), R)]
    assert outs("pad", [Partial()], (8, 6), (1, 1)) == [(Partial(),)]
    assert outs("pad", [Partial("max")], (8, 6), (1, 1), value=3.0) == [(Partial("max"),)]
    assert outs("diff", [Partial("avg")], (8, 6)) == [(Partial("avg"),)]


@pytest.mark.parametrize(
    ("name", "places", "args", "kwargs", "text"),
    [
        ("roll", [R], (1,), {}, r"dims should be given for a tensor that is not 1-D, but got None"),
        ("roll", [S(0)], ((1, 2), 0), {}, r"shifts should be one int for each of the dims \(0,\), but got \(1, 2\)"),
        ("roll", [S(0)], (1, 2), {}, r"dim should be an int in \[-2, 2\), but got 2"),
        ("flip", [S(0)], ((0, 0),), {}, r"dims should be without repetition, but got \(0, 0\)"),
        ("rot90", [S(0)], (1, (0, 0)), {}, r"dims should be two different dims"),
        ("rot90", [S(0)], (1, (0,)), {}, r"dims should be two ints"),
        ("pad", [S(0)], ((1,),), {}, r"pad should be up to 2 pairs, but got \(1,\)"),
        ("pad", [S(0)], ((0, 0, -5, -4),), {}, r"pad should be possible for 8 positions"),
        ("pad", [S(0)], ((1, 1),), {"mode": "mirror"}, r"mode should be constant, reflect, replicate or circular"),
        ("pad", [S(0)], ((6, 0),), {"mode": "reflect"}, r"pad should be at most 5 in mode reflect"),
        ("pad", [Partial()], ((1, 1),), {"value": 2.0}, r"input placements on mesh axis"),
        ("pad", [Partial("prod")], ((1, 1),), {"value": 2.0}, r"input placements on mesh axis"),
        ("repeat", [S(0)], (2,), {}, r"repetitions should be at least 2, but got \(2,\)"),
        ("tile", [S(0)], (2, -1), {}, r"the numbers of repetitions should be non-negative ints"),
        ("repeat_interleave", [S(0)], (2,), {}, r"dim should be given for a tensor that is not 1-D"),
        (
            "repeat_interleave",
            [S(0)],
            (2, 0),
            {"output_size": 16},
            r"input should be at least 1-D, without output_size",
        ),
        ("diff", [S(0)], (0,), {}, r"n should be a positive int"),
        ("diff", [S(0)], (1, 0, Slot(0)), {}, r"prepend and append should be None"),
        ("diff", [Partial("max")], (), {}, r"input placements on mesh axis"),
    ],
)
def test_refusals_say_what_is_expected(name, places, args, kwargs, text):
    with pytest.raises(LayoutError, match=f"For {name}, {text}"):
        outs(name, places, (8, 6), *args, **kwargs)


def test_a_dim_cut_by_two_axes_is_refused_by_the_local_call():
    op = RULES.find("roll")
    layout = Layout(init_device_mesh("cpu", (2, 2), init_backend=False), [S(0), S(0)], (8, 6))
    cached = [layout, op.bind([Slot(0), 1, 0], {})]
    result = op.infer_layout(cached)
    with pytest.raises(LayoutError, match="For roll, mesh axes that cut dim 0 should be at most one"):
        op.get_expand_impl(torch.roll, result, cached)
