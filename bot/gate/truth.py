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
"""What a build proves, and what the labels say. The truth table of the two-phase gate."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from bot.gate.case import Case
from bot.gate.facts import BuildFacts, DiagnosisFacts, Facts
from bot.gate.policy import Policy

# A sha shorter than this in a build description is too likely to match by chance.
_SHORTEST_SHA = 7


class Proof(StrEnum):
    """What a build says about the head it ran on."""

    RUNNING = "running"
    GREEN = "green"
    BYPASS = "bypass"  # SUCCESS that ran nothing
    RED = "red"
    VOID = "void"  # ended without saying anything


def same_head(build_sha: str, head_sha: str) -> bool:
    """Whether a build belongs to a head; a build that does not tell its sha is given the benefit of the doubt."""
    sha = build_sha.lower()
    if len(sha) < _SHORTEST_SHA:
        return True
    head = head_sha.lower()
    return head.startswith(sha) or sha.startswith(head)


def proof_of(build: BuildFacts, diagnosis: DiagnosisFacts | None, labels: frozenset[str], policy: Policy) -> Proof:
    """Judge one build.

    A SUCCESS counts as bypass when it took less than ``policy.bypass_seconds``, no stage or test failed, nothing was
    found in its log and the second label is absent: the gate answers a ``/retest`` without ``pr-check-pass`` that way.
    """
    if build.running or build.result is None:
        return Proof.RUNNING
    if build.result in {"NOT_BUILT", "ABORTED"}:
        return Proof.VOID
    if build.result != "SUCCESS":
        return Proof.RED
    if policy.owner == "self":
        # Where we set the labels ourselves, none of them can vouch for the build; a missing duration proves nothing.
        return Proof.GREEN if build.duration_ms >= policy.bypass_seconds * 1000 else Proof.BYPASS
    found = diagnosis is not None and diagnosis.build_number == build.number and bool(diagnosis.findings)
    silent = not (build.failed_stages or build.failed_tests or found or policy.labels.passed in labels)
    short = 0 < build.duration_ms < policy.bypass_seconds * 1000
    return Proof.BYPASS if short and silent else Proof.GREEN


def round_build(case: Case, facts: Facts) -> BuildFacts | None:
    """The newest build if it answers this round's ``/retest``: a higher number than any before it, and this head."""
    build = facts.build
    if build is None or build.number <= case.build_floor or not same_head(build.head_sha, case.head_sha):
        return None
    return build


def is_red(build: BuildFacts | None) -> bool:
    """Finished, and neither successful nor void."""
    return (
        build is not None
        and not build.running
        and build.result is not None
        and build.result not in {"SUCCESS", "NOT_BUILT", "ABORTED"}
    )


def label_since(case: Case, facts: Facts, label: str) -> datetime | None:
    """When a label that is present now was put on; the forge's word where it gives one, else when we first saw it."""
    if label not in facts.pr.labels:
        return None
    return facts.label_times.get(label) or case.label_since.get(label)


def passed_label_is_fresh(case: Case, facts: Facts, policy: Policy) -> bool:
    """Whether ``ci-pipeline-passed`` belongs to this round and not to an earlier head."""
    since = label_since(case, facts, policy.labels.passed)
    if since is None:
        return False
    if case.retest_at is None:  # adopted: both labels were there when the case was opened and stayed
        return case.round == 0
    if since >= case.retest_at:
        return True
    build = round_build(case, facts)
    return (
        build is not None
        and build.number == case.build_number
        and build.result == "SUCCESS"
        and not build.running
        and build.duration_ms >= policy.bypass_seconds * 1000
    )
