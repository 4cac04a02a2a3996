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
"""What to write, resolve and leave: from findings, the diff and our earlier comments to a plan. Pure.

The forge takes comments on added lines only (others are refused or detached), hence the ladder: added line, else the
file if it is in the diff, else the summary. It has no call for many comments at once, hence the cap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.gate.finding import Finding, Severity
from bot.review.diffmap import FileLines
from bot.review.fingerprint import fingerprint

CAP = 30
_RANK = {Severity.FATAL: 0, Severity.ERROR: 1, Severity.WARNING: 2, Severity.INFO: 3}


@dataclass(frozen=True, slots=True)
class Existing:
    """A comment of ours on a line or a file.

    Attributes:
        name: Its fingerprint.
        source: What found it.
        discussion_id: Its thread.
        resolved: Whether the thread is resolved.
        answered: Whether somebody else answered in it.
        outdated: Whether the forge says that the line has changed since.
        closed_by_us: Whether we resolved it ourselves: should its finding come back, it is written anew. What a person
            resolved stays as that person wants it.
    """

    name: str
    source: str
    discussion_id: str
    resolved: bool = False
    answered: bool = False
    outdated: bool = False
    closed_by_us: bool = False


@dataclass(frozen=True, slots=True)
class ReviewPolicy:
    """What bounds a plan: ``cap`` new comments at most, ``source`` as in the fingerprint's mark."""

    cap: int = CAP
    source: str = "build"


@dataclass(frozen=True, slots=True)
class Placed:
    """A finding with its place: ``line`` 0 means the whole file, an empty ``path`` the summary."""

    finding: Finding
    name: str
    path: str = ""
    line: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class ReviewPlan:
    """What to do on the pull request.

    Attributes:
        create: New comments, lines before files, the gravest first.
        resolve: Threads of ours whose finding is gone and in which nobody answered.
        keep: Findings that have their comment already.
        summary_rest: Findings that only the summary names.
    """

    create: tuple[Placed, ...] = ()
    resolve: tuple[Existing, ...] = ()
    keep: tuple[Placed, ...] = ()
    summary_rest: tuple[Placed, ...] = field(default=())


def plan_review(
    findings: Sequence[Finding],
    changed_files: Mapping[str, FileLines],
    existing_comments: Iterable[Existing],
    policy: ReviewPolicy,
) -> ReviewPlan:
    """Decide what becomes of every finding and of every comment of ours.

    Args:
        findings: All findings of one source at one head.
        changed_files: New path to lines of every file of the diff.
        existing_comments: Our earlier comments on lines and files.
        policy: Bounds.
    """
    existing = list(existing_comments)
    open_or_kept = {comment.name for comment in existing if not (comment.resolved and comment.closed_by_us)}
    placed = _place_all(findings, changed_files)
    keep = tuple(item for item in placed if item.name in open_or_kept)
    fresh = [item for item in placed if item.name not in open_or_kept]
    create = tuple(sorted((item for item in fresh if item.path), key=_rank)[: max(policy.cap, 0)])
    chosen = {item.name for item in create}
    rest = tuple(item for item in fresh if item.name not in chosen)
    current = {item.name for item in placed}
    resolve = tuple(one for one in existing if one.name not in current and _may_resolve(one, policy))
    return ReviewPlan(create, resolve, keep, rest)


def _may_resolve(comment: Existing, policy: ReviewPolicy) -> bool:
    if comment.resolved or comment.answered:
        return False
    return comment.source == policy.source or comment.outdated


def _rank(item: Placed) -> tuple[bool, int]:
    """Lines before files, the gravest first; sorting is stable, so the rest stays in the order found."""
    return not item.line, _RANK[item.finding.severity]


def _place_all(findings: Sequence[Finding], files: Mapping[str, FileLines]) -> list[Placed]:
    """Every distinct finding with its place and name, in the order of the findings."""
    placed: list[Placed] = []
    seen: set[tuple[object, ...]] = set()
    twins: Counter[str] = Counter()
    for finding in findings:
        same = (finding.tool, finding.rule, finding.file, finding.line, finding.function, finding.message)
        if same in seen:
            continue
        seen.add(same)
        lines = files.get(finding.file)
        text = lines.shown.get(finding.line, "") if lines else ""
        first = fingerprint(finding, text)
        name = fingerprint(finding, text, twins[first]) if twins[first] else first
        twins[first] += 1
        if lines is None:
            placed.append(Placed(finding, name))
        else:
            on_added = finding.line in lines.added
            placed.append(Placed(finding, name, finding.file, finding.line if on_added else 0, text))
    return placed
