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
"""What a gate build found out, stage by stage."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StageReport:
    """One stage of a build.

    Attributes:
        name: Stage name such as ``Check_Pylint``.
        status: ``SUCCESS``, ``FAILED`` or ``ABORTED``: the words of the stage view, not those of the build.
        lines: Its console lines, without time stamps.
        seconds: Real seconds it took.
        code: Exit code of the step that failed it, else 0.
    """

    name: str
    status: str
    lines: tuple[str, ...] = ()
    seconds: float = 0.0
    code: int = 0

    @property
    def failed(self) -> bool:
        """Whether the stage failed."""
        return self.status == "FAILED"


@dataclass(slots=True)
class GateReport:
    """A whole build; ``junit`` is the XML report of the tests, if any ran."""

    head_sha: str = ""
    stages: list[StageReport] = field(default_factory=list)
    junit: bytes | None = None

    @property
    def result(self) -> str:
        """``FAILURE`` when any stage failed, else ``SUCCESS``: the words of the build."""
        return "FAILURE" if any(stage.failed for stage in self.stages) else "SUCCESS"
