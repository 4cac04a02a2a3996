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
"""Check_Op_Yaml: every registered operator has its class, every operator class its entry. Reads, never imports."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bot.gate.finding import Finding
from bot.repair.checks.base import Check, CheckContext, Observation
from bot.repair.op_registry import WITHOUT_YAML, Ops, ops_directory, problems, read_entries

NAME: Final = "Check_Op_Yaml"


def _ops_on_disk(root: Path, directory: str) -> Ops:
    def read(path: str) -> bytes | None:
        file = root / path
        return file.read_bytes() if file.is_file() and not file.is_symlink() else None

    home = root / directory
    modules = tuple(sorted(file.stem for file in home.glob("*.py")))
    yamls = tuple(sorted(str(file.relative_to(root)) for file in (home / "yaml").rglob("*.yaml")))
    return Ops(directory, modules, yamls, read)


def _run(files: tuple[str, ...], context: CheckContext) -> tuple[Observation, ...]:
    found: list[Observation] = []
    known: dict[str, Ops] = {}
    # Which file a class belongs in is a guess, so only the classes asked for are told: an entry moved to another module
    # must not seem to bring that module's unregistered classes with it.
    wanted = {(finding.file, finding.function) for finding in context.findings if finding.rule == WITHOUT_YAML}
    for path in files:
        directory = ops_directory(path)
        if directory not in known:
            known[directory] = _ops_on_disk(context.root, directory)
        ops = known[directory]
        try:
            file = read_entries((ops.read(path) or b"").decode("utf-8"))
        except ValueError as error:
            found.append(Observation(NAME, "op-yaml-unreadable", path, 0, "", str(error)))
            continue
        for problem in problems(path, file, ops):
            if problem.rule == WITHOUT_YAML and (path, problem.symbol) not in wanted:
                continue
            said = f"{problem.symbol}: {', '.join(problem.entries) or 'not registered'}"
            # One per operator, so that an edit that mends only some of them is seen to leave the others.
            for name in problem.entries or ("",):
                found.append(Observation(NAME, problem.rule, path, problem.line, f"{problem.symbol} {name}", said))
    return tuple(found)


def _shown(finding: Finding, seen: Observation) -> bool:
    return (finding.file, finding.rule, finding.function) == (seen.file, seen.rule, seen.symbol.partition(" ")[0])


CHECK: Final = Check(
    NAME, lambda path: bool(ops_directory(path)), _run, _shown, "registered classes are defined, operators registered"
)
