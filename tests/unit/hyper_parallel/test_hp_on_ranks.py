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
"""The core on real gloo ranks: brute force over placements, and what a DTensor does beyond operators."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "rank_programs"


def run(program, *args, result):
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / program), *args], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(result.read_text())


@pytest.mark.parametrize(("mesh", "limit"), [("2", 14), ("3", 9), ("2x2", 6)])
def test_every_core_operator_is_right_under_every_placement_tried(mesh, limit, tmp_path):
    result = tmp_path / "result.json"
    answers = run("brute_force.py", mesh, str(limit), str(result), result=result)
    assert all(answer["tried"] > 500 for answer in answers)
    assert [answer["failures"] for answer in answers] == [[]] * len(answers)


@pytest.mark.parametrize("count", [2, 3])
def test_dtensors_behave_like_tensors(count, tmp_path):
    result = tmp_path / "result.json"
    answers = run("behaviour.py", str(count), str(result), result=result)
    assert all(answer["tried"] > 20 for answer in answers)
    assert [answer["failures"] for answer in answers] == [{}] * count
