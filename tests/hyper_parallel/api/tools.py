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
"""What the API checks share: tensors every rank makes alike, cutting them, comparing with one device."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

import hyper_parallel as hp
from hyper_parallel.placements import Placement
from tests.hyper_parallel.case import S0, S1, P, R
from tests.hyper_parallel.trial import distribute, mesh_of


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    """The same normal numbers on every rank, in float64."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def cut(full: torch.Tensor, mesh: Any, *places: Placement, grad: bool = False) -> Any:
    """A distributed leaf; pending terms differ between the ranks."""
    return distribute(full, mesh, places).requires_grad_(grad)


def same(got: Any, want: Any, tolerance: float = 1e-9) -> None:
    """Values, shape and dtype agree, and the reported shape tells the truth."""
    if isinstance(got, hp.DTensor):
        assert tuple(got.shape) == tuple(want.shape), f"reports {tuple(got.shape)} instead of {tuple(want.shape)}"
        got = got.full_tensor()
    if isinstance(want, hp.DTensor):
        want = want.full_tensor()
    torch.testing.assert_close(got.detach(), want.detach(), rtol=tolerance, atol=tolerance, equal_nan=True)


def refuses(call: Callable[[], Any], *kinds: type[BaseException], saying: str = "") -> None:
    """``call`` raises one of ``kinds`` with a message that holds ``saying``."""
    with pytest.raises(kinds) as caught:
        call()
    assert saying.lower() in str(caught.value).lower(), f"the message should hold {saying!r}, but it is {caught.value}"


def right_or_refused(call: Callable[[], Any], want: Any, *kinds: type[BaseException]) -> None:
    """Either the number of one device or a clear error; never a silent other value."""
    try:
        got = call()
    except kinds as error:
        if not str(error):
            raise AssertionError("an error should say what is wrong") from error
    else:
        same(got, want)


class Complaints:
    """Gathers what goes wrong in a series of trials, so that one failure does not hide the others."""

    def __init__(self) -> None:
        self.told: list[str] = []

    @contextmanager
    def about(self, what: str) -> Iterator[None]:
        """One trial, by name."""
        try:
            yield
        except Exception as error:
            self.told.append(f"{what}: {type(error).__name__}: {str(error)[:300]}")

    def settle(self) -> None:
        """Fails if anything was told."""
        assert not self.told, "\n".join(self.told)


def run_check(module: str, name: str, mesh_shape: tuple[int, ...]) -> str:
    """Runs one check on this rank; the pool reports what it raises."""
    torch.manual_seed(11)
    getattr(importlib.import_module(module), name)(mesh_of(mesh_shape))
    return name


def all_right_or_refused(
    uses: dict[str, Callable[[Any], Any]], full: torch.Tensor, mesh: Any, *kinds: type[BaseException]
) -> None:
    """Uses of a tensor that one device allows, under every placement: its number or a clear error of these kinds."""
    complaints = Complaints()
    for name, use in uses.items():
        for place in (S0, S1, R, P):
            with complaints.about(f"{name} under {place}"):
                try:
                    want = use(full.clone())
                except Exception:
                    continue
                right_or_refused(lambda call=use, p=place: call(cut(full, mesh, p)), want, *kinds)
    complaints.settle()
