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
"""Re-runs the gate's checks on the touched files, before and after, and compares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bot.gate.finding import Finding
from bot.repair.checks.base import Check, CheckContext, Observation
from bot.repair.checks.registry import CHECKS
from bot.repair.reason import Reason, because
from bot.repair.task import CheckEvidence
from bot.repair.tools import ToolMissing

# These look at every file of their kind that was touched, whatever the finding was: an edit must not trade one for
# another.
WATCHERS = ("Check_Pylint", "Check_Codespell", "Check_DT_Design")


@dataclass(slots=True)
class Verifier:
    """Runs checks on the current content of the work tree."""

    context: CheckContext
    missing: dict[str, str] = field(default_factory=dict)

    def observe(self, wanted: Mapping[str, frozenset[str]]) -> tuple[Observation, ...]:
        """Run each check on its files; a check whose tool is not installed is noted in ``missing``."""
        found: list[Observation] = []
        for name, files in sorted(wanted.items()):
            check = CHECKS[name]
            mine = tuple(sorted(path for path in files if check.wants(path)))
            if not mine or name in self.missing:
                continue
            try:
                found += check.run(mine, self.context)
            except ToolMissing as error:
                self.missing[name] = str(error)
        return tuple(found)


def wanted_checks(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """From ``(path, own check)`` pairs to the files of each check to run."""
    found: dict[str, set[str]] = {}
    for path, own in pairs:
        for name in {own, *WATCHERS}:
            if CHECKS[name].wants(path):
                found.setdefault(name, set()).add(path)
    return {name: frozenset(files) for name, files in found.items()}


def matches(check: Check, finding: Finding, before: Iterable[Observation]) -> frozenset[Observation]:
    """What the re-run shows of a finding; empty when it is not reproduced."""
    return frozenset(seen for seen in before if seen.check == check.name and check.shown(finding, seen))


def objection(
    path: str, before: Iterable[Observation], after: Iterable[Observation], gone: Iterable[Observation]
) -> tuple[Reason, bool] | None:
    """Why an edit of ``path`` is not proved, and whether it is because something new appeared.

    Each observation in ``gone`` must be fewer by one under its key; no key may have more than that.
    """
    allowed = Counter(seen.key for seen in before if seen.file == path)
    mended = Counter(seen.key for seen in gone if seen.file == path)
    allowed.subtract(mended)
    now = Counter(seen.key for seen in after if seen.file == path)
    for seen in after:
        if seen.file != path or now[seen.key] <= max(allowed[seen.key], 0):
            continue
        if seen.key in mended:
            return because("still-there", check=seen.check), False
        return because("new-finding", what=f"{seen.check} {seen.rule} {path}:{seen.line}"), True
    return None


def evidence(
    wanted: Mapping[str, frozenset[str]],
    before: Iterable[Observation],
    after: Iterable[Observation],
    missing: Mapping[str, str],
) -> tuple[CheckEvidence, ...]:
    """What was re-run, for the report."""
    first, second = Counter(seen.check for seen in before), Counter(seen.check for seen in after)
    return tuple(
        CheckEvidence(name, CHECKS[name].command, tuple(sorted(files)), first[name], second[name])
        for name, files in sorted(wanted.items())
        if name not in missing
    )
