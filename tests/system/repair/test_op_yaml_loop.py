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
"""A renamed and a moved operator class: one commit brings the registration in line, on real git."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.gate.finding import Finding
from bot.repair.service import repair

OPS = "hyper_parallel/core/shard/ops"
CLASS = '''"""Shifts."""


class {name}:
    """Rule of roll."""

    def infer_layout(self, layout):
        """The layout of the input."""
        return layout
'''
YAML = f"{OPS}/yaml/roll.yaml"
ENTRIES = """# Shifts.
roll:
  dist_op_name: _torch_roll_dist_op
  distributed_op_class: RolDistributedOp  # the rule
  distributed_op_file: parallel_roll
flip:
  dist_op_name: _torch_flip_dist_op
  distributed_op_class: FlipDistributedOp
  distributed_op_file: parallel_roll
"""
BASE = {f"{OPS}/parallel_roll.py": CLASS.format(name="RolDistributedOp").encode(), YAML: ENTRIES.encode()}
CHANGE = {
    f"{OPS}/parallel_roll.py": CLASS.format(name="RollDistributedOp").encode(),
    f"{OPS}/parallel_flip.py": CLASS.format(name="FlipDistributedOp").replace("roll", "flip").encode(),
    YAML: ENTRIES.replace("# Shifts.", "# Shifts and mirrors.").encode(),
}
FINDINGS = (
    # as the review rule tells it of the Python file, and as a build's log tells it
    Finding("rules", "gone", rule="op-class-without-yaml", file=f"{OPS}/parallel_roll.py", function="RolDistributedOp"),
    Finding("op_yaml", "For flip, distributed_op_class should be …", rule="op-yaml-without-class", function="flip"),
)


async def test_registration_follows_the_classes(tmp_path: Path, kit: Any) -> None:
    forge = kit.make_forge(tmp_path, BASE, CHANGE)
    task = forge.task(FINDINGS, tuple(CHANGE))
    outcome = await repair(task)
    assert [reason.plain("en") for _, reason in outcome.refused] == []
    assert outcome.status == "pushed"
    mended = ENTRIES.replace("# Shifts.", "# Shifts and mirrors.").replace("RolDistributedOp", "RollDistributedOp")
    head, _, tail = mended.rpartition("parallel_roll")
    assert forge.show("dev", YAML).decode() == f"{head}parallel_flip{tail}"
    assert outcome.subject == "fix(gate): Check_Op_Yaml op-yaml-without-class op-class-without-yaml"
    assert {check.check: (check.before, check.after) for check in outcome.checks}["Check_Op_Yaml"] == (2, 0)
    # After a crash the same commit is known again with everything it mended.
    again = await repair(task)
    assert (again.status, again.commit_sha, set(again.fixed)) == ("pushed", outcome.commit_sha, set(FINDINGS))


async def test_a_registration_that_is_not_the_pull_requests_is_told_and_not_touched(tmp_path: Path, kit: Any) -> None:
    forge = kit.make_forge(tmp_path, BASE, CHANGE)
    outcome = await repair(forge.task(FINDINGS[:1], (f"{OPS}/parallel_roll.py",)))
    assert outcome.status == "refused"
    assert [reason.plain("en") for _, reason in outcome.refused] == [
        f"{YAML} is not among the files of this pull request, so it is left alone; please write there "
        "“distributed_op_class: RollDistributedOp”."
    ]
    assert forge.tip("dev") == forge.task((), ()).head_sha
