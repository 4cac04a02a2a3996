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
"""A seeded sample of the sweep over `mint`; all of it: `python -m tests.conformance.mindspore_sweep`."""

from __future__ import annotations

import random

import pytest

from tests.conformance.mindspore_entries import RANDOM, all_names, opinfos
from tests.conformance.mindspore_sweep import try_entry
from tests.conformance.verdicts import names_by_class, summary
from tests.hyper_parallel.mindspore.pool import MindSporePool

_COUNT, _SEED, _LIMIT = 12, 22, 8


@pytest.mark.timeout(900)
def test_seeded_sample_of_mint_equals_one_device(two_ranks: MindSporePool) -> None:
    names = random.Random(_SEED).sample([n for n in all_names() if n not in RANDOM and opinfos(n)], _COUNT)
    verdicts = {name: try_entry(two_ranks, name, "uneven", (2,), 0, _LIMIT) for name in names}
    figures, classes = summary(verdicts), names_by_class(verdicts)
    assert figures["silently wrong"] == 0, classes
    assert figures["gradient wrong"] == 0, classes
    assert figures["desync or crash"] + figures["gradient desync"] == 0, classes
    assert figures["testable"] >= _COUNT // 2
    assert figures["forward and gradient right"] == figures["testable"], classes
