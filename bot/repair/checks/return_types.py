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
"""Missing return annotations by ruff's ANN rules, whatever the project's own configuration says."""

from __future__ import annotations

import json
from typing import Any, Final

from bot.gate.finding import Finding
from bot.repair.checks.base import Check, CheckContext, Observation
from bot.repair.tools import find_tool, run_tool, started

RULES: Final = ("ANN201", "ANN202", "ANN204", "ANN205", "ANN206")


def _run(files: tuple[str, ...], context: CheckContext) -> tuple[Observation, ...]:
    argv = [find_tool("ruff"), "check", "--isolated", "--no-cache", "--ignore-noqa", f"--select={','.join(RULES)}"]
    argv += ["--output-format=json", "--exit-zero", *files]
    result = started(run_tool(argv, tree=context.root, cancel=context.cancel), "ruff", 0)
    items: list[dict[str, Any]] = json.loads(result.stdout or b"[]")
    prefix = f"{context.root}/"
    return tuple(
        Observation(
            "Check_Annotations",
            str(item["code"]),
            str(item["filename"]).removeprefix(prefix),
            int(item["location"]["row"]),
            "",
            str(item["message"]),
        )
        for item in items
        if item["code"] in RULES
    )


def _shown(finding: Finding, seen: Observation) -> bool:
    return finding.file == seen.file and finding.line == seen.line


CHECK: Final = Check("Check_Annotations", lambda path: path.endswith(".py"), _run, _shown, "ruff check --select ANN2")
