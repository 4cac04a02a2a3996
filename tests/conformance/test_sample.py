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
"""A seeded sample of the OpInfo sweep, small enough for every run; the whole sweep is one command (see ``sweep``)."""

from __future__ import annotations

import pytest

from tests.conformance.entries import all_entries
from tests.conformance.sweep import Setting, Sweep, choose
from tests.conformance.verdicts import names_by_class, summary

_SAMPLE = "20:60"
_RIGHT_AT_LEAST = 0.95


@pytest.mark.timeout(900)
@pytest.mark.parametrize("partial", [False, True], ids=["cut", "pending"])
def test_seeded_sample_equals_one_device(partial: bool) -> None:
    entries = choose(all_entries(), sample=_SAMPLE if not partial else "21:20")
    verdicts = Sweep(Setting("uneven", (2,), partial=partial), tell=False).run("ours", entries, {})
    figures, classes = summary(verdicts), names_by_class(verdicts)
    assert figures["silently wrong"] == 0, classes
    assert figures["gradient wrong"] == 0, classes
    assert figures["desync or crash"] + figures["gradient desync"] == 0, classes
    assert figures["testable"] >= len(entries) // 2
    assert figures["forward and gradient right"] >= _RIGHT_AT_LEAST * figures["testable"], classes
