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
"""The same call again with other scalars, and calls that one device refuses: a kept plan serves only what it fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional

from tests.hyper_parallel.api.tools import Complaints, cut, numbers, refuses, same
from tests.hyper_parallel.case import S0, S1, P, R


def check_zeros_of_either_sign_are_told_apart(mesh: Any) -> None:
    full = numbers(5, 3)
    complaints = Complaints()
    for place in (S0, S1, R):
        x = cut(full, mesh, place)
        for value in (0.0, -0.0, 0, False, 0.0):
            with complaints.about(f"{value!r} under {place}"):
                for use in (
                    lambda v, n=value: functional.pad(v, (0, 0, 1, 2), value=float(n)),
                    lambda v, n=value: torch.full_like(v, n),
                    lambda v, n=value: v.masked_fill(v > 0, n),
                    lambda v, n=value: v * n,
                ):
                    want, got = use(full), use(x).full_tensor()
                    same(got, want)
                    assert torch.equal(torch.signbit(got), torch.signbit(want))
    complaints.settle()


def check_indices_of_other_dtypes(mesh: Any) -> None:
    full = numbers(5, 3)
    for place in (S0, S1, R, P):
        x = cut(full, mesh, place)
        for dtype in (torch.float32, torch.bfloat16, torch.int16, torch.int8):
            refuses(lambda v=x, d=dtype: v[torch.ones(5, dtype=d)], IndexError, saying="long, int, byte or bool")
        for index in ([1.0, 4.0], np.array([1.0, 4.0]), np.array([3]), np.array([1, 4], dtype=np.int16)):
            same(x[index], full[index])


def check_odds_of_dropout_out_of_range(mesh: Any) -> None:
    x = cut(numbers(5, 3), mesh, S0)
    for training in (True, False):
        for odds in (-0.1, 1.5, float("nan")):
            refuses(lambda p=odds, t=training: functional.dropout(x, p, t), ValueError, saying="between 0 and 1")


def check_numbers_are_drawn_in_the_order_of_memory(mesh: Any) -> None:
    full = numbers(8, 16, 3)
    for place in (S0, S1, R):
        x = cut(full, mesh, place)
        for use in (
            lambda v: functional.dropout(v.transpose(0, 1), 0.3),
            lambda v: torch.dropout(v.transpose(0, 1), 0.3, True),
            lambda v: functional.alpha_dropout(v.permute(1, 2, 0), 0.3, True),
            lambda v: torch.native_dropout(v.transpose(0, 1), 0.3, True)[0],
            lambda v: torch.rand_like(v.permute(2, 0, 1)),
            lambda v: v.clone().mT.uniform_(),
        ):
            torch.manual_seed(3)
            want = use(full)
            torch.manual_seed(3)
            same(use(x), want)
