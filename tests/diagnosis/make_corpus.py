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
"""Writes the corpus anew: ``python -m tests.diagnosis.make_corpus [NAME…]``. Needs the tools of every scenario.

What is expected comes from the scenarios, which say what was planted, never from the parsers."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from tests.diagnosis import (
    scenarios_build,
    scenarios_gate,
    scenarios_ops,
    scenarios_ranks,
    scenarios_tools,
    scenarios_ut,
)
from tests.diagnosis.scenario import Scenario, make_log

CORPUS = Path(__file__).parent / "corpus"
SCENARIOS: tuple[Scenario, ...] = (
    *scenarios_gate.SCENARIOS,
    *scenarios_ut.SCENARIOS,
    *scenarios_tools.SCENARIOS,
    *scenarios_build.SCENARIOS,
    *scenarios_ranks.SCENARIOS,
    *scenarios_ops.SCENARIOS,
)


def main(names: list[str]) -> int:
    """Makes the logs with these names, or all."""
    CORPUS.mkdir(exist_ok=True)
    for scenario in SCENARIOS:
        if not names or scenario.name in names:
            (CORPUS / f"{scenario.name}.log").write_bytes(make_log(scenario))
            wanted = {
                "findings": [asdict(one) for one in scenario.expected],
                "cause": scenario.cause,
                "notes": scenario.notes,
            }
            text = json.dumps(wanted, ensure_ascii=False, indent=1)
            (CORPUS / f"{scenario.name}.json").write_text(text + "\n", encoding="utf-8")
            print(scenario.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
