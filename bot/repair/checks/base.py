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
"""What a re-run check says, and the shape every check has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.gate.finding import Finding
from bot.repair.tools import CancelToken


@dataclass(frozen=True, slots=True)
class Observation:
    """One message of a re-run check. ``symbol`` is pylint's object, a test's name or a misspelt word."""

    check: str
    rule: str
    file: str
    line: int = 0
    symbol: str = ""
    message: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Identity without line numbers and words, because an edit moves lines and changes the names in messages."""
        return (self.check, self.rule, self.file, self.symbol)


@dataclass(frozen=True, slots=True)
class CheckContext:
    """Where and with what rules to check.

    Attributes:
        root: The work tree.
        rules: Rule files of the target branch by their repository path (rcfile, allow list, style).
        findings: What is to be mended; a check turns on the rules named there even if the rcfile has them off.
        cancel: Stops a running tool.
        year: Year of the head commit, for licence headers; 0 when unknown.
    """

    root: Path
    rules: Mapping[str, bytes]
    findings: tuple[Finding, ...] = ()
    cancel: CancelToken = field(default_factory=CancelToken)
    year: int = 0


@dataclass(frozen=True, slots=True)
class Check:
    """A re-runnable check.

    Attributes:
        name: The gate's stage, such as ``Check_Pylint``.
        wants: Whether a path is this check's business.
        run: From paths to observations; raises ``ToolMissing`` when the tool is not installed.
        shown: Whether an observation is the finding; line 0 in the finding matches by symbol.
        command: What a person would type, for the evidence.
        rule_files: Repository paths of the rule files it reads from the target branch.
    """

    name: str
    wants: Callable[[str], bool]
    run: Callable[[tuple[str, ...], CheckContext], tuple[Observation, ...]]
    shown: Callable[[Finding, Observation], bool]
    command: str
    rule_files: tuple[str, ...] = ()


def count(observations: Iterable[Observation]) -> Counter[tuple[str, str, str, str]]:
    """Observations by key."""
    return Counter(observation.key for observation in observations)


def same_place(finding: Finding, observation: Observation) -> bool:
    """Same file and, when the finding names a line, the same line."""
    return finding.file == observation.file and finding.line in {0, observation.line}
