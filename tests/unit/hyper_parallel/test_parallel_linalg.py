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
"""Batched matrices and Fourier transforms: layouts, sizes and refusals, without ranks."""

import pytest
import torch

from hyper_parallel import LayoutError, Partial, Replicate, Shard, init_device_mesh
from hyper_parallel.platform import get_platform
from tests.unit.hyper_parallel.inferred import outs
from tests.unit.hyper_parallel.ranks_in_threads import run_on_ranks

S, R, P = Shard, Replicate(), Partial()
BATCH = (4, 6, 3, 3)


def placed(*args, **kwargs):
    return [out.placements for out in outs(*args, **kwargs)]


def test_batch_dims_stay_cut():
    assert placed("linalg_inv", [BATCH], [[S(1)]]) == [(S(1),)]
    assert placed("linalg_slogdet", [BATCH], [[S(0), S(1)]], mesh=(2, 2)) == [(S(0), S(1))] * 2
    assert placed("linalg_svd", [BATCH], [[S(0)]], full_matrices=False) == [(S(0),)] * 3
    assert placed("linalg_solve", [BATCH, (4, 6, 3, 5)], [[S(0)], [S(0)]]) == [(S(0),)]
    assert placed("linalg_solve", [BATCH, (1, 6, 3, 5)], [[S(0)], [R]]) == [(S(0),)]
    assert placed("linalg_solve", [(3, 3), (4, 3, 5)], [[R], [S(0)]]) == [(S(0),)]
    assert placed("linalg_solve_triangular", [BATCH, (4, 6, 3, 5)], [[R], [S(3)]], upper=True) == [(S(3),)]
    assert placed("cdist", [(5, 2), (7, 2)], [[R], [S(0)]]) == [(S(1),)]
    assert placed("fft_fft", [BATCH], [[S(1), P]], mesh=(2, 2)) == [(S(1), P)]
    assert placed("fft_fftshift", [BATCH], [[S(1)]]) == [(S(1),)]


def _sizes(name, shape, *args, **kwargs):
    return [out.shape for out in outs(name, [shape], [[R]], *args, **kwargs)]


@pytest.mark.parametrize("shape", [(2, 4, 3), (2, 3, 4)])
def test_sizes_are_those_of_the_operators(shape):
    x = torch.randn(shape)
    for name, args, kwargs in [
        ("linalg_svd", (), {}),
        ("linalg_svd", (False,), {}),
        ("linalg_qr", (), {}),
        ("linalg_qr", ("complete",), {}),
        ("linalg_lu", (), {}),
        ("linalg_lu_factor_ex", (), {}),
        ("linalg_svdvals", (), {}),
    ]:
        func = getattr(torch.linalg, name.removeprefix("linalg_"))
        want = func(x, *args, **kwargs)
        want = [want] if isinstance(want, torch.Tensor) else want
        assert _sizes(name, shape, *args, **kwargs) == [tuple(one.shape) for one in want]


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("fft", {"n": 9, "dim": 0}),
        ("rfft", {}),
        ("irfft", {"n": 7}),
        ("hfft", {}),
        ("ihfft", {"n": 4}),
        ("fft2", {"s": (3, 5)}),
        ("rfft2", {"dim": (0, 1)}),
        ("irfftn", {"dim": (2, 0)}),
        ("fftn", {"s": (3, -1)}),
        ("rfftn", {}),
    ],
)
def test_transformed_sizes(name, kwargs):
    x = torch.randn(4, 5, 6)
    assert _sizes(f"fft_{name}", (4, 5, 6), **kwargs) == [tuple(getattr(torch.fft, name)(x, **kwargs).shape)]


@pytest.mark.parametrize(
    ("name", "shapes", "kwargs", "text"),
    [
        ("linalg_inv", [BATCH], {}, "input placements on mesh axis"),
        ("linalg_det", [(3,)], {}, "input dims should be at least 2"),
        ("linalg_det", [(2, 3)], {}, "the size of n should be 2, but got 3"),
        ("linalg_inv_ex", [BATCH], {"check_errors": True}, "check_errors should be False, but got True"),
        ("linalg_qr", [BATCH], {"mode": "r"}, "mode should be among"),
        ("linalg_solve", [(3, 3, 3), (3, 3)], {}, "the right side should be matrices"),
        ("linalg_solve", [BATCH, (3, 1)], {"left": False}, "left should be True, but got False"),
        ("fft_fft", [BATCH], {"n": 0}, "sizes should be positive"),
        ("fft_fft2", [BATCH], {"dim": (1, 1)}, "dims should be different dims of the input"),
    ],
)
def test_refusals_say_what_is_expected(name, shapes, kwargs, text):
    with pytest.raises(LayoutError, match=f"For {name}, {text}"):
        outs(name, shapes, [[S(len(shape) - 1)] for shape in shapes], **kwargs)


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_shifted_spectra(ranks):
    full = torch.arange(7.0)
    got, places, _ = run_on_ranks("fft_fftshift", torch.fft.fftshift, [full], 0, ranks)
    assert torch.equal(got[0], torch.fft.fftshift(full))
    assert places == [S(0)]
    got, _, _ = run_on_ranks("fft_ifftshift", torch.fft.ifftshift, [full], 0, ranks)
    assert torch.equal(got[0], torch.fft.ifftshift(full))


def test_an_own_error_is_raised_as_it_is():
    mesh = init_device_mesh("cpu", (1,))
    together = get_platform().run_together
    with pytest.raises(torch.linalg.LinAlgError, match="singular"):
        together(lambda: torch.linalg.inv(torch.zeros(2, 2)), "linalg_inv", mesh, [0])
    assert together(lambda: 3, "linalg_inv", mesh, [0]) == 3
