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
"""What is worth reading before the next decision, so that observing costs few calls."""

from __future__ import annotations

from bot.gate.case import Case, Outcome, Phase
from bot.gate.facts import BuildFacts, CommandRequest
from bot.gate.policy import Policy
from bot.gate.truth import is_red

_LOG_COMMANDS = frozenset({"diagnose", "autofix"})


def wants_template(case: Case, head_sha: str, base_ref: str, policy: Policy) -> bool:
    """Whether the description should be checked against the template now."""
    if (
        case.head_sha != head_sha
        or case.base_ref != base_ref
        or case.phase in {Phase.NEW, Phase.DRAFT, Phase.DESCRIPTION}
    ):
        return True
    return policy.owner == "self" and case.phase is not Phase.ENDED


def wants_build(case: Case, commands: tuple[CommandRequest, ...] = ()) -> bool:
    """Whether the newest build should be looked up now; a resting case without commands has no use for it."""
    resting = case.phase in {Phase.DESCRIPTION, Phase.DRAFT, Phase.ENDED}
    return not resting or bool(case.held) or bool(commands) or case.outcome is Outcome.PASSED


def wants_diagnosis(case: Case, build: BuildFacts | None, commands: tuple[CommandRequest, ...] = ()) -> bool:
    """Whether the log of this build must be read: it is red, and the gate or a person waits for its findings."""
    if not is_red(build):
        return False
    asked = bool(case.held) or any(command.name in _LOG_COMMANDS for command in commands)
    return asked or case.phase in {Phase.STARTING, Phase.BUILDING}
