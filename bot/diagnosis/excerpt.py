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
"""Chooses the line ranges worth showing: what tool parsers and the general extractor find, in one ranking."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from bot.diagnosis.clean import clean_line, strip_bare_colour
from bot.diagnosis.general.choose import SURE, choose
from bot.diagnosis.general.rarity import Rarity
from bot.diagnosis.general.regions import Region, clusters, detected, find_hits, step_end
from bot.diagnosis.general.steps import Prior, find_steps, last_attempts
from bot.diagnosis.general.words import went_well
from bot.diagnosis.model import Cause, Excerpt
from bot.diagnosis.tail import Tail
from bot.diagnosis.templates import GreenTemplates
from bot.gate.finding import FailureClass, Severity

_MAX_CAUSES = 40
_LONGEST = 30
_TAIL_LINES = 40
_LUCKY = 0.1
"""Factor for what a parser found in a line that reports a success."""
_BESIDE = 8
"""Most lines by which the excerpt is shortened because findings that stand elsewhere are shown, too."""
_WRAPPERS = frozenset({"make", "ninja"})
"""Tools that report that a command failed; why it did stands before."""


def build_excerpt(
    tail: Tail, causes: Sequence[Cause], green: GreenTemplates | None
) -> tuple[tuple[Excerpt, ...], float]:
    """Builds the excerpt.

    Args:
        tail: The last megabytes of the log.
        causes: Causes, most telling first.
        green: Templates of green logs.

    Returns:
        Ranges, most telling first, and the confidence of the general extractor, 0 to 0.6.
    """
    lines = [strip_bare_colour(clean_line(raw, 0).text) for raw in tail.raw_lines()]
    if not lines:
        return (), 0.0
    texts = last_attempts(lines)
    starts, spoken = find_hits(texts)
    prior = Prior(find_steps(texts, spoken))
    starts = {index: numbers for index, numbers in starts.items() if index not in prior.reports}
    spoken = [index for index in spoken if index not in prior.reports]
    rare = Rarity(texts)
    offset = tail.first_line
    own, early = _of_causes(causes, prior, texts, offset)
    regions = [
        *own,
        *detected(texts, starts, prior, rare, green),
        *clusters(texts, spoken, prior, rare, green),
    ]
    end = step_end(texts, prior, _TAIL_LINES)
    picked = choose(regions, end, texts, rare)
    told = _lines(Region(one.finding.first_line, one.finding.last_line, 0, "") for one in causes if not one.secondary)
    beside = told - {index + offset for index in _lines(picked)}
    if beside:
        picked = choose(regions, end, texts, rare, spent=min(len(beside), _BESIDE))
    best = max((region.score for region in regions), default=0.0)
    shown = [
        Excerpt(
            region.first + offset,
            region.last + offset,
            round(region.score, 3),
            region.why,
            tuple(text[:500] for text in lines[region.first : region.last + 1]),
        )
        for region in picked
    ]
    confidence = 0.0 if best <= 0 else 0.6 if best >= SURE else 0.3
    return tuple(sorted([*early, *shown], key=lambda part: -part.score)), confidence


def _lines(regions: Iterable[Region]) -> set[int]:
    return {line for region in regions for line in range(region.first, region.last + 1)}


def _of_causes(
    causes: Sequence[Cause], prior: Prior, texts: Sequence[str], offset: int
) -> tuple[list[Region], list[Excerpt]]:
    """Causes as regions; those in front of the kept tail as finished ranges, at most three of them."""
    regions: list[Region] = []
    early: list[Excerpt] = []
    for number, cause in enumerate(causes[:_MAX_CAUSES]):
        finding = cause.finding
        if not finding.first_line:
            continue
        weight = _weight(cause) - 0.05 * number
        last = min(finding.last_line, finding.first_line + _LONGEST - 1)
        if finding.first_line >= offset:
            place = prior.at(last - offset)
            if went_well(texts[finding.first_line - offset]):
                place = _LUCKY
            # what a parser understood counts wherever it stands in the failed step; elsewhere it, too, may mean nothing
            score = weight * max(place, 0.75 if finding.confidence >= 1.0 and place > 0.5 else place)
            regions.append(Region(finding.first_line - offset, last - offset, score, finding.tool))
        elif len(early) < 3 and not any(map(went_well, finding.evidence[:1])):
            early.append(Excerpt(finding.first_line, last, round(weight * 0.7, 3), finding.tool, finding.evidence))
    return regions, early


def _weight(cause: Cause) -> float:
    if cause.finding.rule == "stage-failed":
        return 3.0
    if cause.secondary or (cause.finding.severity is Severity.WARNING and cause.finding.confidence < 1.0):
        return 4.5
    if cause.finding.tool in _WRAPPERS and cause.finding.rule == "target":
        return 3.5
    if cause.finding.severity in (Severity.WARNING, Severity.INFO):
        return 7.5
    if cause.finding.failure_class is FailureClass.INFRASTRUCTURE:
        # these parsers know a phrase, not a report, and passing tests print such phrases, too
        return 6.0
    if cause.finding.confidence < 1.0:
        # such as a bare traceback: printed more than once, it is probably part of the normal course
        return 8.0 * cause.finding.confidence / math.sqrt(cause.count)
    return 9.5
