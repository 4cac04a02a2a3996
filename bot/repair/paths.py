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
"""Which file of the pull request a finding means."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from bot.gate.finding import Finding
from bot.repair.checks.dt_design import check_source, function_name, wants
from bot.repair.reason import Reason, because
from bot.repair.workspace import is_safe_path


def match_path(reported: str, pr_files: tuple[str, ...]) -> str:
    """The pull request's path for a reported one: itself, without its first part, or the only one with that ending."""
    path = reported.replace("\\", "/").removeprefix("./")
    if path in pr_files:
        return path
    shorter = path.partition("/")[2]
    if shorter in pr_files:
        return shorter
    ends = [name for name in pr_files if name.endswith(f"/{path}") or path.endswith(f"/{name}")]
    return ends[0] if len(ends) == 1 else ""


def locate(finding: Finding, pr_files: tuple[str, ...], read: Callable[[str], bytes | None]) -> Finding | Reason:
    """The finding with its path as git knows it, or why it is not ours to edit.

    A test-design finding names no file: the one test file of the pull request that shows it is meant.
    """
    if finding.file:
        path = match_path(finding.file, pr_files)
        if not path or not is_safe_path(path):
            return because("outside-pr", file=finding.file[:200])
        return dataclasses.replace(finding, file=path)
    name = function_name(finding)
    if finding.tool != "dt_design" or not name:
        return because("no-file", name=name or finding.message[:60])
    holders = [
        path
        for path in pr_files
        if is_safe_path(path)
        and wants(path)
        and any(name in {seen.symbol, seen.symbol.rpartition(".")[2]} for seen in check_source(path, read(path) or b""))
    ]
    if len(holders) != 1:
        return because("no-file", name=name)
    return dataclasses.replace(finding, file=holders[0], line=0)
