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
"""The declarative cases of PyTorch's operators are right on MindSpore too, under every placement they ask for."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest

from tests.hyper_parallel.mindspore.pool import MindSporePool
from tests.hyper_parallel.mindspore.shared import KINDS, listed, names_for, tried, unlike_the_list

_MESH = (2,)
_PER_FAMILY, _SEED = 8, 5


def _by_family() -> dict[str, dict[str, str]]:
    families: dict[str, dict[str, str]] = defaultdict(dict)
    for name, module in names_for(_MESH).items():
        families[module.rpartition(".case_")[2]][name] = module
    return families


@pytest.mark.timeout(600)
@pytest.mark.parametrize("family", sorted(_by_family()))
def test_cases_of_a_family_are_right_on_mindspore(two_ranks: MindSporePool, family: str) -> None:
    every = _by_family()[family]
    chosen = random.Random(_SEED).sample(sorted(every), min(_PER_FAMILY, len(every)))
    answers = dict(tried(two_ranks, {name: every[name] for name in chosen}, _MESH))
    failures = [told for answer in answers.values() for told in answer["failures"]]
    assert not failures, "\n".join(failures)
    assert not unlike_the_list(answers)


@pytest.mark.parametrize("kind", KINDS)
def test_listed_cases_exist(kind: str) -> None:
    assert set(listed(kind)) <= set(names_for(_MESH))
    assert all(listed(kind).values())
